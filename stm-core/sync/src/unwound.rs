//! Sections that end by a panic.
//!
//! On the CPU a panic in a section unwinds past the code that would give the lock up. Nobody can
//! say what the section has left half-done, so the lock stays held, as a mutex of the standard
//! library is poisoned; but those who wait for it must not wait for ever. A guard that lives as
//! long as the section raises a flag in the header of the array when it is dropped, which happens
//! in such an unwinding only. Who waits looks at the flag now and then, and who comes looks at it
//! once: a thread that has given up its wait may still have a place in a queue, and must not take
//! another one of the array. So all locks of the array refuse everybody, until `Locks::reset`.
//!
//! On a GPU nothing unwinds (`panic = "abort"`): there the guard is never dropped, and
//! nobody looks.

use super::header::{FAULT_WORDS, record_fault};
use super::lock::{LockFault, UNWINDS};
use stm_machine::Lane;

/// The word of an array's header that is 1 once a section has panicked. The words
/// before it are those of the record of the first fault.
const FAILED: usize = FAULT_WORDS;

/// The flag of an array whose sections may panic.
#[derive(Clone, Copy)]
pub(super) struct Failure {
    header: *mut u32,
}

#[stm_machine::inlined]
impl Failure {
    /// Makes the flag in the header at `header`.
    ///
    /// # Safety
    /// The header's words are live as long as the flag is used, and accessed by lanes only.
    pub(super) const unsafe fn of(header: *mut u32) -> Self {
        Self { header }
    }

    /// Looks at the flag. Errors: [`LockFault::HolderFailed`] if it is raised.
    pub(super) fn check<L: Lane>(self, lane: &L) -> Result<(), LockFault> {
        // SAFETY: live (`of`). Relaxed: the flag carries no data, is seen eventually, and
        // who has seen it once sees it again.
        if UNWINDS && unsafe { lane.load_relaxed_32(self.header.wrapping_add(FAILED)) } != 0 {
            return Err(LockFault::HolderFailed);
        }
        Ok(())
    }

    /// Runs the section of a holder of lock `index`, and raises the flag if it panics.
    pub(super) fn watch<L: Lane, R>(self, lane: &L, index: u64, section: impl FnOnce() -> R) -> R {
        let guard = Guard {
            failure: self,
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
    failure: Failure,
    lane: &'l L,
    index: u64,
}

impl<L: Lane> Drop for Guard<'_, L> {
    fn drop(&mut self) {
        let header = self.failure.header;
        // SAFETY: live (`Failure::of`). Relaxed, as in `check`.
        unsafe {
            let failed = header.wrapping_add(FAILED);
            self.lane.store_relaxed_32(failed, 1);
            record_fault(self.lane, header, self.index, LockFault::HolderFailed);
        }
    }
}
