//! The barrier with one hand-over.

use super::{GROUPS_MAX, Meeting, Place};
use crate::lane::Lane;
use crate::observe::mutant::Mutant;
use crate::sync::sealed::Sealed;

/// A barrier with one hand-over: the blocks count themselves on at most `COUNTERS`
/// counters, a power of two up to 32, and the first warp of every block polls one
/// counter a lane. With one counter it is what grid barriers usually are. With more,
/// the additions of a round do not queue at one line.
///
/// Line 1 + g holds counter g. It grows by 2^16 in each round, as one block of the
/// group adds 2^16 less the others, so that the number of the round is in the upper
/// bits, and a round is complete when they change. A block reads the number from
/// its own counter, which cannot be complete before the block has come.
///
/// An arrival is an addition without a result, for which nobody waits; the polls
/// follow it at once.
#[derive(Clone, Copy, Debug)]
pub struct Counted<const COUNTERS: u32>;

/// The number of bits below the number of the round. A group has at most
/// [`BLOCKS_MAX`](super::BLOCKS_MAX) blocks.
const ROUND_SHIFT: u32 = 16;

impl<const COUNTERS: u32> Sealed for Counted<COUNTERS> {}

impl<const COUNTERS: u32> Meeting for Counted<COUNTERS> {
    const NAME: &'static str = match COUNTERS {
        1 => "counted",
        2 => "counted-2",
        4 => "counted-4",
        8 => "counted-8",
        16 => "counted-16",
        32 => "counted-32",
        _ => panic!("the number of counters is a power of two up to 32"),
    };

    fn groups(blocks: u32) -> u32 {
        (1 << blocks.max(1).ilog2()).min(COUNTERS).min(GROUPS_MAX)
    }

    fn lines(_blocks: u32, groups: u32) -> u32 {
        groups
    }

    #[inline(always)]
    fn round<L: Lane>(lane: &L, place: &Place) -> u64 {
        let own = 1 + place.group_of(lane.block_index());
        // SAFETY: a live word. Relaxed: the thread left the last round, or the
        // launch began, after the upper bits got this value.
        unsafe { lane.load_relaxed_64(place.word(own)) >> ROUND_SHIFT }
    }

    #[inline(always)]
    fn meet<L: Lane>(lane: &L, place: &Place, round: u64) -> bool {
        if lane.warp_index() != 0 {
            return true;
        }
        let block = lane.block_index();
        let mut counter = lane.lane_index();
        if counter == 0 {
            let group = place.group_of(block);
            let step = if block == group {
                (1 << ROUND_SHIFT) - u64::from(place.members(group) - 1)
            } else {
                1
            };
            // ORDER(B1): release; pairs with B2 of every block.
            Mutant::BarrierNoRelease.fence(lane);
            // SAFETY: a live word.
            unsafe { lane.add_relaxed_64(place.word(1 + group), step) };
        }
        let (warp, goal) = (lane.warp_mask(), (round + 1) << ROUND_SHIFT);
        // No lane may poll before the warp's arrival is made: where a warp that
        // diverges runs one side alone, it would poll for ever.
        // SAFETY: all lanes of the first warp come here.
        unsafe { lane.sync_warp(warp) };
        let mut came = true;
        while came && counter < place.groups() {
            came = place.until(lane, 1 + counter, goal);
            counter += warp.count_ones();
        }
        came
    }
}
