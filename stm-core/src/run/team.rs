//! The loops of teams: they retry a transaction once for all lanes of a warp, or threads of a block. The
//! leader, the first member, asks at the gate, counts and decides, and broadcasts that.
//!
//! Invariant: every branch around a vote or a broadcast is the same for all members.

use crate::algorithm::contract::Scratch;
use crate::algorithm::prelude::*;
use crate::memory::globals::{self, FaultRecord, Globals};
use crate::run::conclude::{Counts, Outcome};
use crate::run::{gate::Place, wait::Sleep};
use crate::tx::crew::BlockCrew;
use crate::tx::team::{TeamTx, agree};
use core::{mem::MaybeUninit, ops::Range};
use stm_machine::observe::Probe;

/// A team that runs transactions. The ticket, the conflicts and the counts are the leader's.
struct Team<'p, 'a, L: Lane, A: Algorithm, C: Crew> {
    tx: TeamTx<'a, L, A, C>,
    stm: &'a StmRef<A>,
    /// Apart, as it has its address taken: inside, it would keep all the rest on the stack.
    place: &'p mut Place,
    conflicts: u32,
    counts: Counts,
    opened: bool,
    /// Says whether the launch is to stop, the same in all lanes.
    stopped: bool,
}

/// Reports why a team cannot begin: members are missing, or in a transaction. Any may be missing, so all that
/// are there report it. It takes its arguments by value, so that the handle need not be in memory.
#[inline(never)]
fn refuse_team<L: Lane, C: Crew>(lane: &L, globals: *mut Globals, crew: C) {
    let (size, present) = (crew.size(lane), crew.count_of(lane, true));
    let reason = if present == size {
        Abort::Nested
    } else {
        Abort::TeamIncomplete
    };
    let record = FaultRecord {
        reason: reason as u32 + 1,
        limit: present,
        len: u64::from(size),
        transaction: crew.leader_thread(lane),
        ..FaultRecord::NONE
    };
    // SAFETY: the globals are live (StmRef::from_raw).
    unsafe { globals::fault(lane, globals, record) };
}

#[stm_core_macros::inlined]
impl<A: Algorithm> StmRef<A> {
    /// Runs one transaction by the calling warp until it commits. All lanes call it together (one that has
    /// ended is [`Abort::TeamIncomplete`], a fault) and get the same verdict; each gets what its own closure
    /// returned. It needs an algorithm with [`Algorithm::TEAMS`]; else it is [`Abort::NoTeams`], a fault.
    ///
    /// # Errors
    /// Those of [`Self::atomically`], for the team, and [`Abort::TeamOverlap`], a fault, if two lanes
    /// accessed one word and one wrote it.
    pub fn team<L: Lane, R, F>(&self, lane: &L, body: F) -> TxResult<R>
    where
        F: FnMut(&mut TeamTx<'_, L, A>) -> TxResult<R>,
    {
        self.once::<L, WarpCrew, R, F>(lane, body)
    }

    /// Does [`Self::team`] by all threads of the block, of any number, which call it together.
    ///
    /// They meet at the block's barrier (`Lane::barrier`) in each call on the transaction. So the warps must
    /// make no other use of it meanwhile, and a branch of the closure around a call must be the same for all.
    pub fn team_of_block<L: Lane, R, F>(&self, lane: &L, body: F) -> TxResult<R>
    where
        F: FnMut(&mut TeamTx<'_, L, A, BlockCrew>) -> TxResult<R>,
    {
        self.once::<L, BlockCrew, R, F>(lane, body)
    }

    /// Does [`Self::for_each`], spread over all warps of the launch, each transaction by a warp together.
    pub fn for_each_team<L: Lane, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A>, u64) -> TxResult<()>,
    {
        self.each::<L, WarpCrew, F>(lane, range, body);
    }

    /// Does [`Self::for_each_team`] for numbers of the warp's own; all its lanes call it with the same range.
    pub fn for_each_of_team<L: Lane, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A>, u64) -> TxResult<()>,
    {
        self.each_from::<L, WarpCrew, F>(lane, range, 1, body);
    }

