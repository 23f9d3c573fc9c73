//! The algorithms of barriers.

use super::{BarrierMemory, GROUPS_MAX, Meeting, place::LINE_WORDS};
use crate::choice::choice;
use stm_machine::{Lane, observe::Mutant};

/// The two-stage atomic barrier, with which Stuart and Owens 2011 and Xiao and Feng 2010 compare theirs: all
/// blocks count themselves in, and when all are in, out.
///
/// Line 1 holds the counter of arrivals and line 2 that of departures. Both only grow, by the number of
/// blocks in each round, whose number is what the second one is before it: by one counter that went up and
/// down, a block could meet one that has not left the last round.
#[derive(Clone, Copy, Debug)]
pub struct TwoStage;

#[stm_machine::inlined]
impl Meeting for TwoStage {
    const NAME: &'static str = "two-stage";

    fn lines(_blocks: u32, _groups: u32) -> u32 {
        2
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        place.word(lane, 2).load()
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
        place.word(lane, 1).add(1);
        if !place.until(lane, 1, all) {
            return false;
        }
        // Relaxed: the first stage has ordered everything.
        place.word(lane, 2).add(1);
        place.until(lane, 2, all)
    }
}

/// The barrier of Xiao and Feng 2010, the best for Stuart and Owens 2011 (section 5). It needs no atomics:
/// each block sets a flag, the threads of block 0 wait for one each and then set one each, for which its
/// block waits.
///
/// The flags are 32 in a line, so that the threads of block 0 access neighbours. A flag holds the number of
/// the last round, modulo 2^32; nobody is a round ahead, so a poll asks for equality.
#[derive(Clone, Copy, Debug)]
pub struct XiaoFeng;

impl XiaoFeng {
    /// Returns the line at which the flags of departures begin.
    #[inline(always)]
    const fn departures(place: &BarrierMemory) -> u32 {
        1 + place.blocks().div_ceil(LINE_WORDS)
    }
}

#[stm_machine::inlined]
impl Meeting for XiaoFeng {
    const NAME: &'static str = "xiao-feng";

    fn lines(blocks: u32, _groups: u32) -> u32 {
        2 * blocks.div_ceil(LINE_WORDS)
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        let flag = place.flag(lane, Self::departures(place), lane.block_index());
        u64::from(flag.load())
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        let (block, thread) = (lane.block_index(), lane.thread_index());
        let next = (round as u32).wrapping_add(1);
        if thread == 0 {
            // ORDER(B1): release; pairs with B2 of block 0.
            Mutant::BarrierNoRelease.fence(lane);
            place.flag(lane, 1, block).store(next);
        }
        let departures = Self::departures(place);
        if block != 0 {
            return thread != 0
                || place.until_flag(lane, place.flag(lane, departures, block), next);
        }
        let mut came = true;
        let mut other = thread;
        while came && other < place.blocks() {
            came = place.until_flag(lane, place.flag(lane, 1, other), next);
            other += lane.block_dim();
        }
        // SAFETY: every thread of block 0 comes here, and those of other blocks do not.
        if unsafe { lane.barrier_any(!came) } {
            return false;
        }
        // ORDER(B3): pairs with B2 of the other blocks, to which it passes what block 0 has acquired.
        Mutant::BarrierNotPassedOn.fence(lane);
        let mut other = thread;
        while other < place.blocks() {
            place.flag(lane, departures, other).store(next);
            other += lane.block_dim();
        }
        true
    }
}

/// A tree of two levels (Xiao and Feng 2010): the blocks of a group count themselves on its counter; the last
/// of them counts the group on the root; and the last there sets a flag that all poll.
///
/// Lines 1 to `groups` hold the counters of the groups, the next one the root, the next one the flag, which
/// is the number of rounds that have ended. There are about as many groups as blocks in a group.
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
        place.word(lane, place.groups() + 2).load()
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        if lane.thread_index() != 0 {
            return true;
        }
        let (groups, next) = (place.groups(), round + 1);
        if place.is_last_of_group(lane, next) {
            let before = place.word(lane, groups + 1).fetch_add(1);
            if before + 1 == next * u64::from(groups) {
                // ORDER(B3): acquires what others at the root passed on; pairs with B2 of all.
                Mutant::BarrierNotPassedOn.fence(lane);
                place.word(lane, groups + 2).store(next);
            }
        }
        place.until(lane, groups + 2, next)
    }
}

/// A barrier with one hand-over: the blocks count themselves on one counter, which all but the last poll.
///
/// Line 1 holds the counter. It grows by 2^16 in each round, as block 0 adds 2^16 less the number of the
/// others, so that a round is complete when the upper bits, its number, change.
///
/// An arrival is an addition with a result, which tells the last block that it need not poll; the others poll
/// when the result is there, with a short pause. On an H200 both together are faster than an addition without
/// a result and polls that follow each other (`docs/lab-notes/2026-11-22-barriers.md`).
#[derive(Clone, Copy, Debug)]
pub struct Counted;

