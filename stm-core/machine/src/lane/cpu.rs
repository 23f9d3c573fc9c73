//! The CPU's [`Lane`]: `core::sync::atomic` on OS threads, with a warp of one lane. Every PTX order has a C11
//! counterpart at least as strong, and a warp operation is the identity on one bit.

pub use super::cpu_block::{Block, BrokenBlock, Cluster};
use super::{Lane, mbarrier};
use crate::observe::host_probe::HostProbe;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::{boxed::Box, sync::OnceLock, time::Instant};

/// A stop flag in a kernel's memory, for a thread that watches the clock.
#[derive(Clone, Copy, Debug)]
pub struct StopFlag<'a>(&'a AtomicU32);

impl StopFlag<'_> {
    /// Makes the flag at `p`.
    ///
    /// # Safety
    /// `p` is an aligned word that is live for the lifetime chosen and that
    /// kernels access only through `Lane`.
    pub unsafe fn new(p: *mut u32) -> Self {
        // SAFETY: the caller promises it.
        Self(unsafe { AtomicU32::from_ptr(p) })
    }

    /// Tells the kernel to stop. Relaxed: the flag carries no data.
    pub fn raise(self) {
        self.0.store(1, Relaxed);
    }
}

/// One thread of a launch on the CPU.
#[derive(Debug, Clone, Copy)]
pub struct CpuLane<'a> {
    block: &'a Block,
    /// The block's cluster and its number there, if it is in one.
    cluster: Option<(&'a Cluster<'a>, u32)>,
    thread_index: u32,
    block_index: u32,
    block_dim: u32,
    grid_dim: u32,
    probe: HostProbe,
}

impl<'a> CpuLane<'a> {
    /// Makes the lane of thread `thread_index` of block `block_index`.
    ///
    /// # Safety
    /// The obligations are those of [`crate::host::Device::launch`], and no other lane with the same place in
    /// the same grid runs at the same time.
    pub unsafe fn new(
        block: &'a Block,
        thread_index: u32,
        block_index: u32,
        block_dim: u32,
        grid_dim: u32,
        probe: HostProbe,
    ) -> Self {
        Self {
            block,
            cluster: None,
            thread_index,
            block_index,
            block_dim,
            grid_dim,
            probe,
        }
    }

    /// Returns the lane as one of block `rank` of a cluster, which is the lane's own block.
    #[must_use]
    pub const fn in_cluster(mut self, cluster: &'a Cluster<'a>, rank: u32) -> Self {
        self.cluster = Some((cluster, rank));
        self
    }

    /// Returns block `rank` of the cluster.
    fn member(&self, rank: u32) -> &'a Block {
        if let Some((cluster, _)) = self.cluster {
            return &cluster.blocks[rank as usize];
        }
        assert!(rank == 0, "block {rank} of a launch without clusters");
        self.block
    }

    fn shared(&self, i: u32) -> &AtomicU32 {
        self.block.shared_32(i)
    }

    /// Unwinds if the block is broken.
    fn or_unwind<T>(met: Option<T>) -> T {
        met.unwrap_or_else(|| std::panic::resume_unwind(Box::new(BrokenBlock)))
    }
}

/// The panic message for a caller that has not asked first.
const NO_WIDE_ATOMICS: &str = "a CPU lane has no 128-bit atomics: ask has_wide_atomics() first";

/// Returns the word at an address as an atomic.
///
/// # Safety
/// It is live and aligned, and others reach it only through atomics of the same width.
#[inline(always)]
unsafe fn word_32<'a>(p: *const u32) -> &'a AtomicU32 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU32::from_ptr(p.cast_mut()) }
}

/// Does the same as [`word_32`], for 64 bits.
///
/// # Safety
/// The obligations are those of [`word_32`].
#[inline(always)]
unsafe fn word_64<'a>(p: *const u64) -> &'a AtomicU64 {
    // SAFETY: the caller's promise.
    unsafe { AtomicU64::from_ptr(p.cast_mut()) }
}

/// Returns what a swap has found, whether it was made or not.
#[inline(always)]
fn found<T>(swap: Result<T, T>) -> T {
    swap.unwrap_or_else(|found| found)
}

