//! What can go wrong in a simulated launch, and the operations that lanes execute.

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
    /// Two lanes that wait for each other were at different operations of their warp or block.
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
        let (kind, text) = (SimErrorKind::Launch, why.to_string());
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

/// Hands the table of operations to a macro: the variant, the method, and what a [`SimLane`](super::SimLane)
/// does; a result `as` a type is cast to it. A method without a body here is written out in `lane.rs`.
macro_rules! operations {
    ($to:ident) => {
        $to! { self, op;
            // Not an operation: the lane has not begun.
            Start start;
            LoadRelaxed32 load_relaxed_32(p: *const u32) as u32 { self.load::<32>(op, global(p)) };
            LoadRelaxed64 load_relaxed_64(p: *const u64) as u64 { self.load::<64>(op, global(p)) };
            LoadAcquire32 load_acquire_32(p: *const u32) as u32 { self.load::<32>(op, global(p)) };
            LoadAcquire64 load_acquire_64(p: *const u64) as u64 { self.load::<64>(op, global(p)) };
            StoreRelaxed32 store_relaxed_32(p: *mut u32, v: u32) { self.store::<32>(op, global(p), v) };
            StoreRelaxed64 store_relaxed_64(p: *mut u64, v: u64) { self.store::<64>(op, global(p), v) };
            StoreRelease32 store_release_32(p: *mut u32, v: u32) { self.store::<32>(op, global(p), v) };
            StoreRelease64 store_release_64(p: *mut u64, v: u64) { self.store::<64>(op, global(p), v) };
            CasAcquire32 cas_acquire_32(p: *mut u32, old: u32, v: u32) as u32 { self.cas::<32>(op, global(p), old, v) };
            CasAcquire64 cas_acquire_64(p: *mut u64, old: u64, v: u64) as u64 { self.cas::<64>(op, global(p), old, v) };
            CasRelaxed32 cas_relaxed_32(p: *mut u32, old: u32, v: u32) as u32 { self.cas::<32>(op, global(p), old, v) };
            CasRelaxed64 cas_relaxed_64(p: *mut u64, old: u64, v: u64) as u64 { self.cas::<64>(op, global(p), old, v) };
            ExchangeAcquire32 exchange_acquire_32(p: *mut u32, v: u32) as u32 {
                self.modify::<32>(op, global(p), |_| Some(v.into()))
            };
            FetchAddRelaxed32 fetch_add_relaxed_32(p: *mut u32, v: u32) as u32 { self.add::<32>(op, global(p), v) };
            FetchAddRelaxed64 fetch_add_relaxed_64(p: *mut u64, v: u64) as u64 { self.add::<64>(op, global(p), v) };
            FetchOrRelaxed64 fetch_or_relaxed_64(p: *mut u64, v: u64) as u64 {
                self.modify::<64>(op, global(p), |old| Some(old | u128::from(v)))
            };
            FetchAndRelaxed64 fetch_and_relaxed_64(p: *mut u64, v: u64) as u64 {
                self.modify::<64>(op, global(p), |old| Some(old & u128::from(v)))
            };
            AddRelaxed64 add_relaxed_64(p: *mut u64, v: u64) { self.add::<64>(op, global(p), v); };
            AddRelaxedF32 add_relaxed_f32(p: *mut u32, v: f32) {
                let sum = |old: u128| (f32::from_bits(old as u32) + v).to_bits();
                self.modify::<32>(op, global(p), |old| Some(sum(old).into()));
            };
            LoadRelaxed128 load_relaxed_128(p: *const u64) -> [u64; 2] { parted(self.load::<128>(op, global(p))) };
            StoreRelaxed128 store_relaxed_128(p: *mut u64, v: [u64; 2]) { self.store::<128>(op, global(p), joined(v)) };
            CasRelaxed128 cas_relaxed_128(p: *mut u64, old: [u64; 2], v: [u64; 2]) -> [u64; 2] {
                parted(self.cas::<128>(op, global(p), joined(old), joined(v)))
            };
            Fence fence;
            PrivateLoad32 private_load_32(p: *const u32) as u32 { self.private::<32>(op, p, None) };
            PrivateLoad64 private_load_64(p: *const u64) as u64 { self.private::<64>(op, p, None) };
            PrivateStore32 private_store_32(p: *mut u32, v: u32) {
                self.private::<32>(op, p, Some(v.into()));
            };
            PrivateStore64 private_store_64(p: *mut u64, v: u64) {
                self.private::<64>(op, p, Some(v.into()));
            };
            SharedLoad32 shared_load_32(i: u32) as u32 { self.modify::<32>(op, self.shared(i), |_| None) };
            SharedStore32 shared_store_32(i: u32, v: u32) { self.store::<32>(op, self.shared(i), v) };
            SharedFetchAdd32 shared_fetch_add_32(i: u32, v: u32) as u32 { self.add::<32>(op, self.shared(i), v) };
            SharedCas32 shared_cas_32(i: u32, old: u32, v: u32) as u32 {
                self.cas::<32>(op, self.shared(i), old, v)
            };
            Barrier barrier() { self.meet(op, 0, 0); };
            BarrierAny barrier_any(p: bool) -> bool { self.meet(op, 0, p.into()) != 0 };
            BarrierCount barrier_count(p: bool) as u32 { self.meet(op, 0, p.into()) };
            Ballot ballot(mask: u32, predicate: bool) as u32 { self.meet(op, mask, predicate.into()) };
            Shuffle32 shuffle_32;
            MatchAny32 match_any_32(mask: u32, v: u32) as u32 { self.meet(op, mask, v.into()) };
            MatchAny64 match_any_64(mask: u32, v: u64) as u32 { self.meet(op, mask, v) };
            SyncWarp sync_warp(mask: u32) { self.meet(op, mask, 0); };
            ActiveMask active_mask;
            Clock clock;
            Pause pause;
            FenceBlock fence_block;
            SharedLoad64 shared_load_64(i: u32) as u64 { self.load::<64>(op, self.shared(i)) };
            SharedStore64 shared_store_64(i: u32, v: u64) { self.store::<64>(op, self.shared(i), v) };
            BarrierNamedSync barrier_named_sync(id: u32, n: u32) { self.meet(op, id, n.into()); };
            BarrierNamedArrive barrier_named_arrive(id: u32, n: u32) { self.meet(op, id, n.into()); };
            ClusterLoad64 cluster_load_64(rank: u32, i: u32) as u64 {
                self.load::<64>(op, self.in_cluster(op, rank, i))
            };
            ClusterStore64 cluster_store_64(rank: u32, i: u32, v: u64) {
                self.store::<64>(op, self.in_cluster(op, rank, i), v)
            };
            ClusterBarrier cluster_barrier() { self.meet(op, 0, 0); };
            LoadWeak64 load_weak_64(p: *const u64) as u64 { self.load_weak(op, p) };
            StoreWeak64 store_weak_64(p: *mut u64, v: u64) { self.store::<64>(op, global(p), v) };
        }
    };
}

macro_rules! numbered {
    ($me:ident, $op:ident; $($variant:ident $method:ident $(
        ($($arg:ident: $ty:ty),*) $(-> $gives:ty)? $(as $is:ty)? $body:block
    )?;)*) => {
        /// An operation of [`Lane`](stm_core::Lane), named as its method; `Start` is none.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", stringify!($method), "`.")] $variant,)*
        }

        impl Op {
            /// Every operation, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// How many operations there are.
            pub const COUNT: usize = Self::ALL.len();

            /// Returns the method's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($method),)*
                }
            }
        }
    };
}

operations!(numbered);

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
