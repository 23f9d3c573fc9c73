//! The CPU's [`Lane`]: `core::sync::atomic` on OS threads, with a warp of one lane.
//!
//! Every PTX order has a C11 counterpart at least as strong here. A warp of
//! one makes each warp operation the identity on its own bit.

use super::Lane;
pub use super::cpu_block::{Block, BrokenBlock, Cluster};
use crate::observe::host_probe::HostProbe;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
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
        self.0.store(1, Ordering::Relaxed);
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
    /// The obligations are those of [`crate::host::Device::launch`]: what the code run on the lane
    /// accesses through it is live and accessed by nothing else. Besides, no other lane with the
    /// same place in the same grid runs at the same time.
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
    pub const fn in_cluster(self, cluster: &'a Cluster<'a>, rank: u32) -> Self {
        Self {
            cluster: Some((cluster, rank)),
            ..self
        }
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

macro_rules! atomic {
    // The atomic at `p`.
    ($atomic:ident, $p:expr) => {
        // SAFETY: the caller gives a live, aligned word that others reach only
        // through atomics of the same width (trait, obligations 1 and 2).
        unsafe { $atomic::from_ptr($p.cast_mut()) }
    };
}

macro_rules! width {
    ($ty:ty, $atomic:ident, $load_relaxed:ident, $load_acquire:ident, $store_relaxed:ident, $store_release:ident,
     $cas_acquire:ident, $cas_relaxed:ident, $fetch_add:ident, $private_load:ident, $private_store:ident) => {
        #[inline(always)]
        unsafe fn $load_relaxed(&self, p: *const $ty) -> $ty {
            atomic!($atomic, p).load(Ordering::Relaxed)
        }
        #[inline(always)]
        unsafe fn $load_acquire(&self, p: *const $ty) -> $ty {
            atomic!($atomic, p).load(Ordering::Acquire)
        }
        #[inline(always)]
        unsafe fn $store_relaxed(&self, p: *mut $ty, v: $ty) {
            atomic!($atomic, p.cast_const()).store(v, Ordering::Relaxed);
        }
        #[inline(always)]
        unsafe fn $store_release(&self, p: *mut $ty, v: $ty) {
            atomic!($atomic, p.cast_const()).store(v, Ordering::Release);
        }
        #[inline(always)]
        unsafe fn $cas_acquire(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let word = atomic!($atomic, p.cast_const());
            let found = word.compare_exchange(expected, new, Ordering::Acquire, Ordering::Acquire);
            found.unwrap_or_else(|found| found)
        }
        #[inline(always)]
        unsafe fn $cas_relaxed(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let word = atomic!($atomic, p.cast_const());
            let found = word.compare_exchange(expected, new, Ordering::Relaxed, Ordering::Relaxed);
            found.unwrap_or_else(|found| found)
        }
        #[inline(always)]
        unsafe fn $fetch_add(&self, p: *mut $ty, v: $ty) -> $ty {
            atomic!($atomic, p.cast_const()).fetch_add(v, Ordering::Relaxed)
        }
        #[inline(always)]
        unsafe fn $private_load(&self, p: *const $ty) -> $ty {
            // SAFETY: live, aligned, and touched by this thread only (trait, 1 and 3).
            unsafe { p.read() }
        }
        #[inline(always)]
        unsafe fn $private_store(&self, p: *mut $ty, v: $ty) {
            // SAFETY: live, aligned, and touched by this thread only (trait, 1 and 3).
            unsafe { p.write(v) }
        }
    };
}

#[allow(clippy::missing_safety_doc)]
impl Lane for CpuLane<'_> {
    type Probe = HostProbe;

    #[inline(always)]
    fn probe(&self) -> HostProbe {
        self.probe
    }

    #[inline(always)]
    fn thread_index(&self) -> u32 {
        self.thread_index
    }
    #[inline(always)]
    fn block_index(&self) -> u32 {
        self.block_index
    }
    #[inline(always)]
    fn block_dim(&self) -> u32 {
        self.block_dim
    }
    #[inline(always)]
    fn grid_dim(&self) -> u32 {
        self.grid_dim
    }
    #[inline(always)]
    fn warp_width(&self) -> u32 {
        1
    }

    width!(
        u32,
        AtomicU32,
        load_relaxed_32,
        load_acquire_32,
        store_relaxed_32,
        store_release_32,
        cas_acquire_32,
        cas_relaxed_32,
        fetch_add_relaxed_32,
        private_load_32,
        private_store_32
    );
    width!(
        u64,
        AtomicU64,
        load_relaxed_64,
        load_acquire_64,
        store_relaxed_64,
        store_release_64,
        cas_acquire_64,
        cas_relaxed_64,
        fetch_add_relaxed_64,
        private_load_64,
        private_store_64
    );

    #[inline(always)]
    unsafe fn exchange_acquire_32(&self, p: *mut u32, v: u32) -> u32 {
        atomic!(AtomicU32, p.cast_const()).swap(v, Ordering::Acquire)
    }
    #[inline(always)]
    unsafe fn fetch_or_relaxed_64(&self, p: *mut u64, v: u64) -> u64 {
        atomic!(AtomicU64, p.cast_const()).fetch_or(v, Ordering::Relaxed)
    }
    #[inline(always)]
    unsafe fn fetch_and_relaxed_64(&self, p: *mut u64, v: u64) -> u64 {
        atomic!(AtomicU64, p.cast_const()).fetch_and(v, Ordering::Relaxed)
    }
    #[inline(always)]
    unsafe fn add_relaxed_64(&self, p: *mut u64, v: u64) {
        atomic!(AtomicU64, p.cast_const()).fetch_add(v, Ordering::Relaxed);
    }
    #[inline(always)]
    unsafe fn add_relaxed_f32(&self, p: *mut u32, v: f32) {
        let word = atomic!(AtomicU32, p.cast_const());
        let mut old = word.load(Ordering::Relaxed);
        loop {
            let new = (f32::from_bits(old) + v).to_bits();
            match word.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => old = found,
            }
        }
    }
    /// Returns `false`, as stable Rust has no atomic of 128 bits.
    #[inline(always)]
    fn has_wide_atomics(&self) -> bool {
        false
    }
    unsafe fn load_relaxed_128(&self, _p: *const u64) -> [u64; 2] {
        unreachable!("{NO_WIDE_ATOMICS}")
    }
    unsafe fn store_relaxed_128(&self, _p: *mut u64, _v: [u64; 2]) {
        unreachable!("{NO_WIDE_ATOMICS}")
    }
    unsafe fn cas_relaxed_128(
        &self,
        _p: *mut u64,
        _expected: [u64; 2],
        _new: [u64; 2],
    ) -> [u64; 2] {
        unreachable!("{NO_WIDE_ATOMICS}")
    }
    #[inline(always)]
    fn fence(&self) {
        fence(Ordering::AcqRel);
    }
    #[inline(always)]
    fn fence_block(&self) {
        fence(Ordering::AcqRel);
    }

    fn shared_words(&self) -> u32 {
        self.block.shared_words()
    }
    unsafe fn shared_load_64(&self, i: u32) -> u64 {
        self.block.shared_64(i).load(Ordering::Relaxed)
    }
    unsafe fn shared_store_64(&self, i: u32, v: u64) {
        self.block.shared_64(i).store(v, Ordering::Relaxed);
    }
    unsafe fn shared_load_32(&self, i: u32) -> u32 {
        self.shared(i).load(Ordering::Relaxed)
    }
    unsafe fn shared_store_32(&self, i: u32, v: u32) {
        self.shared(i).store(v, Ordering::Relaxed);
    }
    unsafe fn shared_fetch_add_32(&self, i: u32, v: u32) -> u32 {
        self.shared(i).fetch_add(v, Ordering::Relaxed)
    }
    unsafe fn shared_cas_32(&self, i: u32, expected: u32, new: u32) -> u32 {
        let word = self.shared(i);
        let found = word.compare_exchange(expected, new, Ordering::Relaxed, Ordering::Relaxed);
        found.unwrap_or_else(|found| found)
    }
    unsafe fn barrier(&self) {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { self.barrier_any(false) };
    }
    unsafe fn barrier_any(&self, predicate: bool) -> bool {
        // SAFETY: as above.
        unsafe { self.barrier_count(predicate) != 0 }
    }
    unsafe fn barrier_count(&self, predicate: bool) -> u32 {
        Self::or_unwind(self.block.rendezvous.vote(predicate))
    }
    unsafe fn barrier_named_sync(&self, id: u32, threads: u32) {
        Self::or_unwind(self.block.rendezvous.named(id, threads, true));
    }
    unsafe fn barrier_named_arrive(&self, id: u32, threads: u32) {
        Self::or_unwind(self.block.rendezvous.named(id, threads, false));
    }

    fn cluster_size(&self) -> u32 {
        self.cluster
            .map_or(1, |(cluster, _)| cluster.blocks.len() as u32)
    }
    fn cluster_rank(&self) -> u32 {
        self.cluster.map_or(0, |(_, rank)| rank)
    }
    unsafe fn cluster_load_64(&self, rank: u32, i: u32) -> u64 {
        self.member(rank).shared_64(i).load(Ordering::Relaxed)
    }
    unsafe fn cluster_store_64(&self, rank: u32, i: u32, v: u64) {
        self.member(rank).shared_64(i).store(v, Ordering::Relaxed);
    }
    unsafe fn cluster_barrier(&self) {
        match self.cluster {
            Some((cluster, _)) => _ = Self::or_unwind(cluster.rendezvous.vote(false)),
            // SAFETY: the caller upholds the contract of this function.
            None => unsafe { self.barrier() },
        }
    }

    #[inline(always)]
    unsafe fn ballot(&self, _mask: u32, predicate: bool) -> u32 {
        u32::from(predicate)
    }
    #[inline(always)]
    unsafe fn shuffle_32(&self, _mask: u32, v: u32, _source: u32) -> u32 {
        v
    }
    #[inline(always)]
    unsafe fn match_any_32(&self, _mask: u32, _v: u32) -> u32 {
        1
    }
    #[inline(always)]
    unsafe fn match_any_64(&self, _mask: u32, _v: u64) -> u32 {
        1
    }
    #[inline(always)]
    unsafe fn sync_warp(&self, _mask: u32) {}
    #[inline(always)]
    fn active_mask(&self) -> u32 {
        1
    }

    fn clock(&self) -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
    /// Counts the ticks themselves, in units of 2^16: a cached word is loaded faster than any
    /// clock. What a relaxed load may be behind by is far less than the limit leaves.
    #[inline(always)]
    unsafe fn ticks_bound(&self, ticks: *const u64) -> u32 {
        // SAFETY: live, by the caller.
        (unsafe { self.load_relaxed_64(ticks) } >> 16) as u32
    }
    #[inline(always)]
    fn ticks_limit(&self) -> u32 {
        1 << 12
    }
    #[inline(always)]
    fn pause(&self, _ns: u32) {
        // A wait may be for a thread that is not running, so give it the core.
        std::thread::yield_now();
    }
}
