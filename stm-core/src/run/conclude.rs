//! One attempt inside its loop: its code, its result, what follows from that, and the counts of a lane.

use crate::algorithm::prelude::*;
use crate::memory::globals::{Counter, FaultRecord};
use stm_machine::lane::times;

/// The number of attempts of a lane between two checks of the stop flag.
const STOP_POLL_ATTEMPTS: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Committed,
    /// The transaction ended for good without effect: it was cancelled, given up, faulted or stopped.
    Ended,
    /// The transaction must be retried, unless the lane is told to stop.
    Retry,
    /// The same, once a word that it has read has changed.
    Wait,
}

pub(crate) struct Attempt<R> {
    pub(crate) end: TxResult<()>,
    pub(crate) value: Option<R>,
    pub(crate) outcome: Outcome,
}

impl<R> Attempt<R> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self {
            end: Err(Abort::Stopped),
            value: None,
            outcome: Outcome::Retry,
        }
    }
}

/// The rounds after which a warp adds its counts to the launch's: a block of 1,024 lanes counts 2^31.
const FLUSH_ROUNDS: u32 = 1 << 21;

/// The counts of a lane, of 32 bits to save registers, which are flushed before they overflow.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) attempts: u32,
    pub(crate) commits: u32,
    pub(crate) read_only: u32,
    /// Rounds in which a lane of the warp made an attempt.
    pub(crate) rounds: u32,
    /// Attempts in these rounds, by all lanes of the warp.
    pub(crate) round_lanes: u32,
    pub(crate) stopped: bool,
}

#[stm_core_macros::inlined]
impl Counts {
    /// Counts a round of `lanes` lanes, which made their attempts one after the other or together.
    pub(crate) fn round(&mut self, lanes: u32, in_turn: bool) {
        self.rounds += if in_turn { lanes } else { 1 };
        self.round_lanes += lanes;
    }

    pub(crate) const fn full(&self) -> bool {
        self.rounds >= FLUSH_ROUNDS
    }

    /// Adds the counts to those of the launch and resets them; rounds only if it is the `first`.
    pub(crate) fn flush<L: Lane, A>(&mut self, lane: &L, stm: &StmRef<A>, first: bool) {
        let add = |counter: Counter, n: u32| {
            if n != 0 {
                stm.count(lane, counter as usize, u64::from(n));
            }
        };
        add(Counter::Attempts, self.attempts);
        add(Counter::Commits, self.commits);
        add(Counter::ReadOnlyCommits, self.read_only);
        if first {
            add(Counter::Rounds, self.rounds);
            add(Counter::RoundLanes, self.round_lanes);
        }
        *self = Self {
            stopped: self.stopped,
            ..Self::default()
        };
    }
}

#[stm_core_macros::inlined]
impl<A: Algorithm> StmRef<A> {
    pub(crate) fn nested<L: Lane>(&self, lane: &L) {
        let record = FaultRecord {
            reason: Abort::Nested as u32 + 1,
            transaction: lane.grid_thread(),
            ..FaultRecord::NONE
        };
        self.fault(lane, record);
    }

    pub(crate) fn execute<L: Lane, R, F>(tx: &mut Tx<'_, L, A>, body: &mut F) -> TxResult<R>
    where
        F: FnMut(&mut Tx<'_, L, A>) -> TxResult<R>,
    {
        tx.begin()?;
        let mut result = body(tx);
        mark!(tx, Native);
        // A closure that swallowed a failure has failed nevertheless.
        if let Some(abort) = tx.fault.reason {
            result = Err(abort);
        } else if tx.probe.doomed {
            result = Err(Abort::ReadStale);
        } else if let Err(abort) = result {
            result = Err(tx.stm.not_given(tx.lane, abort));
        }
        if result.is_err() {
            A::rollback(tx, Inside);
        }
        result
    }

    pub(crate) fn conclude<L: Lane>(
        &self,
        tx: &mut Tx<'_, L, A>,
        end: TxResult<()>,
        transaction: u64,
        conflicts: &mut u32,
        counts: &mut Counts,
    ) -> Outcome {
        let lane = tx.lane;
        counts.attempts += 1;
        if counts.attempts.is_multiple_of(STOP_POLL_ATTEMPTS) && self.asked_to_stop(lane) {
            counts.stopped = true;
        }
        tx.observe(|tx| match end {
            Err(abort) => Event::Abort(transaction, abort, A::now(tx)),
            Ok(()) if !A::wrote(tx) => Event::CommitReadOnly(transaction, A::now(tx)),
            Ok(()) => Event::Commit(transaction, tx.probe.version, A::now(tx)),
        });
        mark!(tx, Commit);
        tx.end_actions(end.is_ok(), transaction);
        let Err(abort) = end else {
            return Self::succeeded(tx, conflicts, counts);
        };
        if times(lane) {
            tx.settle(true);
        }
        self.count(lane, Counter::AbortsFrom as usize + abort as usize, 1);
        let mut outcome = Outcome::Ended;
        if abort.is_fault() {
            // Every read was validated, so the attempt saw a state that existed, and alone in it would have
            // met the same fault: a doomed attempt is never mistaken for one that is wrong.
            let record = FaultRecord {
                reason: abort as u32 + 1,
                limit: match abort {
                    Abort::WriteSetFull => self.capacity.writes,
                    Abort::ActionsFull => self.capacity.actions,
                    _ => self.capacity.reads,
                },
                index: tx.fault.details.0,
                len: tx.fault.details.1,
                transaction,
            };
            self.fault(lane, record);
            counts.stopped = true;
        } else if abort.is_conflict() {
            *conflicts = conflicts.saturating_add(1);
            if *conflicts == self.limits.retries_max {
                *conflicts = 0;
                tx.pool.misses = 0;
                self.count(lane, Counter::GaveUp as usize, 1);
            } else {
                outcome = Outcome::Retry;
            }
        } else if tx.mode.waits {
            *conflicts = 0;
            tx.pool.misses = 0;
            outcome = Outcome::Wait;
        } else if abort == Abort::Stopped {
            outcome = Outcome::Retry;
        }
        outcome
    }

    fn succeeded<L: Lane>(
        tx: &mut Tx<'_, L, A>,
        conflicts: &mut u32,
        counts: &mut Counts,
    ) -> Outcome {
        counts.commits += 1;
        counts.read_only += u32::from(!A::wrote(tx));
        *conflicts = 0;
        tx.pool.misses = 0;
        Outcome::Committed
    }

    /// Counts an attempt that was sure to commit ([`Work::turn`](crate::run::work::Work::turn)).
    pub(crate) fn conclude_turn<L: Lane>(
        tx: &mut Tx<'_, L, A>,
        transaction: u64,
        conflicts: &mut u32,
        counts: &mut Counts,
    ) {
        counts.attempts += 1;
        tx.observe(|tx| {
            if A::wrote(tx) {
                Event::Commit(transaction, tx.probe.version, A::now(tx))
            } else {
                Event::CommitReadOnly(transaction, A::now(tx))
            }
        });
        mark!(tx, Commit);
        Self::succeeded(tx, conflicts, counts);
    }

    /// Returns how long a lane backs off: longer with every conflict, and differently for each lane.
    pub(crate) fn backoff_ns<L: Lane>(lane: &L, conflicts: u32) -> u32 {
        let spread = (lane.grid_thread() as u32)
            .wrapping_mul(0x9E37_79B1)
            .rotate_left(conflicts)
            & 0xFF;
        spread << conflicts.min(6)
    }
}
