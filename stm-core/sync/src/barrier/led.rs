//! The barrier with a leader.

use super::{BarrierMemory, GROUPS_MAX, Meeting};
use stm_machine::{Lane, observe::Mutant};

/// A barrier with a leader, for many blocks: the blocks of a group count themselves
/// on the group's counter; the lanes of block 0's first warp poll one counter each,
/// and when all are complete, set one flag each, which the blocks of a group poll.
///
/// It is the barrier of Xiao and Feng 2010 with a counter and a flag for each group
/// of some 32 blocks in place of each block, so that one warp is enough and needs no
/// barrier of its block; and no line has both additions and the polls of many.
///
/// Line 1 + g holds the counter of group g, and line 1 + `groups` + g its flag, which
/// is the number of rounds that have ended.
#[derive(Clone, Copy, Debug)]
pub struct Led;

/// The number of blocks of a group, unless that makes more than [`GROUPS_MAX`].
const MEMBERS: u32 = 32;

impl Led {
    /// Does the leader's part: block 0's first warp calls it, all lanes together.
    #[inline(always)]
    fn lead<L: Lane>(lane: &L, place: &BarrierMemory, next: u64) -> bool {
        let warp = lane.warp_mask();
        let lanes = warp.count_ones();
        let mut came = true;
        let mut group = lane.lane_index();
        while came && group < place.groups() {
            let goal = next * u64::from(place.members(group));
            came = place.until(lane, 1 + group, goal);
            group += lanes;
        }
        // SAFETY: all lanes of the warp call this, and reconverge after the loop.
        unsafe {
            lane.sync_warp(warp);
            if lane.ballot(warp, !came) != 0 {
                return false;
            }
        }
        // ORDER(B3): pairs with B2 of the other blocks, to which it passes what the
        // lanes have acquired.
        Mutant::BarrierNotPassedOn.fence(lane);
        let mut group = lane.lane_index();
        while group < place.groups() {
            // SAFETY: a live word.
            unsafe { lane.store_relaxed_64(place.word(1 + place.groups() + group), next) };
            group += lanes;
        }
        true
    }
}

#[stm_machine::inlined]
impl Meeting for Led {
    const NAME: &'static str = "led";

    fn groups(blocks: u32) -> u32 {
        (1 << (blocks / MEMBERS).max(1).ilog2()).min(GROUPS_MAX)
    }

    fn lines(_blocks: u32, groups: u32) -> u32 {
        2 * groups
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        let group = place.group_of(lane.block_index());
        // SAFETY: a live word. Relaxed: the thread left the last round, or the
        // launch began, after the flag got this value.
        unsafe { lane.load_relaxed_64(place.word(1 + place.groups() + group)) }
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        let (block, thread) = (lane.block_index(), lane.thread_index());
        let (group, next) = (place.group_of(block), round + 1);
        if thread == 0 {
            // ORDER(B1): release; pairs with B2 of the leader.
            Mutant::BarrierNoRelease.fence(lane);
            // SAFETY: a live word.
            unsafe { lane.add_relaxed_64(place.word(1 + group), 1) };
        }
        if block != 0 {
            return thread != 0 || place.until(lane, 1 + place.groups() + group, next);
        }
        lane.warp_index() != 0 || Self::lead(lane, place, next)
    }
}
