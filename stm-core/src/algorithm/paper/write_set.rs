//! The write set: the values that a commit writes back, in the order of the writes.

use crate::algorithm::paper::read_set::BATCH;
use crate::memory::bloom::Bloom;
use crate::memory::logs::Logs;
use crate::tx::abort::Abort;
use stm_machine::{Lane, WordAddress, observe::Mutant};

/// The words that an attempt has written. The entries are in the lane's
/// [`Logs`]; this is their count and a filter over them, in registers.
///
/// A repeated write to a word takes another entry: write-back runs in order, so
/// the last value stands, and a write needs no search. Only a set without room
/// is searched and loses its duplicates before it counts as full.
#[derive(Clone, Copy, Debug)]
pub struct WriteSet {
    len: u32,
    /// The number of entries when the innermost open alternative began; these do not change.
    floor: u32,
    bloom: Bloom,
}

#[stm_core_macros::inlined]
impl WriteSet {
    pub(crate) const EMPTY: Self = Self {
        len: 0,
        floor: 0,
        bloom: Bloom::EMPTY,
    };

    /// Returns the number of entries, repeated writes included.
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Says whether the word may have been written, without accessing memory.
    pub(crate) const fn may_hold(&self, address: WordAddress) -> bool {
        self.bloom.may_contain(address)
    }

    /// Returns the value last written to a word, if the transaction wrote it
    /// (Algorithm 3, lines 22-23).
    ///
    /// # Safety
    /// `logs` are the calling lane's, and hold this set.
    pub(crate) unsafe fn get<L: Lane>(
        &self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
    ) -> Option<u64> {
        if !self.bloom.may_contain(address) {
            return None;
        }
        // SAFETY: the caller's; `last` returns an index below the count.
        unsafe {
            self.last(lane, logs, address)
                .map(|i| logs.write(lane, i).value(lane))
        }
    }

    /// Returns the latest entry for a word, by a search from the end.
    ///
    /// # Safety
    /// The obligations are those of [`Self::get`].
    unsafe fn last<L: Lane>(&self, lane: &L, logs: &Logs, address: WordAddress) -> Option<u32> {
        let mut i = self.len;
        while i != 0 {
            i -= 1;
            // SAFETY: the entry is below the count, so this attempt stored it.
            if unsafe { logs.write(lane, i).address(lane) } == address {
                return Some(i);
            }
        }
        None
    }

    /// Buffers a write (Algorithm 3, line 37).
    ///
    /// # Errors
    /// [`Abort::WriteSetFull`] if there are more distinct words than entries;
    /// the set keeps all its words.
    ///
    /// # Safety
    /// The obligations are those of [`Self::get`].
    pub(crate) unsafe fn push<L: Lane>(
        &mut self,
        lane: &L,
        logs: &Logs,
        address: WordAddress,
        value: u64,
    ) -> Result<(), Abort> {
        if self.len >= logs.capacity().writes && !Mutant::LogsUnchecked.on(lane) {
            // SAFETY: as the caller's; positions are below the count.
            unsafe {
                if let Some(i) = self.last(lane, logs, address)
                    && i >= self.floor
                {
                    logs.write(lane, i).store_value(lane, value);
                    return Ok(());
                }
                if self.floor == 0 {
                    self.compact(lane, logs);
                }
            }
            if self.len >= logs.capacity().writes {
                return Err(Abort::WriteSetFull);
            }
        }
        // SAFETY: the index is below the capacity.
        unsafe { logs.write(lane, self.len).store(lane, address, value) };
        self.len += 1;
        self.bloom.insert(address);
        Ok(())
    }

    pub(crate) const fn save(&mut self) -> Self {
        let saved = *self;
        self.floor = self.len;
        saved
    }

    pub(crate) const fn keep(&mut self, saved: Self) {
        self.floor = saved.floor;
    }

    /// Returns the address of entry `i`.
    ///
    /// # Safety
    /// The obligations are those of [`Self::get`], and the set has more than `i` entries.
    pub(crate) unsafe fn address<L: Lane>(lane: &L, logs: &Logs, i: u32) -> WordAddress {
        // SAFETY: the entry is below the count, so this attempt stored it.
        unsafe { logs.write(lane, i).address(lane) }
    }

    /// Removes duplicates: keeps one entry for each word, with its last value.
    ///
    /// # Safety
    /// The obligations are those of [`Self::get`].
    unsafe fn compact<L: Lane>(&mut self, lane: &L, logs: &Logs) {
        let mut kept = Self { len: 0, ..*self };
        for i in 0..self.len {
            // SAFETY: as the caller's; both indices are below the count.
            unsafe {
                let slot = logs.write(lane, i);
                let (address, value) = (slot.address(lane), slot.value(lane));
                if let Some(first) = kept.last(lane, logs, address) {
                    logs.write(lane, first).store_value(lane, value);
                } else {
                    logs.write(lane, kept.len).store(lane, address, value);
                    kept.len += 1;
                }
            }
        }
        *self = kept;
    }

    /// Implements [`Mutant::WriteAtReadPosition`]: stores a value into an
    /// entry, if the entry exists.
    ///
    /// # Safety
    /// The obligations are those of [`Self::get`].
    pub(crate) unsafe fn store_at<L: Lane>(&self, lane: &L, logs: &Logs, i: u32, value: u64) {
        if i < self.len {
            // SAFETY: the entry is below the count, so this attempt stored it.
            unsafe { logs.write(lane, i).store_value(lane, value) };
        }
    }

    /// Writes back: stores every buffered value, in order, relaxed (Algorithm 3, lines 80-81). The
    /// caller holds the locks, and fences before and after.
    ///
    /// # Safety
    /// The obligations are those of [`Self::get`], and the words written are live.
    pub(crate) unsafe fn write_back<L: Lane>(&self, lane: &L, logs: &Logs) {
        let mut i = 0;
        while i < self.len {
            // A batch of loads is in flight; past the end it repeats the last
            // entry, which stores the same value once more.
            let slots: [_; BATCH] =
                core::array::from_fn(|j| logs.write(lane, (i + j as u32).min(self.len - 1)));
            // SAFETY: the entry is below the count, so this attempt stored it.
            let pairs = slots.map(|slot| unsafe { (slot.address(lane), slot.value(lane)) });
            for (address, value) in pairs {
                // SAFETY: the caller's: the words live.
                unsafe { address.store(lane, value) };
            }
            i += BATCH as u32;
        }
    }
}
