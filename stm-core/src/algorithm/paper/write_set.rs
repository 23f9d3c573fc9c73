//! The write set: the values a commit will store, in the order of the writes.

use crate::algorithm::paper::read_set::BATCH;
use crate::lane::Lane;
use crate::memory::bloom::Bloom;
use crate::memory::logs::Logs;
use crate::memory::word::WordAddress;
use crate::observe::mutant::Mutant;
use crate::tx::abort::Abort;

/// The words an attempt has written. The pairs are in the lane's [`Logs`];
/// this is their count and the filter over them, in registers.
///
/// A word written again takes another entry: write-back runs in order, so the
/// last one stands, and a write needs no search. A set without room is searched,
/// and loses what it holds twice, before it counts as full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteSet {
    len: u32,
    bloom: Bloom,
}

impl WriteSet {
    /// The empty set.
    pub(crate) const EMPTY: Self = Self {
        len: 0,
        bloom: Bloom::EMPTY,
    };

    /// The number of entries, repeated writes included.
    #[cfg(test)]
    #[inline(always)]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// Whether the transaction has written nothing.
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the word may have been written; no memory is looked at.
    #[inline(always)]
    pub(crate) const fn may_hold(&self, address: WordAddress) -> bool {
        self.bloom.may_contain(address)
    }

    /// The value last written to a word, if the transaction wrote it
    /// (Algorithm 3, lines 22-23).
    ///
    /// # Safety
    /// `logs` are the calling lane's, and hold this set.
    #[inline(always)]
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

    /// The latest entry for a word: searched from the end.
    ///
    /// # Safety
    /// As for [`Self::get`].
    #[inline(always)]
    unsafe fn last<L: Lane>(&self, lane: &L, logs: &Logs, address: WordAddress) -> Option<u32> {
        let mut i = self.len;
        while i != 0 {
            i -= 1;
            // SAFETY: below the count, so stored in this attempt.
            if unsafe { logs.write(lane, i).address(lane) } == address {
                return Some(i);
            }
        }
        None
    }

    /// Buffers a write (Algorithm 3, line 37).
    ///
    /// # Errors
    /// [`Abort::WriteSetFull`] if there are more distinct words than room; no
    /// word is lost.
    ///
    /// # Safety
    /// As for [`Self::get`].
    #[inline(always)]
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
                if let Some(i) = self.last(lane, logs, address) {
                    logs.write(lane, i).store_value(lane, value);
                    return Ok(());
                }
                self.compact(lane, logs);
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

    /// Keeps one entry of each word, with its last value.
    ///
    /// # Safety
    /// As for [`Self::get`].
    #[inline(always)]
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

    /// For [`Mutant::WriteAtReadPosition`]: stores a value at an entry, if it
    /// exists.
    ///
    /// # Safety
    /// As for [`Self::get`].
    #[inline(always)]
    pub(crate) unsafe fn store_at<L: Lane>(&self, lane: &L, logs: &Logs, i: u32, value: u64) {
        if i < self.len {
            // SAFETY: below the count, so stored in this attempt.
            unsafe { logs.write(lane, i).store_value(lane, value) };
        }
    }

    /// Stores every buffered value, in order, relaxed (Algorithm 3, lines
    /// 80-81). The caller holds the locks and fences before and after.
    ///
    /// # Safety
    /// As for [`Self::get`]; the words written are live.
    #[inline(always)]
    pub(crate) unsafe fn write_back<L: Lane>(&self, lane: &L, logs: &Logs) {
        let mut i = 0;
        while i < self.len {
            // A batch of loads in flight; past the end, the last entry again,
            // which stores the same value once more.
            let slots: [_; BATCH] =
                core::array::from_fn(|j| logs.write(lane, (i + j as u32).min(self.len - 1)));
            // SAFETY: below the count, so stored in this attempt.
            let pairs = slots.map(|slot| unsafe { (slot.address(lane), slot.value(lane)) });
            for (address, value) in pairs {
                // SAFETY: the caller's: the words live.
                unsafe { address.store(lane, value) };
            }
            i += BATCH as u32;
        }
    }
}
