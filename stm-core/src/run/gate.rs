//! The gate: the contention manager of the scheduled algorithms.
//!
//! Whoever runs transactions has a *place*: a warp in a loop of rounds, a team, or a lane on its own. A place
//! is *present* from its entrance until it departs, and only who is present, or has a turn, makes attempts.
//! All places share one word ([`super::word`]) on the clock's cache line, which a round loads with the clock.
//!
//! # The protocol
//! 1. *Enter*: add a present place. If the word that the addition found has tickets waiting,
//!    take it back and wait; otherwise fence (G1) and make attempts.
//! 2. *Depart*, when the range ends, when all lanes of the warp sleep, and when the word of a
//!    round has tickets waiting or a period open: fence (G2), take the presence back.
//! 3. *Draw* a ticket, and depart with it. A ticket is at the *head* when all before it are served.
//! 4. *Turn*: the head that finds nobody present fences (G3). It is *alone* now: no attempt is in progress,
//!    no word is owned, and none begins before its ticket is served. Each lane of its warp that has work
//!    makes one attempt, in a round of its own; an attempt alone stores its words without locks and without
//!    validation. Static updates are made by all lanes in a round, one after the other, for a few rounds.
//! 5. *Leave*: fence (G4), serve the ticket. The next turn takes another ticket.
//!
//! A head that has polled [`HEAD_POLLS`] times goes on beside those who are present, who may be in code
//! between transactions, by the whole protocol.
//!
//! # Who draws a ticket
//! - A place with a transaction that starves: it has met `queue_after` conflicts in a row, or,
//!   in a small launch, as many as a turn costs all others ([`Gate::starves_at`]).
//! - A place that is kept out while others draw twice as many tickets as there are places, whether or not it
//!   has met a conflict. When those are no more than the places, the tickets are served meanwhile, and all
//!   enter: so places that keep each other out do not go on so.
//! - In a period ([`super::period`]), every place, as long as fewer than [`SEATS`] tickets wait.
//!
//! `ORDERING.md`, "The gate", argues why an attempt alone is alone, why every ticket is served, and why every
//! transaction ends. The argument has one condition: the head's attempts end, and what its loop calls between
//! them. A closure that waits for another transaction in a loop of its own, or at the gate of another memory,
//! keeps the tickets behind it until the launch is stopped; one that waits by `retry` ends its attempt, and
//! its warp's turn. When a launch is stopped, every poll ends, and the host clears the word.

use crate::memory::globals::{self, Counter};
use crate::run::period::{Period, looks};
use crate::run::word::{Gate, Word};
use stm_machine::{Lane, observe::Mutant};

const POLL_NS: u32 = 256;
/// The time between two polls, for each ticket before the place's own; without a ticket it grows by as much.
const WAIT_NS: u32 = 1024;
/// The most of these times between two polls. All polls go to the line of the clock, which a turn needs.
const WAITS: u32 = 64;
/// The polls after which the head no longer waits for those that are present.
const HEAD_POLLS: u32 = 256;
/// The tickets that wait in a period before others wait without one.
const SEATS: u32 = 8;
/// How many tickets others draw, for each place, before one that is kept out draws its own.
const PASSED_BY: u32 = 2;
/// The most places for that: a ticket has no more bits.
const PLACES_MAX: u32 = (Word::TICKET + 1) / PASSED_BY / 2;

/// The rounds of a turn, each of so many attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    pub(super) number: u32,
    pub(super) each: u32,
}

impl Rounds {
    pub(super) const ONE: Self = Self { number: 1, each: 1 };

    const fn attempts(self) -> u32 {
        self.number * self.each
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) alone: bool,
    pub(crate) lane: u32,
}

/// What a place may do, in 32 bits: nanoseconds to wait, [`Self::TOGETHER`], or an attempt in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Admission(pub(super) u32);

#[stm_core_macros::inlined]
impl Admission {
    pub(crate) const TOGETHER: Self = Self(1 << 30);
    const TURN: u32 = 1 << 31;
    const ALONE: u32 = 1 << 29;
    const LANE: u32 = 0xFF;

    /// The place is present, but makes its attempt with a new snapshot.
    pub(crate) const FRESH: Self = Self(0);
    /// The place's turn has begun: it asks again with a new snapshot.
    const AGAIN: Self = Self(1);

    pub(super) const fn of_lane(self, lane: u32) -> Self {
        Self(self.0 | lane)
    }

    /// Returns the nanoseconds before the place asks again, if it may not make an attempt now.
    pub(crate) fn wait_ns(self) -> Option<u32> {
        (self.0 < Self::TOGETHER.0).then_some(self.0)
    }

    pub(crate) fn turn(self) -> Option<Turn> {
        (self.0 & Self::TURN != 0).then_some(Turn {
            alone: self.0 & Self::ALONE != 0,
            lane: self.0 & Self::LANE,
        })
    }
}

/// A place ([`super::place`] has its calls). It is in memory, as it is used rarely.
#[derive(Debug)]
pub(crate) struct Place {
    /// The ticket, and [`Self::HELD`]; 0 for none. A place with a ticket is not present.
    ticket: u32,
    pub(crate) present: bool,
    /// Polls since the place was last admitted, or drew its ticket.
    polls: u32,
    /// The place has met a closed gate whenever it asked since the tickets drawn were `kept_out_at`.
    kept_out: bool,
    kept_out_at: u32,
    /// One more than the rounds of the turn that are left, with the one in progress; 0 without a turn.
    left: u32,
    /// All rounds of the turn with their attempts, and whether nobody else is in an attempt.
    rounds: Rounds,
    alone: bool,
    /// In a warp, the lane from which on the next one is sought.
    pub(super) next: u32,
    period: Period,
}

#[stm_core_macros::inlined]
impl Place {
    const HELD: u32 = Word::TICKET + 1;

