//! What a run of a checked kernel can find.

use std::fmt;

/// The kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// An attempt saw no state that existed.
    NotOpaque,
    /// The history is one that no transactional memory can produce.
    Impossible,
    /// Memory is not what the commits have left.
    Memory,
    /// An invariant does not hold ([`Run::holds`](super::Run::holds)).
    Invariant,
    /// The closure or the kernel panicked.
    Panicked,
    /// The closure returned an error: of a launch, or its own.
    Error,
    /// The simulator ended the run: an access outside of all memory, a wrong
    /// mask, a deadlock.
    Simulator,
    /// Lanes went on running and none made progress.
    Livelock,
    /// The closure launched nothing on the simulator, so nothing was checked.
    NothingLaunched,
}

impl FailureKind {
    /// Names the kind in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotOpaque => "not opaque",
            Self::Impossible => "impossible history",
            Self::Memory => "wrong memory",
            Self::Invariant => "broken invariant",
            Self::Panicked => "panic",
            Self::Error => "error",
            Self::Simulator => "simulator error",
            Self::Livelock => "livelock",
            Self::NothingLaunched => "nothing launched",
        }
    }
}

/// What a run found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The details, in words; it may have several lines.
    pub text: String,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, text: impl fmt::Display) -> Self {
        let text = text.to_string();
        Self {
            kind,
            text: text.trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.text)
    }
}

/// An invariant that does not hold.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(pub(super) String);
