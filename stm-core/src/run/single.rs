//! The loops of single lanes: they begin attempts, retry, count and give up.
//!
//! [`StmRef::for_each`] proceeds in warp-wide rounds:
//!
//! 1. All lanes of the warp meet.
//! 2. Every lane with work that the gate and the warp's width admit makes one
//!    attempt.
//! 3. The lanes whose closure succeeded commit together.
//! 4. A lane that committed takes its next transaction in the next round; one
//!    that met a conflict retries.
//!
//! The rounds are there because lanes that retry on their own diverge for good
//! under independent thread scheduling, until each runs alone.
//!
//! Invariant: all lanes of a warp pass the same number of rounds; a lane
//! without work stays until all have none.

use crate::algorithm::contract::{Algorithm, Granule, Scratch};
use crate::hint::rarely;
use crate::memory::logs::Logs;
use crate::observe::mark::mark;
use crate::observe::phase::Phase;
use crate::run::admission::Admission;
use crate::run::gate::Place;
use crate::run::outcome::{Counts, Outcome};
use crate::run::period::looks;
use crate::run::step::Step;
use crate::run::wait::{Bed, Sleep};
use crate::run::width::Width;
use crate::run::word::Word;
use crate::run::work::{Body, Work};
use crate::tx::abort::{Abort, TxResult};
use crate::tx::attempt::Tx;
use crate::tx::crew::{Crew, WarpCrew};
use crate::tx::stm_ref::StmRef;
use core::mem::MaybeUninit;
use core::ops::Range;
use stm_machine::lane::{Lane, records, times};
use stm_machine::observe::Mutant;
use stm_machine::observe::Probe;

impl<A: Algorithm> StmRef<A> {
    /// Runs a transaction for each number in `range`, spread over all threads
    /// of the launch. Every thread of the launch calls it with the same range.
    ///
    /// A transaction that cancels itself, or is given up after `retries_max`
    /// conflicts, has no effect and is counted; the others all commit, unless
    /// the launch is stopped by a fault or its time limit.
    #[inline(always)]
    pub fn for_each<L: Lane, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<()>,
    {
        self.for_each_then(lane, range, body, |_| {});
    }

    /// Does [`Self::for_each`] with work outside of transactions: when a lane's
    /// transaction `i` has ended, by a commit or for good without effect, the
    /// lane calls `then(i)` before its next transaction, while it owns no lock
    /// and has no snapshot. `then` must not wait for another transaction: it may be called
    /// in a turn in which no other warp may begin one.
    #[inline(always)]
    pub fn for_each_then<L: Lane, F, G>(&self, lane: &L, range: Range<u64>, body: F, then: G)
    where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<()>,
        G: FnMut(u64),
    {
        let (step, work) = (Step::FREE, Body(body));
        self.rounds(lane, range, step, work, |_, ()| {}, |_, _| {}, then);
    }

