//! What can go wrong in a simulated launch. Every message names the lanes.

use std::fmt;

/// How a simulated launch ended before its lanes did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum SimErrorKind {
    /// An access was outside every allocation.
    OutOfBounds,
    /// The address of an access was no multiple of its width.
    Misaligned,
    /// A word was accessed with two widths in one launch.
    MixedWidth,
    /// A private word was touched by another lane, or by an atomic operation.
    NotPrivate,
    /// An index was past the end of the block's shared memory, or an odd one for 64 bits.
    SharedOutOfBounds,
    /// The block of a cluster is not there, or no more; or a named barrier does not exist, or has
    /// a wrong number of threads.
    Misused,
    /// A mask was without the lane's own bit, or with lanes that do not exist.
    BadMask,
    /// A shuffle was from a lane that takes no part.
    BadSource,
    /// Two lanes that wait for each other were at different warp operations, or two threads of a
    /// block used its barrier in different ways.
    Mismatch,
    /// A lane ended that another one waits for.
    LaneEnded,
    /// Every lane that had not ended waited for another.
    Deadlock,
    /// Lanes ran, and none ended: a livelock.
    NoneEnded,
    /// Lanes ran, and memory did not change: a livelock.
    NothingChanged,
    /// The kernel panicked.
    Panicked,
    /// The launch itself cannot be.
    Launch,
}

impl SimErrorKind {
    /// Returns whether lanes ran and nothing came of it.
    pub const fn is_livelock(self) -> bool {
        matches!(self, Self::NoneEnded | Self::NothingChanged)
    }
}

/// Why a simulated launch ended before its lanes did.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
#[error("{text}")]
pub struct SimError {
    /// The kind of error.
    pub kind: SimErrorKind,
    /// The details, in words.
    pub text: String,
}

impl SimError {
    pub(super) fn launch(why: impl fmt::Display) -> Self {
        Self::new(SimErrorKind::Launch, why.to_string())
    }

    pub(super) const fn new(kind: SimErrorKind, text: String) -> Self {
        Self { kind, text }
    }
}

/// A line that is no [`SimConfig`](super::SimConfig).
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
#[error("`{part}` at offset {offset} of a simulator line: expected {expected}")]
pub struct ConfigError {
    /// Where, in bytes from the start of the line.
    pub offset: usize,
    /// What stood there.
    pub part: String,
    /// What is allowed there.
    pub expected: &'static str,
}
