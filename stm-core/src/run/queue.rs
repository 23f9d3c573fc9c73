//! The queue of transactions that keep failing, and the turns of its head.
//!
//! Whoever runs transactions has a *place*: a warp in a loop of rounds, a team, or a
//! lane on its own. A place is *present* while it may make attempts. All places share
//! one word, on the clock's cache line:
//!
//! | bits | meaning |
//! | --- | --- |
//! | 63..42 | the tickets drawn, modulo 2^22 |
//! | 41..21 | the tickets drawn and not yet served |
//! | 20 | warps whose transactions keep failing draw tickets: a *contended* period |
//! | 19..0 | the places that are present |
//!
//! The protocol:
//!
//! 1. *Enter*: add a present place. If the word that the addition found has tickets
//!    waiting, take it back and wait; otherwise fence (Q1) and make attempts.
//! 2. *Depart*: before it sleeps, ends, draws a ticket, or waits because a round has
//!    found tickets waiting, a place fences (Q2) and takes its presence back.
//! 3. *Draw*: a place whose transactions keep failing departs and draws a ticket, by one
//!    addition. Its ticket is at the *head* when all earlier ones are served.
//! 4. *Turn*: once the head finds that nobody is present, it fences (Q3) and is *alone*:
//!    no attempt is in progress, no word is owned, and none begins before its turn has
//!    ended. So its transactions need neither locks nor validation; a commit stores the
//!    clock and the words, and cannot fail. A head that has polled
//!    `POLLS_MAX` times runs by the whole protocol, beside whoever is still present.
//! 5. *Leave*: the head fences (Q4) and serves its ticket, by one addition.
//!
//! A ticket is for transactions that starve, or for a whole warp because of contention
//! ([`super::throttle`]). In a contended period every warp that fails with one lane at a time
//! draws a ticket instead of waiting for the queue to become empty, and after its turn
//! another one, until [`PERIOD`] tickets have been drawn since its first. Whoever finds that out
//! ends the period for all; then they find out anew whether it is worth while.
//!
//! An attempt that began before the ticket was drawn ends after finitely many steps, so the
//! head runs alone after a while, commits and leaves. This prevents livelock and
//! starvation. The argument has a condition: **the head must be able to finish when it
//! runs alone**, or leave. A transaction that waits for another one leaves: one that
//! retries (`run/wait.rs`) gives its ticket back at the end of that attempt, and conflicts
//! are counted from zero when it wakes. No closure can keep its place by a conflict of its
//! own, as it cannot make one up ([`Abort`](crate::Abort)). The condition does not hold for
//! a closure that waits in a loop of its own, inside an attempt, for what another
//! transaction is to write: the attempt does not end, and the tickets behind it are not
//! served until the launch is stopped, for example by its time limit. Nor does it hold for one
//! in step (`run/step.rs`) if a closure of another warp of its block waits so. Code between
//! transactions may wait for others: its place is present, and the head goes on by the whole
//! protocol.
//!
//! Those that wait poll less often the more tickets are before them (Mellor-Crummey and
//! Scott 1991): a thousand warps that poll every half microsecond slow down the clock, which is
//! on the same line.

use crate::lane::Lane;
use crate::observe::mutant::Mutant;
use crate::run::throttle::PERIOD;
use crate::tx::crew::{Crew, WarpCrew};

/// A ticket drawn.
const DRAWN: u64 = 1 << 42;
/// A ticket waiting.
const WAITING: u64 = 1 << 21;
/// A contended period.
const CONTENDED: u64 = 1 << 20;
/// A place present.
const PRESENT: u64 = 1;
/// The bits of the waiting tickets.
const FIELD: u32 = (1 << 21) - 1;
/// The bits of a ticket.
const TICKET: u32 = (1 << 22) - 1;

/// The transactions of a lane in a turn alone: a round of the loop takes as long as one of
/// few words.
const TRANSACTIONS: u32 = 4;

