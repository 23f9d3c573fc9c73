//! The read set: every word read from memory, with the value found there.

use crate::{memory::logs::Logs, tx::abort::Abort};
use stm_machine::{Lane, WordAddress, observe::Mutant};

/// The number of entries whose loads are in flight together.
pub(crate) const BATCH: usize = 4;

/// The words that an attempt has read. The entries are in the lane's [`Logs`];
/// this is their count, in a register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSet {
    len: u32,
}

#[stm_core_macros::inlined]
impl ReadSet {
    pub(crate) const EMPTY: Self = Self { len: 0 };

    /// Returns the number of entries, repeated reads included.
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// Adds words and the values read from them (Algorithm 3, line 25), except those in the mask
    /// `skip`. A repeated read of a word takes another entry, which costs less than a search; only
    /// a set without room is searched and loses its duplicates before it counts as full.
    ///
    /// # Errors
    /// [`Abort::ReadSetFull`] if there are more distinct words than entries.
    /// [`Abort::ReadStale`] if the set has a word with another value, so that
    /// the word has changed between the two reads.
    ///
    /// # Safety
    /// `logs` are the calling lane's, and hold this set.
    pub(crate) unsafe fn push_many<L: Lane, const N: usize>(
        &mut self,
        lane: &L,
        logs: &Logs,
        words: [(WordAddress, u64); N],
        skip: u32,
    ) -> Result<(), Abort> {
        let room = self.len + N as u32 <= logs.capacity().reads || Mutant::LogsUnchecked.on(lane);
        if skip != 0 || !room {
            // SAFETY: the caller upholds the contract of this function.
            return unsafe { self.push_tight(lane, logs, words, skip) };
        }
        for (k, (address, value)) in words.into_iter().enumerate() {
            // SAFETY: the index is below the capacity.
            unsafe {
                logs.read(lane, self.len + k as u32)
                    .store(lane, address, value);
            }
        }
        self.len += N as u32;
        Ok(())
    }

    /// Does [`Self::push_many`] word by word, for a set that is nearly full.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`].
    unsafe fn push_tight<L: Lane, const N: usize>(
        &mut self,
        lane: &L,
        logs: &Logs,
        words: [(WordAddress, u64); N],
        skip: u32,
    ) -> Result<(), Abort> {
        for (k, (address, value)) in words.into_iter().enumerate() {
            if skip >> k & 1 != 0 {
                continue;
            }
            // SAFETY: as the caller's; positions are below the count, and the
            // count below the capacity when an entry is stored.
            unsafe {
                if self.len >= logs.capacity().reads && !Mutant::LogsUnchecked.on(lane) {
                    if let Some(i) = self.position(lane, logs, address) {
                        if logs.read(lane, i).value(lane) != value {
                            return Err(Abort::ReadStale);
                        }
                        continue;
                    }
                    self.compact(lane, logs)?;
                    if self.len >= logs.capacity().reads {
                        return Err(Abort::ReadSetFull);
                    }
                }
                logs.read(lane, self.len).store(lane, address, value);
            }
            self.len += 1;
        }
        Ok(())
    }

    /// Removes duplicates: keeps one entry for each word.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`].
    unsafe fn compact<L: Lane>(&mut self, lane: &L, logs: &Logs) -> Result<(), Abort> {
        let mut kept = Self::EMPTY;
        for i in 0..self.len {
            // SAFETY: as the caller's; both indices are below the count.
            unsafe {
                let slot = logs.read(lane, i);
                let (address, value) = (slot.address(lane), slot.value(lane));
                match kept.position(lane, logs, address) {
                    Some(first) if logs.read(lane, first).value(lane) != value => {
                        return Err(Abort::ReadStale);
                    }
                    Some(_) => {}
                    None => {
                        logs.read(lane, kept.len).store(lane, address, value);
                        kept.len += 1;
                    }
                }
            }
        }
        *self = kept;
        Ok(())
    }

    /// Returns the first entry for a word.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`].
    pub(crate) unsafe fn position<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
    ) -> Option<u32> {
        // SAFETY: the entry is below the count, so this attempt stored it.
        (0..self.len).find(|&i| unsafe { logs.read(lane, i).address(lane) } == address)
    }

    /// Implements [`Mutant::RepeatedReadRefreshes`]: puts the new value into
    /// the word's entry, if there is one, and returns the old value.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`].
    pub(crate) unsafe fn refresh<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
        value: u64,
    ) -> Option<u64> {
        // SAFETY: as the caller's; the position is below the count.
        unsafe {
            let slot = logs.read(lane, self.position(lane, logs, address)?);
            let old = slot.value(lane);
            slot.store_value(lane, value);
            Some(old)
        }
    }

    pub(crate) const fn without_last(self) -> Self {
        Self {
            len: self.len.saturating_sub(1),
        }
    }

    /// Returns the address of entry `i`.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`], and `i < len()`.
    pub(crate) unsafe fn address<L: Lane>(lane: &L, logs: &Logs, i: u32) -> WordAddress {
        // SAFETY: the entry is below the count, so this attempt stored it.
        unsafe { logs.read(lane, i).address(lane) }
    }

    /// Loads the addresses of [`BATCH`] entries from `i` on, all in flight
    /// together; past the end, the last entry repeats.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`], and `i < len()`.
    pub(crate) unsafe fn addresses<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        i: u32,
    ) -> [WordAddress; BATCH] {
        // SAFETY: the entry is below the count, so this attempt stored it.
        core::array::from_fn(|j| unsafe {
            logs.read(lane, (i + j as u32).min(self.len - 1))
                .address(lane)
        })
    }

    /// Loads the values that belong to [`Self::addresses`].
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`], and `i < len()`.
    unsafe fn values<L: Lane>(&self, lane: &L, logs: &Logs, i: u32) -> [u64; BATCH] {
        // SAFETY: the entry is below the count, so this attempt stored it.
        core::array::from_fn(|j| unsafe {
            logs.read(lane, (i + j as u32).min(self.len - 1))
                .value(lane)
        })
    }

    /// Validates by value: returns whether every word still holds the value
    /// read (Algorithm 3, lines 9-11 and 63-65). The loads are relaxed, several
    /// are in flight together, and the caller fences.
    ///
    /// # Safety
    /// The obligations are those of [`Self::push_many`], and the words read are live.
    pub(crate) unsafe fn holds<L: Lane>(&self, lane: &L, logs: &Logs) -> bool {
        let mut i = 0;
        while i < self.len {
            // SAFETY: as the caller's, and i is below the count.
            let (addresses, values) =
                unsafe { (self.addresses(lane, logs, i), self.values(lane, logs, i)) };
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
