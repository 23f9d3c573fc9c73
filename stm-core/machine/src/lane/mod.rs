//! The machines that a kernel runs on, each seen as one thread of a launch.
//!
//! A [`Lane`] is a closed vocabulary. Each memory method is one PTX instruction
//! whose name spells out its order and scope; there is no `Ordering` argument to get wrong. Everything
//! above is written against the trait, so the same source runs on the GPU (`lane::gpu`, inline PTX), on
//! the CPU (`lane::cpu`, `core::sync::atomic`) and under any simulator that implements the trait. Only
//! this module may contain an atomic, `asm!`, a fence or a spin hint, as `stm-core/tests/vocabulary.rs` tests.
//!
//! # Memory spaces
//!
//! | space | methods | order and scope |
//! | --- | --- | --- |
//! | global, accessed by several threads | `load_*`, `store_*`, `cas_*`, `exchange_*`, `fetch_*`, `add_*` | as named, `.gpu` |
//! | global, private to one lane (its logs) | `private_*` | none |
//! | shared memory of a block | `shared_*`, indexed in 32-bit words from the start of the dynamic shared memory | relaxed, `.cta` |
//!
//! A *warp* is [`Lane::warp_width`] lanes that run together: 32 on a GPU, 1 on the CPU, 1 to 32 in a simulator.
//! A warp operation names the lanes that take part in a mask; all of them must call it with the same mask.

use crate::observe::mutant::Mutant;
use crate::observe::probe::{LogRecord, ProbeBuffer};

mod hooks;
pub use hooks::{Silent, Stop, begin_scratch, records, times};

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod cpu;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
mod cpu_block;
#[cfg(target_arch = "nvptx64")]
#[macro_use]
mod gpu_access;
#[cfg(target_arch = "nvptx64")]
pub mod gpu;
#[doc(hidden)]
pub mod mbarrier;

/// One thread of a launch, of `grid_dim` blocks of `block_dim` threads, and the operations it may perform.
///
/// ```
/// # use stm_machine::{Lane, Output, host::{Buffer, Cpu, Launch, Watchdog}, kernel};
/// #[kernel]
/// pub fn number_each<L: Lane>(lane: &L, to: &Output<u32>) {
///     to.set(lane, lane.grid_thread(), lane.block_index() * lane.block_dim() + lane.thread_index());
/// }
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// # let cpu = Cpu::new();
/// let mut to = Buffer::zeroed(&cpu, 4, "to")?;
/// number_each::launch(&cpu, &mut Watchdog::new(&cpu, None)?, Launch::new(2, 2), &mut to)?;
/// assert_eq!(to.download()?, [0u32, 1, 2, 3]);
/// # Ok(()) }
/// ```
///
/// # Safety of the memory methods
///
/// Every `unsafe` method that takes a pointer requires:
/// 1. the pointer is aligned for its width and points into live (on a GPU global) memory of this lane's device;
/// 2. other threads access the same word only by `Lane` methods of the same width while the kernel runs;
/// 3. for `private_*`, no other thread accesses the word while the kernel runs.
///
/// # Safety of the operations of several threads
///
/// A call of `ballot`, `shuffle_32`, `match_any_*` or `sync_warp` requires:
/// 4. the mask names the calling lane and only lanes that the warp has, and each lane that it names makes
///    the same call with the same mask; where lanes run apart, one that does not come is awaited for ever;
/// 5. for `shuffle_32`, the source is one of them.
///
/// A call of `barrier`, `barrier_any` or `barrier_count` requires:
/// 6. every thread of the block makes it, the same number of times and in the same order as the others.
///
/// A call of `barrier_named_sync` or `barrier_named_arrive` requires:
/// 7. all lanes of the warp make it together, with the same operands; `threads` is a multiple of the
///    warp's width and the same for all who meet at that barrier; and as many threads come each time.
// SAFETY of the blocks: each passes on what its caller promises.
#[allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)] // stated once, above
#[stm_core_macros::inlined]
pub trait Lane {
    /// How far [`Self::clock`] must go before a launch ends in which all threads inside an operation wait and
    /// others are outside: about a second, except in a simulator.
    const PATIENCE: u64 = 1 << 30;

