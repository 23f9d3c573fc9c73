//! What a run can find.

use std::fmt;

/// The kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FailureKind {
    /// Lanes went on running and none made progress.
    Livelock,
    /// The simulator ended the run: a wild access, a wrong mask, a deadlock.
    Simulator,
    /// A lock was left held, a version above the clock, or counts that do not
    /// add up.
    Corrupt,
    /// A fault was reported that is none, or one that is was not.
    Fault,
    /// A recording buffer held something that no probe writes.
    Record,
    /// Records that no right run can produce.
    Impossible,
    /// An attempt saw no state that existed.
    NotOpaque,
    /// An attempt did something else than its transaction says.
    NotFollowed,
    /// Memory is not what the commits leave.
    Memory,
    /// A silent program saw a state that breaks its invariant, or left one.
    Invariant,
}

impl FailureKind {
    /// Names the kind in a few words, for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Livelock => "livelock",
            Self::Simulator => "simulator error",
            Self::Corrupt => "corrupt metadata",
            Self::Fault => "wrong fault",
            Self::Record => "corrupt record",
            Self::Impossible => "impossible history",
            Self::NotOpaque => "not opaque",
            Self::NotFollowed => "program not followed",
            Self::Memory => "wrong memory",
            Self::Invariant => "broken invariant",
        }
    }
}

/// What a run found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The details, in words.
    pub text: String,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.text.trim_end())
    }
}
