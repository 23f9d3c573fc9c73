//! The loops of single lanes: they begin attempts, retry, count and give up.
//!
//! [`StmRef::for_each`] proceeds in warp-wide rounds:
//!
//! 1. All lanes of the warp meet.
//! 2. Every lane with work that the gate and the warp's width admit makes one attempt.
//! 3. The lanes whose closure succeeded commit together.
//! 4. A lane that committed takes its next transaction in the next round; one that met a conflict retries.
//!
//! The rounds are there because lanes that retry alone diverge for good.
//!
//! Invariant: all lanes of a warp pass the same number of rounds; a lane
//! without work stays until all have none.

use crate::algorithm::contract::Scratch;
use crate::algorithm::prelude::*;
use crate::hint::rarely;
use crate::memory::logs::Logs;
use crate::observe::phase::Phase;
use crate::run::conclude::{Attempt, Counts, Outcome};
use crate::run::gate::{Admission, Place, Turn};
use crate::run::loops::{Between, KernelStm, Results};
use crate::run::wait::{Bed, Sleep};
use crate::run::work::{Body, Work, is_whole, part};
use crate::run::{period::looks, step::Step, width::Width, word::Word};
use core::{mem::MaybeUninit, ops::Range};
use stm_machine::{lane::times, observe::Probe};

#[stm_core_macros::inlined]
impl<A: Algorithm> StmRef<A> {
    /// Does [`KernelStm::each`] without options.
    pub fn for_each<L: Lane, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut Tx<'_, L, A>, u64) -> TxResult<()>,
    {
        self.rounds(lane, range, Step::FREE, Body(body), ((), ()));
    }

    /// Returns this memory's loops with options ([`KernelStm`]), for the calling lane.
    pub const fn loops<'k, L: Lane>(&'k self, lane: &'k L) -> KernelStm<'k, L, A> {
        KernelStm::new(lane, self)
    }