    /// The type of the probe of the code that lanes of this machine run.
    type Probe: Probe;
    /// Returns the probe of the code that this lane runs.
    fn probe(&self) -> Self::Probe;

    /// Returns the index of this thread in its block, 0 to `block_dim - 1`.
    fn thread_index(&self) -> u32;
    /// Returns the index of this block in the grid, 0 to `grid_dim - 1`.
    fn block_index(&self) -> u32;
    /// Returns the number of threads in a block.
    fn block_dim(&self) -> u32;
    /// Returns the number of blocks in the grid.
    fn grid_dim(&self) -> u32;
    /// Returns the number of lanes in a full warp, 1 to 32.
    fn warp_width(&self) -> u32;

    /// Returns the index of this lane in its warp.
    fn lane_index(&self) -> u32 {
        self.thread_index() % self.warp_width()
    }
    /// Returns the index of this warp in its block.
    fn warp_index(&self) -> u32 {
        self.thread_index() / self.warp_width()
    }
    /// Returns the index of this thread in the grid.
    fn grid_thread(&self) -> u64 {
        u64::from(self.block_index()) * u64::from(self.block_dim()) + u64::from(self.thread_index())
    }
    /// Returns the number of threads in the grid.
    fn grid_threads(&self) -> u64 {
        u64::from(self.grid_dim()) * u64::from(self.block_dim())
    }
    /// Returns this lane's bit in a warp mask.
    fn lane_bit(&self) -> u32 {
        1 << self.lane_index()
    }
    /// Returns the mask of the lanes that exist in this warp; a block's last warp may be short.
    fn warp_mask(&self) -> u32 {
        let width = self.warp_width();
        let lanes = (self.block_dim() - self.warp_index() * width).min(width);
        u32::MAX >> (32 - lanes)
    }

