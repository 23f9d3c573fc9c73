//! The gate: the contention manager of the scheduled algorithms.
//!
//! Whoever runs transactions has a *place*: a warp in a loop of rounds, a team, or a lane on
//! its own. A place is *present* from its entrance until it departs, and only who is present,
//! or has a turn, makes attempts. Nothing is counted in between. All places share one word, on
//! the clock's cache line, which a round loads together with the clock:
//!
//! | bits | meaning |
//! | --- | --- |
//! | 63..42 | tickets drawn, modulo 2^22 |
//! | 41..21 | tickets drawn and not yet served |
//! | 20 | a *period* is open: everybody works by turns |
//! | 19..0 | places that are present |
//!
//! No field overflows into the next: a place is present once or has one ticket, and fewer than
//! 2^20 threads of a launch run at a time on every machine. So the tickets not yet served are
//! fewer than 2^20 as well, and the tickets drawn may wrap around.
//!
//! # The protocol
//! 1. *Enter*: add a present place. If the word that the addition found has tickets waiting,
//!    take it back and wait; otherwise fence (G1) and make attempts.
//! 2. *Depart*, when the range ends, when all lanes of the warp sleep, and when the word of a
//!    round has tickets waiting or a period open: fence (G2), take the presence back.
//! 3. *Draw* a ticket, and depart with the same addition. A ticket is at the *head* when all
//!    tickets before it are served.
//! 4. *Turn*: the head that finds nobody present fences (G3). It is *alone* now: no attempt is
//!    in progress, no word is owned, and none begins before its ticket is served. Each lane of
//!    its warp that has work makes one attempt, in a round of its own; an attempt alone
//!    stores its words without locks and without validation.
//! 5. *Leave*: fence (G4), serve the ticket. The next turn takes another ticket.
//!
//! A head that has polled [`HEAD_POLLS`] times goes on beside those who are present, by the
//! whole protocol: they may be in code between transactions, for as long as they like.
//!
//! # Who draws a ticket
//! - A place with a transaction that starves: it has met `queue_after` conflicts in a row, or,
//!   in a small launch, as many as a turn costs all others ([`Gate::starves_at`]).
//! - A place that is kept out while others draw twice as many tickets as there are places. It need
//!   not have met any conflict, so nobody is kept out for ever. When they are no more than the
//!   places, the tickets are served meanwhile, and all enter: so places that keep each other
//!   out do not go on so.
//! - In a period ([`super::period`]), every place, as long as fewer than [`SEATS`] tickets wait.
//!
//! # Why an attempt alone is alone
//! All changes of the word are read-modify-writes, so they have one order. From the drawing of
//! the head's ticket to its service, every addition of a newcomer finds a ticket waiting, and is
//! taken back. So those who count as present after the drawing entered before it, or will make
//! no attempt. When the head finds nobody present, all of the former have departed: G2 and G3
//! order their attempts before the turn. G4 and G1 order the turn before the attempts of who
//! enters next, and G4 and G3 before the next turn. `ORDERING.md` argues the fences.
//!
//! # Why every ticket is served
//! A ticket is held by a place that polls until it is at the head, and then makes the attempts
//! of one turn. Whatever ends them, a commit, a conflict, a `retry`, a cancellation, the last
//! number of the range, the place leaves behind them. Only a launch that is stopped, by a
//! fault, a panic or its time limit, leaves tickets and presences behind; then every poll ends,
//! and the host clears the word before the next launch.
//!
//! # Why every transaction ends
//! From some time after a ticket is drawn no attempt begins but those of the head. Those that
//! had begun end after finitely many steps, so the head runs alone, or, if somebody present
//! does not make attempts, beside nobody who does. Its words stand still, so it commits; either
//! way its ticket is served behind the turn, and the next ticket is at the head.
//!
//! The argument has one condition: the head's attempts end, and what its loop calls between them.
//! It does not hold for a closure that waits for another transaction: in a loop of its own for what that one is
//! to write, or for its own turn at the gate of another memory, whose head waits for this one.
//! Then the tickets behind it are not served until the launch is stopped, for example by its
//! time limit. A transaction that waits by `retry` ends its attempt, and its warp's turn.

