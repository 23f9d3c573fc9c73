//! Waiting for another thread: polls, pauses between them, and the stop flag.

use stm_machine::{Lane, Stop};

/// The error of a wait at a barrier, a semaphore or a channel that ended because the launch was told to stop:
/// what the thread waited for has not come, and the kernel should return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

/// How many polls follow each other without a pause: some 7 us on a GPU, in which most waits end.
pub(crate) const POLLS: u32 = 16;

/// The pause after each [`POLLS`] polls, in nanoseconds, short beside a poll, where threads share a core.
pub(crate) const PAUSE_NS: u32 = 20;

/// Polls until `came` returns true, and returns whether it did; else the launch was told to stop.
#[inline(always)]
pub(crate) fn until<L: Lane>(lane: &L, stop: Stop, mut came: impl FnMut() -> bool) -> bool {
    loop {
        // A loop of its own, which a compiler spells out: barriers are faster so, and where the wait is a
        // part of much other code, that becomes slower (`docs/lab-notes/2026-11-22-alignments.md`).
        let mut polls = 0;
        while polls < POLLS {
            if came() {
                return true;
            }
            polls += 1;
        }
        if stop.is_raised(lane) {
            return false;
        }
        lane.pause(PAUSE_NS);
    }
}

/// Polls in little code until `came` returns something, with a look at the stop flag after every `limit` polls.
#[inline(always)]
pub(crate) fn awaited<L: Lane, T>(
    lane: &L,
    stop: Stop,
    limit: u32,
    mut came: impl FnMut() -> Option<T>,
) -> Result<T, Stopped> {
    let mut polls = 0;
    loop {
        if let Some(value) = came() {
            return Ok(value);
        }
        polls += 1;
        if polls == limit {
            if stop.is_raised(lane) {
                return Err(Stopped);
            }
            lane.pause(PAUSE_NS);
            polls = 0;
        }
    }
}