    /// `ld.relaxed.gpu` of 32 bits.
    unsafe fn load_relaxed_32(&self, p: *const u32) -> u32;
    /// `ld.relaxed.gpu` of 64 bits.
    unsafe fn load_relaxed_64(&self, p: *const u64) -> u64;
    /// `ld.acquire.gpu` of 32 bits.
    unsafe fn load_acquire_32(&self, p: *const u32) -> u32;
    /// `ld.acquire.gpu` of 64 bits.
    unsafe fn load_acquire_64(&self, p: *const u64) -> u64;
    /// Loads two words of 64 bits that lie together at a multiple of 16 bytes: the first by `ld.acquire.gpu`,
    /// the second by `ld.relaxed.gpu`, in any order. On a GPU it is one request.
    unsafe fn load_acquire_and_next_64(&self, p: *const u64) -> [u64; 2] {
        let next = p.wrapping_add(1);
        // SAFETY: the caller gives two valid addresses.
        unsafe { [self.load_acquire_64(p), self.load_relaxed_64(next)] }
    }
    /// `st.relaxed.gpu` of 32 bits.
    unsafe fn store_relaxed_32(&self, p: *mut u32, v: u32);
    /// `st.relaxed.gpu` of 64 bits.
    unsafe fn store_relaxed_64(&self, p: *mut u64, v: u64);
    /// `st.release.gpu` of 32 bits.
    unsafe fn store_release_32(&self, p: *mut u32, v: u32);
    /// `st.release.gpu` of 64 bits.
    unsafe fn store_release_64(&self, p: *mut u64, v: u64);
    /// `atom.acquire.gpu.cas` of 32 bits; returns the word found.
    unsafe fn cas_acquire_32(&self, p: *mut u32, expected: u32, new: u32) -> u32;
    /// `atom.acquire.gpu.cas` of 64 bits; returns the word found.
    unsafe fn cas_acquire_64(&self, p: *mut u64, expected: u64, new: u64) -> u64;
    /// `atom.relaxed.gpu.cas` of 32 bits; returns the word found.
    unsafe fn cas_relaxed_32(&self, p: *mut u32, expected: u32, new: u32) -> u32;
    /// `atom.relaxed.gpu.cas` of 64 bits; returns the word found.
    unsafe fn cas_relaxed_64(&self, p: *mut u64, expected: u64, new: u64) -> u64;
    /// `atom.acquire.gpu.exch` of 32 bits; returns the word found.
    unsafe fn exchange_acquire_32(&self, p: *mut u32, v: u32) -> u32;
    /// `atom.relaxed.gpu.add` of 32 bits; returns the word found.
    unsafe fn fetch_add_relaxed_32(&self, p: *mut u32, v: u32) -> u32;
    /// `atom.relaxed.gpu.add` of 64 bits; returns the word found.
    unsafe fn fetch_add_relaxed_64(&self, p: *mut u64, v: u64) -> u64;
    /// `atom.relaxed.gpu.or` of 64 bits; returns the word found.
    unsafe fn fetch_or_relaxed_64(&self, p: *mut u64, v: u64) -> u64;
    /// `atom.relaxed.gpu.and` of 64 bits; returns the word found.
    unsafe fn fetch_and_relaxed_64(&self, p: *mut u64, v: u64) -> u64;
    /// `red.relaxed.gpu.add` of 64 bits; returns nothing, so nothing waits.
    unsafe fn add_relaxed_64(&self, p: *mut u64, v: u64);
    /// `red.relaxed.gpu.add` of an `f32`, whose bits are a 32-bit word; returns nothing, so nothing waits.
    unsafe fn add_relaxed_f32(&self, p: *mut u32, v: f32);
    /// Does [`Self::load_relaxed_64`] if `on`, else returns `otherwise`. On a GPU it is a predicate and no
    /// branch, so that several loads are in flight together.
    unsafe fn load_relaxed_64_if(&self, on: bool, p: *const u64, otherwise: u64) -> u64 {
        if on {
            unsafe { self.load_relaxed_64(p) }
        } else {
            otherwise
        }
    }
    /// Does [`Self::store_relaxed_64`] if `on`, by a predicate and no branch.
    unsafe fn store_relaxed_64_if(&self, on: bool, p: *mut u64, v: u64) {
        if on {
            unsafe { self.store_relaxed_64(p, v) };
        }
    }
    /// Does [`Self::cas_relaxed_64`] if `on`; else the result is meaningless. On a GPU there is no branch,
    /// which would wait for the result: if not `on`, the operation is made on `idle`, a word that nobody needs.
    unsafe fn cas_relaxed_64_if(
        &self,
        on: bool,
        p: *mut u64,
        _idle: *mut u64,
        expected: u64,
        new: u64,
    ) -> u64 {
        if on {
            unsafe { self.cas_relaxed_64(p, expected, new) }
        } else {
            expected
        }
    }
    /// Does [`Self::fetch_or_relaxed_64`] if `on`, in the same way as [`Self::cas_relaxed_64_if`].
    unsafe fn fetch_or_relaxed_64_if(&self, on: bool, p: *mut u64, _idle: *mut u64, v: u64) -> u64 {
        if on {
            unsafe { self.fetch_or_relaxed_64(p, v) }
        } else {
            0
        }
    }
    /// Returns whether the lane has the operations of 128 bits below, which is the same for all lanes of a
    /// device. Where it does not, they must not be called.
    fn has_wide_atomics(&self) -> bool;
    /// `ld.relaxed.gpu` of 128 bits: two words of 64, the one at `p` first, in one access.
    unsafe fn load_relaxed_128(&self, p: *const u64) -> [u64; 2];
    /// `st.relaxed.gpu` of 128 bits.
    unsafe fn store_relaxed_128(&self, p: *mut u64, v: [u64; 2]);
    /// `atom.relaxed.gpu.cas` of 128 bits; returns the words found.
    unsafe fn cas_relaxed_128(&self, p: *mut u64, expected: [u64; 2], new: [u64; 2]) -> [u64; 2];
    /// Does [`Self::load_relaxed_128`] if `on`, else returns zeros; it is a predicate and no branch.
    unsafe fn load_relaxed_128_if(&self, on: bool, p: *const u64) -> [u64; 2] {
        if on {
            unsafe { self.load_relaxed_128(p) }
        } else {
            [0; 2]
        }
    }
    /// Does [`Self::store_relaxed_128`] if `on`, by a predicate and no branch.
    unsafe fn store_relaxed_128_if(&self, on: bool, p: *mut u64, v: [u64; 2]) {
        if on {
            unsafe { self.store_relaxed_128(p, v) };
        }
    }
    /// Does [`Self::cas_relaxed_128`] if `on`, as [`Self::cas_relaxed_64_if`] does; `idle` has 128 bits.
    unsafe fn cas_relaxed_128_if(
        &self,
        on: bool,
        p: *mut u64,
        idle: *mut u64,
        expected: [u64; 2],
        new: [u64; 2],
    ) -> [u64; 2] {
        // A GPU, whose warps have an even number of lanes, accesses it whenever `on` is false.
        debug_assert!(
            (idle as usize).is_multiple_of(16) || self.warp_width() % 2 == 1,
            "the idle words are not aligned"
        );
        if on {
            unsafe { self.cas_relaxed_128(p, expected, new) }
        } else {
            expected
        }
    }
    /// `ld.global.nc` of 32 bits that nobody writes while the kernel runs: a load that caches close to the
    /// lanes may answer, and that nothing orders.
    unsafe fn load_constant_32(&self, p: *const u32) -> u32 {
        unsafe { self.load_relaxed_32(p) }
    }
    /// `ld.global` of 64 bits that a cache close to the lanes may answer. No other thread may store the word
    /// between two fences with which this lane synchronises.
    unsafe fn load_weak_64(&self, p: *const u64) -> u64 {
        unsafe { self.load_relaxed_64(p) }
    }
    /// `st.global` of 64 bits that no other thread accesses between two such fences.
    unsafe fn store_weak_64(&self, p: *mut u64, v: u64) {
        unsafe { self.store_relaxed_64(p, v) }
    }
    /// `fence.acq_rel.gpu`.
    fn fence(&self);
    /// `fence.acq_rel.cta`: a fence between threads of one block, for words of shared memory. The CPU and a
    /// simulator have only the fence between all threads, so no test there notices that blocks need the stronger.
    fn fence_block(&self);