    /// Runs the rounds of [`Self::for_each`]. It calls `ends` as an attempt or a transaction ends.
    pub(crate) fn rounds<L, W, K, T>(
        &self,
        lane: &L,
        range: Range<u64>,
        step: Step,
        mut work: W,
        mut ends: (K, T),
    ) where
        L: Lane,
        W: Work<L, A>,
        K: Results<W::Result>,
        T: Between,
    {
        let Some((i, stride, all)) = part(lane, A::GRANULE, self.limits, &range) else {
            return;
        };
        // SAFETY: these lanes pass the rounds together, and a lane without work
        // stays until all have none. Every thread of the launch calls this.
        let warp = unsafe { WarpCrew::of(all) };
        // A launch may have far more threads than work.
        let observed = records(lane) || times(lane);
        if !is_whole(lane, self, warp) || !observed && warp.vote(lane, i < range.end) == 0 {
            return;
        }
        let (mut scratch, mut sums) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let (scratch, sums) = (Scratch::begin(&mut scratch), Scratch::begin(&mut sums));
        // Apart from the rest, so that what has its address taken stays on the stack alone.
        let mut tx = Tx::new(lane, self, scratch, sums);
        let (mut place, mut sleep) = (Place::NEW, Sleep::NEW);
        let mut rounds = Rounds {
            stm: self,
            lane,
            warp,
            first: all & (lane.lane_bit() - 1) == 0,
            work: &mut work,
            ends: &mut ends,
            i,
            stride,
            end: range.end,
            conflicts: 0,
            counts: Counts::default(),
            place: &mut place,
            starves_at: self.gate().starves_at(lane),
            asks: true,
            ahead: 0,
            width: Width::new(self.limits.lanes_max),
            step,
            waits: false,
            asleep: false,
            sleep: &mut sleep,
            tx: &mut tx,
            awake: false,
            working: 0,
            go: false,
            going: 0,
            in_turn: false,
        };
        let opened = rounds.open(&range);
        rounds.run();
        rounds.close(opened);
    }

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

/// The loop of a lane: where it is in its range, and how its warp goes.
#[allow(clippy::struct_excessive_bools)]
struct Rounds<'r, 'l, L: Lane, A: Algorithm, W, K, T> {
    stm: &'l StmRef<A>,
    lane: &'l L,
    tx: &'r mut Tx<'l, L, A>,
    warp: WarpCrew,
    first: bool,
    work: &'r mut W,
    ends: &'r mut (K, T),
    /// The lane's transaction, and what comes after the last one of the range.
    i: u64,
    stride: u64,
    end: u64,
    conflicts: u32,
    counts: Counts,
    place: &'r mut Place,
    starves_at: u32,
    /// Whether the warp must ask the gate before its next round.
    asks: bool,
    /// The gate's word as it was a round before ([`Work::SNAPSHOT`]).
    ahead: u64,
    width: Width,
    step: Step,
    /// Whether the lane waits for a word to change, and whether it has gone to sleep: registers, so
    /// that a kernel without `retry` has no code for them.
    waits: bool,
    asleep: bool,
    sleep: &'r mut Sleep,
    /// The present round: whether the lane has a transaction to work on, and which lanes of the warp do.
    awake: bool,
    working: u32,
    /// Whether the lane makes an attempt, which lanes do, and whether it is in a turn at the gate.
    go: bool,
    going: u32,
    in_turn: bool,
}

#[stm_core_macros::inlined]
impl<L, A, W, K, T> Rounds<'_, '_, L, A, W, K, T>
where
    L: Lane,
    A: Algorithm,
    W: Work<L, A>,
    K: Results<W::Result>,
    T: Between,
{
    /// Opens the lane's logs and comes to the gate. Returns whether they were not open already.
    fn open(&mut self, range: &Range<u64>) -> bool {
        let (lane, warp) = (self.lane, self.warp);
        let opened = self.tx.logs.open(lane);
        if !opened {
            self.stm.nested(lane);
            self.counts.stopped = true;
        }
        let whole = self.stm.limits.threads_max == 0;
        self.step = (self.step).begin(lane, range, A::SCHEDULED && opened && whole);
        if A::SCHEDULED && !W::SNAPSHOT {
            self.ahead = A::load_gate_and_snapshot(self.tx);
        }
        if A::SCHEDULED {
            // The first time it asks at once, as if nobody were at the gate.
            let (gate, working) = (self.stm.gate(), warp.vote(lane, self.i < self.end));
            let (together, empty) = (W::TURNS_TOGETHER, Word::EMPTY);
            let admission =
                (self.place).ask_for_warp(lane, gate, empty, warp, working, together, false, 0);
            self.asks = admission != Admission::FRESH;
        }
        opened
    }

    fn close(&mut self, opened: bool) {
        if self.i < self.end {
            self.stm.unfinished(self.lane);
        }
        if opened {
            self.tx.logs.close(self.lane);
        }
        self.lane.probe().close(self.lane, self.tx.probe.cursor);
        self.counts.flush(self.lane, self.stm, self.first);
    }

    /// Wakes the lane if its words have changed, and returns who works in this round.
    fn wake(&mut self) -> u32 {
        let (lane, warp) = (self.lane, self.warp);
        if self.waits && (self.asleep || self.sleep.is_due()) && A::changed(self.tx) {
            self.waits = false;
        }
        self.awake = self.has_work() && !self.waits;
        self.working = warp.vote(lane, self.awake);
        mark!(self.tx, Warp);
        self.step.round(lane, self.working == 0 || self.waits);
        if self.working != 0 && self.asleep {
            self.sleep.wake(lane, self.stm.globals, self.tx.logs);
            self.asleep = false;
        }
        self.working
    }

    fn has_work(&self) -> bool {
        self.i < self.end && !self.counts.stopped
    }

    /// Departs from the gate with a warp of which nobody works in this round, and sleeps if somebody
    /// waits. Returns whether nobody has a transaction any more.
    fn rest(&mut self) -> bool {
        let (lane, warp, work) = (self.lane, self.warp, self.has_work());
        if A::SCHEDULED {
            let keeps = keeps_ticket(lane, warp, self.waits, !work);
            self.place.depart_with(lane, self.stm.gate(), warp, keeps);
            self.asks = true;
        }
        let sleepers = warp.vote(lane, work);
        if sleepers != 0 && self.waits && work {
            let asks = sleepers & (lane.lane_bit() - 1) == 0;
            (self.sleep).nap(lane, self.stm.bed(self.tx.logs, true, asks));
            self.asleep = true;
            self.counts.stopped = self.stm.asked_to_stop(lane);
        }
        sleepers == 0
    }

    /// Loads the gate's word, and returns it and whether the lane starves. `go` becomes whether the
    /// warp's width lets the lane make an attempt.
    fn look(&mut self) -> (Word, bool) {
        let word = Word(if W::SNAPSHOT {
            A::load_gate_and_snapshot(self.tx)
        } else {
            core::mem::replace(&mut self.ahead, A::load_gate(self.tx))
        });
        self.tx.mode.alone = false;
        self.go = self.awake & self.width.takes(self.lane, self.working);
        let lane = self.lane.lane_index();
        self.go &= !self.width.sits(lane, self.conflicts, self.counts.rounds);
        // Without a branch.
        #[allow(clippy::needless_bitwise_bool)]
        let starves = self.awake & (self.conflicts >= self.starves_at);
        (word, starves)
    }

    /// Runs the rounds: who makes an attempt in each is up to the gate and the warp's width.
    // A round that ends early goes on from where that is known, and not by the result of a function,
    // at which the path of the others would wait for the gate's word.
    fn run(&mut self) {
        loop {
            if self.wake() == 0 {
                if self.rest() {
                    break;
                }
                continue;
            }
            (self.go, self.going, self.in_turn) = (self.awake, self.working, false);
            if A::SCHEDULED {
                let (word, starves) = self.look();
                if self.must_ask(word, starves) {
                    let admission = self.ask(word, starves);
                    if let Some(ns) = admission.wait_ns() {
                        self.pause(ns);
                        continue;
                    }
                    if let Some(turn) = admission.turn() {
                        if turn.alone
                            && let Some(value) =
                                (self.work).turn(self.tx, self.i, self.awake, self.warp)
                        {
                            self.settle_turn(value);
                            continue;
                        }
                        self.take(turn);
                    }
                }
                self.count_going();
            }
            let mut attempt = Attempt::new();
            self.attempt(&mut attempt);
            self.settle(&mut attempt);
        }
    }

    /// Returns whether the warp must ask the gate, whose word this is.
    fn must_ask(&self, word: Word, starves: bool) -> bool {
        rarely((self.warp).vote(self.lane, self.asks | starves | word.is_closed()) != 0)
    }

    /// Counts the attempts of a turn that all lanes have made, and tells what has ended.
    fn settle_turn(&mut self, value: W::Result) {
        self.counts.round(self.working.count_ones(), false);
        if self.awake {
            let (conflicts, counts) = (&mut self.conflicts, &mut self.counts);
            StmRef::conclude_turn(self.tx, self.i, conflicts, counts);
            self.ends.0.keep(self.lane, self.i, value);
            self.next();
        }
    }

    fn take(&mut self, turn: Turn) {
        self.in_turn = true;
        self.tx.mode.alone = turn.alone;
        self.go =
            self.lane.lane_index() == turn.lane || self.awake && Mutant::TurnShared.on(self.lane);
    }

    fn count_going(&mut self) {
        let (lane, warp) = (self.lane, self.warp);
        self.going = warp.vote(lane, self.go);
        if rarely(self.going == 0) {
            // Without others there is nobody to leave it to.
            self.go = self.awake & self.width.takes(lane, self.working);
            self.going = warp.vote(lane, self.go);
        }
    }

    fn ask(&mut self, word: Word, starves: bool) -> Admission {
        let (lane, warp, working) = (self.lane, self.warp, self.working);
        let (gate, failures) = (self.stm.gate(), self.width.alone);
        let together = W::TURNS_TOGETHER;
        let admission =
            (self.place).ask_for_warp(lane, gate, word, warp, working, together, starves, failures);
        self.asks = !matches!(admission, Admission::TOGETHER | Admission::FRESH);
        admission
    }

    fn pause(&mut self, ns: u32) {
        self.step.commits(self.lane);
        self.counts.stopped = self.stm.asked_to_stop(self.lane);
        self.lane.pause(self.step.pause_ns(ns));
        if !W::SNAPSHOT {
            // A place with a ticket needs a word that was loaded after it was drawn.
            self.ahead = A::load_gate_and_snapshot(self.tx);
        }
    }

    fn next(&mut self) {
        self.ends.1.ended(self.i);
        self.i = self.i.saturating_add(self.stride);
    }

    /// Makes the attempts of a round: all bodies, and then all commits.
    fn attempt(&mut self, attempt: &mut Attempt<W::Result>) {
        let (lane, warp) = (self.lane, self.warp);
        let in_turns = A::GRANULE == Granule::LaneInTurn;
        self.counts.round(self.going.count_ones(), in_turns);
        if self.counts.full() {
            self.counts.flush(lane, self.stm, self.first);
        }
        if in_turns {
            let mut rest = self.working;
            while rest != 0 {
                if lane.lane_bit() == rest & rest.wrapping_neg() {
                    self.execute(attempt);
                    // SAFETY: the mask names the lane alone.
                    self.commit(attempt, unsafe { WarpCrew::of(lane.lane_bit()) });
                    self.conclude(attempt);
                }
                rest &= rest - 1;
                warp.meet(lane);
            }
            if times(lane) && self.awake {
                self.tx.spent(Phase::Locks);
            }
            return;
        }
        self.work.begin_round();
        if self.go {
            self.execute(attempt);
        }
        let ready = warp.vote(lane, attempt.end.is_ok());
        self.step.commits(lane);
        if attempt.end.is_ok() {
            mark!(self.tx, Warp);
        }
        // SAFETY: the lanes that are ready continue from here together.
        self.commit(attempt, unsafe { WarpCrew::of(ready) });
        if A::SCHEDULED {
            // All lanes meet again, however their attempts ended.
            warp.meet(lane);
        }
        if self.go {
            self.conclude(attempt);
        }
    }

    fn execute(&mut self, attempt: &mut Attempt<W::Result>) {
        let (work, i) = (&mut *self.work, self.i);
        let end = StmRef::execute(self.tx, &mut |tx| work.run(tx, i));
        attempt.end = end.map(|value| attempt.value = Some(value));
    }

    fn commit(&mut self, attempt: &mut Attempt<W::Result>, together: WarpCrew) {
        if attempt.end.is_ok() {
            self.tx.end_actions_early();
            attempt.end = self.work.commit(self.tx, together);
        }
    }

    fn conclude(&mut self, attempt: &mut Attempt<W::Result>) {
        let (end, conflicts, counts) = (attempt.end, &mut self.conflicts, &mut self.counts);
        attempt.outcome = (self.stm).conclude(self.tx, end, self.i, conflicts, counts);
    }

    /// Learns from a round how wide the next one is, and tells what has ended.
    fn settle(&mut self, attempt: &mut Attempt<W::Result>) {
        let (lane, outcome) = (self.lane, attempt.outcome);
        if A::SCHEDULED && !self.in_turn {
            let again = self.go && outcome == Outcome::Retry;
            let failed = self.warp.vote(lane, again).count_ones();
            self.width.learn(lane, self.going.count_ones(), failed);
            self.asks |= failed != 0 && looks(self.width.alone);
        }
        if self.go {
            self.waits = self.tx.mode.waits;
            match (attempt.end, attempt.value.take()) {
                (Ok(()), Some(value)) => self.ends.0.keep(lane, self.i, value),
                (Err(abort), _) => self.ends.0.aborted(self.i, abort),
                (Ok(()), None) => {}
            }
        }
        if self.go && matches!(outcome, Outcome::Committed | Outcome::Ended) {
            self.next();
            mark!(self.tx, Native);
        }
    }
}

/// Returns whether a defect keeps the warp's ticket: one lane `waits`, or all are at the end of their range.
#[inline(always)]
fn keeps_ticket<L: Lane>(lane: &L, warp: WarpCrew, waits: bool, ends: bool) -> bool {
    Mutant::RetryKeepsTicket.on(lane) && warp.vote(lane, waits) != 0
        || Mutant::EndKeepsTicket.on(lane) && warp.vote(lane, !ends) == 0
}
