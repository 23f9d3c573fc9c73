//! The words that an attempt has read, with the values found, and those that it has written, in order.

use crate::algorithm::prelude::*;
use crate::memory::{bloom::Bloom, logs::Logs, logs::PairSlot};

/// The number of entries whose loads are in flight together.
pub(crate) const BATCH: usize = 4;

/// Words with their values. The entries are in the lane's [`Logs`]; this is their count and, for writes, a
/// filter. A repeated access takes another entry, cheaper than a search: validation compares all, and
/// write-back runs in order, so the last value stands. Only a full set is searched and loses its duplicates.
///
/// # Safety
/// Of each unsafe method: `logs` are the calling lane's and hold this set, of which an index `i` or a
/// slot is an entry, and the words that it accesses are live.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordLog<const WRITES: bool> {
    pub(crate) len: u32,
    /// The number of entries when the innermost open alternative began; these do not change.
    floor: u32,
    bloom: Bloom,
}

pub(crate) type ReadSet = WordLog<false>;
pub(crate) type WriteSet = WordLog<true>;

#[stm_core_macros::inlined]
impl<const WRITES: bool> WordLog<WRITES> {
    fn slot<L: Lane>(lane: &L, logs: &Logs, i: u32) -> PairSlot {
        if WRITES {
            logs.write(lane, i)
        } else {
            logs.read(lane, i)
        }
    }

    unsafe fn pair<L: Lane>(lane: &L, slot: PairSlot) -> (WordAddress, u64) {
        // SAFETY: in the lane's own column, and this attempt stored it.
        unsafe {
            let address = WordAddress::from_bits(lane.private_load_64(slot.address));
            (address, lane.private_load_64(slot.value))
        }
    }

    /// Stores entry `i`, which need only be below the capacity.
    unsafe fn store<L: Lane>(lane: &L, logs: &Logs, i: u32, (address, value): (WordAddress, u64)) {
        let slot = Self::slot(lane, logs, i);
        // SAFETY: in the lane's own column.
        unsafe {
            lane.private_store_64(slot.address, address.bits());
            lane.private_store_64(slot.value, value);
        }
    }

    fn is_full<L: Lane>(&self, lane: &L, logs: &Logs) -> bool {
        let capacity = logs.capacity;
        let room = if WRITES {
            capacity.writes
        } else {
            capacity.reads
        };
        self.len >= room && !Mutant::LogsUnchecked.on(lane)
    }

    /// Returns the last entry of a word that was written, or the first of one that was read.
    pub(crate) unsafe fn find<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
    ) -> Option<u32> {
        // SAFETY: the entry is below the count, so this attempt stored it.
        let is_there = |&i: &u32| unsafe { Self::address(lane, logs, i) } == address;
        if WRITES {
            (0..self.len).rev().find(is_there)
        } else {
            (0..self.len).find(is_there)
        }
    }

    /// Adds a word (Algorithm 3, lines 25 and 37).
    ///
    /// # Errors
    /// [`Abort::ReadSetFull`] or [`Abort::WriteSetFull`] if there are more distinct words than entries; the
    /// set keeps all its words. [`Abort::ReadStale`] if the word was read before with another value.
    pub(crate) unsafe fn push<L: Lane>(
        &mut self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
        value: u64,
    ) -> Result<(), Abort> {
        // SAFETY: as the caller's; positions are below the count, and the
        // count below the capacity when an entry is stored.
        unsafe {
            if self.is_full(lane, logs) {
                if let Some(i) = self.find(lane, logs, address)
                    && i >= self.floor
                {
                    return Self::repeat(lane, logs, i, value);
                }
                if self.floor == 0 {
                    self.compact(lane, logs)?;
                }
                if self.is_full(lane, logs) {
                    return Err(if WRITES {
                        Abort::WriteSetFull
                    } else {
                        Abort::ReadSetFull
                    });
                }
            }
            Self::store(lane, logs, self.len, (address, value));
        }
        self.len += 1;
        if WRITES {
            self.bloom.insert(address);
        }
        Ok(())
    }

    /// Writes to a word that has entry `i` already, or reads it again.
    unsafe fn repeat<L: Lane>(lane: &L, logs: &Logs, i: u32, value: u64) -> Result<(), Abort> {
        let slot = Self::slot(lane, logs, i);
        // SAFETY: the entry is below the count, so this attempt stored it.
        unsafe {
            if WRITES {
                lane.private_store_64(slot.value, value);
            } else if lane.private_load_64(slot.value) != value {
                return Err(Abort::ReadStale);
            }
        }
        Ok(())
    }

    /// Removes duplicates: keeps one entry for each word.
    unsafe fn compact<L: Lane>(&mut self, lane: &L, logs: &Logs) -> Result<(), Abort> {
        let mut kept = Self { len: 0, ..*self };
        for i in 0..self.len {
            // SAFETY: as the caller's; both indices are below the count.
            unsafe {
                let (address, value) = Self::pair(lane, Self::slot(lane, logs, i));
                if let Some(first) = kept.find(lane, logs, address) {
                    Self::repeat(lane, logs, first, value)?;
                } else {
                    Self::store(lane, logs, kept.len, (address, value));
                    kept.len += 1;
                }
            }
        }
        *self = kept;
        Ok(())
    }

    pub(crate) unsafe fn address<L: Lane>(lane: &L, logs: &Logs, i: u32) -> WordAddress {
        // SAFETY: the entry is below the count, so this attempt stored it.
        WordAddress::from_bits(unsafe { lane.private_load_64(Self::slot(lane, logs, i).address) })
    }

    /// Returns [`BATCH`] entries from `i` on; past the end, the last one repeats.
    fn slots<L: Lane>(&self, lane: &L, logs: &Logs, i: u32) -> [PairSlot; BATCH] {
        core::array::from_fn(|j| Self::slot(lane, logs, (i + j as u32).min(self.len - 1)))
    }
}

