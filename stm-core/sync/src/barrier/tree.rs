//! The tree barrier.

use super::{BarrierMemory, GROUPS_MAX, Meeting};
use stm_machine::{Lane, observe::Mutant};

/// A tree of two levels, as Xiao and Feng 2010 describe: the blocks of a group count
/// themselves on the group's counter; the last of them counts the group on the root;
/// and the last there sets a flag that all poll.
///
/// Lines 1 to `groups` hold the counters of the groups, the next one the root, the
/// next one the flag, which is the number of rounds that have ended. There are about
/// as many groups as blocks in a group.
#[derive(Clone, Copy, Debug)]
pub struct Tree;

#[stm_machine::inlined]
impl Meeting for Tree {
    const NAME: &'static str = "tree";

    fn groups(blocks: u32) -> u32 {
        (1 << (blocks.max(1).ilog2() / 2)).min(GROUPS_MAX)
    }

    fn lines(_blocks: u32, groups: u32) -> u32 {
        groups + 2
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        // SAFETY: a live word. Relaxed: the thread left the last round, or the
        // launch began, after the flag got this value.
        unsafe { lane.load_relaxed_64(place.word(place.groups() + 2)) }
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        if lane.thread_index() != 0 {
            return true;
        }
        let (groups, next) = (place.groups(), round + 1);
        let group = place.group_of(lane.block_index());
        // ORDER(B1): release; pairs with B3 of the last of the group.
        Mutant::BarrierNoRelease.fence(lane);
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_64(place.word(1 + group), 1) };
        if before + 1 == next * u64::from(place.members(group)) {
            // ORDER(B3): acquires what the group has released, and passes it on to
            // the last at the root.
            Mutant::BarrierNotPassedOn.fence(lane);
            // SAFETY: a live word.
            let before = unsafe { lane.fetch_add_relaxed_64(place.word(groups + 1), 1) };
            if before + 1 == next * u64::from(groups) {
                // ORDER(B3): as above; pairs with B2 of all blocks.
                Mutant::BarrierNotPassedOn.fence(lane);
                // SAFETY: a live word.
                unsafe { lane.store_relaxed_64(place.word(groups + 2), next) };
            }
        }
        place.until(lane, groups + 2, next)
    }
}
