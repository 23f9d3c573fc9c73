//! Lanes of a warp that acquire a lock together and hand it on among them.
//!
//! Lanes that run together when they ask for the same lock form a group. The first of them arrives, polls and
//! leaves for all, and while it has the lock the lanes have their sections in turn: the lock goes from lane
//! to lane by a warp barrier (**L3**), not through the L2 cache (Grote 2020, sections 3.2 and 4.1.3).
//!
//! No lane waits for one that is not in the same call: the group is those that the machine names as running
//! together, and each goes through the loop of its call with all others, for one lock.
//!
//! # The loop of a critical section
//!
//! Where a loop exits into the critical section, a compiler may have the lanes that leave it wait there for
//! those that still spin, which wait for them. So the section is inside of the loop, which ends only by what
//! the first lane tells in a later pass, through a shuffle, which no compiler sees through or moves. Only a
//! lane that enters by itself has a loop that exits into its section, where nobody else is waited for.

use stm_machine::{Lane, observe::Mutant};

/// The lanes that acquire a lock together, as one of them sees it.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) lanes: u32,
    first: u32,
    /// Says whether this lane is the first, which acts for all.
    pub(super) leads: bool,
    /// Says whether no other lane of the warp enters the loop with this one.
    pub(super) by_itself: bool,
}

/// What the first lane broadcasts to its group in a pass; other numbers are faults. Nothing known before the
/// shuffle decides a branch after it, so that a compiler that threads jumps does not make two shuffles of one.
pub(super) type Signal = u32;

/// The lock is granted: it is time for the sections.
pub(super) const GRANTED: Signal = 0;
/// The lock has been given up: the loop ends.
pub(super) const DONE: Signal = u32::MAX - 1;
/// There is nothing to do in this pass.
pub(super) const WAIT: Signal = u32::MAX;

#[stm_machine::inlined]
impl Group {
    pub(super) fn alone<L: Lane>(lane: &L) -> Self {
        Self {
            lanes: lane.lane_bit(),
            first: lane.lane_index(),
            leads: true,
            by_itself: lane.active_mask() == lane.lane_bit(),
        }
    }

    /// Makes the group of the lanes that run together here with the same lock, given by its address.
    pub(super) fn of<L: Lane>(lane: &L, lock: u64) -> Self {
        let active = lane.active_mask();
        let by_itself = active == lane.lane_bit();
        let lanes = if by_itself {
            active
        } else {
            // SAFETY: lanes that run together make the same call, as the condition is the same for all.
            unsafe { lane.match_any_64(active, lock) }
        };
        let first = lanes.trailing_zeros();
        Self {
            lanes,
            first,
            leads: first == lane.lane_index(),
            by_itself,
        }
    }

    pub(super) const fn lanes(&self) -> u32 {
        self.lanes.count_ones()
    }

    /// Broadcasts what the first lane says. What the others say does not matter.
    pub(super) fn broadcast<L: Lane>(&self, lane: &L, says: Signal) -> Signal {
        // SAFETY: each lane goes through the same loop, whose course depends only on what is broadcast here.
        unsafe { lane.shuffle_32(self.lanes, says, self.first) }
    }

    /// Runs the sections of all lanes, one after the other, and returns the result of this lane's.
    pub(super) fn in_turn<L: Lane, R>(
        &self,
        lane: &L,
        section: &mut Option<impl FnOnce() -> R>,
    ) -> Option<R> {
        let earlier = (self.lanes & (lane.lane_bit() - 1)).count_ones();
        self.pass(lane, earlier);
        let result = section.take().map(|section| section());
        self.pass(lane, self.lanes.count_ones() - earlier);
        result
    }

    /// Waits until so many lanes of the group have had their sections.
    fn pass<L: Lane>(&self, lane: &L, sections: u32) {
        if self.lanes == lane.lane_bit() || Mutant::LockNoHandoff.on(lane) {
            return;
        }
        for _ in 0..sections {
            // ORDER(L3): a section before the next, and all before the first lane gives the lock up.
            // SAFETY: each lane comes here as often as the group has lanes, before its section or after it.
            unsafe { lane.sync_warp(self.lanes) };
        }
    }
}
