//! Phases: where a lane spends its time, after Figure 5 of Xu et al. 2014.
//!
//! [`Profiler`](crate::observe::Profiler) is a probe that reads the lane's clock at the boundaries
//! of a transaction's phases. Each reading is a mark: the time since the previous mark is added to
//! the phase that the mark names. So the phases add up exactly to the lane's time from its first
//! transaction to its last, which the host checks. The paper has no counterpart of [`Phase::Warp`].
//!
//! A lane does not wait for a load where it is issued but where its value is first needed, so the
//! time counts in the phase that waits. Lanes of a warp that diverge inside a phase and reconverge
//! before its end have the same time in it.
//!
//! # Layout
//!
//! Lane `l` of a launch owns the 64-bit words from `l * ROW_WORDS` on:
//!
//! | word | meaning |
//! | --- | --- |
//! | [`OPENED`] | the lane's clock when it began to run its first transaction |
//! | [`CLOSED`] | the lane's clock when its last transaction had ended |
//! | [`OPENS`] | how many times the lane began to run transactions; 0 for a lane that ran none |
//! | [`SUMS`].. | the sums, by [`Phase`] |

/// A phase that a lane spends time in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Phase {
    /// The program's own code, inside of transactions and between them.
    Native = 0,
    /// Emptying the sets, taking a snapshot.
    Initialisation = 1,
    /// Keeping the read set, the write set and the lock log, looking up own writes.
    Buffering = 2,
    /// Loading a value with its order and its lock word, waiting for a locked stripe, validation.
    Consistency = 3,
    /// Acquiring, retrying and releasing locks; with one lock for all, waiting for it or for the
    /// lane's turn.
    Locks = 4,
    /// Storing the writes, advancing the clock.
    Commit = 5,
    /// Attempts that did not commit, from begin to end, and the backoff after them.
    Aborted = 6,
    /// Waiting at warp operations for lanes that take longer.
    Warp = 7,
}

impl Phase {
    /// The number of phases.
    pub const COUNT: usize = 8;

    /// All phases, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Native,
        Self::Initialisation,
        Self::Buffering,
        Self::Consistency,
        Self::Locks,
        Self::Commit,
        Self::Aborted,
        Self::Warp,
    ];

    /// Returns the name of the phase in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Initialisation => "initialisation",
            Self::Buffering => "buffering",
            Self::Consistency => "consistency",
            Self::Locks => "locks",
            Self::Commit => "commit",
            Self::Aborted => "aborted",
            Self::Warp => "warp",
        }
    }
}

pub use stm_machine::observe::profiler::{CLOSED, OPENED, OPENS, ROW_WORDS, SUMS};

// The sum of the program's own code is that which the probe adds to.
const _: () = assert!(
    Phase::Native as usize == stm_machine::observe::profiler::OUTSIDE
        && Phase::COUNT == stm_machine::observe::profiler::PHASES
);

/// Marks a boundary in the code of the transaction `$tx`: the time before it
/// belongs to the phase named. On a GPU the condition is a constant, so the
/// code of a kernel without a profiler is the same to the byte.
macro_rules! mark {
    ($tx:expr, $phase:ident) => {
        if stm_machine::lane::times($tx.lane) {
            $tx.spent($crate::observe::phase::Phase::$phase);
        }
    };
}
pub(crate) use mark;