    /// Does [`Self::for_each_team`] with the blocks of the launch as its teams; see [`Self::team_of_block`].
    pub fn for_each_block_team<L: Lane, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A, BlockCrew>, u64) -> TxResult<()>,
    {
        self.each::<L, BlockCrew, F>(lane, range, body);
    }

    fn once<L: Lane, C: Crew, R, F>(&self, lane: &L, mut body: F) -> TxResult<R>
    where
        F: FnMut(&mut TeamTx<'_, L, A, C>) -> TxResult<R>,
    {
        let (mut scratch, mut sums) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let (scratch, sums) = (Scratch::begin(&mut scratch), Scratch::begin(&mut sums));
        let mut place = Place::NEW;
        let mut team = Team::<L, A, C>::gather(lane, self, &mut place, scratch, sums);
        let leader = team.tx.crew.leader_thread(lane);
        let (outcome, result) = team.run(leader, &mut body);
        team.part(outcome == Outcome::Retry);
        result
    }

    fn each<L: Lane, C: Crew, F>(&self, lane: &L, range: Range<u64>, body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A, C>, u64) -> TxResult<()>,
    {
        let first = range.start.saturating_add(C::number(lane));
        self.each_from::<L, C, F>(lane, first..range.end, C::count(lane), body);
    }

    fn each_from<L: Lane, C: Crew, F>(&self, lane: &L, range: Range<u64>, stride: u64, mut body: F)
    where
        F: FnMut(&mut TeamTx<'_, L, A, C>, u64) -> TxResult<()>,
    {
        let (mut scratch, mut sums) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let (scratch, sums) = (Scratch::begin(&mut scratch), Scratch::begin(&mut sums));
        let mut place = Place::NEW;
        let mut team = Team::gather(lane, self, &mut place, scratch, sums);
        let mut i = range.start;
        while i < range.end && !team.stopped {
            let (outcome, _) = team.run(i, &mut |tx: &mut TeamTx<'_, L, A, C>| body(tx, i));
            if outcome != Outcome::Retry {
                i = i.saturating_add(stride);
            }
        }
        team.part(i < range.end);
    }
}

#[stm_core_macros::inlined]
impl<'p, 'a, L: Lane, A: Algorithm, C: Crew> Team<'p, 'a, L, A, C> {
    fn gather(
        lane: &'a L,
        stm: &'a StmRef<A>,
        place: &'p mut Place,
        scratch: &'a mut A::Scratch,
        sums: &'a mut A::SumScratch,
    ) -> Self {
        let tx: TeamTx<'_, L, A, C> = TeamTx::new(lane, stm, scratch, sums);
        let opened = tx.tx.logs.open(lane);
        let all = tx.crew.count_of(lane, opened) == tx.size();
        if !all {
            refuse_team(lane, stm.globals, tx.crew);
        }
        let stops = tx.leads() && stm.asked_to_stop(lane);
        let stopped = tx.of_leader::<1>(u32::from(stops)) != 0 || !all;
        Self {
            tx,
            stm,
            place,
            conflicts: 0,
            counts: Counts::default(),
            opened,
            stopped,
        }
    }

    fn part(&mut self, unfinished: bool) {
        let lane = self.tx.lane();
        if self.opened {
            self.tx.tx.logs.close(lane);
        }
        if self.tx.leads() {
            if A::SCHEDULED {
                self.place.depart(lane, self.stm.gate());
            }
            if unfinished {
                self.stm.unfinished(lane);
            }
            self.counts.flush(lane, self.stm, true);
        }
        lane.probe().close(lane, self.tx.tx.probe.cursor);
    }

    /// Attempts one transaction until it has ended or the launch is to stop; then the outcome is `Retry`.
    fn run<R, F>(&mut self, transaction: u64, body: &mut F) -> (Outcome, TxResult<R>)
    where
        F: FnMut(&mut TeamTx<'_, L, A, C>) -> TxResult<R>,
    {
        if self.stopped || !self.admitted() {
            return (Outcome::Retry, Err(Abort::Stopped));
        }
        loop {
            let result = self.attempt(body);
            let end = result.as_ref().map_or_else(|&abort| Err(abort), |_| Ok(()));
            let outcome = self.conclude(end, transaction);
            if !matches!(outcome, Outcome::Retry | Outcome::Wait) {
                return (outcome, result);
            }
            if outcome == Outcome::Wait && !self.stopped {
                self.wait();
            }
            if self.stopped || !self.admitted() {
                let result = match outcome {
                    Outcome::Wait => Err(Abort::Stopped),
                    _ => result,
                };
                return (Outcome::Retry, result);
            }
        }
    }

    /// Waits until the team may begin an attempt; returns `false` if the launch is to stop.
    fn admitted(&mut self) -> bool {
        let mut admitted = true;
        if A::SCHEDULED && self.tx.leads() {
            let tx = &mut self.tx.tx;
            admitted = StmRef::admit(tx, self.place, self.conflicts);
        }
        self.stopped = self.tx.of_leader::<1>(u32::from(admitted)) == 0;
        !self.stopped
    }

    fn attempt<R, F>(&mut self, body: &mut F) -> TxResult<R>
    where
        F: FnMut(&mut TeamTx<'_, L, A, C>) -> TxResult<R>,
    {
        if self.tx.leads() {
            self.counts.round(self.tx.size(), false);
        }
        self.begin()?;
        let result = body(&mut self.tx);
        let tx = &mut self.tx;
        // A closure that swallowed a failure has failed nevertheless.
        let mine = match (&result, tx.tx.fault.reason) {
            (_, Some(abort)) => Err(abort),
            (&Err(abort), None) => Err(tx.tx.stm.not_given(tx.tx.lane, abort)),
            (Ok(_), None) => Ok(()),
        };
        if let Err(mut abort) = agree(&mut tx.tx, tx.crew, mine) {
            let lane = tx.tx.lane;
            if abort == Abort::Retry && !C::any(tx.crew.vote(lane, tx.tx.mode.has_read)) {
                abort = Abort::RetryWithoutReads;
            }
            tx.tx.mode.waits = abort == Abort::Retry;
            A::rollback(&mut tx.tx, Inside);
            return Err(abort);
        }
        A::team_commit(&mut tx.tx, tx.crew)?;
        result
    }

    fn begin(&mut self) -> TxResult<()> {
        let leads = self.tx.leads();
        let tx = &mut self.tx.tx;
        tx.clear();
        self.tx.deferred = false;
        let tx = &mut self.tx.tx;
        if leads {
            tx.observe(|tx| Event::Begin(A::now(tx)));
        }
        A::team_begin(tx, self.tx.crew)
    }

    fn wait(&mut self) {
        let (lane, crew) = (self.tx.lane(), self.tx.crew);
        if A::SCHEDULED && self.tx.leads() {
            self.place.depart(lane, self.stm.gate());
        }
        let tx = &mut self.tx.tx;
        let mut sleep = Sleep::NEW;
        loop {
            let changed = A::changed(tx);
            if C::any(crew.vote(lane, changed)) {
                break;
            }
            let leads = crew.is(lane, crew.leader(lane));
            sleep.nap(lane, self.stm.bed(tx.logs, false, leads));
            let stops = leads && self.stm.asked_to_stop(lane);
            if C::any(crew.vote(lane, stops)) {
                self.stopped = true;
                return;
            }
        }
        if sleep.asleep {
            sleep.wake(lane, self.stm.globals, tx.logs);
        }
    }

    fn conclude(&mut self, end: TxResult<()>, transaction: u64) -> Outcome {
        const STOPPED: u32 = 4;
        let lane = self.tx.lane();
        let mut said = 0;
        if self.tx.deferred || A::SCHEDULED {
            // ORDER(D1, G2, G4): all lanes' stores before any actions, and before the leader departs.
            self.tx.crew.meet(lane);
            if self.tx.deferred && !self.tx.leads() {
                self.tx.tx.end_actions(end.is_ok(), transaction);
            }
        }
        if self.tx.leads() {
            let tx = &mut self.tx.tx;
            let (conflicts, counts) = (&mut self.conflicts, &mut self.counts);
            let outcome = self.stm.conclude(tx, end, transaction, conflicts, counts);
            if A::SCHEDULED && !(tx.mode.waits && Mutant::RetryKeepsTicket.on(lane)) {
                self.place.end_turn(lane, self.stm.gate());
            }
            if outcome == Outcome::Retry && !self.counts.stopped {
                lane.pause(StmRef::<A>::backoff_ns(lane, self.conflicts));
            }
            said = outcome as u32;
            if self.counts.full() {
                self.counts.flush(lane, self.stm, true);
            }
            if self.counts.stopped {
                said |= STOPPED;
            }
        }
        let said = self.tx.of_leader::<3>(said);
        self.stopped = said & STOPPED != 0;
        match said & !STOPPED {
            0 => Outcome::Committed,
            1 => Outcome::Ended,
            2 => Outcome::Retry,
            _ => Outcome::Wait,
        }
    }
}
