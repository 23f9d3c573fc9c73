//! The CPU's [`Lane`]: `core::sync::atomic` on OS threads, with a warp of one
//! lane.
//!
//! Every PTX order has a C11 counterpart at least as strong here. A warp of
//! one makes each warp operation the identity on its own bit.

use super::Lane;
use crate::observe::host_probe::HostProbe;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::boxed::Box;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// The barriers of a block: that of its kernel, and the one at which its
/// threads take the next block. They can be broken, so that no thread waits for
/// ever for one that panicked.
///
/// As on a GPU, a thread that has ended no longer counts at the kernel's
/// barrier.
#[derive(Debug)]
struct Rendezvous {
    threads: u32,
    state: Mutex<Arrivals>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Arrivals {
    /// The threads at the kernel's barrier.
    arrived: u32,
    /// The threads that have ended the present block.
    ended: u32,
    /// The number of barriers passed.
    barriers: u64,
    /// The number of blocks begun.
    blocks: u64,
    broken: bool,
    /// The number of threads at the barrier whose predicate holds.
    votes: u32,
    /// The result of the last vote. It stays until every thread has left, as
    /// only then can all arrive again.
    votes_last: u32,
    /// The block that the team runs now, if there is one.
    current: Option<u32>,
}

impl Rendezvous {
    fn state(&self) -> MutexGuard<'_, Arrivals> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the threads at the barrier go on if all that have not ended are
    /// there.
    fn pass_if_complete(&self, state: &mut Arrivals) {
        if state.arrived != 0 && state.arrived + state.ended == self.threads {
            state.arrived = 0;
            state.barriers += 1;
            state.votes_last = core::mem::take(&mut state.votes);
            self.changed.notify_all();
        }
    }

    /// Waits while `same` holds and the barrier is not broken.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, Arrivals>,
        same: impl Fn(&Arrivals) -> bool,
    ) -> Option<MutexGuard<'a, Arrivals>> {
        while same(&state) && !state.broken {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        (!state.broken).then_some(state)
    }

    /// Waits for all threads that have not ended and returns for how many of
    /// them `predicate` holds, or `None` if the barrier is broken.
    fn vote(&self, predicate: bool) -> Option<u32> {
        let mut state = self.state();
        let barriers = state.barriers;
        state.arrived += 1;
        state.votes += u32::from(predicate);
        self.pass_if_complete(&mut state);
        let state = self.wait(state, |state| state.barriers == barriers)?;
        Some(state.votes_last)
    }

    /// Ends the calling thread's part in a block, waits for the other threads,
    /// and returns the next block. The last thread calls `draw` for it.
    fn next(&self, draw: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let mut state = self.state();
        let blocks = state.blocks;
        state.ended += 1;
        if state.ended == self.threads {
            state.ended = 0;
            state.blocks += 1;
            state.current = draw();
            self.changed.notify_all();
        } else {
            self.pass_if_complete(&mut state);
        }
        let state = self.wait(state, |state| state.blocks == blocks)?;
        state.current
    }
}

/// The state that the threads of one block have in common. A team of OS threads
/// uses it for one block after another.
#[derive(Debug)]
pub struct Block {
    rendezvous: Rendezvous,
    shared: Box<[AtomicU32]>,
}

/// The payload with which a thread unwinds that met a broken barrier; it is not
/// a panic of its own.
#[derive(Debug)]
pub struct BrokenBlock;

impl Block {
    /// Makes a block of `threads` threads with `shared_words` 32-bit words of
    /// shared memory.
    pub fn new(threads: u32, shared_words: u32) -> Self {
        Self {
            rendezvous: Rendezvous {
                threads,
                state: Mutex::default(),
                changed: Condvar::new(),
            },
            shared: (0..shared_words).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Releases the threads that wait at a barrier, now and from now on.
    pub fn break_up(&self) {
        self.rendezvous.state().broken = true;
        self.rendezvous.changed.notify_all();
    }

    /// Returns the next block for the team, which one thread draws and all
    /// threads run, or `None` if there is none or the team is broken up. It
    /// clears shared memory in between, so that a kernel that forgets to
    /// initialise it finds zeros and not the data of the last block.
    pub fn next(&self, draw: impl FnOnce() -> Option<u32>) -> Option<u32> {
        self.rendezvous.next(|| {
            for word in &self.shared {
                word.store(0, Ordering::Relaxed);
            }
            draw()
        })
    }
}

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
    /// The obligations are those of [`crate::host::Device::launch`]: what the
    /// code run on the lane accesses through it is live and accessed by nothing
    /// else. Besides, no other lane with the same place in the same grid runs
    /// at the same time.
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
            thread_index,
            block_index,
            block_dim,
            grid_dim,
            probe,
        }
    }

    fn shared(&self, i: u32) -> &AtomicU32 {
        &self.block.shared[i as usize]
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
            match atomic!($atomic, p.cast_const()).compare_exchange(
                expected,
                new,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(old) | Err(old) => old,
            }
        }
        #[inline(always)]
        unsafe fn $cas_relaxed(&self, p: *mut $ty, expected: $ty, new: $ty) -> $ty {
            match atomic!($atomic, p.cast_const()).compare_exchange(
                expected,
                new,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(old) | Err(old) => old,
            }
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

    fn shared_words(&self) -> u32 {
        self.block.shared.len() as u32
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
        match self
            .shared(i)
            .compare_exchange(expected, new, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(old) | Err(old) => old,
        }
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
        match self.block.rendezvous.vote(predicate) {
            Some(votes) => votes,
            None => std::panic::resume_unwind(Box::new(BrokenBlock)),
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
    /// Counts the ticks themselves, in units of 2^16: a cached word is loaded
    /// faster than any clock. What a relaxed load may be behind by is far less
    /// than the limit leaves.
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
