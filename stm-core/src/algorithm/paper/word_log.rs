//! The words that an attempt has read, with the values found, and those that it has written, in order.

use crate::algorithm::paper::log::Log;
use crate::algorithm::prelude::*;
use crate::memory::bloom::Bloom;
use crate::memory::logs::PairSlot;

/// The number of entries whose loads are in flight together.
pub(crate) const BATCH: usize = 4;

/// Words with their values. The entries are in the lane's [`Log`]; this is their count and, for writes, a
/// filter. A repeated access takes another entry, cheaper than a search: validation compares all, and
/// write-back runs in order, so the last value stands. Only a full set is searched and loses its duplicates.
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
    fn slot<L: Lane>(at: Log<'_, L>, i: u32) -> PairSlot {
        if WRITES {
            at.logs.write(at.lane, i)
        } else {
            at.logs.read(at.lane, i)
        }
    }

    fn pair<L: Lane>(at: Log<'_, L>, slot: PairSlot) -> (WordAddress, u64) {
        let address = WordAddress::from_bits(at.load(slot.address));
        (address, at.load(slot.value))
    }

    /// Stores entry `i`, which need only be below the capacity.
    fn store<L: Lane>(at: Log<'_, L>, i: u32, (address, value): (WordAddress, u64)) {
        let slot = Self::slot(at, i);
        at.store(slot.address, address.bits());
        at.store(slot.value, value);
    }

    fn is_full<L: Lane>(&self, at: Log<'_, L>) -> bool {
        let capacity = at.logs.capacity;
        let room = if WRITES {
            capacity.writes
        } else {
            capacity.reads
        };
        self.len >= room && !Mutant::LogsUnchecked.on(at.lane)
    }

    /// Returns the last entry of a word that was written, or the first of one that was read.
    pub(crate) fn find<L: Lane>(&self, at: Log<'_, L>, address: WordAddress) -> Option<u32> {
        let is_there = |&i: &u32| Self::address(at, i) == address;
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
    pub(crate) fn push<L: Lane>(
        &mut self,
        at: Log<'_, L>,
        address: WordAddress,
        value: u64,
    ) -> Result<(), Abort> {
        if self.is_full(at) {
            if let Some(i) = self.find(at, address)
                && i >= self.floor
            {
                return Self::repeat(at, i, value);
            }
            if self.floor == 0 {
                self.compact(at)?;
            }
            if self.is_full(at) {
                return Err(if WRITES {
                    Abort::WriteSetFull
                } else {
                    Abort::ReadSetFull
                });
            }
        }
        Self::store(at, self.len, (address, value));
        self.len += 1;
        if WRITES {
            self.bloom.insert(address);
        }
        Ok(())
    }

    /// Writes to a word that has entry `i` already, or reads it again.
    fn repeat<L: Lane>(at: Log<'_, L>, i: u32, value: u64) -> Result<(), Abort> {
        let slot = Self::slot(at, i);
        if WRITES {
            at.store(slot.value, value);
        } else if at.load(slot.value) != value {
            return Err(Abort::ReadStale);
        }
        Ok(())
    }

    /// Removes duplicates: keeps one entry for each word.
    fn compact<L: Lane>(&mut self, at: Log<'_, L>) -> Result<(), Abort> {
        let mut kept = Self { len: 0, ..*self };
        for i in 0..self.len {
            let (address, value) = Self::pair(at, Self::slot(at, i));
            if let Some(first) = kept.find(at, address) {
                Self::repeat(at, first, value)?;
            } else {
                Self::store(at, kept.len, (address, value));
                kept.len += 1;
            }
        }
        *self = kept;
        Ok(())
    }

    pub(crate) fn address<L: Lane>(at: Log<'_, L>, i: u32) -> WordAddress {
        WordAddress::from_bits(at.load(Self::slot(at, i).address))
    }

    /// Returns [`BATCH`] entries from `i` on; past the end, the last one repeats.
    fn slots<L: Lane>(&self, at: Log<'_, L>, i: u32) -> [PairSlot; BATCH] {
        core::array::from_fn(|j| Self::slot(at, (i + j as u32).min(self.len - 1)))
    }
}

#[stm_core_macros::inlined]
impl ReadSet {
    /// Adds words and the values read from them, except those in the mask `skip`.
    pub(crate) fn push_many<L: Lane, const N: usize>(
        &mut self,
        at: Log<'_, L>,
        words: [(WordAddress, u64); N],
        skip: u32,
    ) -> Result<(), Abort> {
        let unchecked = Mutant::LogsUnchecked.on(at.lane);
        let room = self.len + N as u32 <= at.logs.capacity.reads || unchecked;
        let one_by_one = skip != 0 || !room;
        for (k, (address, value)) in words.into_iter().enumerate() {
            if !one_by_one {
                Self::store(at, self.len + k as u32, (address, value));
            } else if skip >> k & 1 == 0 {
                self.push(at, address, value)?;
            }
        }
        if !one_by_one {
            self.len += N as u32;
        }
        Ok(())
    }

    /// Implements [`Mutant::RepeatedReadRefreshes`]: puts the new value into
    /// the word's entry, if there is one, and returns the old value.
    pub(crate) fn refresh<L: Lane>(
        &self,
        at: Log<'_, L>,
        address: WordAddress,
        value: u64,
    ) -> Option<u64> {
        let slot = Self::slot(at, self.find(at, address)?);
        let old = at.load(slot.value);
        at.store(slot.value, value);
        Some(old)
    }

    pub(crate) const fn without_last(self) -> Self {
        Self {
            len: self.len.saturating_sub(1),
            ..self
        }
    }

    /// Loads the addresses of [`BATCH`] entries from `i` on, all in flight
    /// together; past the end, the last entry repeats.
    pub(crate) fn addresses<L: Lane>(&self, at: Log<'_, L>, i: u32) -> [WordAddress; BATCH] {
        (self.slots(at, i)).map(|slot| WordAddress::from_bits(at.load(slot.address)))
    }

    /// Validates by value: returns whether every word still holds the value read (Algorithm 3, lines 9-11 and
    /// 63-65). The loads are relaxed, several are in flight together, and the caller fences.
    pub(crate) fn holds<L: Lane>(&self, at: Log<'_, L>) -> bool {
        let mut i = 0;
        while i < self.len {
            let addresses = self.addresses(at, i);
            let values = (self.slots(at, i)).map(|slot| at.load(slot.value));
            // SAFETY: the words live (`Log::new`).
            let found = addresses.map(|address| unsafe { address.load(at.lane) });
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
    pub(crate) fn get<L: Lane>(&self, at: Log<'_, L>, address: WordAddress) -> Option<u64> {
        if !self.may_hold(address) {
            return None;
        }
        (self.find(at, address)).map(|i| at.load(Self::slot(at, i).value))
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
    pub(crate) fn store_at<L: Lane>(&self, at: Log<'_, L>, i: u32, value: u64) {
        if i < self.len {
            at.store(Self::slot(at, i).value, value);
        }
    }

    /// Writes back: stores every buffered value, in order, relaxed (Algorithm 3, lines 80-81). The
    /// caller holds the locks, and fences before and after.
    pub(crate) fn write_back<L: Lane>(&self, at: Log<'_, L>) {
        let mut i = 0;
        while i < self.len {
            // Past the end the batch repeats the last entry, which stores the same value once more.
            let pairs = (self.slots(at, i)).map(|slot| Self::pair(at, slot));
            for (address, value) in pairs {
                // SAFETY: the words live (`Log::new`).
                unsafe { address.store(at.lane, value) };
            }
            i += BATCH as u32;
        }
    }
}
