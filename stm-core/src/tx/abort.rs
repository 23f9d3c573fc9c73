//! Why an attempt at a transaction ended without committing.

/// Why an attempt did not commit. Carried out of the transaction's closure by
/// `?`, counted by reason.
///
/// The first four are conflicts: the attempt is made again. [`Abort::User`]
/// ends the transaction for good, without effect. The rest are errors of the
/// program: the launch stops and the host reports them.
///
/// 32 bits, so that a `TxResult` of an array of words has no odd-sized tag: the
/// compiler would move the array byte by byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u32)]
pub enum Abort {
    /// A stripe stayed locked by a committing transaction for longer than a
    /// read waits.
    ReadLocked = 0,
    /// A word read earlier has changed, so the attempt no longer saw one
    /// consistent state.
    ReadStale = 1,
    /// The locks for the commit could not be had in the allowed number of tries.
    CommitLocked = 2,
    /// A word read has changed when the commit looked at it again.
    CommitStale = 3,
    /// The transaction's own code cancelled it.
    User = 4,
    /// The read set is full: the transaction reads more words than the launch
    /// gave it room for.
    ReadSetFull = 5,
    /// The write set is full: the transaction writes more words than the launch
    /// gave it room for.
    WriteSetFull = 6,
    /// An index past the end of its array.
    OutOfRange = 7,
    /// The launch was told to stop: a fault elsewhere, or the time limit.
    Stopped = 8,
    /// A transaction was begun inside another one on the same memory.
    Nested = 9,
    /// A commit whose version does not fit into a versioned cell.
    VersionsUsedUp = 10,
    /// Two lanes of a team wrote the same word, or one read what another wrote.
    TeamOverlap = 11,
    /// A team's transaction with an algorithm that has none.
    NoTeams = 12,
}

impl Abort {
    /// The number of reasons.
    pub const COUNT: usize = 13;

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
        Self::VersionsUsedUp,
        Self::TeamOverlap,
        Self::NoTeams,
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
            Self::VersionsUsedUp => "versions_used_up",
            Self::TeamOverlap => "team_overlap",
            Self::NoTeams => "no_teams",
        }
    }

    /// Returns whether another attempt may succeed.
    #[inline(always)]
    pub const fn is_conflict(self) -> bool {
        (self as u32) <= Self::CommitStale as u32
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
                | Self::VersionsUsedUp
                | Self::TeamOverlap
                | Self::NoTeams
        )
    }
}

/// What a transactional operation returns.
pub type TxResult<T> = Result<T, Abort>;