use crate::lane::Lane;
use crate::memory::globals::{self, Counter, Globals};
use crate::observe::mutant::Mutant;
use crate::run::period::{Period, looks};
use core::ptr::addr_of_mut;

/// The time between two polls of the head.
const POLL_NS: u32 = 256;
/// The time between two polls of a place behind it, for each ticket before its own, and by which
/// that between two polls of a place without a ticket grows.
const WAIT_NS: u32 = 1024;
/// The most of these times between two polls. All polls go to the line of the clock, which a turn
/// needs.
const WAITS: u32 = 64;
/// The polls after which the head no longer waits for those that are present.
const HEAD_POLLS: u32 = 256;
/// The tickets that wait in a period before others wait without one.
const SEATS: u32 = 8;
/// What a turn costs each other place, in attempts. A place that has lost as many as all others
/// would has lost less than twice of what it must, whenever it would have committed without a
/// turn: the rule of Karlin et al. (1988) for caches.
const TURN_COST: u32 = 4;
/// The fewest conflicts of a transaction that starves, unless `queue_after` is less.
const PATIENCE_MIN: u32 = 128;
/// How many tickets others draw, for each place, before one that is kept out draws its own.
const PASSED_BY: u32 = 2;

/// The gate's word, as it was loaded.
#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    /// A ticket drawn.
    const DRAWN: u64 = 1 << 42;
    /// A ticket waiting.
    const WAITING: u64 = 1 << 21;
    /// An open period.
    pub(crate) const OPEN: u64 = 1 << 20;
    /// A place present.
    const PRESENT: u64 = 1;
    /// A gate at which nobody is.
    pub(crate) const OPENED: Self = Self(0);
    /// The bits of a ticket.
    const TICKET: u32 = (1 << 22) - 1;

    #[inline(always)]
    const fn waiting(self) -> u32 {
        (self.0 / Self::WAITING) as u32 & (Self::DRAWN / Self::WAITING - 1) as u32
    }

    #[inline(always)]
    const fn present(self) -> u32 {
        (self.0 & (Self::OPEN - 1)) as u32
    }

    #[inline(always)]
    pub(crate) const fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    #[inline(always)]
    pub(crate) const fn drawn(self) -> u32 {
        (self.0 / Self::DRAWN) as u32
    }

    /// Returns the number of tickets drawn after the first `drawn`.
    #[inline(always)]
    pub(crate) const fn drawn_since(self, drawn: u32) -> u32 {
        self.drawn().wrapping_sub(drawn) & Self::TICKET
    }

    /// Returns the number of tickets before `ticket` that are not served.
    #[inline(always)]
    const fn before(self, ticket: u32) -> u32 {
        let served = self.drawn().wrapping_sub(self.waiting());
        ticket.wrapping_sub(served) & Self::TICKET
    }

    /// Returns whether those who are present must depart.
    #[inline(always)]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & (Self::DRAWN - Self::OPEN) != 0
    }

    /// Returns the places present, the tickets waiting, and whether a period is open, unless
    /// there are none of all three.
    #[cfg(feature = "host")]
    pub(crate) fn in_use(self) -> Option<(u32, u32, bool)> {
        let used = self.0 & (Self::DRAWN - 1) != 0;
        used.then(|| (self.present(), self.waiting(), self.is_open()))
    }
}

/// An attempt in a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Whether nobody else is in an attempt.
    pub(crate) alone: bool,
    /// The lane of the warp that makes it.
    pub(crate) lane: u32,
}

/// What a place may do, in 32 bits, as lanes tell it each other: nanoseconds to wait before it
/// asks again, [`Self::TOGETHER`], or an attempt in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Admission(pub(super) u32);

impl Admission {
    /// The place is present.
    pub(crate) const TOGETHER: Self = Self(1 << 30);
    const TURN: u32 = 1 << 31;
    const ALONE: u32 = 1 << 29;
    const LANE: u32 = 0xFF;

