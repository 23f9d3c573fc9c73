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
    /// Returns the error of a launch that cannot be.
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

macro_rules! ops {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// An operation of [`Lane`](stm_core::Lane), named as its method.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`.")] $(#[$doc])* $variant,)*
        }

        impl Op {
            /// Every operation, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the method's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

ops! {
    /// Not an operation: the lane has not begun.
    Start = "start",
    LoadRelaxed32 = "load_relaxed_32",
    LoadRelaxed64 = "load_relaxed_64",
    LoadAcquire32 = "load_acquire_32",
    LoadAcquire64 = "load_acquire_64",
    StoreRelaxed32 = "store_relaxed_32",
    StoreRelaxed64 = "store_relaxed_64",
    StoreRelease32 = "store_release_32",
    StoreRelease64 = "store_release_64",
    CasAcquire32 = "cas_acquire_32",
    CasAcquire64 = "cas_acquire_64",
    CasRelaxed32 = "cas_relaxed_32",
    CasRelaxed64 = "cas_relaxed_64",
    ExchangeAcquire32 = "exchange_acquire_32",
    FetchAddRelaxed32 = "fetch_add_relaxed_32",
    FetchAddRelaxed64 = "fetch_add_relaxed_64",
    FetchOrRelaxed64 = "fetch_or_relaxed_64",
    FetchAndRelaxed64 = "fetch_and_relaxed_64",
    AddRelaxed64 = "add_relaxed_64",
    AddRelaxedF32 = "add_relaxed_f32",
    LoadRelaxed128 = "load_relaxed_128",
    StoreRelaxed128 = "store_relaxed_128",
    CasRelaxed128 = "cas_relaxed_128",
    Fence = "fence",
    PrivateLoad32 = "private_load_32",
    PrivateLoad64 = "private_load_64",
    PrivateStore32 = "private_store_32",
    PrivateStore64 = "private_store_64",
    SharedLoad32 = "shared_load_32",
    SharedStore32 = "shared_store_32",
    SharedFetchAdd32 = "shared_fetch_add_32",
    SharedCas32 = "shared_cas_32",
    Barrier = "barrier",
    BarrierAny = "barrier_any",
    BarrierCount = "barrier_count",
    Ballot = "ballot",
    Shuffle32 = "shuffle_32",
    MatchAny32 = "match_any_32",
    MatchAny64 = "match_any_64",
    SyncWarp = "sync_warp",
    ActiveMask = "active_mask",
    Clock = "clock",
    Pause = "pause",
    FenceBlock = "fence_block",
    SharedLoad64 = "shared_load_64",
    SharedStore64 = "shared_store_64",
    BarrierNamedSync = "barrier_named_sync",
    BarrierNamedArrive = "barrier_named_arrive",
    ClusterLoad64 = "cluster_load_64",
    ClusterStore64 = "cluster_store_64",
    ClusterBarrier = "cluster_barrier",
    LoadWeak64 = "load_weak_64",
    StoreWeak64 = "store_weak_64",
}

impl Op {
    /// How many operations there are.
    pub const COUNT: usize = Self::ALL.len();
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
