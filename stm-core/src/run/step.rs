//! Rounds in step: the warps of a block begin their attempts together, and their
//! commits.
//!
//! A transaction on a container is thousands of instructions, most of which run
//! once in a round. Each warp then waits for its code to be fetched: the hash map's
//! warps spent 69 % of their time so. Warps of a block that are at the same place at
//! the same time fetch it once for all of them, which made the map 1.5 times as fast
//! and the ordered map 1.7 times, with the same launch (`docs/results/h200/containers.txt`). A transaction
//! of few instructions gains nothing by it, and loses what a round of the slowest
//! warp takes longer, so this is the kernel's choice ([`StmRef::in_step`]).
//!
//! The protocol:
//!
//! 1. At the beginning a block goes in step if every lane of it has a transaction.
//!    All its threads find the same, as they know the range and their block.
//! 2. A round in step has two barriers of the block: before the attempts, and
//!    between them and the commits. A warp that the gate does not admit passes both.
//! 3. At the first barrier each lane says whether it must leave the step: its warp
//!    has no work any more, or the lane waits (`retry`). If one must, all leave, after
//!    that same barrier and for the rest of the loop.
//!
//! Invariant: all threads of a block agree on whether they are in step, so they pass
//! the same barriers. Whoever waits for another transaction to commit, or has none of
//! its own, is not in step. What a warp in step may wait for is bounded, or is the
//! gate: the warp at the head and its block pass their rounds, those that are not
//! admitted in half a microsecond each. A warp that backs off delays its block by
//! its pause; to leave for that was tried, and cost the ordered map a sixth, as a
//! block that has left stays out.

use crate::algorithm::contract::Algorithm;
use crate::run::work::Body;
use crate::tx::abort::{Abort, TxResult};
use crate::tx::attempt::Tx;
use crate::tx::stm_ref::StmRef;
use core::ops::Range;
use stm_machine::Element;
use stm_machine::Lane;
use stm_machine::Output;

/// The longest pause of a warp that the gate does not admit.
const PAUSE_NS: u32 = 500;

/// Says whether the calling lane's block is in step, the same in all its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step(bool);

impl Step {
    /// Each warp at its own pace.
    pub(crate) const FREE: Self = Self(false);
    /// The warps of a block together.
    pub(crate) const TOGETHER: Self = Self(true);

    /// Returns the step in which a block begins: in step only if each of its lanes
    /// has a transaction of `range`, and on a machine whose warps have several
    /// lanes. `may` is whether the lane may go on at all.
    #[inline(always)]
    pub(crate) fn begin<L: Lane>(self, lane: &L, range: &Range<u64>, may: bool) -> Self {
        let lanes = (u64::from(lane.block_index()) + 1) * u64::from(lane.block_dim());
        let all_work = range.end.saturating_sub(range.start) >= lanes;
        Self(self.0 && may && all_work && lane.warp_width() > 1)
    }

    /// Meets the other warps of the block before the attempts of a round, or leaves
    /// the step if any lane of the block must.
    #[inline(always)]
    pub(crate) fn round<L: Lane>(&mut self, lane: &L, must_leave: bool) {
        if self.0 {
            // SAFETY: all threads of the block call the loop with the same range (the
            // contract of `for_each`), so all are in step, and none leaves but here.
            // The lanes of a warp have just voted, so they are together.
            self.0 = !unsafe { lane.barrier_any(must_leave) };
        }
    }

    /// Returns how long a warp that the gate does not admit pauses, which would be `ns`: in
    /// step the block of the head waits for the other warps of the block.
    #[inline(always)]
    pub(crate) fn pause_ns(self, ns: u32) -> u32 {
        if self.0 { ns.min(PAUSE_NS) } else { ns }
    }

    /// Meets the other warps of the block between the attempts and the commits of a
    /// round.
    #[inline(always)]
    pub(crate) fn commits<L: Lane>(self, lane: &L) {
        if self.0 {
            // SAFETY: as in `round`; each warp passes here once after it, and its lanes
            // have just voted.
            unsafe { lane.barrier() };
        }
    }
}

