//! The sleeping semaphore.

use super::{Gate, SECOND_LINE, Waiting};
use stm_machine::{Lane, observe::Mutant};

/// The sleeping semaphore of Stuart and Owens 2011 (algorithm 5), which is fetch and add.
///
/// Word 0 counts the threads that are inside or wait. A thread that finds room there
/// is inside after one addition. Another one draws a ticket from word 1 and polls the
/// turn, in a line of its own, until it has passed the ticket. Whoever leaves while
/// somebody waits adds one to the turn. Tickets and turns may wrap around.
#[derive(Clone, Copy, Debug)]
pub struct Sleeping;

#[stm_machine::inlined]
impl Waiting for Sleeping {
    const NAME: &'static str = "sleeping";
    /// The ticket, if the thread has one.
    type State = Option<u32>;

    fn begin() -> Option<u32> {
        None
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Option<u32>) -> bool {
        if let Some(ticket) = *state {
            // ORDER(P1): acquire; pairs with V1 of the posts that let it in.
            // SAFETY: a live word.
            let turn = unsafe { lane.load_relaxed_32(gate.word(SECOND_LINE)) };
            if (turn.wrapping_sub(ticket) as i32) <= 0 {
                return false;
            }
            Mutant::SemaphoreNoAcquire.fence(lane);
            return true;
        }
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_32(gate.word(0), 1) };
        if before < gate.room(lane) {
            // ORDER(P1): acquire; pairs with V1 of all posts that the count contains.
            Mutant::SemaphoreNoAcquire.fence(lane);
            return true;
        }
        // SAFETY: a live word. Relaxed: a ticket carries no data.
        *state = Some(unsafe { lane.fetch_add_relaxed_32(gate.word(1), 1) });
        false
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        // ORDER(V1): release; pairs with P1, through the count or through the turn.
        Mutant::SemaphoreNoRelease.fence(lane);
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_32(gate.word(0), u32::MAX) };
        if before > gate.room(lane) && !Mutant::SemaphorePostLost.on(lane) {
            // SAFETY: a live word.
            unsafe { lane.fetch_add_relaxed_32(gate.word(SECOND_LINE), 1) };
        }
        true
    }
}
