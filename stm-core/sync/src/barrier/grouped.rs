//! The barrier with counters of groups, and one that all poll.

use super::{BarrierMemory, Meeting};
use stm_machine::{Lane, observe::Mutant};

/// A barrier for many blocks: the blocks of a group count themselves on the group's
/// counter; the last of each counts the group on the root, which all poll.
///
/// It is [`Tree`](super::Tree) without the flag. There are few groups, so that the
/// polls of many blocks delay few additions, and the last hand-over is one poll of a
/// counter. On an H200 it is the fastest from about a thousand blocks on
/// (`docs/lab-notes/2026-11-22-barriers.md`).
///
/// Line 1 + g holds the counter of group g, and line 1 + `groups` the root.
#[derive(Clone, Copy, Debug)]
pub struct Grouped;

/// The number of groups, a power of two.
const GROUPS: u32 = 4;

impl Grouped {
    #[inline(always)]
    const fn root(place: &BarrierMemory) -> u32 {
        1 + place.groups()
    }
}

#[stm_machine::inlined]
impl Meeting for Grouped {
    const NAME: &'static str = "grouped";

    fn groups(blocks: u32) -> u32 {
        (1 << blocks.max(1).ilog2()).min(GROUPS)
    }

    fn lines(_blocks: u32, groups: u32) -> u32 {
        groups + 1
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        // SAFETY: a live word. Relaxed: the thread left the last round, or the launch
        // began, after the root had counted all groups of it; and of the next one it
        // has not counted this block's.
        unsafe { lane.load_relaxed_64(place.word(Self::root(place))) >> place.groups_log2() }
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        if lane.thread_index() != 0 {
            return true;
        }
        let next = round + 1;
        let group = place.group_of(lane.block_index());
        // ORDER(B1): release; pairs with B3 of the last of the group.
        Mutant::BarrierNoRelease.fence(lane);
        // SAFETY: a live word.
        let before = unsafe { lane.fetch_add_relaxed_64(place.word(1 + group), 1) };
        if before + 1 == next * u64::from(place.members(group)) {
            // ORDER(B3): acquires what the group has released, and passes it on to
            // all blocks; pairs with B2 of them.
            Mutant::BarrierNotPassedOn.fence(lane);
            // SAFETY: a live word.
            unsafe { lane.add_relaxed_64(place.word(Self::root(place)), 1) };
        }
        place.until(lane, Self::root(place), next * u64::from(place.groups()))
    }
}