/// The number of bits below the number of the round. There are at most
/// [`BLOCKS_MAX`](super::BLOCKS_MAX) blocks.
const ROUND_SHIFT: u32 = 16;

const COUNTER: u32 = 1;

#[stm_machine::inlined]
impl Meeting for Counted {
    const NAME: &'static str = "counted";

    fn lines(_blocks: u32, _groups: u32) -> u32 {
        1
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        place.word(lane, COUNTER).load() >> ROUND_SHIFT
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
        let before = place.word(lane, COUNTER).fetch_add(step);
        let goal = (round + 1) << ROUND_SHIFT;
        if before + step >= goal {
            // ORDER(B2): acquire, after the addition that has read from the last of the others'; pairs with
            // B1 of them all, as additions continue each other's release sequences.
            Mutant::BarrierNoAcquire.fence(lane);
            return true;
        }
        place.until(lane, COUNTER, goal)
    }
}

/// A barrier for many blocks: [`Tree`] without the flag, whose root all poll. Groups are few, so that polls
/// delay few additions. On an H200 it is the fastest from about a thousand blocks on
/// (`docs/lab-notes/2026-11-22-barriers.md`). Line 1 + g holds the counter of group g, and line 1 + `groups`
/// the root.
#[derive(Clone, Copy, Debug)]
pub struct Grouped;

/// The number of groups of [`Grouped`], a power of two.
const GROUPS: u32 = 4;

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
        place.word(lane, 1 + place.groups()).load() >> place.groups_log2
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        if lane.thread_index() != 0 {
            return true;
        }
        let (root, next) = (1 + place.groups(), round + 1);
        if place.is_last_of_group(lane, next) {
            place.word(lane, root).add(1);
        }
        place.until(lane, root, next * u64::from(place.groups()))
    }
}

/// A barrier with a leader, for many blocks: the blocks of a group count themselves on its counter; the lanes
/// of block 0's first warp poll one counter each, and then set one flag each, which a group polls. It is the
/// barrier of Xiao and Feng 2010 for groups of some 32 blocks in place of blocks, so that one warp is enough;
/// and no line has both additions and the polls of many.
///
/// Line 1 + g holds the counter of group g, and line 1 + `groups` + g its flag, which
/// is the number of rounds that have ended.
#[derive(Clone, Copy, Debug)]
pub struct Led;

/// The number of blocks of a group of [`Led`], unless that makes more than [`GROUPS_MAX`].
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
        // ORDER(B3): pairs with B2 of the other blocks, to which it passes what the lanes have acquired.
        Mutant::BarrierNotPassedOn.fence(lane);
        let mut group = lane.lane_index();
        while group < place.groups() {
            place.word(lane, 1 + place.groups() + group).store(next);
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
        place.word(lane, 1 + place.groups() + group).load()
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        let (block, thread) = (lane.block_index(), lane.thread_index());
        let (group, next) = (place.group_of(block), round + 1);
        if thread == 0 {
            // ORDER(B1): release; pairs with B2 of the leader.
            Mutant::BarrierNoRelease.fence(lane);
            place.word(lane, 1 + group).add(1);
        }
        if block != 0 {
            return thread != 0 || place.until(lane, 1 + place.groups() + group, next);
        }
        lane.warp_index() != 0 || Self::lead(lane, place, next)
    }
}

/// A barrier whose algorithm the host chooses at launch (`GridBarrier::chosen`, `Defaults::barrier`). Each
/// wait costs one branch, the same for all threads, and its code has every algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Chosen;

choice! { $ "algorithm", with_algorithm;
    TwoStage = 0: TwoStage;
    XiaoFeng = 1: XiaoFeng;
    Tree = 2: Tree;
    Counted = 3: Counted;
    Grouped = 4: Grouped;
    Led = 5: Led;
}

impl Kind {
    /// Returns the algorithm's [`Meeting::groups`].
    pub fn groups(self, blocks: u32) -> u32 {
        with_algorithm!(self as u32, B => B::groups(blocks), else 1)
    }
}

#[stm_machine::inlined]
impl Meeting for Chosen {
    const NAME: &'static str = "chosen";
    const CHOSEN: bool = true;

    /// Returns the largest number of groups of any algorithm.
    fn groups(blocks: u32) -> u32 {
        let groups = Kind::ALL.iter().map(|kind| kind.groups(blocks));
        groups.max().unwrap_or(1)
    }

    fn lines(blocks: u32, groups: u32) -> u32 {
        let lines_of = |kind| with_algorithm!(kind, B => B::lines(blocks, groups), else 0);
        let lines = Kind::ALL.iter().map(|&kind| lines_of(kind as u32));
        lines.max().unwrap_or(0)
    }

    fn round<L: Lane>(lane: &L, place: &BarrierMemory) -> u64 {
        with_algorithm!(place.kind, B => B::round(lane, place), else 0)
    }

    fn step(place: &BarrierMemory) -> u64 {
        with_algorithm!(place.kind, B => B::step(place), else 1)
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        with_algorithm!(place.kind, B => B::meet(lane, place, round), else false)
    }
}
