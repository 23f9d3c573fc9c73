//! The transactional memory as a kernel sees it that names neither its lane nor its algorithm.

use crate::algorithm::prelude::*;
use crate::array::preassigned::{Preassigned, TPreassigned};
use crate::array::record::Record;
use crate::memory::globals::FaultRecord;
use crate::run::{step::Step, work::Body};
use crate::tx::{compose::OnLane, crew::BlockCrew, team::TeamTx};
use core::ops::Range;
use stm_machine::Output;

/// What `stm: &Stm` is in a kernel ([`kernel`](macro@crate::kernel)): the transactional memory, and the lane
/// that runs it. [`Self::each`] runs a transaction for each number of a range; the methods before it say how:
///
/// | call | the loop |
/// | --- | --- |
/// | `stm.each(0..n, \|tx, i\| …)` | one transaction for each number, spread over all threads |
/// | `stm.then(\|i\| …).each(…)` | with work outside of transactions, after each of them |
/// | `stm.into(&results).each(…)` | with results, each in its element of an [`Output`] |
/// | `stm.in_step().each(…)` | in which the warps of a block make their attempts together |
/// | `stm.team().each(…)`, `stm.block().each(…)` | each transaction by a whole warp, or a whole block |
/// | `stm.each_preassigned(n, &nodes, …)` | whose transactions have nodes of their own |
/// | `stm.update_each(0..n, array, …)` | of static updates, the first to try |
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Draws tickets, and says which ones.
/// #[kernel]
/// pub fn tickets(stm: &Stm, next: Cells<u64>, drawn: Output<u64>) {
///     stm.into(drawn).each(0..drawn.len(), |tx, _| {
///         let ticket = tx.read(next, 0)?;
///         tx.write(next, 0, ticket + 1)?;
///         Ok(ticket)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let next = stm.array("next", &[0u64])?;
/// let mut drawn = Buffer::zeroed(&cpu, 100, "drawn")?;
/// tickets::launch(&mut stm, Launch::new(2, 4), &next, &mut drawn)?;
/// let mut drawn = drawn.download()?;
/// drawn.sort_unstable();
/// assert!(drawn.into_iter().eq(0..100));
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[derive(Debug)]
pub struct KernelStm<'k, L, A, R = (), T = ()> {
    lane: &'k L,
    stm: &'k StmRef<A>,
    step: Step,
    results: R,
    then: T,
}