    /// `ld` of 32 bits that only this lane writes.
    unsafe fn private_load_32(&self, p: *const u32) -> u32;
    /// `ld` of 64 bits that only this lane writes.
    unsafe fn private_load_64(&self, p: *const u64) -> u64;
    /// `st` of 32 bits that only this lane reads.
    unsafe fn private_store_32(&self, p: *mut u32, v: u32);
    /// `st` of 64 bits that only this lane reads.
    unsafe fn private_store_64(&self, p: *mut u64, v: u64);

    /// Returns the number of 32-bit words of this block's dynamic shared memory.
    fn shared_words(&self) -> u32;
    /// `ld.relaxed.cta.shared` of word `i`, `i < shared_words()`.
    unsafe fn shared_load_32(&self, i: u32) -> u32;
    /// `ld.relaxed.cta.shared.v4` of the four words from `i` on, a multiple of 4: four loads in one
    /// instruction, each as [`Self::shared_load_32`] does it.
    unsafe fn shared_load_32x4(&self, i: u32) -> [u32; 4] {
        [0, 1, 2, 3].map(|k| unsafe { self.shared_load_32(i + k) })
    }
    /// `st.relaxed.cta.shared` of word `i`, `i < shared_words()`.
    unsafe fn shared_store_32(&self, i: u32, v: u32);
    /// `st.relaxed.cta.shared.v4` to the four words from `i` on, a multiple of 4: four stores in one
    /// instruction, each as [`Self::shared_store_32`] does it.
    unsafe fn shared_store_32x4(&self, i: u32, v: [u32; 4]) {
        for (i, v) in (i..).zip(v) {
            unsafe { self.shared_store_32(i, v) };
        }
    }
    /// `atom.relaxed.cta.shared.add` of word `i`; returns the word found.
    unsafe fn shared_fetch_add_32(&self, i: u32, v: u32) -> u32;
    /// `atom.relaxed.cta.shared.cas` of word `i`; returns the word found.
    unsafe fn shared_cas_32(&self, i: u32, expected: u32, new: u32) -> u32;
    /// `ld.relaxed.cta.shared` of the 64 bits at word `i`, which is even, and `i + 1 < shared_words()`. A
    /// word that is accessed with 64 bits is not accessed with 32 bits in the same launch.
    unsafe fn shared_load_64(&self, i: u32) -> u64;
    /// `st.relaxed.cta.shared` of the 64 bits at word `i`, under the same conditions.
    unsafe fn shared_store_64(&self, i: u32, v: u64);
    /// `bar.sync 0`: every thread of the block arrives before any continues, and everything that a thread
    /// wrote before is visible to all of them afterwards.
    unsafe fn barrier(&self);
    /// `bar.red.or.pred 0`: does a [`Self::barrier`] and returns to all whether `predicate` holds for any thread.
    unsafe fn barrier_any(&self, predicate: bool) -> bool;
    /// `bar.red.popc.u32 0`: does a [`Self::barrier`] and returns to every thread of the block for how many
    /// of them `predicate` holds. Threads that have ended are not waited for, nor counted.
    unsafe fn barrier_count(&self, predicate: bool) -> u32;
    /// `bar.sync id, threads`: arrives at named barrier `id`, 1 to 15 (0 is that of [`Self::barrier`]), and
    /// waits until `threads` threads have come, by this or by [`Self::barrier_named_arrive`]. Those that waited see what they wrote before.
    unsafe fn barrier_named_sync(&self, id: u32, threads: u32);
    /// `bar.arrive id, threads`: arrives as [`Self::barrier_named_sync`] does, and goes on at once.
    unsafe fn barrier_named_arrive(&self, id: u32, threads: u32);
    /// `mbarrier.init.shared::cta.b64`: makes the 64 bits at word `i` of shared memory (`i` as for
    /// [`Self::shared_load_64`]) a barrier of `count` arrivals, 1 to 2^20 - 1 (4,095 where the lane has no
    /// atomics of 128 bits), in phase 0. A [`Self::barrier`] stands between this and its first use. The words
    /// are used by no other operation in the same launch.
    unsafe fn mbarrier_init(&self, i: u32, count: u32);
    /// `mbarrier.arrive.shared::cta.b64`, with release: counts an arrival; the last of a phase begins the next.
    unsafe fn mbarrier_arrive(&self, i: u32);
    /// `mbarrier.try_wait.parity.shared::cta.b64`, with acquire: returns whether the phase with this parity,
    /// 0 for the first, has ended. It may return only some time later.
    unsafe fn mbarrier_try_wait(&self, i: u32, parity: u32) -> bool;
    /// `%cluster_nctarank`: the blocks of a cluster, which reach each other's shared memory; 1 without clusters.
    fn cluster_size(&self) -> u32 {
        1
    }
    /// `%cluster_ctarank`: returns the number of this block in its cluster.
    fn cluster_rank(&self) -> u32 {
        0
    }
    /// `ld.relaxed.cluster.shared::cluster`: [`Self::shared_load_64`] from the shared memory of block `rank`
    /// of the cluster, `rank < cluster_size()`, which has begun and not ended ([`Self::cluster_barrier`]).
    /// What several blocks access is accessed by this and [`Self::cluster_store_64`] only.
    unsafe fn cluster_load_64(&self, _rank: u32, i: u32) -> u64 {
        unsafe { self.shared_load_64(i) }
    }
    /// `st.relaxed.cluster.shared::cluster`, under the same conditions.
    unsafe fn cluster_store_64(&self, _rank: u32, i: u32, v: u64) {
        unsafe { self.shared_store_64(i, v) };
    }
    /// `barrier.cluster`: does for all threads of the cluster what [`Self::barrier`] does for those of a
    /// block, and with the same obligation for all of them.
    unsafe fn cluster_barrier(&self) {
        unsafe { self.barrier() };
    }