    /// Does [`Self::for_each`] with transactions that have results: after the
    /// attempt at transaction `i` that commits, the lane calls `committed(i,
    /// result)` with what its closure returned, and after each attempt that
    /// does not, `aborted(i, reason)`. Both are called outside of the
    /// transaction, while the lane owns no lock, and after its deferred actions
    /// ([`Tx::at_commit`]). Neither may wait for another transaction, as in
    /// [`Self::for_each_then`].
    ///
    /// ```
    /// use stm_core::{Lane, StmRef, TArray, View, algorithm::Algorithm};
    ///
    /// /// Draws a ticket for each number and keeps it outside of the memory.
    /// fn tickets<L: Lane, A: Algorithm>(
    ///     lane: &L, stm: &StmRef<A>, next: &A::Array<u64>, drawn: &TArray<u64>,
    /// ) {
    ///     stm.for_each_with(lane, 0..drawn.len(), |tx, _| {
    ///         let ticket = tx.read(next, 0)?;
    ///         tx.write(next, 0, ticket + 1)?;
    ///         Ok(ticket)
    ///     }, |i, ticket| {
    ///         if let Some(word) = drawn.get(i) {
    ///             // SAFETY: in range of a live array; only this lane has `i`.
    ///             unsafe { lane.store_relaxed_64(word, ticket) };
    ///         }
    ///     }, |_, _| {});
    /// }
    /// ```
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
        let (step, work) = (Step::FREE, Body(body));
        self.rounds(lane, range, step, work, committed, aborted, |_| {});
    }

    /// Runs the rounds of [`Self::for_each`]. It calls `committed` or `aborted`
    /// after each attempt, and then `ended` if it was the transaction's last.
    // The steps of one round follow in their order; parts of them have no name
    // of their own.
    #[allow(clippy::too_many_lines, clippy::too_many_arguments)]
    #[inline(always)]
    pub(crate) fn rounds<L: Lane, R, W, G, H, E>(
        &self,
        lane: &L,
        range: Range<u64>,
        step: Step,
        mut work_of: W,
        mut committed: G,
        mut aborted: H,
        mut ended: E,
    ) where
        W: Work<L, A, Result = R>,
        G: FnMut(u64, R),
        H: FnMut(u64, Abort),
        E: FnMut(u64),
    {
        let (mut i, stride, all) = match A::GRANULE {
            Granule::Lane | Granule::LaneInTurn => (
                range.start.saturating_add(lane.grid_thread()),
                lane.grid_threads(),
                lane.warp_mask(),
            ),
            Granule::Block => {
                if lane.thread_index() != 0 {
                    return;
                }
                (
                    range.start.saturating_add(u64::from(lane.block_index())),
                    u64::from(lane.grid_dim()),
                    lane.lane_bit(),
                )
            }
        };
        // SAFETY: these lanes pass the rounds together, and a lane without work
        // stays until all have none. Every thread of the launch calls this.
        let warp = unsafe { WarpCrew::of(all) };
        // A launch may have far more threads than work.
        let observed = records(lane) || times(lane);
        if !observed && warp.vote(lane, i < range.end) == 0 {
            return;
        }
        let (mut scratch, mut sums) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let (scratch, sums) = (Scratch::begin(&mut scratch), Scratch::begin(&mut sums));
        let mut tx = Tx::new(lane, self, scratch, sums);
        let mut counts = Counts::ZERO;
        let mut conflicts = 0;
        let mut place = Place::NEW;
        let starves_at = self.gate().starves_at(lane);
        // Says that the warp must ask the gate before its next round.
        let mut asks = true;
        let mut width = Width::new(self.limits.lanes_max);
        // Registers, so that a kernel without `retry` has no code for it.
        let (mut waits, mut asleep) = (false, false);
        let mut sleep = Sleep::NEW;
        let first = all & (lane.lane_bit() - 1) == 0;
        let opened = tx.logs.open(lane);
        if !opened {
            self.nested(lane);
            counts.stopped = true;
        }
        let mut step = step.begin(lane, &range, A::SCHEDULED && opened);
        let mut ahead = 0;
        if A::SCHEDULED && !W::SNAPSHOT {
            ahead = A::load_gate_and_snapshot(&mut tx);
        }
        if A::SCHEDULED {
            // The first time it asks at once, as if nobody were at the gate.
            let (gate, working) = (self.gate(), warp.vote(lane, i < range.end));
            let (together, empty) = (W::TURNS_TOGETHER, Word::EMPTY);
            let admission =
                place.ask_for_warp(lane, gate, empty, warp, working, together, false, 0);
            asks = admission != Admission::FRESH;
        }
        loop {
            let work = i < range.end && !counts.stopped;
            if waits && (asleep || sleep.is_due()) && A::changed(&mut tx) {
                waits = false;
            }
            let awake = work && !waits;
            let working = warp.vote(lane, awake);
            mark!(tx, Warp);
            step.round(lane, working == 0 || waits);
            if working == 0 {
                if A::SCHEDULED {
                    let keeps = Self::keeps_ticket(lane, warp, waits, !work);
                    place.depart_with(lane, self.gate(), warp, keeps);
                    asks = true;
                }
                let sleepers = warp.vote(lane, work);
                if sleepers == 0 {
                    break;
                }
                if waits && work {
                    let asks = sleepers & (lane.lane_bit() - 1) == 0;
                    sleep.nap(lane, self.bed(tx.logs, true, asks));
                    asleep = true;
                    counts.stopped = self.told_to_stop(lane);
                }
                continue;
            }
            if asleep {
                sleep.wake(lane, self.globals, tx.logs);
                asleep = false;
            }
            let mut go = awake;
            let mut going = working;
            let mut in_turn = false;
            if A::SCHEDULED {
                let word = Word(if W::SNAPSHOT {
                    A::load_gate_and_snapshot(&mut tx)
                } else {
                    core::mem::replace(&mut ahead, A::load_gate(&tx))
                });
                tx.alone = false;
                go = awake & width.takes(lane, working);
                go &= !width.sits(lane.lane_index(), conflicts, counts.rounds);
                // Without a branch.
                #[allow(clippy::needless_bitwise_bool)]
                let starves = awake & (conflicts >= starves_at);
                if rarely(warp.vote(lane, asks | starves | word.is_closed()) != 0) {
                    let (gate, failures) = (self.gate(), width.failures());
                    let together = W::TURNS_TOGETHER;
                    let admission = place
                        .ask_for_warp(lane, gate, word, warp, working, together, starves, failures);
                    asks = !matches!(admission, Admission::TOGETHER | Admission::FRESH);
                    if let Some(ns) = admission.wait_ns() {
                        step.commits(lane);
                        counts.stopped = self.told_to_stop(lane);
                        lane.pause(step.pause_ns(ns));
                        if !W::SNAPSHOT {
                            // A place with a ticket needs a word that was loaded after it was drawn.
                            ahead = A::load_gate_and_snapshot(&mut tx);
                        }
                        continue;
                    }
                    if let Some(turn) = admission.turn() {
                        if turn.alone
                            && let Some(value) = work_of.turn(&mut tx, i, awake, warp)
                        {
                            counts.round(working.count_ones(), false);
                            if awake {
                                Self::conclude_turn(&mut tx, i, &mut conflicts, &mut counts);
                                committed(i, value);
                                ended(i);
                                i = i.saturating_add(stride);
                            }
                            continue;
                        }
                        in_turn = true;
                        tx.alone = turn.alone;
                        go = lane.lane_index() == turn.lane || awake && Mutant::TurnShared.on(lane);
                    }
                }
                going = warp.vote(lane, go);
                if rarely(going == 0) {
                    // Without others there is nobody to leave it to.
                    go = awake & width.takes(lane, working);
                    going = warp.vote(lane, go);
                }
            }
            counts.round(going.count_ones(), A::GRANULE == Granule::LaneInTurn);
            if counts.full() {
                counts.flush(lane, self, first);
            }
            let mut outcome = Outcome::Retry;
            let mut value = None;
            let mut end = Err(Abort::Stopped);
            if A::GRANULE == Granule::LaneInTurn {
                let mut rest = working;
                while rest != 0 {
                    if lane.lane_bit() == rest & rest.wrapping_neg() {
                        end = Self::execute(&mut tx, &mut |tx| work_of.run(tx, i))
                            .map(|v| value = Some(v));
                        if end.is_ok() {
                            tx.end_actions_early();
                            // SAFETY: the mask names the lane alone.
                            let me = unsafe { WarpCrew::of(lane.lane_bit()) };
                            end = work_of.commit(&mut tx, me);
                        }
                        outcome = self.conclude(&mut tx, end, i, &mut conflicts, &mut counts);
                    }
                    rest &= rest - 1;
                    warp.meet(lane);
                }
                if times(lane) && awake {
                    tx.spent(Phase::Locks);
                }
            } else {
                work_of.begin_round();
                if go {
                    end = Self::execute(&mut tx, &mut |tx| work_of.run(tx, i))
                        .map(|v| value = Some(v));
                }
                let ready = warp.vote(lane, end.is_ok());
                step.commits(lane);
                if end.is_ok() {
                    mark!(tx, Warp);
                    tx.end_actions_early();
                    // SAFETY: the lanes that are ready continue from here
                    // together.
                    end = work_of.commit(&mut tx, unsafe { WarpCrew::of(ready) });
                }
                if A::SCHEDULED {
                    // All lanes meet again, however their attempts ended.
                    warp.meet(lane);
                }
                if go {
                    outcome = self.conclude(&mut tx, end, i, &mut conflicts, &mut counts);
                }
            }
            if A::SCHEDULED && !in_turn {
                let again = go && outcome == Outcome::Retry;
                let (tried, failed) = (going.count_ones(), warp.vote(lane, again).count_ones());
                width.learn(lane, tried, failed);
                asks |= failed != 0 && looks(width.failures());
            }
            if go {
                waits = tx.waits;
                match (end, value) {
                    (Ok(()), Some(value)) => committed(i, value),
                    (Err(abort), _) => aborted(i, abort),
                    (Ok(()), None) => {}
                }
            }
            if go && matches!(outcome, Outcome::Committed | Outcome::Ended) {
                ended(i);
                i = i.saturating_add(stride);
                mark!(tx, Native);
            }
        }
        if i < range.end {
            Counts::unfinished(lane, self);
        }
        if opened {
            tx.logs.close(lane);
        }
        lane.probe().close(lane, tx.cursor);
        counts.flush(lane, self, first);
    }

    /// Returns whether a defect keeps the warp's ticket: one lane `waits`, or all are at the
    /// end of their range.
    #[inline(always)]
    fn keeps_ticket<L: Lane>(lane: &L, warp: WarpCrew, waits: bool, ends: bool) -> bool {
        Mutant::RetryKeepsTicket.on(lane) && warp.vote(lane, waits) != 0
            || Mutant::EndKeepsTicket.on(lane) && warp.vote(lane, !ends) == 0
    }

    /// Returns what a sleeper needs to know.
    #[inline(always)]
    pub(crate) fn bed(&self, logs: Logs, whole_warp: bool, asks: bool) -> Bed {
        Bed {
            globals: self.globals,
            region: self.region,
            capacity: self.capacity,
            logs,
            whole_warp,
            asks,
        }
    }
}
