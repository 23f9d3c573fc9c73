//! The GPU's [`Lane`]: each method is one PTX instruction, written out.
//!
//! Inline PTX is used for every memory operation, because `core`'s atomics are always `.sys`-scoped and
//! LLVM 22 drops the order of every read-modify-write except compare-and-swap. Warp operations go through
//! LLVM's intrinsics instead, because those are marked convergent and `asm!` is not: the compiler may move
//! or duplicate an `asm!` block into divergent code.
//!
//! `asm!` without options clobbers memory, so no access moves across another.

use super::{Lane, Probe, Silent, mbarrier};
use crate::observe::mutant::{DELAYED, Mutant};
use core::arch::{asm, global_asm, nvptx};
use core::marker::PhantomData;

// The launch's dynamic shared memory. Its size is a launch parameter.
global_asm!(".extern .shared .align 16 .b8 stm_shared[];");

unsafe extern "C" {
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx(mask: u32, v: u32, source: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_sync_32(mask: u32, v: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_sync_64(mask: u32, v: u64) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn barrier_red_or(barrier: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    fn barrier_red_popc(barrier: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
    fn barrier_sync_count(barrier: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier.cta.arrive.aligned.count"]
    fn barrier_arrive_count(barrier: u32, threads: u32);
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.activemask"]
    fn activemask() -> u32;
}

/// The thread that executes this code. It is a zero-sized token, as everything about the thread is
/// in special registers. `P` observes its code, `MUTANT` is the seeded defect that it runs with
/// (what ships has none), with [`DELAYED`](crate::observe::mutant::DELAYED) if it waits at fences,
/// and `WIDE` says whether the GPU has atomics of 128 bits. `sm_90` is the first with these, so an
/// entry point that uses them goes into a module for `sm_90`.
#[derive(Clone, Copy)]
pub struct GpuLane<P = Silent, const MUTANT: u32 = { u32::MAX }, const WIDE: bool = false>(
    PhantomData<P>,
);

impl<P: Probe, const MUTANT: u32, const WIDE: bool> GpuLane<P, MUTANT, WIDE> {
    /// Returns the calling thread's lane.
    ///
    /// # Safety
    /// It must be called from a kernel launched with a one-dimensional grid and blocks.
    #[inline(always)]
    pub unsafe fn current() -> Self {
        Self(PhantomData)
    }
}

/// Returns the `.global` address of a generic pointer (no instruction on any GPU).
#[inline(always)]
fn global<T>(p: *const T) -> u64 {
    let address: u64;
    // SAFETY: converts an address; reads no memory.
    unsafe {
        asm!("cvta.to.global.u64 {a}, {p};", a = out(reg64) address, p = in(reg64) p,
            options(pure, nomem, nostack));
    }
    address
}

/// Returns the `.shared` address of 32-bit word `i` of the dynamic shared memory.
#[inline(always)]
fn shared(i: u32) -> u32 {
    let base: u32;
    // SAFETY: takes an address; reads no memory.
    unsafe {
        asm!("mov.u32 {a}, stm_shared;", a = out(reg32) base, options(pure, nomem, nostack));
    }
    base + i * 4
}

#[stm_core_macros::inlined]
impl<P: Probe + Default, const MUTANT: u32, const WIDE: bool> Lane for GpuLane<P, MUTANT, WIDE> {
    type Probe = P;

    fn probe(&self) -> P {
        P::default()
    }

    // SAFETY (the eleven blocks below): special registers and warp intrinsics
    // touch no memory; the trait asks that all lanes of a mask call together.
    fn thread_index(&self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { nvptx::_thread_idx_x() as u32 }
    }
    fn block_index(&self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { nvptx::_block_idx_x() as u32 }
    }
    fn block_dim(&self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { nvptx::_block_dim_x() as u32 }
    }
    fn grid_dim(&self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { nvptx::_grid_dim_x() as u32 }
    }
    fn warp_width(&self) -> u32 {
        32
    }

    load!(load_relaxed_32, u32, reg32, "ld.relaxed.gpu.global.b32");
    load!(load_relaxed_64, u64, reg64, "ld.relaxed.gpu.global.b64");
    load!(load_constant_32, u32, reg32, "ld.global.nc.b32");
    load!(load_acquire_32, u32, reg32, "ld.acquire.gpu.global.b32");
    load!(load_acquire_64, u64, reg64, "ld.acquire.gpu.global.b64");
    load_two!(load_acquire_and_next_64, "ld.acquire.gpu.global.v2.b64");
    store!(store_relaxed_32, u32, reg32, "st.relaxed.gpu.global.b32");
    store!(store_relaxed_64, u64, reg64, "st.relaxed.gpu.global.b64");
    store!(store_release_32, u32, reg32, "st.release.gpu.global.b32");
    store!(store_release_64, u64, reg64, "st.release.gpu.global.b64");
    cas!(cas_acquire_32, u32, reg32, "acquire", "cas.b32");
    cas!(cas_acquire_64, u64, reg64, "acquire", "cas.b64");
    cas!(cas_relaxed_32, u32, reg32, "relaxed", "cas.b32");
    cas!(cas_relaxed_64, u64, reg64, "relaxed", "cas.b64");
    exchange!(exchange_acquire_32, u32, reg32, "acquire", "exch.b32");
    exchange!(fetch_add_relaxed_32, u32, reg32, "relaxed", "add.u32");
    exchange!(fetch_add_relaxed_64, u64, reg64, "relaxed", "add.u64");
    exchange!(fetch_or_relaxed_64, u64, reg64, "relaxed", "or.b64");
    exchange!(fetch_and_relaxed_64, u64, reg64, "relaxed", "and.b64");
    store!(add_relaxed_64, u64, reg64, "red.relaxed.gpu.global.add.u64");
    unsafe fn add_relaxed_f32(&self, p: *mut u32, v: f32) {
        // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
        unsafe {
            asm!("red.relaxed.gpu.global.add.f32 [{p}], {v};", v = in(reg32) v, p = in(reg64) global(p), options(nostack));
        }
    }
    unsafe fn load_relaxed_64_if(&self, on: bool, p: *const u64, otherwise: u64) -> u64 {
        let v: u64;
        // SAFETY: the caller gives a valid address if `on` (trait, obligations 1
        // and 2).
        unsafe {
            asm!("{{ .reg .pred on; setp.ne.u32 on, {on}, 0; mov.u64 {v}, {o};",
                "@on ld.relaxed.gpu.global.b64 {v}, [{p}]; }}",
                on = in(reg32) u32::from(on), v = out(reg64) v, o = in(reg64) otherwise,
                p = in(reg64) global(p), options(nostack));
        }
        v
    }
    unsafe fn store_relaxed_64_if(&self, on: bool, p: *mut u64, v: u64) {
        // SAFETY: as above.
        unsafe {
            asm!("{{ .reg .pred on; setp.ne.u32 on, {on}, 0;",
                "@on st.relaxed.gpu.global.b64 [{p}], {v}; }}",
                on = in(reg32) u32::from(on), v = in(reg64) v, p = in(reg64) global(p),
                options(nostack));
        }
    }
    // A predicate would not do here, as ptxas makes it a branch and waits for
    // the result at the end of it. Neither would a selection in Rust, as LLVM
    // makes it a branch with the operation on both sides.
    unsafe fn cas_relaxed_64_if(
        &self,
        on: bool,
        p: *mut u64,
        idle: *mut u64,
        expected: u64,
        new: u64,
    ) -> u64 {
        let old: u64;
        // SAFETY: the caller gives two valid addresses, the first if `on`.
        unsafe {
            asm!("{{ .reg .pred on; .reg .b64 at; setp.ne.u32 on, {on}, 0;",
                "selp.b64 at, {p}, {idle}, on;",
                "atom.relaxed.gpu.global.cas.b64 {old}, [at], {e}, {n}; }}",
                on = in(reg32) u32::from(on), old = out(reg64) old, p = in(reg64) global(p),
                idle = in(reg64) global(idle), e = in(reg64) expected, n = in(reg64) new,
                options(nostack));
        }
        old
    }
    unsafe fn fetch_or_relaxed_64_if(&self, on: bool, p: *mut u64, idle: *mut u64, v: u64) -> u64 {
        let old: u64;
        // SAFETY: as above.
        unsafe {
            asm!("{{ .reg .pred on; .reg .b64 at; setp.ne.u32 on, {on}, 0;",
                "selp.b64 at, {p}, {idle}, on;",
                "atom.relaxed.gpu.global.or.b64 {old}, [at], {v}; }}",
                on = in(reg32) u32::from(on), old = out(reg64) old, p = in(reg64) global(p),
                idle = in(reg64) global(idle), v = in(reg64) v, options(nostack));
        }
        old
    }

    fn has_wide_atomics(&self) -> bool {
        WIDE
    }
    // Inline assembly cannot name registers of 128 bits, so each block makes
    // its own `.b128` of two halves, or takes it apart.
    unsafe fn load_relaxed_128(&self, p: *const u64) -> [u64; 2] {
        let (low, high): (u64, u64);
        // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
        unsafe {
            asm!("{{ .reg .b128 v; ld.relaxed.gpu.global.b128 v, [{p}];",
                "mov.b128 {{{low}, {high}}}, v; }}",
                low = out(reg64) low, high = out(reg64) high, p = in(reg64) global(p),
                options(nostack));
        }
        [low, high]
    }
    unsafe fn store_relaxed_128(&self, p: *mut u64, v: [u64; 2]) {
        // SAFETY: as above.
        unsafe {
            asm!("{{ .reg .b128 v; mov.b128 v, {{{low}, {high}}};",
                "st.relaxed.gpu.global.b128 [{p}], v; }}",
                low = in(reg64) v[0], high = in(reg64) v[1], p = in(reg64) global(p),
                options(nostack));
        }
    }
    unsafe fn cas_relaxed_128(&self, p: *mut u64, expected: [u64; 2], new: [u64; 2]) -> [u64; 2] {
        let (low, high): (u64, u64);
        // SAFETY: as above.
        unsafe {
            asm!("{{ .reg .b128 old, e, n; mov.b128 e, {{{e0}, {e1}}}; mov.b128 n, {{{n0}, {n1}}};",
                "atom.relaxed.gpu.global.cas.b128 old, [{p}], e, n;",
                "mov.b128 {{{low}, {high}}}, old; }}",
                low = out(reg64) low, high = out(reg64) high, p = in(reg64) global(p),
                e0 = in(reg64) expected[0], e1 = in(reg64) expected[1],
                n0 = in(reg64) new[0], n1 = in(reg64) new[1], options(nostack));
        }
        [low, high]
    }
    unsafe fn load_relaxed_128_if(&self, on: bool, p: *const u64) -> [u64; 2] {
        let (low, high): (u64, u64);
        // SAFETY: the caller gives a valid address if `on`.
        unsafe {
            asm!("{{ .reg .pred on; .reg .b128 v; setp.ne.u32 on, {on}, 0;",
                "mov.u64 {low}, 0; mov.u64 {high}, 0;",
                "@on ld.relaxed.gpu.global.b128 v, [{p}];",
                "@on mov.b128 {{{low}, {high}}}, v; }}",
                on = in(reg32) u32::from(on), low = out(reg64) low, high = out(reg64) high,
                p = in(reg64) global(p), options(nostack));
        }
        [low, high]
    }
    unsafe fn store_relaxed_128_if(&self, on: bool, p: *mut u64, v: [u64; 2]) {
        // SAFETY: as above.
        unsafe {
            asm!("{{ .reg .pred on; .reg .b128 v; setp.ne.u32 on, {on}, 0;",
                "mov.b128 v, {{{low}, {high}}};",
                "@on st.relaxed.gpu.global.b128 [{p}], v; }}",
                on = in(reg32) u32::from(on), low = in(reg64) v[0], high = in(reg64) v[1],
                p = in(reg64) global(p), options(nostack));
        }
    }
    // This works as `cas_relaxed_64_if` does.
    unsafe fn cas_relaxed_128_if(
        &self,
        on: bool,
        p: *mut u64,
        idle: *mut u64,
        expected: [u64; 2],
        new: [u64; 2],
    ) -> [u64; 2] {
        let (low, high): (u64, u64);
        // SAFETY: the caller gives two valid addresses, the first if `on`.
        unsafe {
            asm!("{{ .reg .pred on; .reg .b64 at; .reg .b128 old, e, n; setp.ne.u32 on, {on}, 0;",
                "selp.b64 at, {p}, {idle}, on;",
                "mov.b128 e, {{{e0}, {e1}}}; mov.b128 n, {{{n0}, {n1}}};",
                "atom.relaxed.gpu.global.cas.b128 old, [at], e, n;",
                "mov.b128 {{{low}, {high}}}, old; }}",
                on = in(reg32) u32::from(on), low = out(reg64) low, high = out(reg64) high,
                p = in(reg64) global(p), idle = in(reg64) global(idle),
                e0 = in(reg64) expected[0], e1 = in(reg64) expected[1],
                n0 = in(reg64) new[0], n1 = in(reg64) new[1], options(nostack));
        }
        [low, high]
    }

    fn fence(&self) {
        // SAFETY: a fence has no operands.
        unsafe { asm!("fence.acq_rel.gpu;", options(nostack)) }
    }
    fn fence_block(&self) {
        // SAFETY: as above.
        unsafe { asm!("fence.acq_rel.cta;", options(nostack)) }
    }

    load!(private_load_32, u32, reg32, "ld.global.b32");
    load!(private_load_64, u64, reg64, "ld.global.b64");
    store!(private_store_32, u32, reg32, "st.global.b32");
    store!(private_store_64, u64, reg64, "st.global.b64");
    load!(load_weak_64, u64, reg64, "ld.global.b64");
    store!(store_weak_64, u64, reg64, "st.global.b64");

    fn shared_words(&self) -> u32 {
        let bytes: u32;
        // SAFETY: reads a special register.
        unsafe {
            asm!("mov.u32 {b}, %dynamic_smem_size;", b = out(reg32) bytes, options(pure, nomem, nostack))
        }
        bytes / 4
    }
    shared_load!(shared_load_32, u32, reg32, "ld.relaxed.cta.shared.b32");
    shared_store!(shared_store_32, u32, reg32, "st.relaxed.cta.shared.b32");
    shared_load!(shared_load_64, u64, reg64, "ld.relaxed.cta.shared.b64");
    shared_store!(shared_store_64, u64, reg64, "st.relaxed.cta.shared.b64");
    shared_fours!();
    unsafe fn shared_fetch_add_32(&self, i: u32, v: u32) -> u32 {
        let old: u32;
        // SAFETY: the caller keeps i below shared_words().
        unsafe {
            asm!("atom.relaxed.cta.shared.add.u32 {o}, [{p}], {v};", o = out(reg32) old,
                p = in(reg32) shared(i), v = in(reg32) v, options(nostack));
        }
        old
    }
    unsafe fn shared_cas_32(&self, i: u32, expected: u32, new: u32) -> u32 {
        let old: u32;
        // SAFETY: the caller keeps i below shared_words().
        unsafe {
            asm!("atom.relaxed.cta.shared.cas.b32 {o}, [{p}], {e}, {n};", o = out(reg32) old,
                p = in(reg32) shared(i), e = in(reg32) expected, n = in(reg32) new, options(nostack));
        }
        old
    }
    unsafe fn barrier(&self) {
        // SAFETY: the trait asks that every thread of the block calls it.
        unsafe { nvptx::_syncthreads() }
    }
    unsafe fn barrier_any(&self, predicate: bool) -> bool {
        // SAFETY: the trait asks that every thread of the block calls it.
        unsafe { barrier_red_or(0, predicate) }
    }
    unsafe fn barrier_count(&self, predicate: bool) -> u32 {
        // SAFETY: the trait asks that every thread of the block calls it.
        unsafe { barrier_red_popc(0, predicate) }
    }
    unsafe fn barrier_named_sync(&self, id: u32, threads: u32) {
        // SAFETY: the trait asks that all lanes of the warp call it.
        unsafe { barrier_sync_count(id, threads) }
    }
    unsafe fn barrier_named_arrive(&self, id: u32, threads: u32) {
        // SAFETY: the trait asks that all lanes of the warp call it.
        unsafe { barrier_arrive_count(id, threads) }
    }
    mbarrier_methods!();
    cluster_methods!();

    unsafe fn ballot(&self, mask: u32, predicate: bool) -> u32 {
        // SAFETY: all lanes of the mask call together (trait).
        unsafe { vote_ballot_sync(mask, predicate) }
    }
    unsafe fn shuffle_32(&self, mask: u32, v: u32, source: u32) -> u32 {
        // SAFETY: all lanes of the mask call together (trait).
        unsafe { shfl_sync_idx(mask, v, source, 31) }
    }
    unsafe fn match_any_32(&self, mask: u32, v: u32) -> u32 {
        // SAFETY: all lanes of the mask call together (trait).
        unsafe { match_any_sync_32(mask, v) }
    }
    unsafe fn match_any_64(&self, mask: u32, v: u64) -> u32 {
        // SAFETY: all lanes of the mask call together (trait).
        unsafe { match_any_sync_64(mask, v) }
    }
    unsafe fn sync_warp(&self, mask: u32) {
        // SAFETY: all lanes of the mask call together (trait).
        unsafe { bar_warp_sync(mask) }
    }
    fn active_mask(&self) -> u32 {
        // SAFETY: reads which lanes run.
        unsafe { activemask() }
    }

    fn clock(&self) -> u64 {
        let t: u64;
        // SAFETY: reads a special register.
        unsafe { asm!("mov.u64 {t}, %clock64;", t = out(reg64) t, options(nostack)) }
        t
    }
    /// Counts in units of 2^16 cycles, which is at least 32 us.
    unsafe fn ticks_bound(&self, _ticks: *const u64) -> u32 {
        (self.clock() >> 16) as u32
    }
    /// Allows 2^23 cycles, which is 4 ms at 2 GHz. The hardware adds at most 42 G times a second to
    /// one word, even if the lanes of a warp add together, which is 2^28 times in that time.
    fn ticks_limit(&self) -> u32 {
        1 << 7
    }
    fn pause(&self, ns: u32) {
        // SAFETY: only sleeps.
        unsafe { asm!("nanosleep.u32 {ns};", ns = in(reg32) ns, options(nostack)) }
    }

    fn mutant(&self, mutant: Mutant) -> bool {
        mutant as u32 == MUTANT & !DELAYED
    }
    fn delay_at_fence(&self) {
        if MUTANT != u32::MAX && MUTANT & DELAYED != 0 {
            // One warp in four, for up to a microsecond: the others go on.
            let now = self.clock() as u32;
            if now >> 4 & 3 == 0 {
                self.pause(now & 0x3FF);
            }
        }
    }
}
