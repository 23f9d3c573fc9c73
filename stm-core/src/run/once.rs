//! The loop of one transaction of a lane on its own.

use crate::algorithm::contract::Scratch;
use crate::algorithm::prelude::*;
use crate::run::conclude::{Counts, Outcome};
use crate::run::gate::{Admission, Place};
use crate::run::{period::looks, wait::Sleep, word::Word};
use core::mem::MaybeUninit;
use stm_machine::observe::Probe;

#[stm_core_macros::inlined]
impl<A: Algorithm> StmRef<A> {
    /// Runs one transaction on the calling lane until it commits.
    ///
    /// The lanes of a warp that call this run independently; [`Self::for_each`] is several times faster for
    /// many transactions. One inside another on the same memory is [`Abort::Nested`], a fault;
    /// [`Transact`](crate::Transact) is the way.
    ///
    /// # Errors
    /// The reason, if the transaction cancelled itself ([`Abort::User`]), was given up after `retries_max`
    /// conflicts (the last conflict), met a fault that the host will report, or the launch was told to stop.
    pub fn atomically<L: Lane, R, F>(&self, lane: &L, mut body: F) -> TxResult<R>
    where
        F: FnMut(&mut Tx<'_, L, A>) -> TxResult<R>,
    {
        let mut counts = Counts::default();
        if self.asked_to_stop(lane) {
            self.unfinished(lane);
            return Err(Abort::Stopped);
        }
        let (mut scratch, mut sums) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let (scratch, sums) = (Scratch::begin(&mut scratch), Scratch::begin(&mut sums));
        let mut tx = Tx::new(lane, self, scratch, sums);
        if !tx.logs.open(lane) {
            self.nested(lane);
            return Err(Abort::Nested);
        }
        let mut conflicts = 0;
        let mut place = Place::NEW;
        let result = loop {
            if A::SCHEDULED && !Self::admit(&mut tx, &mut place, conflicts) {
                self.unfinished(lane);
                break Err(Abort::Stopped);
            }
            let mut result = Self::execute(&mut tx, &mut body);
            if result.is_ok() {
                tx.end_actions_early();
                // SAFETY: the mask names the lane alone.
                if let Err(abort) = tx.commit(unsafe { WarpCrew::of(lane.lane_bit()) }) {
                    result = Err(abort);
                }
            }
            let end = result.as_ref().map_or_else(|&abort| Err(abort), |_| Ok(()));
            let outcome = self.conclude(
                &mut tx,
                end,
                lane.grid_thread(),
                &mut conflicts,
                &mut counts,
            );
            if A::SCHEDULED && !(tx.mode.waits && Mutant::RetryKeepsTicket.on(lane)) {
                place.end_turn(lane, self.gate());
            }
            match outcome {
                Outcome::Retry if !counts.stopped => {
                    lane.pause(Self::backoff_ns(lane, conflicts));
                    mark!(tx, Aborted);
                }
                Outcome::Retry => {
                    self.unfinished(lane);
                    break result;
                }
                Outcome::Wait if !counts.stopped && self.wait_alone(&mut tx, &mut place) => {}
                Outcome::Wait => {
                    self.unfinished(lane);
                    break Err(Abort::Stopped);
                }
                Outcome::Committed | Outcome::Ended => break result,
            }
        };
        if A::SCHEDULED {
            place.depart(lane, self.gate());
        }
        tx.logs.close(lane);
        lane.probe().close(lane, tx.probe.cursor);
        counts.flush(lane, self, false);
        result
    }

    /// Waits until the lane, or its team, may begin an attempt; returns `false` if it is told to stop.
    pub(crate) fn admit<L: Lane>(tx: &mut Tx<'_, L, A>, place: &mut Place, conflicts: u32) -> bool {
        let (lane, gate) = (tx.lane, tx.stm.gate());
        let starves = conflicts >= gate.starves_at(lane);
        let mut fresh = false;
        loop {
            let word = Word(A::load_gate_and_snapshot(tx));
            tx.mode.alone = false;
            let asks = starves || looks(conflicts) || word.is_closed();
            if fresh || place.present && !asks {
                return true;
            }
            let admission = place.ask(lane, gate, word, starves, conflicts);
            let Some(ns) = admission.wait_ns() else {
                tx.mode.alone = admission.turn().is_some_and(|turn| turn.alone);
                return true;
            };
            fresh = admission == Admission::FRESH;
            if fresh {
                continue;
            }
            if tx.stm.asked_to_stop(lane) {
                return false;
            }
            lane.pause(ns);
        }
    }

    fn wait_alone<L: Lane>(&self, tx: &mut Tx<'_, L, A>, place: &mut Place) -> bool {
        let lane = tx.lane;
        if A::SCHEDULED {
            place.depart(lane, self.gate());
        }
        let mut sleep = Sleep::NEW;
        while !A::changed(tx) {
            sleep.nap(lane, self.bed(tx.logs, false, true));
            if self.asked_to_stop(lane) {
                return false;
            }
        }
        if sleep.asleep {
            sleep.wake(lane, self.globals, tx.logs);
        }
        true
    }
}
