//! The result of an attempt for the loop around it, and the counts that a lane keeps.

use crate::memory::globals::Counter;
use crate::tx::abort::{Abort, TxResult};
use crate::tx::stm_ref::StmRef;
use stm_machine::Lane;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The transaction committed.
    Committed,
    /// The transaction ended for good without effect: it was cancelled, given
    /// up, faulted or stopped.
    Ended,
    /// The transaction must be retried, unless the lane is told to stop.
    Retry,
    /// The same, once a word that it has read has changed.
    Wait,
}

/// An attempt that was made in a round.
pub(crate) struct Attempt<R> {
    pub(crate) end: TxResult<()>,
    pub(crate) value: Option<R>,
    pub(crate) outcome: Outcome,
}

impl<R> Attempt<R> {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self {
            end: Err(Abort::Stopped),
            value: None,
            outcome: Outcome::Retry,
        }
    }
}

/// The number of rounds after which a warp adds its counts to those of the
/// launch. A block's round adds up to 1,024 lanes, which is 2^31 in so many.
const FLUSH_ROUNDS: u32 = 1 << 21;

/// The counts of a lane, kept in registers until its loop ends.
///
/// They have 32 bits, which takes half the registers, and are flushed before they overflow.
pub(crate) struct Counts {
    pub(crate) attempts: u32,
    pub(crate) commits: u32,
    /// Attempts that committed without a write.
    pub(crate) read_only: u32,
    /// Rounds in which a lane of the warp made an attempt.
    pub(crate) rounds: u32,
    /// Attempts in these rounds, by all lanes of the warp.
    pub(crate) round_lanes: u32,
    pub(crate) stopped: bool,
}

#[stm_core_macros::inlined]
impl Counts {
    pub(crate) const ZERO: Self = Self {
        attempts: 0,
        commits: 0,
        read_only: 0,
        rounds: 0,
        round_lanes: 0,
        stopped: false,
    };

    /// Counts a round of `lanes` lanes, which made their attempts one after the other or together.
    pub(crate) fn round(&mut self, lanes: u32, in_turn: bool) {
        self.rounds += if in_turn { lanes } else { 1 };
        self.round_lanes += lanes;
    }

    pub(crate) const fn full(&self) -> bool {
        self.rounds >= FLUSH_ROUNDS
    }

    /// Adds the counts to those of the launch and resets them. Every lane of the warp has counted
    /// the rounds, so only the lane that is the `first` adds them.
    pub(crate) fn flush<L: Lane, A>(&mut self, lane: &L, stm: &StmRef<A>, first: bool) {
        let add = |counter: Counter, n: u32| {
            if n != 0 {
                stm.count(lane, counter as usize, u64::from(n));
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
