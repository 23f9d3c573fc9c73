//! One attempt inside its loop: running its code, and what follows from its
//! result: counts, faults, and whether there is another attempt.

use crate::algorithm::contract::{Algorithm, Inside, Tx};
use crate::memory::globals::{Counter, FaultRecord};
use crate::run::outcome::{Counts, Outcome};
use crate::tx::abort::{Abort, TxResult};
use crate::{observe::event::Event, observe::phase::mark, tx::stm_ref::StmRef};
use stm_machine::lane::{Lane, times};

/// The number of attempts of a lane between two checks of the stop flag.
const STOP_POLL_ATTEMPTS: u32 = 16;

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

    /// Counts an attempt and returns what follows from its result.
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
            // Every read was validated when it was made, so the attempt saw a state that existed,
            // and run alone in that state it would have met the same fault. A doomed attempt is
            // never mistaken for one that is wrong.
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

    /// Returns how long a lane on its own backs off before its next attempt:
    /// longer with every conflict, and differently for each lane, so that two
    /// lanes that met once do not meet for ever.
    pub(crate) fn backoff_ns<L: Lane>(lane: &L, conflicts: u32) -> u32 {
        let spread = (lane.grid_thread() as u32)
            .wrapping_mul(0x9E37_79B1)
            .rotate_left(conflicts)
            & 0xFF;
        spread << conflicts.min(6)
    }
}
