//! Seeded defects: broken versions of the algorithms that tests must catch.
//!
//! Each is one line of the protocol left out, swapped or weakened; `verify`
//! runs them in its simulator and fails if one survives. A lane says whether a
//! defect is switched on (`Lane::mutant`). On a machine that ships the answer is
//! the constant false, and nothing of this is left in the code.

macro_rules! mutants {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A seeded defect.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Mutant {
            $($(#[$doc])* $variant,)*
        }

        impl Mutant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name at the command line.
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
    /// A read looks at the lock word before the value.
    LockWordBeforeValue = "lock-word-before-value",
    /// An extension compares values and takes no look at lock words.
    ExtensionWithoutLocks = "extension-without-locks",
    /// An extension that finds a newer version raises the snapshot without
    /// comparing the values again.
    SnapshotRaisedUnchecked = "snapshot-raised-unchecked",
    /// Only the first try at the locks compares time stamps.
    VerdictOfFirstTry = "verdict-of-first-try",
    /// Stale time stamps found while locking are ignored: reads are validated
    /// before the locks and never after.
    ValidatedBeforeLocks = "validated-before-locks",
    /// The version compared is one loaded before the atomic that locks.
    VersionBeforeLocking = "version-before-locking",
    /// A stripe that was only read is released with the snapshot as its version.
    ReadStripeAtSnapshot = "read-stripe-at-snapshot",
    /// A stripe met twice is in the lock log twice.
    StripeLockedTwice = "stripe-locked-twice",
    /// Versions keep two bits.
    VersionTruncated = "version-truncated",
    /// A repeated read puts the new value into the read set and returns the old.
    RepeatedReadRefreshes = "repeated-read-refreshes",
    /// A second write to a word lands at the word's position in the read set.
    WriteAtReadPosition = "write-at-read-position",
    /// The sets are not checked for room.
    LogsUnchecked = "logs-unchecked",
    /// An attempt whose read failed validation goes on.
    DoomedGoesOn = "doomed-goes-on",
    /// No order between the clock and the first read.
    NoE1 = "no-e1",
    /// No fence between values and lock words in a read.
    NoE2 = "no-e2",
    /// No fence between values and lock words in an extension.
    NoE2Extension = "no-e2-extension",
    /// No fence between locks and write-back.
    NoE3 = "no-e3",
    /// No fence between write-back and the increment of the clock.
    NoE4 = "no-e4",
    /// No fence between a version seen and the values compared.
    NoE4Extension = "no-e4-extension",
    /// No fence between the increment of the clock and the release.
    NoE5 = "no-e5",
    /// `vbv`: no order between the sequence and the first read.
    NoS1 = "no-s1",
    /// `vbv`: no fence between values and the sequence in a read.
    NoS2 = "no-s2",
    /// `vbv`: no fence between values and the sequence in a validation.
    NoS2Settle = "no-s2-settle",
    /// `vbv`: no fence between the lock and the words.
    NoS3 = "no-s3",
    /// `vbv`: no fence between the words and the release.
    NoS4 = "no-s4",
    /// `vbv`: a validation takes no second look at the sequence.
    NoSecondLook = "no-second-look",
    /// `cgl`: the lock is taken without acquire.
    NoC1Acquire = "no-c1-acquire",
    /// `cgl`: the lock is released without release.
    NoC1Release = "no-c1-release",
    /// `fast`: attempts begin while another transaction is served alone.
    QueueIgnored = "queue-ignored",
    /// `fast`: a read takes a locked word for a free one.
    LockBitIgnored = "lock-bit-ignored",
    /// `fast`: a word is locked by a store, whatever is there.
    LockedByStore = "locked-by-store",
    /// `fast`: the snapshot moves to the present, and the words read before are
    /// not looked at.
    ExtensionUnchecked = "extension-unchecked",
    /// `fast`: words read and not written are not validated.
    ReadsNotValidated = "reads-not-validated",
    /// `fast`: words read and not written are validated before the clock is
    /// advanced.
    ValidatedBeforeClock = "validated-before-clock",
    /// `fast`: words written keep their version.
    VersionNotRaised = "version-not-raised",
    /// `fast`: a write goes to the entry that the hint names, whatever its word.
    HintUnchecked = "hint-unchecked",
    /// `fast`: no order between the clock and the first read.
    NoF1 = "no-f1",
    /// `fast`: no fence between version and value in a read.
    NoF2Value = "no-f2-value",
    /// `fast`: no fence between value and version in a read.
    NoF2Version = "no-f2-version",
    /// `fast`: a read looks at the version after the value only.
    VersionAfterOnly = "version-after-only",
    /// `fast`: nothing between the locks of a warp's lanes and the clock.
    NoF3 = "no-f3",
    /// `fast`: no fence between the clock and the validation.
    NoF4 = "no-f4",
    /// `fast`: no fence between values and versions in a commit.
    NoF5 = "no-f5",
    /// `fast`: no fence before a version is put back.
    NoF6 = "no-f6",
    /// `fast`, pairs: a read takes version and value from two loads.
    PairReadTwice = "pair-read-twice",
    /// `fast`, pairs: a lock is taken from the version found at the commit,
    /// whatever was seen.
    PairLockUnchecked = "pair-lock-unchecked",
    /// `fast`, pairs: what is given back has the new value.
    PairGivenBackNew = "pair-given-back-new",
    /// `fast`, teams: each lane takes a snapshot of its own.
    TeamClockApart = "team-clock-apart",
    /// `fast`, teams: nothing between the leader's look at the clock and the
    /// first reads of the others.
    NoF7 = "no-f7",
    /// `fast`, teams: a snapshot moves when those lanes whose words are newer
    /// find their earlier words unchanged; the others do not look.
    TeamExtendsApart = "team-extends-apart",
    /// `fast`, teams: lanes that hold their words commit though another failed.
    TeamCommitsApart = "team-commits-apart",
    /// `fast`, teams: the validation of the leader alone counts.
    TeamLeaderValidates = "team-leader-validates",
    /// `fast`, teams: a lock that a team mate holds is shared, whatever version
    /// it was taken from.
    TeamShareUnchecked = "team-share-unchecked",
    /// `fast`, teams: a lane releases a lock before those that share it have
    /// stored their values.
    NoF8 = "no-f8",
    /// `fast`: additions to a row are not announced.
    SumNotAnnounced = "sum-not-announced",
    /// `fast`: additions to a row are announced after the clock is advanced.
    SumAnnouncedLate = "sum-announced-late",
    /// `fast`: additions to a row are ended before they are made.
    SumEndedEarly = "sum-ended-early",
    /// `fast`: a read of a row looks at its header before the elements only.
    SumHeaderOnce = "sum-header-once",
    /// `fast`: a read of a row takes one with pending additions.
    SumPendingIgnored = "sum-pending-ignored",
    /// `fast`: a read of a row leaves the snapshot where it is.
    SumNotExtended = "sum-not-extended",
    /// `fast`: rows read are not validated at the commit.
    SumNotValidated = "sum-not-validated",
    /// `fast`: no fence between header and elements in a read of a row.
    NoA2 = "no-a2",
    /// `fast`: no fence between elements and header in a read of a row.
    NoA3 = "no-a3",
    /// `fast`: no fence between elements and headers in a commit.
    NoA4 = "no-a4",
    /// `fast`, teams of a block: who is told loads before who tells has stored.
    BlockToldEarly = "block-told-early",
    /// `fast`, teams of a block: a vote counts the voter's warp alone.
    BlockVotesByWarp = "block-votes-by-warp",
}

impl Mutant {
    /// The mutant of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|m| m.name() == name)
    }
}
