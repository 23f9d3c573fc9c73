//! The semaphore of tickets and posts.

use super::{Gate, SECOND_LINE, Waiting};
use stm_machine::{Lane, observe::Mutant};

/// A semaphore that counts two things only: the tickets drawn, and the posts. Whoever has
/// ticket t is inside as soon as there are more than t less `count` posts.
///
/// It does less than [`Sleeping`](super::Sleeping). A thread that comes makes one addition and
/// one load, both in flight together, whether there is room or not; a thread that leaves makes
/// one addition, for whose result it does not wait, and need not know whether somebody waits.
/// So a hand-over takes the way of one addition and of one load. Threads come in in the order
/// of their tickets.
///
/// At most `count` are inside: only threads whose ticket is below `count` plus the posts have
/// come in, so there are at most that many of them, and each post is by one that has left. A
/// number of posts that was loaded earlier is a smaller one, and lets in fewer. Tickets and
/// posts have 64 bits each, in lines of their own.
#[derive(Clone, Copy, Debug)]
pub struct Tickets;

#[stm_machine::inlined]
impl Waiting for Tickets {
    const NAME: &'static str = "tickets";
    /// The ticket, if the thread has drawn it.
    type State = Option<u64>;

    fn begin() -> Option<u64> {
        None
    }

    fn enter<L: Lane>(lane: &L, gate: Gate, state: &mut Option<u64>) -> bool {
        // ORDER(P1): acquire; pairs with V1 of all posts that are counted.
        // SAFETY: live words.
        let (ticket, posts) = unsafe {
            // The load does not wait for the addition; an older count is a smaller one.
            let posts = lane.load_relaxed_64(gate.wide_word(SECOND_LINE));
            let draw = || lane.fetch_add_relaxed_64(gate.wide_word(0), 1);
            (state.unwrap_or_else(draw), posts)
        };
        *state = Some(ticket);
        if ticket >= posts + u64::from(gate.room(lane)) {
            return false;
        }
        Mutant::SemaphoreNoAcquire.fence(lane);
        true
    }

    fn leave<L: Lane>(lane: &L, gate: Gate) -> bool {
        if Mutant::SemaphorePostLost.on(lane) {
            return true;
        }
        // ORDER(V1): release; pairs with P1.
        Mutant::SemaphoreNoRelease.fence(lane);
        // SAFETY: a live word.
        unsafe { lane.add_relaxed_64(gate.wide_word(SECOND_LINE), 1) };
        true
    }
}
