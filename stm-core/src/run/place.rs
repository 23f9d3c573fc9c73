//! The calls at the gate ([`super::gate`]): of a lane on its own, of the leader of a team, whose members
//! have met since their attempt, and of the lanes of a warp, which share a place that their first lane
//! keeps. They are not inlined, as a loop of rounds needs them rarely.

use crate::algorithm::prelude::*;
use crate::run::gate::{Admission, Place, Rounds};
use crate::run::word::{self, Gate, Word};

pub(super) const TOGETHER: u32 = 4;

impl Place {
    /// Asks for an attempt of a lane or a team, of a gate that had just now this word. `starves`
    /// says that its transaction has met too many conflicts, which were so many in a row.
    #[inline(never)]
    pub(crate) fn ask<L: Lane>(
        &mut self,
        lane: &L,
        gate: Gate,
        word: Word,
        starves: bool,
        conflicts: u32,
    ) -> Admission {
        let places = lane.grid_threads().min(u64::from(u32::MAX)) as u32;
        self.admit(lane, gate, word, starves, conflicts, Rounds::ONE, places)
    }

    #[inline(never)]
    pub(crate) fn depart<L: Lane>(&mut self, lane: &L, gate: Gate) {
        self.go(lane, gate);
    }

    #[inline(never)]
    pub(crate) fn end_turn<L: Lane>(&mut self, lane: &L, gate: Gate) {
        self.leave(lane, gate);
    }

    /// Does [`Self::ask`] for the lanes of a warp, of which those in `working` have a transaction, with so
    /// many failed rounds. In a turn they make their attempts `together`, in one round, or one in a round.
    #[allow(clippy::too_many_arguments)]
    #[inline(never)]
    pub(crate) fn ask_for_warp<L: Lane>(
        &mut self,
        lane: &L,
        gate: Gate,
        word: Word,
        warp: WarpCrew,
        working: u32,
        together: bool,
        starves: bool,
        failures: u32,
    ) -> Admission {
        // What the lanes have given back is before what the first of them does at the gate.
        warp.meet(lane);
        let first = warp.leader(lane);
        let starving = warp.vote(lane, starves);
        let mut admission = Admission::TOGETHER;
        if warp.is(lane, first) {
            let lanes = working.count_ones();
            let (number, each) = if together {
                (TOGETHER, lanes)
            } else {
                (lanes, 1)
            };
            admission = self.admit(
                lane,
                gate,
                word,
                starving != 0,
                failures,
                Rounds { number, each },
                word::warps(lane),
            );
            if admission.turn().is_some() {
                // One that starves goes first, and finds what the others have given back.
                let among = if starving == 0 { working } else { starving };
                let after = among.rotate_right(self.next).trailing_zeros();
                let goes = (self.next + after) % 32;
                self.next = (goes + 1) % 32;
                admission = admission.of_lane(goes);
            }
        }
        let admission = Admission(warp.broadcast_32(lane, first, admission.0));
        // What the first lane has acquired, all have.
        warp.meet(lane);
        admission
    }

    /// Ends the turn and departs, for a warp that makes no attempt now. A defect `keeps` the ticket.
    #[inline(never)]
    pub(crate) fn depart_with<L: Lane>(
        &mut self,
        lane: &L,
        gate: Gate,
        warp: WarpCrew,
        keeps: bool,
    ) {
        warp.meet(lane);
        if warp.is(lane, warp.leader(lane)) {
            if !keeps {
                self.leave(lane, gate);
            }
            self.go(lane, gate);
        }
    }
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use super::*;
    use crate::memory::globals::Globals;
    use core::mem::MaybeUninit;
    use std::boxed::Box;
    use stm_machine::lane::cpu::{Block, CpuLane};
    use stm_machine::observe::HostProbe;

    #[test]
    fn a_place_that_enters_between_tickets_alone_draws_one_in_the_end() {
        let block = Block::new(1, 0);
        // SAFETY: all of it is zero at the start; one thread uses the lane and what it has.
        let (mut globals, lane) = unsafe {
            let globals = Box::new(MaybeUninit::<Globals>::zeroed().assume_init());
            let lane = CpuLane::new(&block, 0, 0, 1, 1, HostProbe::SILENT);
            (globals, lane)
        };
        let gate = Gate {
            globals: &raw mut *globals,
            patience: 1,
        };
        let ask = |place: &mut Place, starves| {
            place.admit(&lane, gate, gate.load(&lane), starves, 0, Rounds::ONE, 2)
        };
        let (mut one, mut other) = (Place::NEW, Place::NEW);
        for tickets in 0..100 {
            ask(&mut other, true);
            assert!(
                ask(&mut one, false).wait_ns().is_some_and(|ns| ns != 0),
                "closed"
            );
            if one.has_ticket() {
                assert!(tickets >= 4, "{tickets} tickets for two places");
                return;
            }
            while ask(&mut other, false).turn().is_none() {}
            other.leave(&lane, gate);
            assert_eq!(
                ask(&mut one, false),
                Admission::FRESH,
                "after {tickets} tickets"
            );
        }
        panic!("it has entered a hundred times and made no attempt");
    }
}
