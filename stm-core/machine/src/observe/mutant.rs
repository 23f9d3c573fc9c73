//! Seeded defects: broken versions of the algorithms that tests must catch.
//!
//! Each one omits, swaps or weakens one step of the protocol; `verify` runs them in its simulator
//! and fails if one survives. A lane says whether a defect is switched on (`Lane::mutant`). On a
//! machine that ships, the answer is the constant `false`, and the compiler leaves nothing of the
//! defects in the code.

/// In the number of a defect that a GPU's lane has: it also waits where fences
/// are ([`Lane::delay_at_fence`](crate::Lane::delay_at_fence)).
pub const DELAYED: u32 = 1 << 31;

macro_rules! mutants {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A seeded defect.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Mutant {
            $($(#[$doc])* $variant,)*
        }

        impl Mutant {
            /// All defects.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the defect's name at the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

mutants! {
    /// The clock is incremented before the words are written back.
    ClockBeforeWords = "clock-before-words",
    /// The locks are released before the clock is incremented.
    ReleaseBeforeClock = "release-before-clock",
    /// An extension leaves out the read that caused it.
    NewReadNotValidated = "new-read-not-validated",
    /// A read neither waits for nor aborts on a locked stripe.
    LockedStripeRead = "locked-stripe-read",
    /// A read loads the lock word before the value.
    LockWordBeforeValue = "lock-word-before-value",
    /// An extension compares values and does not load the lock words.
    ExtensionWithoutLocks = "extension-without-locks",
    /// An extension that finds a newer version raises the snapshot without comparing values.
    SnapshotRaisedUnchecked = "snapshot-raised-unchecked",
    /// Only the first try at the locks compares time stamps.
    VerdictOfFirstTry = "verdict-of-first-try",
    /// Stale stamps found while locking are ignored: reads are validated before the locks alone.
    ValidatedBeforeLocks = "validated-before-locks",
    /// The version compared is one loaded before the atomic that locks.
    VersionBeforeLocking = "version-before-locking",
    /// A stripe that was only read is released with the snapshot as its version.
    ReadStripeAtSnapshot = "read-stripe-at-snapshot",
    /// A stripe met twice is in the lock log twice.
    StripeLockedTwice = "stripe-locked-twice",
    /// Versions are truncated to two bits.
    VersionTruncated = "version-truncated",
    /// A repeated read puts the new value into the read set and returns the old.
    RepeatedReadRefreshes = "repeated-read-refreshes",
    /// A second write to a word replaces the entry at the word's position in the read set.
    WriteAtReadPosition = "write-at-read-position",
    /// The sets are not checked for room.
    LogsUnchecked = "logs-unchecked",
    /// An attempt whose read failed validation goes on.
    DoomedGoesOn = "doomed-goes-on",
    /// There is no order between the clock and the first read.
    NoE1 = "no-e1",
    /// There is no fence between values and lock words in a read.
    NoE2 = "no-e2",
    /// There is no fence between values and lock words in an extension.
    NoE2Extension = "no-e2-extension",
    /// There is no fence between locks and write-back.
    NoE3 = "no-e3",
    /// There is no fence between write-back and the increment of the clock.
    NoE4 = "no-e4",
    /// There is no fence between a version seen and the values compared.
    NoE4Extension = "no-e4-extension",
    /// There is no fence between the increment of the clock and the release.
    NoE5 = "no-e5",
    /// `vbv`: there is no order between the sequence and the first read.
    NoS1 = "no-s1",
    /// `vbv`: there is no fence between values and the sequence in a read.
    NoS2 = "no-s2",
    /// `vbv`: there is no fence between values and the sequence in a validation.
    NoS2Settle = "no-s2-settle",
    /// `vbv`: there is no fence between the lock and the words.
    NoS3 = "no-s3",
    /// `vbv`: there is no fence between the words and the release.
    NoS4 = "no-s4",
    /// `vbv`: a validation does not load the sequence a second time.
    NoSecondLook = "no-second-look",
    /// `cgl`: the lock is taken without acquire.
    NoC1Acquire = "no-c1-acquire",
    /// `cgl`: the lock is released without release.
    NoC1Release = "no-c1-release",
    /// `fast`: a place enters although tickets wait.
    NewcomerUnasked = "newcomer-unasked",
    /// `fast`: a place enters without being counted.
    PresenceForgotten = "presence-forgotten",
    /// `fast`: a place that enters is counted twice.
    PresenceTwice = "presence-twice",
    /// `fast`: the head of the tickets does not wait for those who are present.
    HeadUnwaiting = "head-unwaiting",
    /// `fast`: who has opened a period does not end it. Random programs are too short to open one.
    PeriodUnended = "period-unended",
    /// `fast`: all lanes of a warp make their attempts in a turn at the same time.
    TurnShared = "turn-shared",
    /// `fast`: a commit alone stores its words with the version of the snapshot.
    AloneVersionKept = "alone-version-kept",
    /// `fast`: there is no fence after a place has entered.
    NoG1 = "no-g1",
    /// `fast`: there is no fence before a place departs.
    NoG2 = "no-g2",
    /// `fast`: there is no fence after the head has found that it is alone.
    NoG3 = "no-g3",
    /// `fast`: there is no fence before the head leaves.
    NoG4 = "no-g4",
    /// `fast`: a read treats an owned word as a free one.
    LockBitIgnored = "lock-bit-ignored",
    /// `fast`: a word is locked by a store, whatever it holds.
    LockedByStore = "locked-by-store",
    /// `fast`: an extension moves the snapshot to the present without validating earlier reads.
    ExtensionUnchecked = "extension-unchecked",
    /// `fast`: words read and not written are not validated.
    ReadsNotValidated = "reads-not-validated",
    /// `fast`: words read and not written are validated before the clock is advanced.
    ValidatedBeforeClock = "validated-before-clock",
    /// `fast`: words written keep their version.
    VersionNotRaised = "version-not-raised",
    /// `fast`: a write goes to the entry that the hint names, even if that is of another word.
    HintUnchecked = "hint-unchecked",
    /// `fast`: the load of the clock with which an attempt begins does not acquire.
    NoF1Begin = "no-f1-begin",
    /// `fast`: the load of the clock in an extension does not acquire.
    NoF1Extension = "no-f1-extension",
    /// `fast`: the load of the clock in a read of a row of sums does not acquire.
    NoF1Sum = "no-f1-sum",
    /// `fast`, teams: the load of the clock in an extension does not acquire.
    NoF1Team = "no-f1-team",
    /// `fast`: there is no fence between version and value in a read.
    NoF2Value = "no-f2-value",
    /// `fast`: there is no fence between value and version in a read.
    NoF2Version = "no-f2-version",
    /// `fast`: a read loads the version after the value only.
    VersionAfterOnly = "version-after-only",
    /// `fast`: neither a barrier nor a fence is between the locks of a warp's lanes and the clock.
    NoF3 = "no-f3",
    /// `fast`: there is no fence between the clock and the validation.
    NoF4 = "no-f4",
    /// `fast`: there is no fence between values and versions in a commit.
    NoF5 = "no-f5",
    /// `fast`: there is no fence before a version is put back.
    NoF6 = "no-f6",
    /// `fast`: a read accepts words although the attempt is so old that newer ones may look older.
    OldReadUnchecked = "old-read-unchecked",
    /// `fast`: an attempt commits although it is so old that changed words may look unchanged.
    OldCommitUnchecked = "old-commit-unchecked",
    /// `fast`: a word that looks newer than the snapshot is taken for old without asking the clock.
    OldUnproved = "old-unproved",
    /// `fast`, pairs: a read takes version and value from two loads.
    PairReadTwice = "pair-read-twice",
    /// `fast`, pairs: a lock is acquired from the version found at the commit, whatever the read saw.
    PairLockUnchecked = "pair-lock-unchecked",
    /// `fast`, pairs: a release after a failed commit stores the new value.
    PairGivenBackNew = "pair-given-back-new",
    /// `fast`, teams: each lane takes its own snapshot.
    TeamClockApart = "team-clock-apart",
    /// `fast`, teams: no barrier is between the leader's load of the clock and the others' first reads.
    NoF7 = "no-f7",
    /// `fast`, teams: an extension validates only the lanes that met a newer word.
    TeamExtendsApart = "team-extends-apart",
    /// `fast`, teams: lanes that hold their locks commit although another lane failed.
    TeamCommitsApart = "team-commits-apart",
    /// `fast`, teams: only the leader's validation counts.
    TeamLeaderValidates = "team-leader-validates",
    /// `fast`, teams: a lock that a team mate holds is shared even if it is of another version.
    TeamShareUnchecked = "team-share-unchecked",
    /// `fast`, teams: a lane releases a lock before those that share it have stored their values.
    NoF8 = "no-f8",
    /// `fast`: additions to a row are not announced.
    SumNotAnnounced = "sum-not-announced",
    /// `fast`: additions to a row are announced after the clock is advanced.
    SumAnnouncedLate = "sum-announced-late",
    /// `fast`: additions to a row are ended before they are made.
    SumEndedEarly = "sum-ended-early",
    /// `fast`: a read of a row loads its header before the elements only.
    SumHeaderOnce = "sum-header-once",
    /// `fast`: a read accepts a row with pending additions.
    SumPendingIgnored = "sum-pending-ignored",
    /// `fast`: a read of a row leaves the snapshot where it is.
    SumNotExtended = "sum-not-extended",
    /// `fast`: rows read are not validated at the commit.
    SumNotValidated = "sum-not-validated",
    /// `fast`: there is no fence between header and elements in a read of a row.
    NoA2 = "no-a2",
    /// `fast`: there is no fence between elements and header in a read of a row.
    NoA3 = "no-a3",
    /// `fast`: there is no fence between elements and headers in a commit.
    NoA4 = "no-a4",
    /// `fast`, teams of a block: receivers load a broadcast before the sender has stored it.
    BlockToldEarly = "block-told-early",
    /// `fast`, teams of a block: a vote counts only the warp of the voter.
    BlockVotesByWarp = "block-votes-by-warp",
    /// The actions that wait for a commit are executed before it.
    ActionBeforeCommit = "action-before-commit",
    /// `fast`: a transaction that waits does not look at the second word that it read.
    LostWakeup = "lost-wakeup",
    /// An alternative that retried keeps its writes.
    OrElseKeepsWrites = "or-else-keeps-writes",
    /// A transaction that waits keeps its ticket.
    RetryKeepsTicket = "retry-keeps-ticket",
    /// Pools: a node is free as soon as a transaction frees it, before that commits.
    PoolFreeAtOnce = "pool-free-at-once",
    /// Pools: an attempt that aborts keeps the nodes that it has allocated.
    PoolNotUndone = "pool-not-undone",
    /// `fast`, pools: a node that was used before is initialised by plain stores.
    PoolReusedPrivate = "pool-reused-private",
    /// `fast`, lists: a walk also releases the node before the place.
    WitnessReleased = "witness-released",
    /// `fast`, lists: a removal leaves the link of the removed node as it is.
    RemovalUnmarked = "removal-unmarked",
    /// `fast`: a commit that fails to lock a word of a group also releases later groups, not its own.
    LaterGroupsReleased = "later-groups-released",
    /// Barriers across blocks: there is no fence before an arrival.
    BarrierNoRelease = "barrier-no-release",
    /// Barriers across blocks: a poll that finds the round complete does not acquire.
    BarrierNoAcquire = "barrier-no-acquire",
    /// Barriers across blocks: no fence is between the arrivals a thread has seen and its own word.
    BarrierNotPassedOn = "barrier-not-passed-on",
    /// Barriers across blocks: the number of the round stays as it is.
    BarrierRoundKept = "barrier-round-kept",
    /// Sleeping semaphores and those of tickets: no fence is between the count and the section.
    SemaphoreNoAcquire = "semaphore-no-acquire",
    /// Semaphores: there is no fence between the section and its end.
    SemaphoreNoRelease = "semaphore-no-release",
    /// Semaphores: a post lets nobody in.
    SemaphorePostLost = "semaphore-post-lost",
    /// Semaphores: one thread more than the count is let in.
    SemaphoreOneMore = "semaphore-one-more",
    /// Locks: the access that grants a lock does not acquire.
    LockNoAcquire = "lock-no-acquire",
    /// Locks: a lock is given up without release.
    LockNoRelease = "lock-no-release",
    /// Locks: lanes of a warp that acquire a lock together do not wait for each other's sections.
    LockNoHandoff = "lock-no-handoff",
    /// Locks, MCS: a holder goes away that finds a node at the end, but none linked behind its own.
    LockWakeupLost = "lock-wakeup-lost",
    /// Locks, MCS2: a node is free for another lock as soon as its lock is granted.
    LockNodeReused = "lock-node-reused",
    /// Locks, ring buffer: a holder leaves its entry in the ring.
    LockRingEntryKept = "lock-ring-entry-kept",
    /// Locks, ring buffer: no fence is between a thread's position and its first look at the front.
    LockRingFrontStale = "lock-ring-front-stale",
    /// Locks with reservations: a thread that comes takes a lock that is reserved for others.
    LockReservationBroken = "lock-reservation-broken",
    /// Combiners: a holder leaves without storing how far it has come.
    LockHeadKept = "lock-head-kept",
    /// Combiners: there is no fence before a request.
    LockRequestUnordered = "lock-request-unordered",
    /// Combiners: there is no fence between the operations and their responses.
    LockResponseUnordered = "lock-response-unordered",
    /// Channels: a put stores the tag before the value.
    ChannelTagFirst = "channel-tag-first",
    /// Channels of 64-bit values: a get compares the tag of one half only.
    ChannelHalfAwaited = "channel-half-awaited",
    /// Rings: a value is put before the one in its place was taken.
    ChannelReusedEarly = "channel-reused-early",
    /// Rings: a consumer does not say that it has taken a value.
    ChannelNotAcknowledged = "channel-not-acknowledged",
    /// `fast`, static updates: a word that somebody else owns is taken for an own one.
    UpdateLostKept = "update-lost-kept",
    /// `fast`, static updates: a word that is named twice is stored twice.
    UpdateStoredTwice = "update-stored-twice",
    /// `fast`, static updates: of a word that is written and also only read, the value read stays.
    UpdateReadStays = "update-read-stays",
    /// `fast`, static updates: the lanes of a turn alone make theirs all at once.
    UpdateTurnShared = "update-turn-shared",
    /// `fast`, static updates: an update that meets a word of somebody else keeps its own.
    UpdateNotGivenBack = "update-not-given-back",
    /// `fast`, static updates: the words are read, and owned after that whatever they hold then.
    UpdateReadBefore = "update-read-before",
    /// `fast`: reads load version words, which may be packed words with their values,
    /// by plain loads outside of turns alone too. Such loads order nothing, and a
    /// multiprocessor's first-level cache may answer them.
    WeakRead = "weak-read",
    /// `fast`: a warp whose lanes have come to the end of their range keeps its ticket.
    EndKeepsTicket = "end-keeps-ticket",
}

impl Mutant {
    /// Returns the mutant with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|m| m.name() == name)
    }
}
