//! What a run can find, of a program or of a checked kernel.

use std::fmt::Display;

/// The kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// Lanes went on running and none made progress.
    Livelock,
    /// The simulator ended the run: an access outside of all memory, a wrong mask, a deadlock.
    Simulator,
    /// A lock was left held, a version above the clock, or counts that do not add up.
    Corrupt,
    /// A fault was reported that is none, or one that is was not.
    Fault,
    /// A recording buffer held something that no probe writes.
    Record,
    /// The history is one that no transactional memory can produce.
    Impossible,
    /// An attempt saw no state that existed.
    NotOpaque,
    /// An attempt did something else than its transaction says.
    NotFollowed,
    /// Memory is not what the commits have left.
    Memory,
    /// An invariant does not hold ([`Run::holds`](crate::check::Run::holds)), or that of a silent program.
    Invariant,
    /// The closure of a check or its kernel panicked.
    Panicked,
    /// The closure returned an error: of a launch, or its own.
    Error,
    /// The closure launched nothing on the simulator, or nothing with transactions, so nothing was checked.
    NothingJudged,
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
            Self::Panicked => "panic",
            Self::Error => "error",
            Self::NothingJudged => "nothing judged",
        }
    }
}

/// What a run found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {text}", kind.name())]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The details, in words; they may have several lines.
    pub text: String,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, text: impl Display) -> Self {
        let text = text.to_string().trim_end().to_owned();
        Self { kind, text }
    }

    /// Returns what was found, if anything, as a failure of this kind.
    pub(crate) fn unless_none(kind: FailureKind, found: Option<impl Display>) -> Result<(), Self> {
        found.map_or(Ok(()), |text| Err(Self::new(kind, text)))
    }
}