// By hand, as a derive would require `A: Clone`.
stm_machine::handle!([L, A, R: Copy, T: Copy] KernelStm<'_, L, A, R, T>);

/// What a loop does with the results of its transactions: nothing, or it keeps them.
#[stm_core_macros::inlined]
pub trait Results<R> {
    /// Returns whether there is room for those of `range`; that there is not is a fault.
    fn hold<L: Lane, A: Algorithm>(&self, _: &StmRef<A>, _: &L, _: &Range<u64>) -> bool {
        true
    }

    fn keep<L: Lane>(&mut self, lane: &L, i: u64, result: R);

    fn aborted(&mut self, _: u64, _: Abort) {}
}

impl Results<()> for () {
    #[inline(always)]
    fn keep<L: Lane>(&mut self, _: &L, _: u64, (): ()) {}
}

#[stm_core_macros::inlined]
impl<R: Element> Results<R> for &Output<R> {
    fn hold<L: Lane, A: Algorithm>(&self, stm: &StmRef<A>, lane: &L, range: &Range<u64>) -> bool {
        if range.end <= self.len() {
            return true;
        }
        let record = FaultRecord {
            reason: Abort::OutOfRange as u32 + 1,
            index: range.end - 1,
            len: self.len(),
            transaction: lane.grid_thread(),
            ..FaultRecord::NONE
        };
        stm.fault(lane, record);
        false
    }

    fn keep<L: Lane>(&mut self, lane: &L, i: u64, result: R) {
        self.set(lane, i, result);
    }
}

/// Two functions of the lane, called as a transaction commits and as an attempt aborts ([`KernelStm::with`]).
#[derive(Clone, Copy, Debug)]
pub struct With<G, H>(G, H);

#[stm_core_macros::inlined]
impl<R, G: FnMut(u64, R), H: FnMut(u64, Abort)> Results<R> for With<G, H> {
    fn keep<L: Lane>(&mut self, _: &L, i: u64, result: R) {
        self.0(i, result);
    }

    fn aborted(&mut self, i: u64, why: Abort) {
        self.1(i, why);
    }
}

/// What a lane does between two transactions of a loop.
pub trait Between {
    fn ended(&mut self, i: u64);
}

impl Between for () {
    #[inline(always)]
    fn ended(&mut self, _: u64) {}
}

impl<F: FnMut(u64)> Between for F {
    #[inline(always)]
    fn ended(&mut self, i: u64) {
        self(i);
    }
}

#[stm_core_macros::inlined]
impl<'k, L, A, R, T> KernelStm<'k, L, A, R, T> {
    const fn of(lane: &'k L, stm: &'k StmRef<A>, step: Step, results: R, then: T) -> Self {
        Self {
            lane,
            stm,
            step,
            results,
            then,
        }
    }
}

#[stm_core_macros::inlined]
impl<'k, L: Lane, A: Algorithm> KernelStm<'k, L, A> {
    /// Makes it of a lane and the handle among its kernel's parameters.
    pub const fn new(lane: &'k L, stm: &'k StmRef<A>) -> Self {
        Self::of(lane, stm, Step::FREE, (), ())
    }

    /// Returns the lane, for [`Input::get`](crate::Input::get) and what else takes one.
    pub const fn lane(self) -> &'k L {
        self.lane
    }

    /// Returns the handle, whose loops take the lane as their first argument.
    pub const fn handle(self) -> &'k StmRef<A> {
        self.stm
    }

    /// Returns what a function for `impl Transact` is called with outside of a transaction.
    pub const fn on_lane(self) -> OnLane<'k, L, A> {
        self.stm.on(self.lane)
    }

    /// Runs one transaction on the calling lane; see [`StmRef::atomically`].
    pub fn atomically<R>(self, body: impl FnMut(&mut Tx<'_, L, A>) -> TxResult<R>) -> TxResult<R> {
        self.stm.atomically(self.lane, body)
    }

    /// Runs static updates; see [`StmRef::update_each`].
    pub fn update_each<V: Element, const N: usize, const W: usize>(
        self,
        range: Range<u64>,
        array: &A::Array<V>,
        at: impl FnMut(u64) -> [u64; N],
        change: impl FnMut(u64, [V; N]) -> Option<[V; W]>,
    ) {
        self.stm.update_each(self.lane, range, array, at, change);
    }

    /// Runs static updates that have nodes of their own; see [`StmRef::update_each_preassigned`].
    pub fn update_each_preassigned<V, N, const R: usize, const W: usize, const M: usize>(
        self,
        updates: u64,
        array: &A::Array<V>,
        nodes: &TPreassigned<A, N>,
        at: impl FnMut(u64) -> [u64; R],
        change: impl FnMut(u64, [V; R]) -> Option<([V; W], [N; M])>,
    ) where
        V: Element,
        N: Record,
    {
        (self.stm).update_each_preassigned(self.lane, updates, array, nodes, at, change);
    }

    /// Runs transactions that have nodes of their own; see [`StmRef::for_each_preassigned`].
    pub fn each_preassigned<N: Record>(
        self,
        transactions: u64,
        nodes: &TPreassigned<A, N>,
        body: impl for<'x> FnMut(&mut Tx<'x, L, A>, u64, Preassigned<'x, A, N>) -> TxResult<()>,
    ) {
        (self.stm).for_each_preassigned(self.lane, transactions, nodes, body);
    }

    /// Makes teams of the warps, each of whose transactions is run by all lanes together.
    #[must_use]
    pub const fn team(self) -> KernelTeams<'k, L, A, false> {
        KernelTeams(self)
    }

    /// Makes teams of the blocks; see [`StmRef::team_of_block`] for what their threads may do.
    #[must_use]
    pub const fn block(self) -> KernelTeams<'k, L, A, true> {
        KernelTeams(self)
    }
}

#[stm_core_macros::inlined]
impl<'k, L: Lane, A: Algorithm, R, T: Between> KernelStm<'k, L, A, R, T> {
    /// Lets the warps of a block go in step: they begin the attempts of a round together, and then the
    /// commits. Choose it for transactions of many instructions, as those on containers, and launch one block
    /// for each multiprocessor, with as many threads as its registers allow (256; 384 with
    /// `registers(fast = 168)`, 512 with 128). Short transactions lose by it.
    ///
    /// A block begins in step if each of its threads has a transaction, and leaves the step for the rest of
    /// the loop when one of its warps has none left, or a lane waits ([`Tx::retry`]). It is without effect
    /// where warps are one lane, and for algorithms that are not scheduled.
    ///
    /// Every thread of a block calls the same loop with the same range. Nothing that the loop calls may wait
    /// for another thread, in a loop of its own or by a transaction on another memory.
    ///
    /// ```
    /// use stm_core::collections::TMap;
    /// use stm_core::prelude::*;
    ///
    /// #[kernel]
    /// pub fn count_keys(stm: &Stm, words: Map<u32, u32>, keys: Input<u32>) {
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
    #[must_use]
    pub fn in_step(self) -> Self {
        self.in_step_if(true)
    }

    /// Does [`Self::in_step`] if `wanted`, which must be the same in all threads of a block.
    #[must_use]
    pub fn in_step_if(self, wanted: bool) -> Self {
        Self {
            step: Step::together(wanted),
            ..self
        }
    }