    /// `vote.sync.ballot`: the lanes of `mask` whose `predicate` holds.
    unsafe fn ballot(&self, mask: u32, predicate: bool) -> u32;
    /// `shfl.sync.idx` of 32 bits: the value that lane `source` passed.
    unsafe fn shuffle_32(&self, mask: u32, v: u32, source: u32) -> u32;
    /// `match.any.sync` of 32 bits: the lanes of `mask` that passed the same value.
    unsafe fn match_any_32(&self, mask: u32, v: u32) -> u32;
    /// `match.any.sync` of 64 bits: the lanes of `mask` that passed the same value.
    unsafe fn match_any_64(&self, mask: u32, v: u64) -> u32;
    /// `bar.warp.sync`: the lanes of `mask` wait for each other, and then see what each wrote before.
    unsafe fn sync_warp(&self, mask: u32);
    /// `activemask`: returns the mask of the lanes that happen to run together here, the same to each. Others
    /// may come later. Those that it names may take part in warp operations with it as the mask.
    fn active_mask(&self) -> u32;
    /// Says whether lanes of a warp can wait for each other by polling.
    fn lanes_can_wait(&self) -> bool {
        true
    }
    /// `%clock64`: returns a cycle counter of this multiprocessor (on the CPU, nanoseconds).
    fn clock(&self) -> u64;
    /// Yields for about `ns` nanoseconds inside a wait (`nanosleep`; on the CPU, yields the core).
    fn pause(&self, ns: u32);

