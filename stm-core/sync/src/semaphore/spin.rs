//! Spinning semaphores.

use super::{Gate, Waiting};
use stm_machine::{Lane, observe::Mutant};

/// The spinning semaphore of Stuart and Owens 2011 (algorithm 4).
///
/// Its word is the number of threads that may still come in, plus one; it is 0 while
/// a thread has it. A thread takes it by an exchange with 0, and stores it again with
/// one less or one more, or as it was.
#[derive(Clone, Copy, Debug)]
pub struct Spin;

/// What the word of [`Spin`] is while a thread has it.
const TAKEN: u32 = 0;

#[stm_machine::inlined]
impl Spin {
    fn put<L: Lane>(lane: &L, gate: Gate, value: u32) {
        // ORDER(V1): release; pairs with P1 of whoever takes the word next. It is one
        // even if nobody came or left, so that P1 acquires all posts before.
        // SAFETY: a live word, which nobody else stores to now.
        unsafe {
            if Mutant::SemaphoreNoRelease.on(lane) {
                lane.store_relaxed_32(gate.word(0), value);
            } else {
                lane.store_release_32(gate.word(0), value);
            }
        }
    }

    fn take<L: Lane>(lane: &L, gate: Gate) -> u32 {
        // ORDER(P1): acquire; pairs with V1.
        // SAFETY: a live word.
        unsafe { lane.exchange_acquire_32(gate.word(0), TAKEN) }
    }
}

#[stm_machine::inlined]
impl Waiting for Spin {
    const NAME: &'static str = "spin";
    type State = ();

    fn first_word(_kind: u32, count: u32) -> u32 {
        count + 1
    }

    fn begin() {}

    fn enter<L: Lane>(lane: &L, gate: Gate, _state: &mut ()) -> bool {
        let found = Self::take(lane, gate);
        if found == TAKEN {
            return false;
        }
        let full = found == 1 && !Mutant::SemaphoreOneMore.on(lane);
        Self::put(lane, gate, if full { 1 } else { found.max(2) - 1 });
        !full
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        // The word is taken for two operations of its holder only.
        let found = Self::take(lane, gate);
        if found != TAKEN {
            let more = u32::from(!Mutant::SemaphorePostLost.on(lane));
            Self::put(lane, gate, found + more);
        }
        found != TAKEN
    }
}

/// The spinning semaphore with backoff of Stuart and Owens 2011 (section 5): after
/// each try that failed, a thread pauses for one unit more than the time before, and
/// after the longest pause begins again with the shortest. A post does not pause.
#[derive(Clone, Copy, Debug)]
pub struct SpinBackoff;

/// The unit of the pauses in nanoseconds: about the time of an access, as in the paper.
const UNIT_NS: u32 = 500;

/// The shortest and the longest pause in units.
const PAUSES: (u32, u32) = (1, 16);

#[stm_machine::inlined]
impl Waiting for SpinBackoff {
    const NAME: &'static str = "spin-backoff";
    /// The next pause in units.
    type State = u32;

    fn first_word(kind: u32, count: u32) -> u32 {
        Spin::first_word(kind, count)
    }

    fn begin() -> u32 {
        PAUSES.0
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, _state: &mut u32) -> bool {
        Spin::enter(lane, gate, &mut ())
    }

    fn pause<L: Lane>(lane: &L, _gate: Gate, state: &mut u32) {
        lane.pause(*state * UNIT_NS);
        *state = if *state == PAUSES.1 {
            PAUSES.0
        } else {
            *state + 1
        };
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        Spin::leave(lane, gate)
    }
}
