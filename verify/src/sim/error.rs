//! What can go wrong in a simulated launch. Every message names the lanes.

use std::fmt;

/// A thread of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct LaneId {
    /// Its block.
    pub block: u32,
    /// Its index in the block.
    pub thread: u32,
    /// Its warp in the block.
    pub warp: u32,
    /// Its index in the warp.
    pub lane: u32,
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "thread {} of block {} (warp {}, lane {})",
            self.thread, self.block, self.warp, self.lane
        )
    }
}

/// What an operation was applied to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Nothing: the operation has no operand in memory.
    Nothing,
    /// A word of an allocation, counted in words of the access's width.
    Word {
        /// What the allocation was for.
        name: &'static str,
        /// The word.
        index: u64,
    },
    /// A 32-bit word of the block's shared memory.
    Shared(u64),
    /// An address in no allocation.
    Address(u64),
    /// The lanes of a warp operation.
    Mask(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Word { name, index } => write!(f, " of `{name}`[{index}]"),
            Self::Shared(index) => write!(f, " of shared word {index}"),
            Self::Address(address) => write!(f, " of address {address:#x}"),
            Self::Mask(mask) => write!(f, " with mask {mask:#x}"),
        }
    }
}

/// An operation and what it was applied to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The operation.
    pub op: Op,
    /// Its operand.
    pub place: Place,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.op, self.place)
    }
}

/// What a lane that has not ended is about to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// It could run.
    Ready(Access),
    /// It could run, but its warp runs another side of a divergence.
    MaskedOff(Access),
    /// It waits at a warp operation for lanes that have not come.
    Warp {
        /// The operation and its mask.
        access: Access,
        /// The lanes of the warp that are missing, as a mask.
        missing: u32,
    },
    /// It waits at the block's barrier for threads that have not come.
    Barrier {
        /// How many are missing.
        missing: u32,
    },
}

/// One lane's part in a launch that does not end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneReport {
    /// The lane.
    pub lane: LaneId,
    /// The last operation it completed and the value that gave.
    pub last: Option<(Access, u64)>,
    /// What it is about to do.
    pub waiting: Waiting,
}

impl fmt::Display for LaneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.lane)?;
        match &self.waiting {
            Waiting::Ready(access) => write!(f, "can run {access}")?,
            Waiting::MaskedOff(access) => write!(f, "is masked off before {access}")?,
            Waiting::Warp { access, missing } => {
                write!(f, "waits at {access} for lanes {missing:#x}")?;
            }
            Waiting::Barrier { missing } => {
                write!(f, "waits at the barrier for {missing} threads")?;
            }
        }
        if let Some((access, value)) = &self.last {
            write!(f, ", after {access} gave {value:#x}")?;
        }
        Ok(())
    }
}

/// Why a launch counts as a livelock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stuck {
    /// No lane ended for so many operations.
    NoneEnded(u64),
    /// Memory did not change for so many operations.
    NothingChanged(u64),
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoneEnded(steps) => write!(f, "no lane ended for {steps} operations"),
            Self::NothingChanged(steps) => {
                write!(f, "memory did not change for {steps} operations")
            }
        }
    }
}

/// The most lanes that a message lists.
const LISTED_MAX: usize = 32;

fn list(lanes: &[LaneReport]) -> String {
    let rest = lanes.len().saturating_sub(LISTED_MAX);
    let listed = lanes.iter().take(LISTED_MAX).map(ToString::to_string);
    let more = (rest != 0).then(|| format!("and {rest} more lanes"));
    listed.chain(more).collect::<Vec<_>>().join("; ")
}

/// What lanes that meet must keep to.
const fn rule(op: Op) -> &'static str {
    match op {
        Op::Barrier | Op::BarrierAny | Op::BarrierCount => {
            "the threads of a block must be at one operation of its barrier"
        }
        _ => "lanes that name each other must be at one operation with one mask",
    }
}