/// The time between two polls of the place behind the head, and of the head.
const POLL_NS: u32 = 256;
/// What each ticket before it adds to the time between two polls of a place.
const TICKET_NS: u32 = 1024;
/// The tickets that are counted for that.
const TICKETS_MAX: u32 = 64;
/// The polls after which the head no longer waits for those that are present.
const POLLS_MAX: u32 = 256;

/// The queue's word, as it was loaded.
#[derive(Clone, Copy)]
struct Word(u64);

impl Word {
    #[inline(always)]
    const fn waiting(self) -> u32 {
        (self.0 / WAITING) as u32 & FIELD
    }

    #[inline(always)]
    const fn present(self) -> u32 {
        self.0 as u32 & (CONTENDED as u32 - 1)
    }

    #[inline(always)]
    const fn is_contended(self) -> bool {
        self.0 & CONTENDED != 0
    }

    /// Returns the number of tickets before `ticket` that are not served.
    #[inline(always)]
    const fn before(self, ticket: u32) -> u32 {
        let served = ((self.0 / DRAWN) as u32).wrapping_sub(self.waiting());
        ticket.wrapping_sub(served) & TICKET
    }
}

/// What a place that was not admitted may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// It has entered.
    Present,
    /// It is at the head and alone.
    Alone,
    /// It is at the head, and others may be in attempts.
    Head,
    /// It waits for so many nanoseconds.
    Waits(u32),
}

/// A place, which has entered, or waits, or has a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The ticket, and [`Self::HELD`]; 0 for none.
    ticket: u32,
    present: bool,
    /// Says whether the ticket is for all lanes of a warp, and not only those that starve.
    pub(crate) all: bool,
    /// The head's polls.
    polls: u32,
}

impl Place {
    /// The place of one that has not entered.
    pub(crate) const NEW: Self = Self {
        ticket: 0,
        present: false,
        all: false,
        polls: 0,
    };
    const HELD: u32 = TICKET + 1;

    /// Returns whether an attempt may begin, given the queue's word.
    #[inline(always)]
    pub(crate) fn admits<L: Lane>(self, lane: &L, queue: u64) -> bool {
        self.present & (Word(queue).waiting() == 0) || Mutant::QueueIgnored.on(lane)
    }

    /// Returns whether the place has a ticket.
    #[inline(always)]
    pub(crate) const fn has_ticket(self) -> bool {
        self.ticket != 0
    }

