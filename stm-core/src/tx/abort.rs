//! The reasons for which an attempt at a transaction ends without committing.

/// The reason why an attempt did not commit. `?` carries it out of the
/// transaction's closure, and the statistics count it.
///
/// The first four and [`Abort::PoolBusy`] are conflicts, after which the transaction is attempted
/// again. A conflict is for the algorithm to report: a closure must not return
/// one of its own to wait for something, as the transaction then joins the
/// queue and keeps others from running (see `run/throttle.rs`). [`Abort::User`]
/// ends the transaction for good, without effect. The rest are errors of the
/// program: the launch stops and the host reports them.
///
/// 32 bits, so that a `TxResult` of an array of words has no odd-sized tag: the
/// compiler would move the array byte by byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u32)]
pub enum Abort {
    /// A word stayed locked by a committing transaction for longer than a read
    /// polls.
    ReadLocked = 0,
    /// A word read earlier has changed, so the attempt would no longer see one
    /// consistent state.
    ReadStale = 1,
    /// A lock was owned by another transaction, in each of the tries that the
    /// algorithm makes.
    CommitLocked = 2,
    /// A word read has changed: the validation of the commit found it or, under
    /// `fast`, the swap that should have locked it.
    CommitStale = 3,
    /// The transaction's own code cancelled it.
    User = 4,
    /// The read set is full: the transaction reads more words than the launch
    /// gave it room for.
    ReadSetFull = 5,
    /// The write set is full: the transaction writes more words than the launch
    /// gave it room for.
    WriteSetFull = 6,
    /// An index was past the end of its array.
    OutOfRange = 7,
    /// The launch was told to stop: a fault elsewhere, or the time limit.
    Stopped = 8,
    /// A transaction was begun inside another one on the same memory.
    Nested = 9,
    /// Two lanes of a team wrote the same word, or one read a word that another
    /// wrote.
    TeamOverlap = 10,
    /// A team began a transaction with an algorithm that has no teams.
    NoTeams = 11,
    /// The log of deferred actions is full: the transaction defers more actions
    /// than the launch gave it room for.
    ActionsFull = 12,
    /// A deferred action found that what it should release was free already.
    FreedTwice = 13,
    /// A pool had no free node, which other attempts may give back.
    PoolBusy = 14,
    /// A pool had no free node, in as many attempts in a row as a transaction
    /// makes before the others let it run alone, and in some more.
    PoolExhausted = 15,
    /// A node was used wrongly: one of another pool, one that was freed before,
    /// or preassigned ones that are in use.
    BadNode = 16,
}

impl Abort {
    /// The number of reasons.
    pub const COUNT: usize = 17;

    /// Every reason, in the order of its number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::ReadLocked,
        Self::ReadStale,
        Self::CommitLocked,
        Self::CommitStale,
        Self::User,
        Self::ReadSetFull,
        Self::WriteSetFull,
        Self::OutOfRange,
        Self::Stopped,
        Self::Nested,
        Self::TeamOverlap,
        Self::NoTeams,
        Self::ActionsFull,
        Self::FreedTwice,
        Self::PoolBusy,
        Self::PoolExhausted,
        Self::BadNode,
    ];

    /// Returns the reason's name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadLocked => "read_locked",
            Self::ReadStale => "read_stale",
            Self::CommitLocked => "commit_locked",
            Self::CommitStale => "commit_stale",
            Self::User => "user",
            Self::ReadSetFull => "read_set_full",
            Self::WriteSetFull => "write_set_full",
            Self::OutOfRange => "out_of_range",
            Self::Stopped => "stopped",
            Self::Nested => "nested",
            Self::TeamOverlap => "team_overlap",
            Self::NoTeams => "no_teams",
            Self::ActionsFull => "actions_full",
            Self::FreedTwice => "freed_twice",
            Self::PoolBusy => "pool_busy",
            Self::PoolExhausted => "pool_exhausted",
            Self::BadNode => "bad_node",
        }
    }

    /// Returns whether another attempt may succeed.
    #[inline(always)]
    pub const fn is_conflict(self) -> bool {
        (self as u32) <= Self::CommitStale as u32 || matches!(self, Self::PoolBusy)
    }

    /// Returns whether the reason is an error of the program.
    #[inline(always)]
    pub const fn is_fault(self) -> bool {
        matches!(
            self,
            Self::ReadSetFull
                | Self::WriteSetFull
                | Self::OutOfRange
                | Self::Nested
                | Self::TeamOverlap
                | Self::NoTeams
                | Self::ActionsFull
                | Self::FreedTwice
                | Self::PoolExhausted
                | Self::BadNode
        )
    }
}

/// The result of a transactional operation.
pub type TxResult<T> = Result<T, Abort>;
