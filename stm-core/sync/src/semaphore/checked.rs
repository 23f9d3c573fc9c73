//! Semaphores that report misuse.

use super::{Gate, Waiting};
use core::marker::PhantomData;
use stm_machine::Lane;

/// A semaphore with the algorithm `S` that refuses a post without a wait, which would make room for
/// one thread more than the count from then on. The host reports the first (`Semaphores::check`).
///
/// It counts the threads inside, which takes an addition for each wait and a compare-and-swap for
/// each post. If there are more posts than waits, one of them is found, though it may be another
/// one than that by mistake: a semaphore does not know whose wait a post belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Checked<S>(PhantomData<S>);

/// The word that counts the threads inside. The algorithms use the first two words of each line.
const INSIDE: usize = 8;

/// The first word of the record of a misuse: 1, and the thread, low half and high.
pub(crate) const MISUSE: usize = 9;

#[stm_machine::inlined]
impl<S: Waiting> Waiting for Checked<S> {
    const NAME: &'static str = S::NAME;
    const CHOSEN: bool = S::CHOSEN;
    type State = S::State;

    fn first_word(kind: u32, count: u32) -> u32 {
        S::first_word(kind, count)
    }

    fn begin() -> S::State {
        S::begin()
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut S::State) -> bool {
        let inside = S::enter(lane, gate, state);
        if inside {
            // SAFETY: a live word. Relaxed: a post of this thread, or of one that it has
            // told, finds the count in this word.
            unsafe { lane.fetch_add_relaxed_32(gate.word(INSIDE), 1) };
        }
        inside
    }

    fn pause<L: Lane>(lane: &L, gate: Gate, state: &mut S::State) {
        S::pause(lane, gate, state);
    }

    fn may_leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        // SAFETY: live words. Relaxed: the count alone matters, and the host reads the
        // record after the launch.
        unsafe {
            let mut inside = lane.load_relaxed_32(gate.word(INSIDE));
            loop {
                let before = inside;
                // The load may be old; a swap of 0 for 0 is not.
                let after = before.saturating_sub(1);
                inside = lane.cas_relaxed_32(gate.word(INSIDE), before, after);
                if inside != before {
                    continue;
                }
                if before == 0 {
                    Self::record(lane, gate);
                }
                return before != 0;
            }
        }
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        S::leave(lane, gate)
    }
}

impl<S: Waiting> Checked<S> {
    /// Records that the calling thread has posted without a wait, if it is the first.
    #[inline(never)]
    fn record<L: Lane>(lane: &L, gate: Gate) {
        let thread = lane.grid_thread();
        // SAFETY: live words. Relaxed: the host reads them after the launch.
        unsafe {
            if lane.cas_relaxed_32(gate.word(MISUSE), 0, 1) == 0 {
                lane.store_relaxed_32(gate.word(MISUSE + 1), thread as u32);
                lane.store_relaxed_32(gate.word(MISUSE + 2), (thread >> 32) as u32);
            }
        }
    }
}