#[stm_core_macros::inlined]
impl ReadSet {
    /// Adds words and the values read from them, except those in the mask `skip`.
    pub(crate) unsafe fn push_many<L: Lane, const N: usize>(
        &mut self,
        lane: &L,
        logs: &Logs,
        words: [(WordAddress, u64); N],
        skip: u32,
    ) -> Result<(), Abort> {
        let room = self.len + N as u32 <= logs.capacity.reads || Mutant::LogsUnchecked.on(lane);
        let one_by_one = skip != 0 || !room;
        for (k, (address, value)) in words.into_iter().enumerate() {
            // SAFETY: as the caller's; the index is below the capacity if there is room for all.
            unsafe {
                if !one_by_one {
                    Self::store(lane, logs, self.len + k as u32, (address, value));
                } else if skip >> k & 1 == 0 {
                    self.push(lane, logs, address, value)?;
                }
            }
        }
        if !one_by_one {
            self.len += N as u32;
        }
        Ok(())
    }

    /// Implements [`Mutant::RepeatedReadRefreshes`]: puts the new value into
    /// the word's entry, if there is one, and returns the old value.
    pub(crate) unsafe fn refresh<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
        value: u64,
    ) -> Option<u64> {
        // SAFETY: as the caller's; the position is below the count.
        unsafe {
            let slot = logs.read(lane, self.find(lane, logs, address)?);
            let old = lane.private_load_64(slot.value);
            lane.private_store_64(slot.value, value);
            Some(old)
        }
    }

    pub(crate) const fn without_last(self) -> Self {
        Self {
            len: self.len.saturating_sub(1),
            ..self
        }
    }

    /// Loads the addresses of [`BATCH`] entries from `i` on, all in flight
    /// together; past the end, the last entry repeats.
    pub(crate) unsafe fn addresses<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        i: u32,
    ) -> [WordAddress; BATCH] {
        // SAFETY: the entry is below the count, so this attempt stored it.
        (self.slots(lane, logs, i))
            .map(|slot| WordAddress::from_bits(unsafe { lane.private_load_64(slot.address) }))
    }

    /// Validates by value: returns whether every word still holds the value read (Algorithm 3, lines 9-11 and
    /// 63-65). The loads are relaxed, several are in flight together, and the caller fences.
    pub(crate) unsafe fn holds<L: Lane>(&self, lane: &L, logs: &Logs) -> bool {
        let mut i = 0;
        while i < self.len {
            // SAFETY: as the caller's, and i is below the count.
            let addresses = unsafe { self.addresses(lane, logs, i) };
            // SAFETY: the entry is below the count, so this attempt stored it.
            let values =
                (self.slots(lane, logs, i)).map(|slot| unsafe { lane.private_load_64(slot.value) });
            // SAFETY: the caller's: the words live.
            let found = addresses.map(|address| unsafe { address.load(lane) });
            let changed = found
                .iter()
                .zip(values)
                .fold(0, |bits, (f, v)| bits | (f ^ v));
            if changed != 0 {
                return false;
            }
            i += BATCH as u32;
        }
        true
    }
}

#[stm_core_macros::inlined]
impl WriteSet {
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) const fn may_hold(&self, address: WordAddress) -> bool {
        self.bloom.may_contain(address)
    }

    /// Returns the value last written to a word, if the transaction wrote it (Algorithm 3, lines 22-23).
    pub(crate) unsafe fn get<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
    ) -> Option<u64> {
        if !self.may_hold(address) {
            return None;
        }
        // SAFETY: the caller's; `find` returns an index below the count.
        unsafe {
            self.find(lane, logs, address)
                .map(|i| lane.private_load_64(logs.write(lane, i).value))
        }
    }

    pub(crate) const fn save(&mut self) -> Self {
        let saved = *self;
        self.floor = self.len;
        saved
    }

    pub(crate) const fn keep(&mut self, saved: Self) {
        self.floor = saved.floor;
    }

    /// Implements [`Mutant::WriteAtReadPosition`]: stores a value into an entry, if the entry exists.
    pub(crate) unsafe fn store_at<L: Lane>(&self, lane: &L, logs: &Logs, i: u32, value: u64) {
        if i < self.len {
            // SAFETY: the entry is below the count, so this attempt stored it.
            unsafe { lane.private_store_64(logs.write(lane, i).value, value) };
        }
    }

    /// Writes back: stores every buffered value, in order, relaxed (Algorithm 3, lines 80-81). The
    /// caller holds the locks, and fences before and after.
    pub(crate) unsafe fn write_back<L: Lane>(&self, lane: &L, logs: &Logs) {
        let mut i = 0;
        while i < self.len {
            // SAFETY: the entry is below the count, so this attempt stored it; past the end the batch repeats
            // the last entry, which stores the same value once more.
            let pairs = (self.slots(lane, logs, i)).map(|slot| unsafe { Self::pair(lane, slot) });
            for (address, value) in pairs {
                // SAFETY: the caller's: the words live.
                unsafe { address.store(lane, value) };
            }
            i += BATCH as u32;
        }
    }
}