    /// Loads a counter that only grows for an observer: the result is at least the newest value that this
    /// lane has read or knows of, and no attempt that it goes on with may be affected. A GPU and a CPU have
    /// nothing better than an acquire load, which orders the accesses that follow; a simulator answers from outside the model.
    unsafe fn observed_clock(&self, p: *const u64) -> u64 {
        unsafe { self.load_acquire_64(p) }
    }
    /// Returns the number of bits of a version in a cell of 32 bits of value. It is 31 on every machine that
    /// ships; the simulator has fewer, so that versions wrap around in every run.
    fn version_bits(&self) -> u32 {
        31
    }
    /// Returns a measure of time, without ordering anything: while it grows by at most [`Self::ticks_limit`],
    /// at most 2^([`Self::version_bits`] - 2) ticks are drawn from the word at `ticks`. Differences of results are modulo 2^32.
    ///
    /// # Safety
    /// `ticks` is live.
    unsafe fn ticks_bound(&self, ticks: *const u64) -> u32;
    /// Returns the measure for a value loaded from that word after `before` was measured. A machine whose
    /// loads may be far behind, as those of the simulator, measures from the value.
    fn ticks_loaded(&self, before: u32, _loaded: u64) -> u32 {
        before
    }
    /// Returns by how much [`Self::ticks_bound`] may grow.
    fn ticks_limit(&self) -> u32;

    /// Waits now and then, on a machine that is to make seeded defects show sooner. It is called where fences
    /// are, whether one is left out or not; on a machine that ships it is nothing.
    fn delay_at_fence(&self) {}
    /// Returns whether a seeded defect is switched on, which it never is on a machine that ships.
    fn mutant(&self, _mutant: Mutant) -> bool {
        false
    }
}

/// An observer of the code that a lane runs.
#[stm_core_macros::inlined]
pub trait Probe: Copy {
    /// Says whether it may want records. Code that exists only for them depends on this constant.
    const RECORDS: bool;
    /// Says whether it may want marks. If not, a mark compiles to no code at all.
    const TIMES: bool;
    /// The position of a lane in its part of the buffer while the lane runs.
    type Cursor: Copy;
    /// Returns whether it wants records.
    fn records(self) -> bool {
        Self::RECORDS
    }
    /// Returns whether it wants marks.
    fn times(self) -> bool {
        Self::TIMES
    }
    /// Opens the calling lane's part of the buffer.
    ///
    /// # Safety
    /// `place` is live and holds a buffer that has a part for each lane, zero before the first launch that
    /// uses it; nobody else uses the calling lane's part while the kernel runs.
    unsafe fn open<L: Lane>(self, lane: &L, place: *const ProbeBuffer) -> Self::Cursor;
    /// Observes an event, given the record that describes it.
    fn record<L: Lane>(self, _lane: &L, _cursor: &mut Self::Cursor, _record: LogRecord) {}
    /// Marks the end of a phase: the lane's time since the last mark, or since
    /// `open`, belongs to `phase`, which is below [`PHASES`](crate::observe::profiler::PHASES).
    fn spent<L: Lane>(self, _lane: &L, _cursor: &mut Self::Cursor, _phase: usize) {}
    /// Settles the time marked since the last call. All of it counts as that of the phase
    /// `instead`, if there is one; else the phases keep it.
    fn settle(self, _cursor: &mut Self::Cursor, _instead: Option<usize>) {}
    /// Stores the cursor where the next `open` finds it.
    fn close<L: Lane>(self, _lane: &L, _cursor: Self::Cursor) {}
}
