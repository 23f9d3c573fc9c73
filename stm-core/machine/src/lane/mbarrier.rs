//! Barriers in shared memory that count arrivals, for the CPU, the simulator, and GPUs before `sm_80`.
//!
//! | bits of the word | meaning |
//! | --- | --- |
//! | 0..12 | arrivals of this phase that are still to come |
//! | 12..24 | arrivals of a phase |
//! | 24..32 | the number of phases that have ended, modulo 256 |
//!
//! Only the first half of the barrier's 64 bits is used, by 32-bit operations.

use super::Lane;

/// The position of the number of arrivals of a phase.
const COUNT_SHIFT: u32 = 12;
/// The position of the number of phases.
const PHASE_SHIFT: u32 = 24;
const COUNT_MASK: u32 = (1 << COUNT_SHIFT) - 1;

/// Makes a barrier.
///
/// # Safety
/// The obligations are those of [`Lane::mbarrier_init`].
#[inline(always)]
pub unsafe fn init<L: Lane + ?Sized>(lane: &L, i: u32, count: u32) {
    let count = count & COUNT_MASK;
    // SAFETY: the caller's promise. Relaxed: a barrier follows before anybody arrives.
    unsafe { lane.shared_store_32(i, count << COUNT_SHIFT | count) }
}

/// Counts an arrival.
///
/// # Safety
/// The obligations are those of [`Lane::mbarrier_arrive`].
#[inline(always)]
pub unsafe fn arrive<L: Lane + ?Sized>(lane: &L, i: u32) {
    // ORDER(H1): release; pairs with H2 of whoever finds the phase ended. An arrival that
    // follows another one in this phase continues its release sequence.
    lane.fence_block();
    // SAFETY: the caller's promise.
    unsafe {
        let mut found = lane.shared_load_32(i);
        loop {
            let new = if found & COUNT_MASK == 1 {
                let count = found >> COUNT_SHIFT & COUNT_MASK;
                (found >> PHASE_SHIFT).wrapping_add(1) << PHASE_SHIFT | count << COUNT_SHIFT | count
            } else {
                found.wrapping_sub(1)
            };
            let old = lane.shared_cas_32(i, found, new);
            if old == found {
                return;
            }
            found = old;
        }
    }
}

/// Returns whether the phase with a parity has ended.
///
/// # Safety
/// The obligations are those of [`Lane::mbarrier_try_wait`].
#[inline(always)]
pub unsafe fn try_wait<L: Lane + ?Sized>(lane: &L, i: u32, parity: u32) -> bool {
    // SAFETY: the caller's promise.
    let ended = unsafe { lane.shared_load_32(i) >> PHASE_SHIFT & 1 != parity & 1 };
    if ended {
        // ORDER(H2): acquire; pairs with H1 of the arrivals of the phase.
        lane.fence_block();
    }
    ended
}