    /// The place is present, but has been admitted just now, or has looked at the clock: it
    /// makes its attempt with a new snapshot.
    pub(crate) const FRESH: Self = Self(0);
    /// The place's turn has begun just now: it asks again with a new snapshot.
    const AGAIN: Self = Self(1);

    /// The same attempt in a turn, of a lane of a warp.
    #[inline(always)]
    pub(super) const fn of_lane(self, lane: u32) -> Self {
        Self(self.0 | lane)
    }

    /// Returns the nanoseconds to wait before the place asks again, if it may not make an
    /// attempt now.
    #[inline(always)]
    pub(crate) fn wait_ns(self) -> Option<u32> {
        (self.0 < Self::TOGETHER.0).then_some(self.0)
    }

    /// Returns the attempt, if the place is at the head.
    #[inline(always)]
    pub(crate) fn turn(self) -> Option<Turn> {
        (self.0 & Self::TURN != 0).then_some(Turn {
            alone: self.0 & Self::ALONE != 0,
            lane: self.0 & Self::LANE,
        })
    }
}

/// Returns the warps of the launch.
#[inline(always)]
pub(super) fn warps<L: Lane>(lane: &L) -> u32 {
    let threads = lane.grid_threads() + u64::from(lane.warp_width()) - 1;
    (threads / u64::from(lane.warp_width())).min(u64::from(u32::MAX)) as u32
}

/// The gate of a transactional memory, and the clock beside it.
#[derive(Clone, Copy)]
pub(crate) struct Gate {
    pub(crate) globals: *mut Globals,
    /// The number of conflicts in a row after which a place draws a ticket.
    pub(crate) patience: u32,
}

impl Gate {
    #[inline(always)]
    pub(crate) fn word(self) -> *mut u64 {
        // SAFETY: inside the live globals (StmRef::from_raw).
        unsafe { addr_of_mut!((*self.globals).clock.gate) }
    }

    #[inline(always)]
    fn load<L: Lane>(self, lane: &L) -> Word {
        // SAFETY: live. Relaxed: G3 follows where it matters.
        Word(unsafe { lane.load_relaxed_64(self.word()) })
    }

    #[inline(always)]
    fn add<L: Lane>(self, lane: &L, n: u64) -> Word {
        // SAFETY: live. Relaxed: a fence precedes or follows where it matters.
        Word(unsafe { lane.fetch_add_relaxed_64(self.word(), n) })
    }

    /// Returns the conflicts in a row from which on a transaction of this launch starves.
    #[inline(always)]
    pub(crate) fn starves_at<L: Lane>(self, lane: &L) -> u32 {
        let cost = TURN_COST.saturating_mul(warps(lane));
        self.patience.min(cost.max(PATIENCE_MIN))
    }

    /// Returns the clock.
    #[inline(always)]
    pub(super) fn ticks<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: live. Relaxed: it only counts.
        (unsafe { lane.load_relaxed_64(addr_of_mut!((*self.globals).clock.now)) }) as u32
    }

    /// Returns how long a transaction takes in a turn alone, in the lanes' time, or 0.
    #[inline(always)]
    pub(super) fn transaction_time<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: live. Relaxed: it is an estimate.
        unsafe { lane.load_relaxed_32(addr_of_mut!((*self.globals).clock.turn)) }
    }

    /// Returns the tickets of the last period, or 0.
    #[inline(always)]
    pub(super) fn period<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: live. Relaxed: it is an estimate.
        unsafe { lane.load_relaxed_32(addr_of_mut!((*self.globals).clock.period)) }
    }
}

/// A place ([`super::place`] has its calls). It is in memory, as it is used so rarely that
/// registers are worth more.
#[derive(Debug)]
pub(crate) struct Place {
    /// The ticket, and [`Self::HELD`]; 0 for none. A place with a ticket is not present.
    ticket: u32,
    present: bool,
    /// Polls since the place was last admitted, or drew its ticket.
    polls: u32,
    /// The tickets drawn at the first of these polls.
    kept_out_at: u32,
    /// One more than the attempts of the turn that are left, the one in progress among
    /// them; 0 if the place has no turn.
    left: u32,
    /// All attempts of the turn, and whether nobody else is in an attempt.
    attempts: u32,
    alone: bool,
    /// In a warp, the lane from which on the next one is sought.
    pub(super) next: u32,
    pub(crate) period: Period,
}