    /// Enters, or finds out why it may not; one that is `narrow` draws a ticket in a
    /// contended period.
    ///
    /// # Safety
    /// `queue` is live, and the place belongs to the calling lane alone.
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) unsafe fn stand<L: Lane>(
        &mut self,
        lane: &L,
        queue: *mut u64,
        narrow: bool,
    ) -> Standing {
        // SAFETY: live.
        unsafe { self.depart(lane, queue) };
        // SAFETY: live. Relaxed: Q1 or Q3 follows where it matters.
        let word = Word(unsafe { lane.load_relaxed_64(queue) });
        let before = if self.has_ticket() {
            word.before(self.ticket & TICKET)
        } else {
            word.waiting()
        };
        if before != 0 {
            if narrow && word.is_contended() {
                // SAFETY: live.
                unsafe { self.draw(lane, queue, true) };
            }
            return Standing::Waits(POLL_NS + (before - 1).min(TICKETS_MAX) * TICKET_NS);
        }
        if self.has_ticket() {
            self.polls += 1;
            let alone = word.present() == 0 || Mutant::AloneTooEarly.on(lane);
            if alone {
                // ORDER(Q3): pairs with Q2 and Q4 of all who were present or had a turn.
                Mutant::NoQ3.fence(lane);
                return Standing::Alone;
            }
            return if self.polls >= POLLS_MAX {
                Standing::Head
            } else {
                Standing::Waits(POLL_NS)
            };
        }
        // SAFETY: live. Relaxed: Q1 follows.
        let word = Word(unsafe { lane.fetch_add_relaxed_64(queue, PRESENT) });
        if word.waiting() != 0 {
            // SAFETY: live. Relaxed: it has done nothing since.
            unsafe { lane.add_relaxed_64(queue, PRESENT.wrapping_neg()) };
            return Standing::Waits(POLL_NS);
        }
        // ORDER(Q1): pairs with Q4 of everybody who had a turn before.
        Mutant::NoQ1.fence(lane);
        self.present = true;
        Standing::Present
    }

    /// Departs, if it is present.
    ///
    /// # Safety
    /// As for [`Self::stand`]; what the others of the place's team have done is before
    /// this, by a `meet`.
    #[inline(always)]
    pub(crate) unsafe fn depart<L: Lane>(&mut self, lane: &L, queue: *mut u64) {
        if self.present {
            self.present = false;
            // ORDER(Q2): pairs with Q3.
            Mutant::NoQ2.fence(lane);
            // SAFETY: live. Relaxed: Q2 precedes.
            unsafe { lane.add_relaxed_64(queue, PRESENT.wrapping_neg()) };
        }
    }

    /// Departs and draws a ticket.
    ///
    /// # Safety
    /// As for [`Self::depart`].
    #[inline(always)]
    pub(crate) unsafe fn draw<L: Lane>(&mut self, lane: &L, queue: *mut u64, all: bool) {
        if self.has_ticket() {
            return;
        }
        // SAFETY: as above.
        unsafe { self.depart(lane, queue) };
        // SAFETY: live. Relaxed: Q2 precedes.
        let word = unsafe { lane.fetch_add_relaxed_64(queue, DRAWN + WAITING) };
        if all && !Word(word).is_contended() {
            // SAFETY: live. Relaxed: it is a hint.
            unsafe { lane.fetch_or_relaxed_64(queue, CONTENDED) };
        }
        self.ticket = Self::HELD | (word / DRAWN) as u32;
        self.all = all;
        self.polls = 0;
    }

    /// Leaves the queue, of which it is the head.
    ///
    /// # Safety
    /// As for [`Self::depart`].
    #[inline(always)]
    pub(crate) unsafe fn leave<L: Lane>(&mut self, lane: &L, queue: *mut u64) {
        if self.has_ticket() {
            self.ticket = 0;
            // ORDER(Q4): pairs with Q1 and Q3.
            Mutant::NoQ4.fence(lane);
            // SAFETY: live. Relaxed: Q4 precedes. A launch has fewer threads than
            // fit into the fields.
            unsafe { lane.add_relaxed_64(queue, WAITING.wrapping_neg()) };
        }
    }
}

/// What the first lane does for the place of its warp.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Nothing,
    Stand,
    /// Stands as a warp that fails with one lane at a time.
    StandNarrow,
    Depart,
    /// Draws a ticket for those that starve.
    Draw,
    /// Draws a ticket for all.
    DrawForAll,
    Leave,
    LeaveAndDraw,
    /// Leaves, and ends the contended period.
    LeaveAndEnd,
}

impl Wish {
    /// Returns whether a ticket may be drawn for all lanes.
    #[inline(always)]
    pub(crate) const fn draws(self) -> bool {
        matches!(
            self,
            Self::StandNarrow | Self::DrawForAll | Self::LeaveAndDraw
        )
    }
}

