//! The barrier of Xiao and Feng.

use super::{BarrierMemory, Meeting, place::LINE_WORDS};
use stm_machine::{Lane, observe::Mutant};

/// The barrier of Xiao and Feng 2010, which Stuart and Owens 2011 (section 5) found to be the best
/// on both of their GPUs. It needs no atomics: each block sets a flag of its own, the threads of
/// block 0 wait for one flag each and then set one flag each, for which its block waits.
///
/// The flags follow one another, 32 of them in a line, so that the threads of block 0 read and
/// write neighbours. A flag holds the number of the last round, modulo 2^32; nobody is a round
/// ahead, so a poll asks for equality and the numbers may wrap around.
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
        let flag = place.flag(Self::departures(place), lane.block_index());
        // SAFETY: a live word, as blocks of a grid that does not fit have no
        // flag and never wait. Relaxed: the thread left the last round, or the
        // launch began, after the flag got this value.
        u64::from(unsafe { lane.load_relaxed_32(flag) })
    }

    fn meet<L: Lane>(lane: &L, place: &BarrierMemory, round: u64) -> bool {
        let (block, thread) = (lane.block_index(), lane.thread_index());
        let next = (round as u32).wrapping_add(1);
        if thread == 0 {
            // ORDER(B1): release; pairs with B2 of block 0.
            Mutant::BarrierNoRelease.fence(lane);
            // SAFETY: a live word.
            unsafe { lane.store_relaxed_32(place.flag(1, block), next) };
        }
        let departures = Self::departures(place);
        if block != 0 {
            return thread != 0 || place.until_flag(lane, place.flag(departures, block), next);
        }
        let mut came = true;
        let mut other = thread;
        while came && other < place.blocks() {
            came = place.until_flag(lane, place.flag(1, other), next);
            other += lane.block_dim();
        }
        // SAFETY: every thread of block 0 comes here, and those of other blocks do
        // not.
        if unsafe { lane.barrier_any(!came) } {
            return false;
        }
        // ORDER(B3): pairs with B2 of the other blocks, to which it passes what block
        // 0 has acquired.
        Mutant::BarrierNotPassedOn.fence(lane);
        let mut other = thread;
        while other < place.blocks() {
            // SAFETY: a live word.
            unsafe { lane.store_relaxed_32(place.flag(departures, other), next) };
            other += lane.block_dim();
        }
        true
    }
}
