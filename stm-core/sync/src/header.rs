//! The header of an array of locks or of combiners: the record of the first fault, and the
//! flag of a section that panicked.

use super::lock::LockFault;
use stm_machine::Lane;

/// The words of the record of the first fault: its number, 0 for none; the
/// lock, low half and high; the thread, low half and high.
pub(crate) const FAULT_WORDS: usize = 5;

/// The words before the first lock. The record is on a line of its own.
pub(crate) const HEADER_WORDS: usize = 32;

/// Records a fault of the calling thread at lock `index`, if it is the first, and returns it.
///
/// # Safety
/// `record` has [`FAULT_WORDS`] live words that are accessed by lanes only.
#[inline(never)]
pub(crate) unsafe fn record_fault<L: Lane>(
    lane: &L,
    record: *mut u32,
    index: u64,
    fault: LockFault,
) -> LockFault {
    let thread = lane.grid_thread();
    let rest = [
        index as u32,
        (index >> 32) as u32,
        thread as u32,
        (thread >> 32) as u32,
    ];
    // SAFETY: the caller's promise. Relaxed: the host reads the words after the
    // launch has ended, which orders them; only the claimant of the first word stores the others.
    unsafe {
        if lane.cas_relaxed_32(record, 0, fault as u32) == 0 {
            let mut word = record;
            for value in rest {
                word = word.wrapping_add(1);
                lane.store_relaxed_32(word, value);
            }
        }
    }
    fault
}
