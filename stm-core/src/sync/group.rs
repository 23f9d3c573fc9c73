//! Lanes of a warp that acquire a lock together and hand it on among them.
//!
//! Lanes that run together when they ask for the same lock form a group. The
//! first of them arrives, polls and leaves for all, and while it has the lock
//! the lanes of the group have their critical sections in turn. They do not
//! fight each other in memory, and the lock goes from lane to lane by a warp
//! barrier (**L3**) instead of through the L2 cache. Grote (2020, sections 3.2
//! and 4.1.3) puts a warp barrier into the loop of his ticket lock, so that the
//! lanes that may enter get to run; this goes one step further, as the lanes that
//! wait are at the barrier until it is their turn.
//!
//! No lane waits for a lane of its group that is not in the same call: the
//! group is those lanes that the machine names as running together, and each of
//! them goes through the loop of its call with all others. A group waits for
//! one lock only, which each of its lanes would wait for anyway.

use super::lock::{LockFault, Poll};
use crate::lane::Lane;
use crate::observe::mutant::Mutant;

/// The lanes that acquire a lock together, as one of them sees it.
#[derive(Clone, Copy)]
pub(super) struct Group {
    lanes: u32,
    first: u32,
    /// Says whether this lane is the first, which acts for all.
    pub(super) leads: bool,
}

const WAIT: u32 = u32::MAX;
const GRANTED: u32 = 0;

impl Group {
    /// Makes the group of one lane.
    #[inline(always)]
    pub(super) fn alone<L: Lane>(lane: &L) -> Self {
        Self {
            lanes: lane.lane_bit(),
            first: lane.lane_index(),
            leads: true,
        }
    }

    /// Makes the group of the lanes that run together here with the same lock.
    #[inline(always)]
    pub(super) fn of<L: Lane>(lane: &L, lock: u64) -> Self {
        let active = lane.active_mask();
        // SAFETY: lanes that run together make the same call; nothing lies
        // between the question and this.
        let lanes = unsafe { lane.match_any_64(active, lock) };
        let first = lanes.trailing_zeros();
        Self {
            lanes,
            first,
            leads: first == lane.lane_index(),
        }
    }

    /// Tells all lanes the result of the first one's poll.
    #[inline(always)]
    pub(super) fn tell<L: Lane>(&self, lane: &L, poll: Poll) -> Poll {
        if self.lanes == lane.lane_bit() {
            return poll;
        }
        let code = match poll {
            Poll::Granted => GRANTED,
            Poll::Wait(_) => WAIT,
            Poll::Failed(fault) => fault as u32,
        };
        // SAFETY: each lane of the group goes through the same loop, whose
        // course depends only on what is told here.
        let told = unsafe { lane.shuffle_32(self.lanes, code, self.first) };
        match told {
            GRANTED => Poll::Granted,
            WAIT if self.leads => poll,
            WAIT => Poll::Wait(0),
            fault => Poll::Failed(LockFault::of(fault)),
        }
    }

    /// Waits for all lanes of the group.
    #[inline(always)]
    pub(super) fn meet<L: Lane>(&self, lane: &L) {
        if self.lanes != lane.lane_bit() {
            // SAFETY: all lanes of the group come here after their sections.
            unsafe { lane.sync_warp(self.lanes) };
        }
    }

    /// Runs the sections of all lanes, one after the other, and returns the
    /// result of this lane's.
    #[inline(always)]
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
    #[inline(always)]
    fn pass<L: Lane>(&self, lane: &L, sections: u32) {
        if self.lanes == lane.lane_bit() || Mutant::LockNoHandoff.on(lane) {
            return;
        }
        for _ in 0..sections {
            // ORDER(L3): the section of one lane before that of the next, and all
            // before the first lane gives the lock up.
            // SAFETY: each lane of the group comes here as often as the group has
            // lanes, before its section or after it.
            unsafe { lane.sync_warp(self.lanes) };
        }
    }
}