impl Place {
    const HELD: u32 = Word::TICKET + 1;

    /// The place of one that has not entered.
    pub(crate) const NEW: Self = Self {
        ticket: 0,
        present: false,
        polls: 0,
        kept_out_at: 0,
        left: 0,
        attempts: 0,
        alone: false,
        next: 0,
        period: Period::NEW,
    };

    /// Asks for an attempt, of a gate that had just now this `word`. `starves` says that one of
    /// the place's transactions does ([`Gate::starves_at`]); the place has met so many `failures` in
    /// a row, and has so many `attempts` to make in a turn. The launch has so many `places`.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn admit<L: Lane>(
        &mut self,
        lane: &L,
        gate: Gate,
        word: Word,
        starves: bool,
        failures: u32,
        attempts: u32,
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
            return self.stand(lane, word, attempts);
        }
        let looked = self.present && looks(failures);
        if looked || self.present && starves {
            self.period
                .look(lane, gate, word.present(), failures, attempts);
        }
        let open = self.period.open(lane, gate, word);
        let seat = open && (word.waiting() < SEATS || self.period.is_own());
        let passed = word.drawn_since(self.kept_out_at);
        let kept_out = self.polls != 0 && passed / PASSED_BY >= places;
        let unasked = Mutant::NewcomerUnasked.on(lane) && !self.present;
        if starves || kept_out || seat {
            return self.draw(lane, gate);
        }
        if word.is_closed() && !unasked {
            self.go(lane, gate);
            return self.wait(word);
        }
        if self.present {
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

    /// Waits without a ticket, as `word` does not admit the place.
    #[inline(always)]
    fn wait(&mut self, word: Word) -> Admission {
        if self.polls == 0 {
            self.kept_out_at = word.drawn();
        }
        self.polls = (self.polls + 1).min(WAITS);
        Admission(WAIT_NS * self.polls)
    }

    /// Returns what a place with a ticket may do.
    #[inline(always)]
    fn stand<L: Lane>(&mut self, lane: &L, word: Word, attempts: u32) -> Admission {
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
        self.period.begin_turn(lane);
        (self.alone, self.attempts, self.left) = (alone, attempts, attempts + 1);
        self.polls = 0;
        Admission::AGAIN
    }

    /// Departs and draws a ticket.
    #[inline(always)]
    fn draw<L: Lane>(&mut self, lane: &L, gate: Gate) -> Admission {
        // ORDER(G2): as in `go`.
        Mutant::NoG2.fence(lane);
        let departs = core::mem::take(&mut self.present) && !Mutant::PresenceForgotten.on(lane);
        let departs = u64::from(departs);
        let word = gate.add(lane, (Word::DRAWN + Word::WAITING).wrapping_sub(departs));
        self.ticket = Self::HELD | word.drawn();
        self.polls = 0;
        Admission((WAIT_NS * word.waiting().min(WAITS)).max(POLL_NS))
    }

    /// Departs, and ends the period that the place has opened.
    #[inline(always)]
    pub(super) fn go<L: Lane>(&mut self, lane: &L, gate: Gate) {
        self.period.end(lane, gate);
        if core::mem::take(&mut self.present) && !Mutant::PresenceForgotten.on(lane) {
            // ORDER(G2): pairs with G3 of every turn behind.
            Mutant::NoG2.fence(lane);
            gate.add(lane, Word::PRESENT.wrapping_neg());
        }
    }

    /// Ends the turn, if the place has one, and serves its ticket.
    #[inline(always)]
    pub(super) fn leave<L: Lane>(&mut self, lane: &L, gate: Gate) {
        if self.left == 0 {
            return;
        }
        if self.alone {
            self.period.learn(lane, gate, self.attempts + 1 - self.left);
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

    /// Returns whether the place is present.
    #[inline(always)]
    pub(crate) const fn is_present(&self) -> bool {
        self.present
    }
}
