//! Steps that the lanes of a warp make together.

use crate::wait::Stopped;
use stm_machine::{Lane, Stop};

/// How many rounds follow each other before the lanes look at the stop flag.
const ROUNDS: u32 = 64;

/// Calls `step` in each lane of `mask` until it has returned true there; the lanes meet after each round. A
/// step tries what it can, by the `try_` methods of channels, and does not wait: so a lane that waits never
/// keeps one of its warp from putting, however the warp diverges (Li et al. 2015, section 4.4.1).
///
/// # Errors
/// [`Stopped`], for the lanes whose steps were not done, if the launch was told to stop.
///
/// # Safety
/// Each lane of the mask calls it with the same mask, and only lanes that the warp has are in it
/// ([`Lane`], obligation 4). `step` contains no operation of several threads.
#[inline(always)]
pub unsafe fn in_rounds<L: Lane>(
    lane: &L,
    mask: u32,
    stop: Stop,
    mut step: impl FnMut() -> bool,
) -> Result<(), Stopped> {
    let (mut done, mut stopped, mut rounds) = (false, false, 0);
    loop {
        if !done && !stopped {
            done = step();
            rounds += 1;
            if !done && rounds == ROUNDS {
                stopped = stop.is_raised(lane);
                lane.pause(0);
                rounds = 0;
            }
        }
        // SAFETY: the caller's promise; every lane of the mask stays until all leave.
        if unsafe { lane.ballot(mask, !done && !stopped) } == 0 {
            return if done { Ok(()) } else { Err(Stopped) };
        }
    }
}
