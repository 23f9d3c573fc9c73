//! Seeded defects: broken versions of the algorithms that tests must catch.
//!
//! Each one omits, swaps or weakens one step of the protocol; `verify` runs them in its simulator and fails
//! if one survives. A lane says whether a defect is switched on (`Lane::mutant`). On a machine that ships,
//! the answer is the constant `false`, and the compiler leaves nothing of the defects in the code.

use crate::kernel::name::EntryName;

/// In the number of a defect that a GPU's lane has: it also waits where fences
/// are ([`Lane::delay_at_fence`](crate::Lane::delay_at_fence)).
pub const DELAYED: u32 = 1 << 31;

/// Makes the enum of what each defect is called and does.
macro_rules! mutants {
    ($($variant:ident: $does:literal,)*) => {
        /// A seeded defect.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Mutant {
            $(#[doc = $does] $variant,)*
        }

        impl Mutant {
            /// All defects.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the defect's name at the command line: `no-e1` of `NoE1`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => {
                        const NAME: &EntryName = &EntryName::hyphened(stringify!($variant));
                        NAME.as_str()
                    })*
                }
            }
        }
    };
}

mutants! {
    ClockBeforeWords: "The clock is incremented before the words are written back.",
    ReleaseBeforeClock: "The locks are released before the clock is incremented.",
    NewReadNotValidated: "An extension leaves out the read that caused it.",
    LockedStripeRead: "A read neither waits for nor aborts on a locked stripe.",
    LockWordBeforeValue: "A read loads the lock word before the value.",
    ExtensionWithoutLocks: "An extension compares values and does not load the lock words.",
    SnapshotRaisedUnchecked:
        "An extension that finds a newer version raises the snapshot without comparing values.",
    VerdictOfFirstTry: "Only the first try at the locks compares time stamps.",
    ValidatedBeforeLocks:
        "Stale stamps found while locking are ignored: reads are validated before the locks alone.",
    VersionBeforeLocking: "The version compared is one loaded before the atomic that locks.",
    ReadStripeAtSnapshot: "A stripe that was only read is released with the snapshot as its version.",
    StripeLockedTwice: "A stripe met twice is in the lock log twice.",
    VersionTruncated: "Versions are truncated to two bits.",
    RepeatedReadRefreshes: "A repeated read puts the new value into the read set and returns the old.",
    WriteAtReadPosition:
        "A second write to a word replaces the entry at the word's position in the read set.",
    LogsUnchecked: "The sets are not checked for room.",
    DoomedGoesOn: "An attempt whose read failed validation goes on.",
    NoE1: "There is no order between the clock and the first read.",
    NoE2: "There is no fence between values and lock words in a read.",
    NoE2Extension: "There is no fence between values and lock words in an extension.",
    NoE3: "There is no fence between locks and write-back.",
    NoE4: "There is no fence between write-back and the increment of the clock.",
    NoE4Extension: "There is no fence between a version seen and the values compared.",
    NoE5: "There is no fence between the increment of the clock and the release.",
    NoS1: "`vbv`: there is no order between the sequence and the first read.",
    NoS2: "`vbv`: there is no fence between values and the sequence in a read.",
    NoS2Settle: "`vbv`: there is no fence between values and the sequence in a validation.",
    NoS3: "`vbv`: there is no fence between the lock and the words.",
    NoS4: "`vbv`: there is no fence between the words and the release.",
    NoSecondLook: "`vbv`: a validation does not load the sequence a second time.",
    NoC1Acquire: "`cgl`: the lock is taken without acquire.",
    NoC1Release: "`cgl`: the lock is released without release.",
    NewcomerUnasked: "`fast`: a place enters although tickets wait.",
    PresenceForgotten: "`fast`: a place enters without being counted.",
    PresenceTwice: "`fast`: a place that enters is counted twice.",
    HeadUnwaiting: "`fast`: the head of the tickets does not wait for those who are present.",
    PeriodUnended:
        "`fast`: who has opened a period does not end it. Random programs are too short to open one.",
    TurnShared: "`fast`: all lanes of a warp make their attempts in a turn at the same time.",
    AloneVersionKept: "`fast`: a commit alone stores its words with the version of the snapshot.",
    NoG1: "`fast`: there is no fence after a place has entered.",
    NoG2: "`fast`: there is no fence before a place departs.",
    NoG3: "`fast`: there is no fence after the head has found that it is alone.",
    NoG4: "`fast`: there is no fence before the head leaves.",
    LockBitIgnored: "`fast`: a read treats an owned word as a free one.",
    LockedByStore: "`fast`: a word is locked by a store, whatever it holds.",
    ExtensionUnchecked:
        "`fast`: an extension moves the snapshot to the present without validating earlier reads.",
    ReadsNotValidated: "`fast`: words read and not written are not validated.",
    ValidatedBeforeClock: "`fast`: words read and not written are validated before the clock is advanced.",
    VersionNotRaised: "`fast`: words written keep their version.",
    HintUnchecked: "`fast`: a write goes to the entry that the hint names, even if that is of another word.",
    NoF1Begin: "`fast`: the load of the clock with which an attempt begins does not acquire.",
    NoF1Extension: "`fast`: the load of the clock in an extension does not acquire.",
    NoF1Sum: "`fast`: the load of the clock in a read of a row of sums does not acquire.",
    NoF1Team: "`fast`, teams: the load of the clock in an extension does not acquire.",
    NoF2Value: "`fast`: there is no fence between version and value in a read.",
    NoF2Version: "`fast`: there is no fence between value and version in a read.",
    VersionAfterOnly: "`fast`: a read loads the version after the value only.",
    NoF3: "`fast`: neither a barrier nor a fence is between the locks of a warp's lanes and the clock.",
    NoF4: "`fast`: there is no fence between the clock and the validation.",
    NoF5: "`fast`: there is no fence between values and versions in a commit.",
    NoF6: "`fast`: there is no fence before a version is put back.",
    OldReadUnchecked:
        "`fast`: a read accepts words although the attempt is so old that newer ones may look older.",
    OldCommitUnchecked:
        "`fast`: an attempt commits although it is so old that changed words may look unchanged.",
    OldUnproved:
        "`fast`: a word that looks newer than the snapshot is taken for old without asking the clock.",
    PairReadTwice: "`fast`, pairs: a read takes version and value from two loads.",
    PairLockUnchecked:
        "`fast`, pairs: a lock is acquired from the version found at the commit, whatever the read saw.",
    PairGivenBackNew: "`fast`, pairs: a release after a failed commit stores the new value.",
    TeamClockApart: "`fast`, teams: each lane takes its own snapshot.",
    NoF7: "`fast`, teams: no barrier is between the leader's load of the clock and the others' first reads.",
    TeamExtendsApart: "`fast`, teams: an extension validates only the lanes that met a newer word.",
    TeamCommitsApart: "`fast`, teams: lanes that hold their locks commit although another lane failed.",
    TeamLeaderValidates: "`fast`, teams: only the leader's validation counts.",
    TeamShareUnchecked:
        "`fast`, teams: a lock that a team mate holds is shared even if it is of another version.",
    NoF8: "`fast`, teams: a lane releases a lock before those that share it have stored their values.",
    SumNotAnnounced: "`fast`: additions to a row are not announced.",
    SumAnnouncedLate: "`fast`: additions to a row are announced after the clock is advanced.",
    SumEndedEarly: "`fast`: additions to a row are ended before they are made.",
    SumHeaderOnce: "`fast`: a read of a row loads its header before the elements only.",
    SumPendingIgnored: "`fast`: a read accepts a row with pending additions.",
    SumNotExtended: "`fast`: a read of a row leaves the snapshot where it is.",
    SumNotValidated: "`fast`: rows read are not validated at the commit.",
    NoA2: "`fast`: there is no fence between header and elements in a read of a row.",
    NoA3: "`fast`: there is no fence between elements and header in a read of a row.",
    NoA4: "`fast`: there is no fence between elements and headers in a commit.",
    BlockToldEarly: "`fast`, teams of a block: receivers load a broadcast before the sender has stored it.",
    BlockVotesByWarp: "`fast`, teams of a block: a vote counts only the warp of the voter.",
    ActionBeforeCommit: "The actions that wait for a commit are executed before it.",
    LostWakeup: "`fast`: a transaction that waits does not look at the second word that it read.",
    OrElseKeepsWrites: "An alternative that retried keeps its writes.",
    RetryKeepsTicket: "A transaction that waits keeps its ticket.",
    PoolFreeAtOnce: "Pools: a node is free as soon as a transaction frees it, before that commits.",
    PoolNotUndone: "Pools: an attempt that aborts keeps the nodes that it has allocated.",
    PoolReusedPrivate: "`fast`, pools: a node that was used before is initialised by plain stores.",
    WitnessReleased: "`fast`, lists: a walk also releases the node before the place.",
    RemovalUnmarked: "`fast`, lists: a removal leaves the link of the removed node as it is.",
    LaterGroupsReleased:
        "`fast`: a commit that fails to lock a word of a group also releases later groups, not its own.",
    BarrierNoRelease: "Barriers across blocks: there is no fence before an arrival.",
    BarrierNoAcquire: "Barriers across blocks: a poll that finds the round complete does not acquire.",
    BarrierNotPassedOn:
        "Barriers across blocks: no fence is between the arrivals a thread has seen and its own word.",
    BarrierRoundKept: "Barriers across blocks: the number of the round stays as it is.",
    SemaphoreNoAcquire:
        "Sleeping semaphores and those of tickets: no fence is between the count and the section.",
    SemaphoreNoRelease: "Semaphores: there is no fence between the section and its end.",
    SemaphorePostLost: "Semaphores: a post lets nobody in.",
    SemaphoreOneMore: "Semaphores: one thread more than the count is let in.",
    LockNoAcquire: "Locks: the access that grants a lock does not acquire.",
    LockNoRelease: "Locks: a lock is given up without release.",
    LockNoHandoff:
        "Locks: lanes of a warp that acquire a lock together do not wait for each other's sections.",
    LockWakeupLost:
        "Locks, MCS: a holder goes away that finds a node at the end, but none linked behind its own.",
    LockNodeReused: "Locks, MCS2: a node is free for another lock as soon as its lock is granted.",
    LockRingEntryKept: "Locks, ring buffer: a holder leaves its entry in the ring.",
    LockRingFrontStale:
        "Locks, ring buffer: no fence is between a thread's position and its first look at the front.",
    LockReservationBroken:
        "Locks with reservations: a thread that comes takes a lock that is reserved for others.",
    LockHeadKept: "Combiners: a holder leaves without storing how far it has come.",
    LockRequestUnordered: "Combiners: there is no fence before a request.",
    LockResponseUnordered: "Combiners: there is no fence between the operations and their responses.",
    ChannelTagFirst: "Channels: a put stores the tag before the value.",
    ChannelHalfAwaited: "Channels of 64-bit values: a get compares the tag of one half only.",
    ChannelReusedEarly: "Rings: a value is put before the one in its place was taken.",
    ChannelNotAcknowledged: "Rings: a consumer does not say that it has taken a value.",
    UpdateLostKept: "`fast`, static updates: a word that somebody else owns is taken for an own one.",
    UpdateStoredTwice: "`fast`, static updates: a word that is named twice is stored twice.",
    UpdateReadStays:
        "`fast`, static updates: of a word that is written and also only read, the value read stays.",
    UpdateTurnShared: "`fast`, static updates: the lanes of a turn alone make theirs all at once.",
    UpdateNotGivenBack: "`fast`, static updates: an update that meets a word of somebody else keeps its own.",
    UpdateReadBefore:
        "`fast`, static updates: the words are read, and owned after that whatever they hold then.",
    WeakRead:
        "`fast`: reads load version words, which may be packed words with their values, by plain loads \
         outside of turns alone too. Such loads order nothing, and a multiprocessor's first-level cache \
         may answer them.",
    EndKeepsTicket: "`fast`: a warp whose lanes have come to the end of their range keeps its ticket.",
}

impl Mutant {
    /// Returns the mutant with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|m| m.name() == name)
    }
}
