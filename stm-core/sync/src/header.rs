//! The header of an array of locks or of combiners: the record of the first fault, and the flag of a panic.
//!
//! On the CPU a panic in a section unwinds past the code that would give the lock up, so the lock stays held;
//! a guard dropped by the unwinding raises the flag. Who waits looks at it now and then, and who comes once:
//! a thread that has given up its wait may still have a place in a queue, and must not take another one of
//! the array. So all locks of the array refuse everybody, until `Locks::reset`. On a GPU nothing unwinds.

use super::lock::{LockFault, UNWINDS};
use stm_machine::{Lane, memory::Word};

/// The words of the record of the first fault: its number, 0 for none; lock and thread, low half first.
pub(crate) const FAULT_WORDS: usize = 5;

/// The word that is 1 once a section has panicked.
const FAILED: usize = FAULT_WORDS;

/// The words before the first lock. The record is on a line of its own.
pub(crate) const HEADER_WORDS: usize = 32;

#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header(*mut u32);

#[stm_machine::inlined]
impl Header {
    /// Makes the header at an address.
    ///
    /// # Safety
    /// Its words are live as long as it is used, and accessed by lanes only.
    pub(crate) const unsafe fn at(words: *mut u32) -> Self {
        Self(words)
    }

    /// Returns the address of word `i` behind the header.
    pub(super) const fn behind(self, i: usize) -> *mut u32 {
        self.0.wrapping_add(HEADER_WORDS + i)
    }

    /// Returns word `i` of the header.
    const fn word<L: Lane>(self, lane: &L, i: usize) -> Word<'_, L, u32> {
        // SAFETY: live, of 32 bits, and accessed by lanes only (`at`).
        unsafe { Word::of(lane, self.0.wrapping_add(i)) }
    }

    /// Looks at the flag. Errors: [`LockFault::HolderFailed`] if it is raised.
    pub(super) fn check<L: Lane>(self, lane: &L) -> Result<(), LockFault> {
        // Relaxed: the flag carries no data, is seen eventually, and then for good.
        if UNWINDS && self.word(lane, FAILED).load() != 0 {
            return Err(LockFault::HolderFailed);
        }
        Ok(())
    }

    /// Returns the number of the first fault, or 0. A thread sees at least its own fault.
    pub(super) fn first_fault<L: Lane>(self, lane: &L) -> u32 {
        // Relaxed: the number carries no data.
        self.word(lane, 0).load()
    }

    /// Records a fault of the calling thread at lock `index`, if it is the first, and returns it.
    #[inline(never)]
    pub(super) fn record<L: Lane>(self, lane: &L, index: u64, fault: LockFault) -> LockFault {
        let thread = lane.grid_thread();
        let rest = [
            index as u32,
            (index >> 32) as u32,
            thread as u32,
            (thread >> 32) as u32,
        ];
        // Relaxed: the host reads them after the launch; the claimant of the first alone stores the others.
        if self.word(lane, 0).cas(0, fault as u32) == 0 {
            for (i, value) in (1..).zip(rest) {
                self.word(lane, i).store(value);
            }
        }
        fault
    }

    /// Runs the section of a holder of lock `index`, and raises the flag if it panics.
    pub(super) fn watch<L: Lane, R>(self, lane: &L, index: u64, section: impl FnOnce() -> R) -> R {
        let guard = Guard {
            header: self,
            lane,
            index,
        };
        let result = section();
        core::mem::forget(guard);
        result
    }
}

/// What is dropped if a section panics, and forgotten if it does not.
struct Guard<'l, L: Lane> {
    header: Header,
    lane: &'l L,
    index: u64,
}

impl<L: Lane> Drop for Guard<'_, L> {
    fn drop(&mut self) {
        // Relaxed, as in `check`.
        self.header.word(self.lane, FAILED).store(1);
        (self.header).record(self.lane, self.index, LockFault::HolderFailed);
    }
}