impl Place {
    /// Lets the first lane of the warp act for all, which share the place and call this
    /// together.
    ///
    /// # Safety
    /// `queue` is live; the lanes have met since they last ran a transaction.
    #[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
    pub(crate) unsafe fn of_warp<L: Lane>(
        &mut self,
        lane: &L,
        warp: WarpCrew,
        queue: *mut u64,
        wish: Wish,
    ) -> Standing {
        const KIND: u32 = 24;
        let first = warp.leader(lane);
        let (mut said, mut polls) = ([0], self.polls);
        if warp.is(lane, first) {
            let mut standing = Standing::Waits(0);
            // SAFETY: the place is the warp's, for which this lane acts.
            unsafe {
                if wish == Wish::LeaveAndEnd {
                    // Relaxed: it is a hint.
                    lane.fetch_and_relaxed_64(queue, !CONTENDED);
                }
                if matches!(wish, Wish::Leave | Wish::LeaveAndDraw | Wish::LeaveAndEnd) {
                    self.leave(lane, queue);
                }
                match wish {
                    Wish::Stand | Wish::StandNarrow => {
                        standing = self.stand(lane, queue, wish == Wish::StandNarrow);
                    }
                    Wish::Draw => self.draw(lane, queue, false),
                    Wish::DrawForAll | Wish::LeaveAndDraw => self.draw(lane, queue, true),
                    Wish::Depart => self.depart(lane, queue),
                    Wish::Nothing | Wish::Leave | Wish::LeaveAndEnd => {}
                }
            }
            polls = self.polls;
            let standing = match standing {
                Standing::Waits(ns) => ns,
                Standing::Present => 1 << KIND,
                Standing::Alone => 2 << KIND,
                Standing::Head => 3 << KIND,
            };
            said = [u64::from(self.ticket) << 32
                | u64::from(self.present) << 31
                | u64::from(self.all) << 30
                | u64::from(standing)];
        }
        let [said] = warp.told(lane, first, said);
        *self = Self {
            ticket: (said >> 32) as u32,
            present: said >> 31 & 1 != 0,
            all: said >> 30 & 1 != 0,
            polls, // the first lane's
        };
        // What the first lane has acquired, all have.
        warp.meet(lane);
        match said as u32 >> KIND & 3 {
            0 => Standing::Waits(said as u32 & ((1 << KIND) - 1)),
            1 => Standing::Present,
            2 => Standing::Alone,
            _ => Standing::Head,
        }
    }
}

/// A turn of a warp at the head: its lanes run a transaction each, and alone up to
/// [`TRANSACTIONS`], one lane after the other. All its lanes have the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Says whether the warp is at the head.
    pub(crate) on: bool,
    /// Says whether nobody else is present.
    pub(crate) alone: bool,
    /// The lanes whose transactions are still to run.
    owed: u32,
    /// The transactions of a lane.
    pub(crate) transactions: u32,
    /// The first ticket of a period in which the warp stays in the queue.
    pub(crate) first: Option<u32>,
}

impl Turn {
    pub(crate) const NONE: Self = Self {
        on: false,
        alone: false,
        owed: 0,
        transactions: 1,
        first: None,
    };

    /// Begins a turn of the lanes `working`, or of those that starve.
    #[inline(always)]
    pub(crate) const fn begin(
        &mut self,
        place: Place,
        standing: Standing,
        working: u32,
        starving: u32,
    ) {
        self.on = true;
        self.alone = matches!(standing, Standing::Alone);
        self.transactions = if place.all { TRANSACTIONS } else { 1 };
        // Those that starved may have been told to stop.
        self.owed = if place.all || starving == 0 {
            working
        } else {
            starving
        };
    }

    /// Returns the bit of the lane whose transaction is next.
    #[inline(always)]
    pub(crate) const fn next(&self, working: u32) -> u32 {
        let owed = self.owed & working;
        owed & owed.wrapping_neg()
    }

    /// Takes note of an attempt by the lane whose bit is `lane`. Alone, an attempt that
    /// failed is not made again at once: what it lacks, a free node perhaps, comes from
    /// others.
    #[inline(always)]
    pub(crate) const fn served(&mut self, lane: u32, failed: u32) {
        if failed == 0 || self.alone {
            self.owed &= !lane;
        }
    }

    /// Returns whether no lane with work is owed a transaction.
    #[inline(always)]
    pub(crate) const fn is_over(&self, working: u32) -> bool {
        self.on && self.owed & working == 0
    }

    /// Ends the turn, and returns what the warp does then.
    #[inline(always)]
    pub(crate) fn end(&mut self, place: Place, working: u32) -> Wish {
        self.on = false;
        self.alone = false;
        let ticket = place.ticket & TICKET;
        let first = *self.first.get_or_insert(ticket);
        if !place.all || working == 0 {
            self.first = None;
            Wish::Leave
        } else if ticket.wrapping_sub(first) & TICKET < PERIOD {
            Wish::LeaveAndDraw
        } else {
            self.first = None;
            Wish::LeaveAndEnd
        }
    }
}
