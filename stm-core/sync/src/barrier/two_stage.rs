//! The two-stage atomic barrier.

use super::{BarrierMemory, Meeting};
use stm_machine::{Lane, observe::Mutant};

/// The two-stage atomic barrier, with which Stuart and Owens 2011 (section 5) and
/// Xiao and Feng 2010 compare theirs: all blocks count themselves in, and when all
/// are in, they count themselves out.
///
/// Line 1 holds the counter of arrivals and line 2 that of departures. Both only grow, by the
/// number of blocks in each round; the number of a round is what the second one is before it.
/// Counting up and down on one counter would need no number, but a block that comes to the next
/// round could meet one that has not left this one.
#[derive(Clone, Copy, Debug)]
pub struct TwoStage;

#[stm_machine::inlined]
impl Meeting for TwoStage {
    const NAME: &'static str = "two-stage";

    fn lines(_blocks: u32, _groups: u32) -> u32 {
        2
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        // SAFETY: a live word. Relaxed: the thread left the last round, or the
        // launch began, after the counter got this value.
        unsafe { lane.load_relaxed_64(place.word(2)) }
    }

    fn step(place: &BarrierMemory) -> u64 {
        u64::from(place.blocks())
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        if lane.thread_index() != 0 {
            return true;
        }
        let all = round + Self::step(place);
        // ORDER(B1): release; pairs with B2 of every block.
        Mutant::BarrierNoRelease.fence(lane);
        // SAFETY: a live word.
        unsafe { lane.add_relaxed_64(place.word(1), 1) };
        if !place.until(lane, 1, all) {
            return false;
        }
        // SAFETY: a live word. Relaxed: the first stage has ordered everything.
        unsafe { lane.add_relaxed_64(place.word(2), 1) };
        place.until(lane, 2, all)
    }
}