    /// Keeps the result of transaction `i`, unless it cancels itself, in element `i` of `results`. A range
    /// past their end is [`Abort::OutOfRange`](crate::Abort::OutOfRange), a fault, and no transaction runs.
    #[must_use]
    pub fn into<'r, E: Element>(
        self,
        results: &'r Output<E>,
    ) -> KernelStm<'k, L, A, &'r Output<E>, T> {
        KernelStm::of(self.lane, self.stm, self.step, results, self.then)
    }

    /// Lets a lane call `committed(i, result)` after the attempt at transaction `i` that commits, and
    /// `aborted(i, why)` after each that does not: while it owns no lock, after the deferred actions
    /// ([`Tx::at_commit`]), and without waiting, as in [`Self::then`].
    #[must_use]
    pub fn with<V, G: FnMut(u64, V), H: FnMut(u64, Abort)>(
        self,
        committed: G,
        aborted: H,
    ) -> KernelStm<'k, L, A, With<G, H>, T> {
        let results = With(committed, aborted);
        KernelStm::of(self.lane, self.stm, self.step, results, self.then)
    }

    /// Lets a lane call `then(i)` when its transaction `i` has ended, by a commit or for good without effect,
    /// and before its next one, while it owns no lock. `then` must not wait for another transaction: in a
    /// turn no other warp may begin one.
    #[must_use]
    pub fn then<F: FnMut(u64)>(self, then: F) -> KernelStm<'k, L, A, R, F> {
        KernelStm::of(self.lane, self.stm, self.step, self.results, then)
    }

    /// Runs a transaction for each number in `range`, spread over all threads of the launch, each of which
    /// calls it with the same range. One that cancels itself, or is given up after `retries_max` conflicts,
    /// has no effect and is counted; the others commit, unless a fault or the time limit stops the launch.
    pub fn each<E, F>(self, range: Range<u64>, body: F)
    where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<E>,
        R: Results<E>,
    {
        let (lane, stm) = (self.lane, self.stm);
        if !self.results.hold(stm, lane, &range) {
            return;
        }
        let ends = (self.results, self.then);
        stm.rounds(lane, range, self.step, Body(body), ends);
    }
}

/// The teams of a launch: its warps, or its `BLOCKS`.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Moves all that the accounts have to the first one, in one transaction of a block.
/// #[kernel(teams)]
/// pub fn collect(stm: &Stm, accounts: Cells<u64>) {
///     stm.block().each(0..1, |tx, _| {
///         let mine = u64::from(tx.rank());
///         let had = tx.read(accounts, Some(mine))?.unwrap_or(0);
///         let sum = (0..tx.size()).map(|rank| tx.broadcast_from(rank, had)).sum();
///         tx.write(accounts, Some((mine, if mine == 0 { sum } else { 0 })))
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let accounts = stm.array("accounts", &[1u64, 2, 3, 4])?;
/// collect::launch(&mut stm, Launch::new(1, 4), &accounts)?;
/// assert_eq!(accounts.download()?, [10, 0, 0, 0]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[derive(Debug)]
pub struct KernelTeams<'k, L, A, const BLOCKS: bool>(KernelStm<'k, L, A>);

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> KernelTeams<'_, L, A, false> {
    /// Runs a transaction for each number in `range`, spread over all warps of the launch, each by the lanes
    /// of its warp together; every thread of the launch calls it with the same range.
    pub fn each<F>(self, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A, WarpCrew>, u64) -> TxResult<()>,
    {
        self.0.stm.for_each_team(self.0.lane, range, body);
    }

    /// Runs a transaction for each number in a range of the calling warp's own.
    pub fn each_of_own<F>(self, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A, WarpCrew>, u64) -> TxResult<()>,
    {
        self.0.stm.for_each_of_team(self.0.lane, range, body);
    }

    /// Runs one transaction by the lanes of the warp, which call it together.
    pub fn atomically<E, F>(self, body: F) -> TxResult<E>
    where
        F: FnMut(&mut TeamTx<'_, L, A, WarpCrew>) -> TxResult<E>,
    {
        self.0.stm.team(self.0.lane, body)
    }
}

#[stm_core_macros::inlined]
impl<L: Lane, A: Algorithm> KernelTeams<'_, L, A, true> {
    /// Runs a transaction for each number in `range`, spread over all blocks of the launch.
    pub fn each<F>(self, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A, BlockCrew>, u64) -> TxResult<()>,
    {
        self.0.stm.for_each_block_team(self.0.lane, range, body);
    }

    /// Runs one transaction by the threads of the block, which call it together.
    pub fn atomically<E, F>(self, body: F) -> TxResult<E>
    where
        F: FnMut(&mut TeamTx<'_, L, A, BlockCrew>) -> TxResult<E>,
    {
        self.0.stm.team_of_block(self.0.lane, body)
    }
}
