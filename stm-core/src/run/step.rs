//! Rounds in step: the warps of a block begin their attempts together, and their commits.
//!
//! A transaction on a container is thousands of instructions, most of which run once in a round, and a
//! warp spends most of its time in waiting for its code to be fetched. Warps of a block that are at the
//! same place at the same time fetch it once for all of them (`docs/lab-notes/data/containers.txt`). A
//! transaction of few instructions gains nothing by it, and loses what a round of the slowest warp
//! takes longer, so this is the kernel's choice ([`KernelStm::in_step`]).
//!
//! The protocol:
//!
//! 1. At the beginning a block goes in step if every lane of it has a transaction.
//!    All its threads find the same, as they know the range and their block.
//! 2. A round in step has two barriers of the block: before the attempts, and
//!    between them and the commits. A warp that the gate does not admit passes both.
//! 3. At the first barrier each lane says whether it must leave the step: its warp has no work any more, or
//!    the lane waits (`retry`). If one must, all leave, after that same barrier and for the rest of the loop.
//!
//! Invariant: all threads of a block agree on whether they are in step. Whoever waits for another
//! transaction, or has none of its own, is not. What a warp in step may wait for is bounded, or is the gate:
//! the warp at the head and its block pass their rounds, others in half a microsecond each.

use core::ops::Range;
use stm_machine::Lane;

/// The longest pause of a warp that the gate does not admit.
const PAUSE_NS: u32 = 500;

/// Says whether the calling lane's block is in step, the same in all its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step(bool);

#[stm_core_macros::inlined]
impl Step {
    pub(crate) const FREE: Self = Self(false);
    pub(crate) const fn together(wanted: bool) -> Self {
        Self(wanted)
    }

    /// Returns the step in which a block begins: in step only if each of its lanes has a transaction of
    /// `range` and warps have several lanes; `may` is whether the lane may go on at all.
    pub(crate) fn begin<L: Lane>(self, lane: &L, range: &Range<u64>, may: bool) -> Self {
        let lanes = (u64::from(lane.block_index()) + 1) * u64::from(lane.block_dim());
        let all_work = range.end.saturating_sub(range.start) >= lanes;
        Self(self.0 && may && all_work && lane.warp_width() > 1)
    }

    /// Meets the block's other warps before the attempts of a round, or leaves the step if a lane must.
    pub(crate) fn round<L: Lane>(&mut self, lane: &L, must_leave: bool) {
        if self.0 {
            // SAFETY: all threads of the block call the loop with the same range (`for_each`), so all are in
            // step, and none leaves but here; the lanes of a warp have just voted.
            self.0 = !unsafe { lane.barrier_any(must_leave) };
        }
    }

    /// Returns how long a warp pauses that the gate does not admit, `ns` or less: its block waits.
    pub(crate) fn pause_ns(self, ns: u32) -> u32 {
        if self.0 { ns.min(PAUSE_NS) } else { ns }
    }

    /// Meets the other warps of the block between the attempts and the commits of a round.
    pub(crate) fn commits<L: Lane>(self, lane: &L) {
        if self.0 {
            // SAFETY: as in `round`; each warp passes here once after it, and its lanes have just voted.
            unsafe { lane.barrier() };
        }
    }
}