/// A transactional memory whose loops go in step ([`StmRef::in_step`]).
#[derive(Debug)]
pub struct InStep<'a, A> {
    stm: &'a StmRef<A>,
    step: Step,
}

impl<A: Algorithm> StmRef<A> {
    /// Returns the same memory with loops in which the warps of a block go in step:
    /// they begin the attempts of a round together, and then the commits. Choose it
    /// for transactions of many instructions, as those on containers are, and launch
    /// one block for each multiprocessor, with as many threads as its registers allow
    /// (256; 384 with `registers(fast = 168)`, 512 with 128): the map is 1.5 times as
    /// fast so. Short transactions lose: random array 6 %, genome 4 %.
    ///
    /// A block begins in step if each of its threads has a transaction. It leaves the
    /// step for the rest of the loop when one of its warps has no transaction left, or
    /// a lane waits ([`Tx::retry`]). It is without effect on a machine
    /// whose warps are one lane, and for the algorithms that are not scheduled.
    ///
    /// Every thread of a block calls the same loop with the same range. Nothing that
    /// the loop calls, the functions after a commit included, may wait for another
    /// thread, neither in a loop of its own nor by a transaction on another memory: the
    /// warps of its block would wait for it, and the other one perhaps for them.
    ///
    /// ```
    /// use stm_core::collections::TMap;
    /// use stm_core::prelude::*;
    ///
    /// #[kernel]
    /// pub fn count(stm: &Stm, words: Map<u32, u32>, keys: Input<u32>) {
    ///     stm.in_step().each(0..keys.len(), |tx, i| {
    ///         let key = keys.get(stm.lane(), i).unwrap_or(0);
    ///         let mut entry = words.entry(tx, key)?;
    ///         let count = entry.get()?.unwrap_or(0);
    ///         entry.insert(count + 1)?;
    ///         Ok(())
    ///     });
    /// }
    /// # fn main() {}
    /// ```
    #[inline(always)]
    pub const fn in_step(&self) -> InStep<'_, A> {
        self.in_step_if(true)
    }

    /// Does [`Self::in_step`] if `wanted`, which must be the same in all threads of a
    /// block.
    #[inline(always)]
    pub const fn in_step_if(&self, wanted: bool) -> InStep<'_, A> {
        InStep {
            stm: self,
            step: Step(wanted),
        }
    }
}

impl<A: Algorithm> InStep<'_, A> {
    /// Does [`StmRef::for_each`] in step.
    #[inline(always)]
    pub fn for_each<L: Lane, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<()>,
    {
        self.for_each_then(lane, range, body, |_| {});
    }

    /// Does [`StmRef::for_each_then`] in step.
    #[inline(always)]
    pub fn for_each_then<L: Lane, F, G>(&self, lane: &L, range: Range<u64>, body: F, then: G)
    where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<()>,
        G: FnMut(u64),
    {
        self.stm.rounds(
            lane,
            range,
            self.step,
            Body(body),
            |_, ()| {},
            |_, _| {},
            then,
        );
    }

    /// Does [`StmRef::for_each_with`] in step.
    #[inline(always)]
    pub fn for_each_with<L: Lane, R, F, G, H>(
        &self,
        lane: &L,
        range: Range<u64>,
        body: F,
        committed: G,
        aborted: H,
    ) where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<R>,
        G: FnMut(u64, R),
        H: FnMut(u64, Abort),
    {
        self.stm.rounds(
            lane,
            range,
            self.step,
            Body(body),
            committed,
            aborted,
            |_| {},
        );
    }

    /// Does [`StmRef::for_each_into`] in step.
    #[inline(always)]
    pub fn for_each_into<L: Lane, R: Element, F>(
        &self,
        lane: &L,
        range: Range<u64>,
        results: &Output<R>,
        body: F,
    ) where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<R>,
    {
        if self.stm.takes_results(lane, &range, results) {
            let keep = |i, result| {
                results.set(lane, i, result);
            };
            self.for_each_with(lane, range, body, keep, |_, _| {});
        }
    }
}
