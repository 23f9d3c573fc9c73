//! How an attempt ended, and the counts that a lane keeps.

use crate::lane::Lane;
use crate::memory::globals::{self, Counter};
use crate::tx::stm_ref::StmRef;

/// What became of an attempt, for the loop around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Committed.
    Committed,
    /// Ended for good without effect: cancelled, given up, faulted or stopped.
    Ended,
    /// To be tried again, unless the lane is told to stop.
    Retry,
}

/// Rounds after which a warp adds its counts to the launch's.
const FLUSH_ROUNDS: u32 = 1 << 26;

/// A lane's counts, kept in registers until its loop ends.
///
/// 32 bits, half the registers: they are flushed before they are full.
pub(crate) struct Counts {
    /// Attempts begun.
    pub(crate) attempts: u32,
    /// Those that committed.
    pub(crate) commits: u32,
    /// Those that committed without a write.
    pub(crate) read_only: u32,
    /// Rounds in which a lane of the warp made an attempt.
    pub(crate) rounds: u32,
    /// Attempts made in them, by all lanes of the warp.
    pub(crate) round_lanes: u32,
    /// Says whether the lane is told to stop.
    pub(crate) stopped: bool,
}

impl Counts {
    pub(crate) const ZERO: Self = Self {
        attempts: 0,
        commits: 0,
        read_only: 0,
        rounds: 0,
        round_lanes: 0,
        stopped: false,
    };

    /// Counts the lane as told to stop with work left.
    #[inline(always)]
    pub(crate) fn unfinished<L: Lane, A>(lane: &L, stm: &StmRef<A>) {
        // SAFETY: the globals are live (StmRef::from_raw).
        unsafe { globals::count(lane, stm.globals, Counter::Unfinished as usize, 1) };
    }

    /// Counts what so many lanes do, each in its turn or all together.
    #[inline(always)]
    pub(crate) fn round(&mut self, lanes: u32, in_turn: bool) {
        self.rounds += if in_turn { lanes } else { 1 };
        self.round_lanes += lanes;
    }

    /// Returns whether it is time to flush: a block's round adds up to 1,024
    /// lanes.
    #[inline(always)]
    pub(crate) const fn full(&self) -> bool {
        self.rounds >= FLUSH_ROUNDS || self.round_lanes >= u32::MAX / 2
    }

    /// Adds the counts to the launch's, and begins anew. The rounds, which every
    /// lane of the warp has counted, are added by the one that is the `first`.
    #[inline(always)]
    pub(crate) fn flush<L: Lane, A>(&mut self, lane: &L, stm: &StmRef<A>, first: bool) {
        let add = |counter, n: u32| {
            if n != 0 {
                // SAFETY: the globals are live (StmRef::from_raw).
                unsafe { globals::count(lane, stm.globals, counter as usize, u64::from(n)) };
            }
        };
        add(Counter::Attempts, self.attempts);
        add(Counter::Commits, self.commits);
        add(Counter::ReadOnlyCommits, self.read_only);
        if first {
            add(Counter::Rounds, self.rounds);
            add(Counter::RoundLanes, self.round_lanes);
        }
        *self = Self {
            stopped: self.stopped,
            ..Self::ZERO
        };
    }
}
