//! The periods of the gate ([`super::gate`]): when one opens, and when it ends.
//!
//! A place that has met nothing but conflicts for a time `t` compares it with what turns would have given it:
//! with `n` places present, of one transaction of time `s` by turns each ([`Gate::transaction_time`]),
//! service after `n * s`. The longest of many waits is longer than the mean, so it wants a period when `t` is
//! above [`LATE`] quarters of `n * s`, and the clock agrees: it counts the commits of the launch meanwhile,
//! or fewer, and turns would have made more of them, `t / s`. `s` is measured in each turn alone, and left
//! beside the gate; before the first one of a launch it is taken to be a [`GUESS`]th of the time of the
//! place's own attempt, with its pauses.
//!
//! # How long a period is
//! The place that has opened a period ends it: at the end of a turn of its own, when so many tickets were
//! drawn, or earlier, when it departs without a ticket. Then all find out anew what is faster. The first is
//! short, [`FIRST`] tickets, so that a wrong guess costs little. One that is wanted again soon is [`GROWTH`]
//! times as long, and wanted after half the wait. It is soon as long as the place has not committed since it
//! entered, or has been with others for no longer than the last period, and twice the wait before it is late.

use crate::run::word::{Gate, Word};
use core::ptr::addr_of_mut;
use stm_machine::{Lane, observe::Mutant};

/// The conflicts in a row from which on a place measures its wait, and looks again after twice as many.
const BEGIN: u32 = 32;
/// How many times as long as by turns a place waits before it wants a period, in quarters.
const LATE: u32 = 12;
/// The same, in quarters, where the last period was not long ago.
const LATE_AGAIN: u32 = 6;
/// How many times as fast a turn is supposed to be as an attempt of a place that fails.
const GUESS: u32 = 4;
/// The tickets of the first period, how much longer each of the next is, and the most.
const FIRST: u32 = 2;
const GROWTH: u32 = 8;
const LONGEST: u32 = 2048;

/// Returns whether a place looks at the time, at this number of conflicts in a row.
#[inline(always)]
pub(crate) const fn looks(conflicts: u32) -> bool {
    conflicts >= BEGIN && conflicts.is_power_of_two()
}

/// What a place knows of periods. It is in memory, as it is needed so rarely that registers are
/// worth more; in a warp, that of the first lane counts.
#[derive(Debug)]
pub(crate) struct Period {
    /// The tickets of the period that the place has opened; 0 for none.
    tickets: u32,
    opened_at: u32,
    /// The tickets of the period that the place wants; 0 for none.
    wanted: u32,
    /// The lane's time when the place was last admitted, when its wait began, and when its turn did.
    entered: u32,
    since: u32,
    pub(super) began: u32,
    ticks: u32,
}

#[stm_core_macros::inlined]
impl Period {
    pub(crate) const NEW: Self = Self {
        tickets: 0,
        opened_at: 0,
        wanted: 0,
        entered: 0,
        since: 0,
        began: 0,
        ticks: 0,
    };

    /// Looks at the time after so many conflicts in a row, with so many places present, and
    /// notes whether turns would be faster. So many `lanes` make an attempt in a turn of the place.
    pub(super) fn look<L: Lane>(
        &mut self,
        lane: &L,
        gate: Gate,
        present: u32,
        conflicts: u32,
        lanes: u32,
    ) {
        let (now, ticks) = (lane.clock() as u32, gate.ticks(lane));
        if conflicts == BEGIN {
            (self.since, self.ticks) = (now, ticks);
            return;
        }
        let waited = now.wrapping_sub(self.since);
        let own = waited / conflicts.saturating_sub(BEGIN).max(1) / GUESS;
        let each = match gate.transaction_time(lane) {
            0 => own.max(1),
            known => known,
        };
        let by_turns = present.saturating_mul(each);
        let last = gate.period(lane);
        let took = last.saturating_mul(each).saturating_mul(lanes);
        let late = by_turns.saturating_mul(LATE) / 4;
        let entered = now.wrapping_sub(self.entered);
        let soon = self.since == self.entered || entered <= took.saturating_add(2 * late);
        let soon = last != 0 && soon;
        let bound = if soon {
            by_turns.saturating_mul(LATE_AGAIN) / 4
        } else {
            late
        };
        // What was committed meanwhile would have taken so long by turns, or longer.
        let committed = ticks.wrapping_sub(self.ticks).saturating_mul(each);
        if waited > bound && waited > committed {
            self.wanted = if soon {
                (last * GROWTH).min(LONGEST)
            } else {
                FIRST
            };
        }
    }

    pub(super) const fn is_own(&self) -> bool {
        self.tickets != 0
    }

    /// Takes the wish for a period, and opens one unless one is open. Returns whether one is.
    pub(super) fn open<L: Lane>(&mut self, lane: &L, gate: Gate, word: Word) -> bool {
        let wanted = core::mem::take(&mut self.wanted);
        if wanted == 0 || word.is_open() {
            return word.is_open();
        }
        // SAFETY: live. Relaxed: the bit orders nothing.
        let before = Word(unsafe { lane.fetch_or_relaxed_64(gate.word(), Word::OPEN) });
        if !before.is_open() {
            (self.opened_at, self.tickets) = (before.drawn(), wanted);
            // SAFETY: inside the live globals. Relaxed: it is an estimate.
            unsafe { lane.store_relaxed_32(addr_of_mut!((*gate.globals).clock.period), wanted) };
        }
        true
    }

    pub(super) fn end<L: Lane>(&mut self, lane: &L, gate: Gate) {
        if core::mem::take(&mut self.tickets) != 0 && !Mutant::PeriodUnended.on(lane) {
            // SAFETY: live. Relaxed: the bit orders nothing.
            unsafe { lane.fetch_and_relaxed_64(gate.word(), !Word::OPEN) };
        }
    }

    pub(super) fn end_if_due<L: Lane>(&mut self, lane: &L, gate: Gate, word: Word) {
        if self.tickets != 0 && word.drawn_since(self.opened_at) >= self.tickets {
            self.end(lane, gate);
        }
    }

    /// Notes when the place was admitted beside others, after so many failures in a row.
    pub(super) fn enter<L: Lane>(&mut self, lane: &L, gate: Gate, failures: u32) {
        self.entered = lane.clock() as u32;
        // Who has failed rarely begins its wait anew before it looks ([`BEGIN`]), without the clock.
        let ticks = if failures < BEGIN {
            0
        } else {
            gate.ticks(lane)
        };
        (self.since, self.ticks) = (self.entered, ticks);
    }

    /// Learns, at the end of a turn alone of so many transactions, how long one takes.
    pub(super) fn learn<L: Lane>(&self, lane: &L, gate: Gate, transactions: u32) {
        let each = (lane.clock() as u32).wrapping_sub(self.began) / transactions.max(1);
        let known = gate.transaction_time(lane);
        let time = if known == 0 {
            each
        } else {
            known - known / 4 + each / 4
        };
        // SAFETY: inside the live globals. Relaxed: it is an estimate.
        unsafe {
            lane.store_relaxed_32(addr_of_mut!((*gate.globals).clock.turn), time.max(1));
        }
    }
}
