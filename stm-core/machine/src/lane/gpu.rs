//! The GPU's [`Lane`]: each method is one PTX instruction, written out.
//!
//! Inline PTX is used for memory operations, because `core`'s atomics are always `.sys`-scoped and LLVM 22
//! drops the order of every read-modify-write except compare-and-swap. Warp operations are LLVM's intrinsics,
//! which are marked convergent, while `asm!` may be moved or duplicated into divergent code. `asm!` without
//! options clobbers memory, so no access moves across another.

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

/// The thread that executes this code: a zero-sized token. `P` observes its code, `MUTANT` is its seeded
/// defect (what ships has none), with [`DELAYED`](crate::observe::mutant::DELAYED) if it waits at fences, and
/// `WIDE` says whether the GPU has atomics of 128 bits, as from `sm_90` on.
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

    registers! {
        thread_index = nvptx::_thread_idx_x();
        block_index = nvptx::_block_idx_x();
        block_dim = nvptx::_block_dim_x();
        grid_dim = nvptx::_grid_dim_x();
        active_mask = activemask();
    }
    fn warp_width(&self) -> u32 {
        32
    }

    access!(load load_relaxed_32, u32, reg32, "ld.relaxed.gpu.global.b32");
    access!(load load_relaxed_64, u64, reg64, "ld.relaxed.gpu.global.b64");
    access!(load load_constant_32, u32, reg32, "ld.global.nc.b32");
    access!(load load_acquire_32, u32, reg32, "ld.acquire.gpu.global.b32");
    access!(load load_acquire_64, u64, reg64, "ld.acquire.gpu.global.b64");
    access!(load private_load_32, u32, reg32, "ld.global.b32");
    access!(load private_load_64, u64, reg64, "ld.global.b64");
    access!(load load_weak_64, u64, reg64, "ld.global.b64");
    access!(store store_relaxed_32, u32, reg32, "st.relaxed.gpu.global.b32");
    access!(store store_relaxed_64, u64, reg64, "st.relaxed.gpu.global.b64");
    access!(store store_release_32, u32, reg32, "st.release.gpu.global.b32");
    access!(store store_release_64, u64, reg64, "st.release.gpu.global.b64");
    access!(store private_store_32, u32, reg32, "st.global.b32");
    access!(store private_store_64, u64, reg64, "st.global.b64");
    access!(store store_weak_64, u64, reg64, "st.global.b64");
    access!(store add_relaxed_64, u64, reg64, "red.relaxed.gpu.global.add.u64");
    access!(cas cas_acquire_32, u32, reg32, "acquire", "cas.b32");
    access!(cas cas_acquire_64, u64, reg64, "acquire", "cas.b64");
    access!(cas cas_relaxed_32, u32, reg32, "relaxed", "cas.b32");
    access!(cas cas_relaxed_64, u64, reg64, "relaxed", "cas.b64");
    access!(exchange exchange_acquire_32, u32, reg32, "acquire", "exch.b32");
    access!(exchange fetch_add_relaxed_32, u32, reg32, "relaxed", "add.u32");
    access!(exchange fetch_add_relaxed_64, u64, reg64, "relaxed", "add.u64");
    access!(exchange fetch_or_relaxed_64, u64, reg64, "relaxed", "or.b64");
    access!(exchange fetch_and_relaxed_64, u64, reg64, "relaxed", "and.b64");
    access!(shared_load shared_load_32, u32, reg32, "ld.relaxed.cta.shared.b32");
    access!(shared_load shared_load_64, u64, reg64, "ld.relaxed.cta.shared.b64");
    access!(shared_store shared_store_32, u32, reg32, "st.relaxed.cta.shared.b32");
    access!(shared_store shared_store_64, u64, reg64, "st.relaxed.cta.shared.b64");

    // Of accesses under a condition, those with a result of an atomic cannot have a predicate, which ptxas
    // makes a branch that waits for the result, nor a selection in Rust, as LLVM makes it a branch with the
    // operation on both sides.
    //
    // Inline assembly cannot name registers of 128 bits, so each text makes its own `.b128` of two halves, or
    // takes it apart. A vector is a load of each of its words (PTX ISA, "Vector Data-types").
    ptx! {
        fn load_acquire_and_next_64(&self, p: *const u64) -> [u64; 2] = [first, next];
            first: u64 in reg64, next: u64 in reg64 {
            "ld.acquire.gpu.global.v2.b64 {{{first}, {next}}}, [{p}];"; p: reg64 = global(p)
        }
        fn add_relaxed_f32(&self, p: *mut u32, v: f32) {
            "red.relaxed.gpu.global.add.f32 [{p}], {v};"; v: reg32 = v, p: reg64 = global(p)
        }
        fn load_relaxed_64_if(&self, on: bool, p: *const u64, otherwise: u64) -> u64 = v;
            v: u64 in reg64 {
            "{{ .reg .pred on; setp.ne.u32 on, {on}, 0; mov.u64 {v}, {o};",
            "@on ld.relaxed.gpu.global.b64 {v}, [{p}]; }}";
            on: reg32 = u32::from(on), o: reg64 = otherwise, p: reg64 = global(p)
        }
        fn store_relaxed_64_if(&self, on: bool, p: *mut u64, v: u64) {
            "{{ .reg .pred on; setp.ne.u32 on, {on}, 0;",
            "@on st.relaxed.gpu.global.b64 [{p}], {v}; }}";
            on: reg32 = u32::from(on), v: reg64 = v, p: reg64 = global(p)
        }
        fn cas_relaxed_64_if(
            &self, on: bool, p: *mut u64, idle: *mut u64, expected: u64, new: u64
        ) -> u64 = old; old: u64 in reg64 {
            "{{ .reg .pred on; .reg .b64 at; setp.ne.u32 on, {on}, 0;",
            "selp.b64 at, {p}, {idle}, on;",
            "atom.relaxed.gpu.global.cas.b64 {old}, [at], {e}, {n}; }}";
            on: reg32 = u32::from(on), p: reg64 = global(p), idle: reg64 = global(idle),
            e: reg64 = expected, n: reg64 = new
        }
        fn fetch_or_relaxed_64_if(&self, on: bool, p: *mut u64, idle: *mut u64, v: u64) -> u64 = old;
            old: u64 in reg64 {
            "{{ .reg .pred on; .reg .b64 at; setp.ne.u32 on, {on}, 0;",
            "selp.b64 at, {p}, {idle}, on;",
            "atom.relaxed.gpu.global.or.b64 {old}, [at], {v}; }}";
            on: reg32 = u32::from(on), p: reg64 = global(p), idle: reg64 = global(idle),
            v: reg64 = v
        }

        fn load_relaxed_128(&self, p: *const u64) -> [u64; 2] = [low, high];
            low: u64 in reg64, high: u64 in reg64 {
            "{{ .reg .b128 v; ld.relaxed.gpu.global.b128 v, [{p}];",
            "mov.b128 {{{low}, {high}}}, v; }}"; p: reg64 = global(p)
        }
        fn store_relaxed_128(&self, p: *mut u64, v: [u64; 2]) {
            "{{ .reg .b128 v; mov.b128 v, {{{low}, {high}}};",
            "st.relaxed.gpu.global.b128 [{p}], v; }}";
            low: reg64 = v[0], high: reg64 = v[1], p: reg64 = global(p)
        }
        fn cas_relaxed_128(&self, p: *mut u64, expected: [u64; 2], new: [u64; 2])
            -> [u64; 2] = [low, high]; low: u64 in reg64, high: u64 in reg64 {
            "{{ .reg .b128 old, e, n; mov.b128 e, {{{e0}, {e1}}}; mov.b128 n, {{{n0}, {n1}}};",
            "atom.relaxed.gpu.global.cas.b128 old, [{p}], e, n;",
            "mov.b128 {{{low}, {high}}}, old; }}";
            p: reg64 = global(p), e0: reg64 = expected[0], e1: reg64 = expected[1],
            n0: reg64 = new[0], n1: reg64 = new[1]
        }
        fn load_relaxed_128_if(&self, on: bool, p: *const u64) -> [u64; 2] = [low, high];
            low: u64 in reg64, high: u64 in reg64 {
            "{{ .reg .pred on; .reg .b128 v; setp.ne.u32 on, {on}, 0;",
            "mov.u64 {low}, 0; mov.u64 {high}, 0;",
            "@on ld.relaxed.gpu.global.b128 v, [{p}];",
            "@on mov.b128 {{{low}, {high}}}, v; }}";
            on: reg32 = u32::from(on), p: reg64 = global(p)
        }
        fn store_relaxed_128_if(&self, on: bool, p: *mut u64, v: [u64; 2]) {
            "{{ .reg .pred on; .reg .b128 v; setp.ne.u32 on, {on}, 0;",
            "mov.b128 v, {{{low}, {high}}};",
            "@on st.relaxed.gpu.global.b128 [{p}], v; }}";
            on: reg32 = u32::from(on), low: reg64 = v[0], high: reg64 = v[1], p: reg64 = global(p)
        }
        fn cas_relaxed_128_if(
            &self, on: bool, p: *mut u64, idle: *mut u64, expected: [u64; 2], new: [u64; 2]
        ) -> [u64; 2] = [low, high]; low: u64 in reg64, high: u64 in reg64 {
            "{{ .reg .pred on; .reg .b64 at; .reg .b128 old, e, n; setp.ne.u32 on, {on}, 0;",
            "selp.b64 at, {p}, {idle}, on;",
            "mov.b128 e, {{{e0}, {e1}}}; mov.b128 n, {{{n0}, {n1}}};",
            "atom.relaxed.gpu.global.cas.b128 old, [at], e, n;",
            "mov.b128 {{{low}, {high}}}, old; }}";
            on: reg32 = u32::from(on), p: reg64 = global(p), idle: reg64 = global(idle),
            e0: reg64 = expected[0], e1: reg64 = expected[1], n0: reg64 = new[0], n1: reg64 = new[1]
        }

        fn shared_load_32x4(&self, i: u32) -> [u32; 4] = [a, b, c, d];
            a: u32 in reg32, b: u32 in reg32, c: u32 in reg32, d: u32 in reg32 {
            "ld.relaxed.cta.shared.v4.b32 {{{a}, {b}, {c}, {d}}}, [{p}];"; p: reg32 = shared(i)
        }
        fn shared_store_32x4(&self, i: u32, v: [u32; 4]) {
            "st.relaxed.cta.shared.v4.b32 [{p}], {{{a}, {b}, {c}, {d}}};";
            a: reg32 = v[0], b: reg32 = v[1], c: reg32 = v[2], d: reg32 = v[3], p: reg32 = shared(i)
        }
        fn shared_fetch_add_32(&self, i: u32, v: u32) -> u32 = old; old: u32 in reg32 {
            "atom.relaxed.cta.shared.add.u32 {old}, [{p}], {v};"; p: reg32 = shared(i), v: reg32 = v
        }
        fn shared_cas_32(&self, i: u32, expected: u32, new: u32) -> u32 = old; old: u32 in reg32 {
            "atom.relaxed.cta.shared.cas.b32 {old}, [{p}], {e}, {n};";
            p: reg32 = shared(i), e: reg32 = expected, n: reg32 = new
        }
    }

    // Barriers that count arrivals. The instruction that waits came with the GPU that has atomics
    // of 128 bits. These concern one thread each and are not convergent.
    ptx! {
        fn mbarrier_init(&self, i: u32, count: u32) {
            "mbarrier.init.shared.b64 [{p}], {n};"; p: reg32 = shared(i), n: reg32 = count
        } else mbarrier::init(self, i, count);
        // ORDER(H1): release at the scope of the block, by default; pairs with H2.
        fn mbarrier_arrive(&self, i: u32) {
            "{{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [{p}]; }}"; p: reg32 = shared(i)
        } else mbarrier::arrive(self, i);
        // ORDER(H2): acquire at the scope of the block, by default; pairs with H1.
        fn mbarrier_try_wait(&self, i: u32, parity: u32) -> bool = ended != 0; ended: u32 in reg32 {
            "{{ .reg .pred ended; mbarrier.try_wait.parity.shared.b64 ended, [{p}], {parity};",
            "selp.u32 {ended}, 1, 0, ended; }}"; p: reg32 = shared(i), parity: reg32 = parity
        } else mbarrier::try_wait(self, i, parity);
    }

    // Clusters: without them a block is alone. The barrier is the one that threads may reach apart,
    // as inline assembly is not convergent.
    fn cluster_size(&self) -> u32 {
        if !WIDE {
            return 1;
        }
        special_register!("%cluster_nctarank")
    }
    fn cluster_rank(&self) -> u32 {
        if !WIDE {
            return 0;
        }
        special_register!("%cluster_ctarank")
    }
    ptx! {
        fn cluster_load_64(&self, rank: u32, i: u32) -> u64 = v; v: u64 in reg64 {
            "{{ .reg .b32 at; mapa.shared::cluster.u32 at, {p}, {rank};",
            "ld.relaxed.cluster.shared::cluster.b64 {v}, [at]; }}";
            p: reg32 = shared(i), rank: reg32 = rank
        } else self.shared_load_64(i);
        fn cluster_store_64(&self, rank: u32, i: u32, v: u64) {
            "{{ .reg .b32 at; mapa.shared::cluster.u32 at, {p}, {rank};",
            "st.relaxed.cluster.shared::cluster.b64 [at], {v}; }}";
            v: reg64 = v, p: reg32 = shared(i), rank: reg32 = rank
        } else self.shared_store_64(i, v);
        fn cluster_barrier(&self) {
            "barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;"
        } else self.barrier();
    }

    intrinsics! {
        fn barrier() = nvptx::_syncthreads();
        fn barrier_any(predicate: bool) -> bool = barrier_red_or(0, predicate);
        fn barrier_count(predicate: bool) -> u32 = barrier_red_popc(0, predicate);
        fn barrier_named_sync(id: u32, threads: u32) = barrier_sync_count(id, threads);
        fn barrier_named_arrive(id: u32, threads: u32) = barrier_arrive_count(id, threads);
        fn ballot(mask: u32, predicate: bool) -> u32 = vote_ballot_sync(mask, predicate);
        fn shuffle_32(mask: u32, v: u32, source: u32) -> u32 = shfl_sync_idx(mask, v, source, 31);
        fn match_any_32(mask: u32, v: u32) -> u32 = match_any_sync_32(mask, v);
        fn match_any_64(mask: u32, v: u64) -> u32 = match_any_sync_64(mask, v);
        fn sync_warp(mask: u32) = bar_warp_sync(mask);
    }

    fn has_wide_atomics(&self) -> bool {
        WIDE
    }
    fn shared_words(&self) -> u32 {
        special_register!("%dynamic_smem_size") / 4
    }
    fn fence(&self) {
        // SAFETY: a fence has no operands.
        unsafe { asm!("fence.acq_rel.gpu;", options(nostack)) }
    }
    fn fence_block(&self) {
        // SAFETY: as above.
        unsafe { asm!("fence.acq_rel.cta;", options(nostack)) }
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