/// Writes out methods that are one expression each.
macro_rules! methods {
    ($(fn $name:ident($self:ident $(, $arg:ident: $type:ty)*) $(-> $of:ty)? = $does:expr;)*) => {$(
        #[inline(always)]
        #[allow(unused_unsafe)] // not every one needs the caller's promise
        unsafe fn $name(&$self $(, $arg: $type)*) $(-> $of)? {
            // SAFETY: the caller upholds the contract of this method.
            unsafe { $does }
        }
    )*};
}

// SAFETY of the blocks: each passes on what its caller promises, or accesses what only its thread does.
#[allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)] // stated once, above
#[stm_core_macros::inlined]
impl Lane for CpuLane<'_> {
    type Probe = HostProbe;

    fn probe(&self) -> HostProbe {
        self.probe
    }

    fn thread_index(&self) -> u32 {
        self.thread_index
    }
    fn block_index(&self) -> u32 {
        self.block_index
    }
    fn block_dim(&self) -> u32 {
        self.block_dim
    }
    fn grid_dim(&self) -> u32 {
        self.grid_dim
    }
    fn warp_width(&self) -> u32 {
        1
    }

    methods! {
        fn load_relaxed_32(self, p: *const u32) -> u32 = word_32(p).load(Relaxed);
        fn load_relaxed_64(self, p: *const u64) -> u64 = word_64(p).load(Relaxed);
        fn load_acquire_32(self, p: *const u32) -> u32 = word_32(p).load(Acquire);
        fn load_acquire_64(self, p: *const u64) -> u64 = word_64(p).load(Acquire);
        fn store_relaxed_32(self, p: *mut u32, v: u32) = word_32(p).store(v, Relaxed);
        fn store_relaxed_64(self, p: *mut u64, v: u64) = word_64(p).store(v, Relaxed);
        fn store_release_32(self, p: *mut u32, v: u32) = word_32(p).store(v, Release);
        fn store_release_64(self, p: *mut u64, v: u64) = word_64(p).store(v, Release);
        fn cas_acquire_32(self, p: *mut u32, expected: u32, new: u32) -> u32 =
            found(word_32(p).compare_exchange(expected, new, Acquire, Acquire));
        fn cas_acquire_64(self, p: *mut u64, expected: u64, new: u64) -> u64 =
            found(word_64(p).compare_exchange(expected, new, Acquire, Acquire));
        fn cas_relaxed_32(self, p: *mut u32, expected: u32, new: u32) -> u32 =
            found(word_32(p).compare_exchange(expected, new, Relaxed, Relaxed));
        fn cas_relaxed_64(self, p: *mut u64, expected: u64, new: u64) -> u64 =
            found(word_64(p).compare_exchange(expected, new, Relaxed, Relaxed));
        fn exchange_acquire_32(self, p: *mut u32, v: u32) -> u32 = word_32(p).swap(v, Acquire);
        fn fetch_add_relaxed_32(self, p: *mut u32, v: u32) -> u32 = word_32(p).fetch_add(v, Relaxed);
        fn fetch_add_relaxed_64(self, p: *mut u64, v: u64) -> u64 = word_64(p).fetch_add(v, Relaxed);
        fn fetch_or_relaxed_64(self, p: *mut u64, v: u64) -> u64 = word_64(p).fetch_or(v, Relaxed);
        fn fetch_and_relaxed_64(self, p: *mut u64, v: u64) -> u64 = word_64(p).fetch_and(v, Relaxed);
        fn add_relaxed_64(self, p: *mut u64, v: u64) = _ = word_64(p).fetch_add(v, Relaxed);
        fn add_relaxed_f32(self, p: *mut u32, v: f32) = {
            let sum = |old| Some((f32::from_bits(old) + v).to_bits());
            // It goes on until a swap succeeds.
            let _ = word_32(p).fetch_update(Relaxed, Relaxed, sum);
        };
        fn private_load_32(self, p: *const u32) -> u32 = p.read();
        fn private_load_64(self, p: *const u64) -> u64 = p.read();
        fn private_store_32(self, p: *mut u32, v: u32) = p.write(v);
        fn private_store_64(self, p: *mut u64, v: u64) = p.write(v);
        fn load_relaxed_128(self, _p: *const u64) -> [u64; 2] = unreachable!("{NO_WIDE_ATOMICS}");
        fn store_relaxed_128(self, _p: *mut u64, _v: [u64; 2]) = unreachable!("{NO_WIDE_ATOMICS}");
        fn cas_relaxed_128(self, _p: *mut u64, _e: [u64; 2], _n: [u64; 2]) -> [u64; 2] =
            unreachable!("{NO_WIDE_ATOMICS}");

        fn shared_load_64(self, i: u32) -> u64 = self.block.shared_64(i).load(Relaxed);
        fn shared_store_64(self, i: u32, v: u64) = self.block.shared_64(i).store(v, Relaxed);
        fn shared_load_32(self, i: u32) -> u32 = self.shared(i).load(Relaxed);
        fn shared_store_32(self, i: u32, v: u32) = self.shared(i).store(v, Relaxed);
        fn shared_fetch_add_32(self, i: u32, v: u32) -> u32 = self.shared(i).fetch_add(v, Relaxed);
        fn shared_cas_32(self, i: u32, expected: u32, new: u32) -> u32 =
            found(self.shared(i).compare_exchange(expected, new, Relaxed, Relaxed));
        fn cluster_load_64(self, rank: u32, i: u32) -> u64 =
            self.member(rank).shared_64(i).load(Relaxed);
        fn cluster_store_64(self, rank: u32, i: u32, v: u64) =
            self.member(rank).shared_64(i).store(v, Relaxed);

        fn barrier(self) = _ = self.barrier_count(false);
        fn barrier_any(self, predicate: bool) -> bool = self.barrier_count(predicate) != 0;
        fn barrier_count(self, predicate: bool) -> u32 =
            Self::or_unwind(self.block.rendezvous.vote(predicate));
        fn barrier_named_sync(self, id: u32, threads: u32) =
            _ = Self::or_unwind(self.block.rendezvous.named(id, threads, true));
        fn barrier_named_arrive(self, id: u32, threads: u32) =
            _ = Self::or_unwind(self.block.rendezvous.named(id, threads, false));
        fn mbarrier_init(self, i: u32, count: u32) = mbarrier::init(self, i, count);
        fn mbarrier_arrive(self, i: u32) = mbarrier::arrive(self, i);
        fn mbarrier_try_wait(self, i: u32, parity: u32) -> bool =
            mbarrier::try_wait(self, i, parity);
        fn cluster_barrier(self) = match self.cluster {
            Some((cluster, _)) => _ = Self::or_unwind(cluster.rendezvous.vote(false)),
            None => self.barrier(),
        };

        fn ballot(self, _mask: u32, predicate: bool) -> u32 = u32::from(predicate);
        fn shuffle_32(self, _mask: u32, v: u32, _source: u32) -> u32 = v;
        fn match_any_32(self, _mask: u32, _v: u32) -> u32 = 1;
        fn match_any_64(self, _mask: u32, _v: u64) -> u32 = 1;
        fn sync_warp(self, _mask: u32) = ();
    }
    /// Returns `false`, as stable Rust has no atomic of 128 bits.
    fn has_wide_atomics(&self) -> bool {
        false
    }
    fn fence(&self) {
        fence(AcqRel);
    }
    fn fence_block(&self) {
        fence(AcqRel);
    }

    fn shared_words(&self) -> u32 {
        self.block.shared_words
    }
    fn cluster_size(&self) -> u32 {
        (self.cluster).map_or(1, |(cluster, _)| cluster.blocks.len() as u32)
    }
    fn cluster_rank(&self) -> u32 {
        self.cluster.map_or(0, |(_, rank)| rank)
    }
    fn active_mask(&self) -> u32 {
        1
    }

    fn clock(&self) -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
    /// Counts the ticks themselves, in units of 2^16: a cached word is loaded faster than any
    /// clock. What a relaxed load may be behind by is far less than the limit leaves.
    unsafe fn ticks_bound(&self, ticks: *const u64) -> u32 {
        (unsafe { self.load_relaxed_64(ticks) } >> 16) as u32
    }
    fn ticks_limit(&self) -> u32 {
        1 << 12
    }
    fn pause(&self, _ns: u32) {
        // A wait may be for a thread that is not running, so give it the core.
        std::thread::yield_now();
    }
}
