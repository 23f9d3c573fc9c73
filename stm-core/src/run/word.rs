//! The word of the gate ([`super::gate`]), and what lies beside it on the clock's cache line.
//!
//! | bits | meaning |
//! | --- | --- |
//! | 63..42 | tickets drawn, modulo 2^22 |
//! | 41..21 | tickets drawn and not yet served |
//! | 20 | a *period* is open: everybody works by turns |
//! | 19..0 | places that are present |
//!
//! No field overflows: a place is present once or has one ticket, and fewer than 2^20 threads run at a time.

use crate::memory::globals::Globals;
use core::ptr::addr_of_mut;
use stm_machine::Lane;

/// What a turn costs each other place, in attempts: one that has lost as many has lost less than twice of
/// what it must (the rule of Karlin et al., 1988, for caches).
const TURN_COST: u32 = 4;
/// The fewest conflicts of a transaction that starves, unless `queue_after` is less.
const PATIENCE_MIN: u32 = 128;

#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) u64);

#[stm_core_macros::inlined]
impl Word {
    pub(super) const DRAWN: u64 = 1 << 42;
    pub(super) const WAITING: u64 = 1 << 21;
    pub(crate) const OPEN: u64 = 1 << 20;
    pub(super) const PRESENT: u64 = 1;
    pub(crate) const EMPTY: Self = Self(0);
    pub(super) const TICKET: u32 = (1 << 22) - 1;

    pub(super) const fn waiting(self) -> u32 {
        (self.0 / Self::WAITING) as u32 & (Self::DRAWN / Self::WAITING - 1) as u32
    }

    pub(super) const fn present(self) -> u32 {
        (self.0 & (Self::OPEN - 1)) as u32
    }

    pub(crate) const fn is_open(self) -> bool {
        self.0 & Self::OPEN != 0
    }

    pub(crate) const fn drawn(self) -> u32 {
        (self.0 / Self::DRAWN) as u32
    }

    pub(crate) const fn drawn_since(self, drawn: u32) -> u32 {
        self.drawn().wrapping_sub(drawn) & Self::TICKET
    }

    /// Returns the number of tickets before `ticket` that are not served.
    pub(super) const fn before(self, ticket: u32) -> u32 {
        let served = self.drawn().wrapping_sub(self.waiting());
        ticket.wrapping_sub(served) & Self::TICKET
    }

    /// Returns whether those who are present must depart.
    pub(crate) const fn is_closed(self) -> bool {
        self.0 & (Self::DRAWN - Self::OPEN) != 0
    }

    /// Returns the places present, the tickets waiting, and whether a period is open, unless none is.
    #[cfg(feature = "host")]
    pub(crate) fn in_use(self) -> Option<(u32, u32, bool)> {
        let used = self.0 & (Self::DRAWN - 1) != 0;
        used.then(|| (self.present(), self.waiting(), self.is_open()))
    }
}

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

#[stm_core_macros::inlined]
impl Gate {
    pub(crate) fn word(self) -> *mut u64 {
        // SAFETY: inside the live globals (StmRef::from_raw).
        unsafe { addr_of_mut!((*self.globals).clock.gate) }
    }

    pub(super) fn load<L: Lane>(self, lane: &L) -> Word {
        // SAFETY: live. Relaxed: G3 follows where it matters.
        Word(unsafe { lane.load_relaxed_64(self.word()) })
    }

    pub(super) fn add<L: Lane>(self, lane: &L, n: u64) -> Word {
        // SAFETY: live. Relaxed: a fence precedes or follows where it matters.
        Word(unsafe { lane.fetch_add_relaxed_64(self.word(), n) })
    }

    /// Returns the conflicts in a row from which on a transaction of this launch starves.
    pub(crate) fn starves_at<L: Lane>(self, lane: &L) -> u32 {
        let cost = TURN_COST.saturating_mul(warps(lane));
        self.patience.min(cost.max(PATIENCE_MIN))
    }

    pub(super) fn ticks<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: live. Relaxed: it only counts.
        (unsafe { lane.load_relaxed_64(addr_of_mut!((*self.globals).clock.now)) }) as u32
    }

    /// Returns how long a transaction takes in a turn alone, in the lanes' time, or 0.
    pub(super) fn transaction_time<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: live. Relaxed: it is an estimate.
        unsafe { lane.load_relaxed_32(addr_of_mut!((*self.globals).clock.turn)) }
    }

    /// Returns the tickets of the last period, or 0.
    pub(super) fn period<L: Lane>(self, lane: &L) -> u32 {
        // SAFETY: live. Relaxed: it is an estimate.
        unsafe { lane.load_relaxed_32(addr_of_mut!((*self.globals).clock.period)) }
    }
}
