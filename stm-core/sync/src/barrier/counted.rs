//! The barrier with one counter.

use super::{BarrierMemory, Meeting};
use stm_machine::{Lane, observe::Mutant};

/// A barrier with one hand-over: the blocks count themselves on one counter, and
/// those that are not the last poll it. It is what grid barriers usually are.
///
/// Line 1 holds the counter. It grows by 2^16 in each round, as block 0 adds 2^16 less
/// the number of the others, so that the number of the round is in the upper bits, and
/// a round is complete when they change.
///
/// An arrival is an addition with a result, which tells the last block that it need
/// not poll; the polls of the others begin when the result is there, and have a short
/// pause between them. On an H200 both together are faster than an addition without a
/// result and polls that follow each other (`docs/lab-notes/2026-11-22-barriers.md`).
#[derive(Clone, Copy, Debug)]
pub struct Counted;

/// The number of bits below the number of the round. There are at most
/// [`BLOCKS_MAX`](super::BLOCKS_MAX) blocks.
const ROUND_SHIFT: u32 = 16;

/// The line of the counter.
const COUNTER: u32 = 1;

#[stm_machine::inlined]
impl Meeting for Counted {
    const NAME: &'static str = "counted";

    fn lines(_blocks: u32, _groups: u32) -> u32 {
        1
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        // SAFETY: a live word. Relaxed: the thread left the last round, or the
        // launch began, after the upper bits got this value.
        unsafe { lane.load_relaxed_64(place.word(COUNTER)) >> ROUND_SHIFT }
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        if lane.thread_index() != 0 {
            return true;
        }
        let step = if lane.block_index() == 0 {
            (1 << ROUND_SHIFT) - u64::from(place.blocks() - 1)
        } else {
            1
        };
        // ORDER(B1): release; pairs with B2 of every block.
        Mutant::BarrierNoRelease.fence(lane);
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_64(place.word(COUNTER), step) };
        let goal = (round + 1) << ROUND_SHIFT;
        if before + step >= goal {
            // ORDER(B2): acquire, after the addition that has read from the last of
            // the others'; pairs with B1 of them all, as additions continue each
            // other's release sequences.
            Mutant::BarrierNoAcquire.fence(lane);
            return true;
        }
        place.until(lane, COUNTER, goal)
    }
}
