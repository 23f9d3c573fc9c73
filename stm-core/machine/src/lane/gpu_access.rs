//! Macros that write out those methods of a GPU's lane that differ only in width and instruction,
//! and those that only newer GPUs have: of barriers that count arrivals, and of clusters.

macro_rules! load {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *const $ty) -> $ty {
            let v: $ty;
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " {v}, [{p}];"), v = out($reg) v, p = in(reg64) global(p), options(nostack));
            }
            v
        }
    };
}

// A vector is a load of each of its words (PTX ISA, "Vector Data-types").
macro_rules! load_two {
    ($name:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *const u64) -> [u64; 2] {
            let (first, next): (u64, u64);
            // SAFETY: the caller gives valid addresses (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " {{{first}, {next}}}, [{p}];"), first = out(reg64) first,
                    next = out(reg64) next, p = in(reg64) global(p), options(nostack));
            }
            [first, next]
        }
    };
}

macro_rules! store {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *mut $ty, v: $ty) {
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!($op, " [{p}], {v};"), v = in($reg) v, p = in(reg64) global(p), options(nostack));
            }
        }
    };
}

macro_rules! exchange {
    ($name:ident, $ty:ty, $reg:ident, $order:literal, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *mut $ty, v: $ty) -> $ty {
            let old: $ty;
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!("atom.", $order, ".gpu.global.", $op, " {old}, [{p}], {v};"),
                    old = out($reg) old, p = in(reg64) global(p), v = in($reg) v, options(nostack));
            }
            old
        }
    };
}

macro_rules! cas {
    ($name:ident, $ty:ty, $reg:ident, $order:literal, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            let old: $ty;
            // SAFETY: the caller gives a valid address (trait, obligations 1 and 2).
            unsafe {
                asm!(concat!("atom.", $order, ".gpu.global.", $op, " {old}, [{p}], {e}, {n};"),
                    old = out($reg) old, p = in(reg64) global(p), e = in($reg) expected,
                    n = in($reg) new, options(nostack));
            }
            old
        }
    };
}

macro_rules! shared_load {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, i: u32) -> $ty {
            let v: $ty;
            // SAFETY: the caller keeps i in range of the shared memory.
            unsafe {
                asm!(concat!($op, " {v}, [{p}];"), v = out($reg) v, p = in(reg32) shared(i), options(nostack));
            }
            v
        }
    };
}

macro_rules! shared_store {
    ($name:ident, $ty:ty, $reg:ident, $op:literal) => {
        #[inline(always)]
        unsafe fn $name(&self, i: u32, v: $ty) {
            // SAFETY: the caller keeps i in range of the shared memory.
            unsafe {
                asm!(concat!($op, " [{p}], {v};"), v = in($reg) v, p = in(reg32) shared(i), options(nostack));
            }
        }
    };
}

/// The methods that access four words of shared memory in one instruction.
macro_rules! shared_fours {
    () => {
        #[inline(always)]
        unsafe fn shared_load_32x4(&self, i: u32) -> [u32; 4] {
            let (a, b, c, d): (u32, u32, u32, u32);
            // SAFETY: the caller keeps the four words in range of the shared memory, and
            // i a multiple of 4.
            unsafe {
                asm!("ld.relaxed.cta.shared.v4.b32 {{{a}, {b}, {c}, {d}}}, [{p}];",
                    a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                    p = in(reg32) shared(i), options(nostack));
            }
            [a, b, c, d]
        }
        #[inline(always)]
        unsafe fn shared_store_32x4(&self, i: u32, v: [u32; 4]) {
            // SAFETY: as above.
            unsafe {
                asm!("st.relaxed.cta.shared.v4.b32 [{p}], {{{a}, {b}, {c}, {d}}};",
                    a = in(reg32) v[0], b = in(reg32) v[1], c = in(reg32) v[2], d = in(reg32) v[3],
                    p = in(reg32) shared(i), options(nostack));
            }
        }
    };
}

