//! Where a lane's time goes: the breakdown of Figure 5 of Xu et al. 2014.
//!
//! [`Profiler`](crate::observe::Profiler) is a probe that reads the lane's clock at the seams of a
//! transaction's code. A reading is a mark: the stretch since the last one is
//! added to the phase that the mark names. Stretches follow one another without
//! a gap, so that the phases add up to the lane's time from its first
//! transaction to its last, exactly; the host checks that for every lane.
//!
//! | phase | what falls into it |
//! | --- | --- |
//! | [`Phase::Native`] | the program's own code, inside of transactions and between them |
//! | [`Phase::Initialisation`] | emptying the sets, taking a snapshot |
//! | [`Phase::Buffering`] | keeping the read set, the write set and the lock log, looking up own writes |
//! | [`Phase::Consistency`] | a read's value with its order and its lock word, waiting for a locked stripe, validation |
//! | [`Phase::Locks`] | acquiring, retrying and releasing locks; with one lock for all, waiting for it or for the lane's turn |
//! | [`Phase::Commit`] | storing the writes, advancing the clock |
//! | [`Phase::Aborted`] | attempts that did not commit, from begin to end, and backing off after them |
//! | [`Phase::Warp`] | waiting where the lanes of a warp meet: for those with a longer way |
//!
//! The last is not the paper's, whose figure has no place for that wait.
//!
//! A load is not waited for where it is issued but where its value is first
//! needed, and its time falls to the phase that waits. Lanes of a warp that
//! part inside a phase and meet again before its end have the same time in it.
//!
//! # Layout
//!
//! Lane `l` of a launch owns the 64-bit words from `l * ROW_WORDS` on:
//!
//! | word | meaning |
//! | --- | --- |
//! | [`OPENED`] | its clock when its first transaction began to be run |
//! | [`CLOSED`] | its clock when its last one had ended |
//! | [`OPENS`] | how many times it came to run transactions; 0 for a lane that ran none |
//! | [`PHASES`].. | the sums, by [`Phase`] |

/// What a lane spends its time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Phase {
    /// The program's own code.
    Native = 0,
    /// Beginning attempts.
    Initialisation = 1,
    /// Keeping the sets.
    Buffering = 2,
    /// Keeping what was read consistent.
    Consistency = 3,
    /// Acquiring and releasing locks.
    Locks = 4,
    /// Making writes visible.
    Commit = 5,
    /// Attempts that did not commit.
    Aborted = 6,
    /// Waiting for the warp's other lanes.
    Warp = 7,
}

impl Phase {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// All of them, in the order of their numbers.
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

    /// The name in output.
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

/// Word of a lane's row: its clock at its first transaction.
pub const OPENED: usize = 0;
/// Word of a lane's row: its clock after its last transaction.
pub const CLOSED: usize = 1;
/// Word of a lane's row: how many times it came to run transactions.
pub const OPENS: usize = 2;
/// Words of a lane's row from which on the sums are.
pub const PHASES: usize = 3;
/// Words of a lane's row.
pub const ROW_WORDS: usize = PHASES + Phase::COUNT;