    pub(crate) const NEW: Self = Self {
        ticket: 0,
        present: false,
        polls: 0,
        kept_out: false,
        kept_out_at: 0,
        left: 0,
        rounds: Rounds::ONE,
        alone: false,
        next: 0,
        period: Period::NEW,
    };

    /// Asks for an attempt, of a gate with this `word`. `starves` says that one of its transactions does
    /// ([`Gate::starves_at`]); the place has met so many `failures` in a row, and makes so many `rounds` in a
    /// turn.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn admit<L: Lane>(
        &mut self,
        lane: &L,
        gate: Gate,
        word: Word,
        starves: bool,
        failures: u32,
        rounds: Rounds,
        places: u32,
    ) -> Admission {
        if self.left > 1 {
            self.left -= 1;
            let alone = if self.alone { Admission::ALONE } else { 0 };
            return Admission(Admission::TURN | alone);
        }
        let mut word = word;
        if self.left != 0 {
            self.leave(lane, gate);
            word = gate.load(lane);
        }
        if self.ticket != 0 {
            return self.stand(lane, word, rounds);
        }
        let looked = self.present && looks(failures);
        if looked || self.present && starves {
            self.period
                .look(lane, gate, word.present(), failures, rounds.attempts());
        }
        let open = self.period.open(lane, gate, word);
        let seat = open && (word.waiting() < SEATS || self.period.is_own());
        let passed = word.drawn_since(self.kept_out_at) / PASSED_BY;
        let kept_out = self.kept_out && word.is_closed() && passed >= places.min(PLACES_MAX);
        let unasked = Mutant::NewcomerUnasked.on(lane) && !self.present;
        if starves || kept_out || seat {
            return self.draw(lane, gate);
        }
        if word.is_closed() && !unasked {
            self.go(lane, gate);
            return self.wait(word);
        }
        if self.present {
            self.kept_out = false;
            // Who has seen the clock does not go on with an older snapshot.
            return if looked {
                Admission::FRESH
            } else {
                Admission::TOGETHER
            };
        }
        if !Mutant::PresenceForgotten.on(lane) {
            let present = Word::PRESENT << u32::from(Mutant::PresenceTwice.on(lane));
            let word = gate.add(lane, present);
            if word.waiting() != 0 && !unasked {
                // The place has done nothing since.
                gate.add(lane, Word::PRESENT.wrapping_neg());
                return self.wait(word);
            }
        }
        self.present = true;
        // ORDER(G1): pairs with G4 of everybody who had a turn before.
        Mutant::NoG1.fence(lane);
        self.period.enter(lane, gate, failures);
        self.polls = 0;
        Admission::FRESH
    }

    fn wait(&mut self, word: Word) -> Admission {
        if !self.kept_out {
            (self.kept_out, self.kept_out_at) = (true, word.drawn());
        }
        self.polls = (self.polls + 1).min(WAITS);
        Admission(WAIT_NS * self.polls)
    }

    fn stand<L: Lane>(&mut self, lane: &L, word: Word, rounds: Rounds) -> Admission {
        let before = word.before(self.ticket);
        if before != 0 {
            return Admission(WAIT_NS * before.min(WAITS));
        }
        let alone = word.present() == 0 || Mutant::HeadUnwaiting.on(lane);
        self.polls += 1;
        if !alone && self.polls < HEAD_POLLS {
            return Admission(POLL_NS);
        }
        // ORDER(G3): pairs with G2 of all who were present, and G4 of earlier turns.
        Mutant::NoG3.fence(lane);
        self.period.began = lane.clock() as u32;
        (self.alone, self.rounds, self.left) = (alone, rounds, rounds.number + 1);
        self.polls = 0;
        Admission::AGAIN
    }

    fn draw<L: Lane>(&mut self, lane: &L, gate: Gate) -> Admission {
        // ORDER(G2): as in `go`.
        Mutant::NoG2.fence(lane);
        let departs = core::mem::take(&mut self.present) && !Mutant::PresenceForgotten.on(lane);
        let departs = u64::from(departs);
        let word = gate.add(lane, (Word::DRAWN + Word::WAITING).wrapping_sub(departs));
        self.ticket = Self::HELD | word.drawn();
        (self.polls, self.kept_out) = (0, false);
        Admission((WAIT_NS * word.waiting().min(WAITS)).max(POLL_NS))
    }

    /// Departs, and ends the period that the place has opened.
    pub(super) fn go<L: Lane>(&mut self, lane: &L, gate: Gate) {
        self.period.end(lane, gate);
        if core::mem::take(&mut self.present) && !Mutant::PresenceForgotten.on(lane) {
            // ORDER(G2): pairs with G3 of every turn behind.
            Mutant::NoG2.fence(lane);
            gate.add(lane, Word::PRESENT.wrapping_neg());
        }
    }

    /// Ends the turn, if the place has one, and serves its ticket.
    pub(super) fn leave<L: Lane>(&mut self, lane: &L, gate: Gate) {
        if self.left == 0 {
            return;
        }
        if self.alone {
            let made = self.rounds.number + 1 - self.left;
            self.period.learn(lane, gate, made * self.rounds.each);
            // SAFETY: the globals are live.
            unsafe { globals::count(lane, gate.globals, Counter::Turns as usize, 1) };
        }
        let word = gate.load(lane);
        self.period.end_if_due(lane, gate, word);
        (self.ticket, self.left) = (0, 0);
        // ORDER(G4): pairs with G1 and G3.
        Mutant::NoG4.fence(lane);
        gate.add(lane, Word::WAITING.wrapping_neg());
    }

    #[cfg(all(test, feature = "host"))]
    pub(super) const fn has_ticket(&self) -> bool {
        self.ticket != 0
    }
}