/// The methods of barriers that count arrivals. The instruction that waits came with
/// the GPU that has atomics of 128 bits, so a lane without them does what any machine
/// can. These concern one thread each and are not convergent.
macro_rules! mbarrier_methods {
    () => {
        #[inline(always)]
        unsafe fn mbarrier_init(&self, i: u32, count: u32) {
            if !WIDE {
                // SAFETY: the caller upholds the contract.
                return unsafe { mbarrier::init(self, i, count) };
            }
            // SAFETY: the caller keeps i in range of the shared memory.
            unsafe {
                asm!("mbarrier.init.shared.b64 [{p}], {n};", p = in(reg32) shared(i), n = in(reg32) count,
                    options(nostack));
            }
        }
        #[inline(always)]
        unsafe fn mbarrier_arrive(&self, i: u32) {
            if !WIDE {
                // SAFETY: the caller upholds the contract.
                return unsafe { mbarrier::arrive(self, i) };
            }
            // ORDER(H1): release at the scope of the block, by default; pairs with H2.
            // SAFETY: the caller keeps i in range, at a barrier.
            unsafe {
                asm!("{{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [{p}]; }}",
                    p = in(reg32) shared(i), options(nostack));
            }
        }
        #[inline(always)]
        unsafe fn mbarrier_try_wait(&self, i: u32, parity: u32) -> bool {
            if !WIDE {
                // SAFETY: the caller upholds the contract.
                return unsafe { mbarrier::try_wait(self, i, parity) };
            }
            let ended: u32;
            // ORDER(H2): acquire at the scope of the block, by default; pairs with H1.
            // SAFETY: the caller keeps i in range, at a barrier.
            unsafe {
                asm!("{{ .reg .pred ended; mbarrier.try_wait.parity.shared.b64 ended, [{p}], {parity};",
                    "selp.u32 {e}, 1, 0, ended; }}",
                    e = out(reg32) ended, p = in(reg32) shared(i), parity = in(reg32) parity,
                    options(nostack));
            }
            ended != 0
        }
    };
}

/// The methods of clusters, which a lane without atomics of 128 bits has not: there a block
/// is alone. The barrier is the one that threads may reach apart, as inline assembly is not
/// convergent.
macro_rules! cluster_methods {
    () => {
        #[inline(always)]
        fn cluster_size(&self) -> u32 {
            if !WIDE {
                return 1;
            }
            let size: u32;
            // SAFETY: reads a special register.
            unsafe {
                asm!("mov.u32 {n}, %cluster_nctarank;", n = out(reg32) size, options(pure, nomem, nostack));
            }
            size
        }
        #[inline(always)]
        fn cluster_rank(&self) -> u32 {
            if !WIDE {
                return 0;
            }
            let rank: u32;
            // SAFETY: reads a special register.
            unsafe {
                asm!("mov.u32 {n}, %cluster_ctarank;", n = out(reg32) rank, options(pure, nomem, nostack));
            }
            rank
        }
        #[inline(always)]
        unsafe fn cluster_load_64(&self, rank: u32, i: u32) -> u64 {
            if !WIDE {
                // SAFETY: the caller upholds the contract.
                return unsafe { self.shared_load_64(i) };
            }
            let v: u64;
            // SAFETY: the caller keeps rank and i in range.
            unsafe {
                asm!("{{ .reg .b32 at; mapa.shared::cluster.u32 at, {p}, {rank};",
                    "ld.relaxed.cluster.shared::cluster.b64 {v}, [at]; }}",
                    v = out(reg64) v, p = in(reg32) shared(i), rank = in(reg32) rank, options(nostack));
            }
            v
        }
        #[inline(always)]
        unsafe fn cluster_store_64(&self, rank: u32, i: u32, v: u64) {
            if !WIDE {
                // SAFETY: the caller upholds the contract.
                return unsafe { self.shared_store_64(i, v) };
            }
            // SAFETY: the caller keeps rank and i in range.
            unsafe {
                asm!("{{ .reg .b32 at; mapa.shared::cluster.u32 at, {p}, {rank};",
                    "st.relaxed.cluster.shared::cluster.b64 [at], {v}; }}",
                    v = in(reg64) v, p = in(reg32) shared(i), rank = in(reg32) rank, options(nostack));
            }
        }
        #[inline(always)]
        unsafe fn cluster_barrier(&self) {
            if !WIDE {
                // SAFETY: the caller upholds the contract.
                return unsafe { self.barrier() };
            }
            // SAFETY: the trait asks that every thread of the cluster calls it.
            unsafe {
                asm!("barrier.cluster.arrive.release;", "barrier.cluster.wait.acquire;", options(nostack));
            }
        }
    };
}