/// Why a simulated launch ended before its lanes did.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SimError {
    /// An access outside every allocation.
    #[error("{lane}: {op} at {address:#x} is outside every allocation{near}")]
    OutOfBounds {
        /// The lane.
        lane: LaneId,
        /// The operation.
        op: Op,
        /// The address.
        address: u64,
        /// The allocation that ends before the address, if one is near.
        near: String,
    },
    /// An access whose address is no multiple of its width.
    #[error(
        "{lane}: {op} at {address:#x} is misaligned: the address must be a multiple of {bytes}"
    )]
    Misaligned {
        /// The lane.
        lane: LaneId,
        /// The operation.
        op: Op,
        /// The address.
        address: u64,
        /// The width in bytes.
        bytes: u64,
    },
    /// A word accessed with two widths in one launch.
    #[error("{lane}: {access}, which this launch accessed with {other} bits before: use one width")]
    MixedWidth {
        /// The lane.
        lane: LaneId,
        /// The access.
        access: Access,
        /// The width of the earlier accesses, in bits.
        other: u32,
    },
    /// A private word that another lane, or an atomic operation, touched.
    #[error("{lane}: {access}, but the word is {owner}")]
    NotPrivate {
        /// The lane.
        lane: LaneId,
        /// The access.
        access: Access,
        /// Whose it is.
        owner: Owner,
    },
    /// An index past the end of the block's shared memory, or an odd one for 64 bits.
    #[error(
        "{lane}: {op} of shared word {index}, and the block has {words}: give the launch more shared bytes, and words of 64 bits even indices"
    )]
    SharedOutOfBounds {
        /// The lane.
        lane: LaneId,
        /// The operation.
        op: Op,
        /// The index.
        index: u32,
        /// Words of shared memory.
        words: u32,
    },
    /// An access to the shared memory of a block that the cluster has not, or no more; or a
    /// named barrier that does not exist, or with a wrong number of threads.
    #[error("{lane}: {op} of {what}")]
    Misused {
        /// The lane.
        lane: LaneId,
        /// The operation.
        op: Op,
        /// What it is of, and what is wrong with that.
        what: String,
    },
    /// A mask without the lane's own bit, or with lanes that do not exist.
    #[error(
        "{lane}: {op} with mask {mask:#x}: it must hold the lane's own bit and only lanes of {warp:#x}"
    )]
    BadMask {
        /// The lane.
        lane: LaneId,
        /// The operation.
        op: Op,
        /// The mask.
        mask: u32,
        /// The lanes that the warp has.
        warp: u32,
    },
    /// A shuffle from a lane that takes no part.
    #[error("{lane}: shuffle_32 from lane {source_lane}, which mask {mask:#x} leaves out")]
    BadSource {
        /// The lane.
        lane: LaneId,
        /// The mask.
        mask: u32,
        /// The lane asked for.
        source_lane: u32,
    },
    /// Two lanes that wait for each other at different warp operations, or two threads of a
    /// block at its barrier that use it in different ways.
    #[error("{lane} is at {here} and {other} at {there}: {}", rule(here.op))]
    Mismatch {
        /// A lane.
        lane: LaneId,
        /// Where it is.
        here: Access,
        /// Another lane of its mask, or of its block.
        other: LaneId,
        /// Where that is.
        there: Access,
    },
    /// A lane ended that another one waits for.
    #[error("{ended} has ended, and {waiting} waits for it at {access}")]
    LaneEnded {
        /// The lane that ended.
        ended: LaneId,
        /// A lane that waits for it.
        waiting: LaneId,
        /// Where.
        access: Access,
    },
    /// Every lane that has not ended waits for another.
    #[error("deadlock: {}", list(lanes))]
    Deadlock {
        /// All lanes that have not ended.
        lanes: Vec<LaneReport>,
    },
    /// Lanes run, and nothing comes of it.
    #[error("livelock: {why}: {}", list(lanes))]
    Livelock {
        /// What did not happen.
        why: Stuck,
        /// All lanes that have not ended.
        lanes: Vec<LaneReport>,
    },
    /// The kernel panicked.
    #[error("{lane} panicked: {message}")]
    Panicked {
        /// The lane.
        lane: LaneId,
        /// The panic's message.
        message: String,
    },
    /// The launch itself cannot be.
    #[error("{0}")]
    Launch(String),
}

/// To whom a word belongs that was to be private.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// Private to this lane.
    Lane(LaneId),
    /// Accessed atomically in this launch.
    Everyone,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lane(lane) => write!(f, "private to {lane}"),
            Self::Everyone => f.write_str("shared: this launch accessed it atomically"),
        }
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
