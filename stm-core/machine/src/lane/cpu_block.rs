//! What the threads of a block on the CPU have in common: barriers and shared memory.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::boxed::Box;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of a block's barriers on a GPU, of which 0 is that of the whole block.
const BARRIERS: u32 = 16;

/// The barriers of a block: those of its kernel, and the one at which its threads take the next block. They
/// can be broken, so that no thread waits for ever for one that panicked; one that ended no longer counts.
#[derive(Debug)]
pub(super) struct Rendezvous {
    threads: u32,
    state: Mutex<Arrivals>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Arrivals {
    barriers: [Barrier; BARRIERS as usize],
    /// The threads that have ended the present block.
    ended: u32,
    /// The number of blocks begun.
    blocks: u64,
    broken: bool,
    /// The block that the team runs now, if there is one.
    current: Option<u32>,
}

/// The threads that have come to a barrier since it was last passed, and how often it was passed.
#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    arrived: u32,
    passed: u64,
    /// The number of threads that have come whose predicate holds.
    votes: u32,
    /// The result of the last vote. It stays until every thread has left, as only then can all arrive again.
    votes_last: u32,
}

impl Rendezvous {
    fn new(threads: u32) -> Self {
        Self {
            threads,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn break_up(&self) {
        self.state().broken = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, Arrivals> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the threads at a barrier go on if so many are there.
    fn pass_if_complete(&self, barrier: &mut Barrier, threads: u32) {
        if barrier.arrived != 0 && barrier.arrived == threads {
            barrier.arrived = 0;
            barrier.passed += 1;
            barrier.votes_last = core::mem::take(&mut barrier.votes);
            self.changed.notify_all();
        }
    }

    /// Waits while `same` holds and the barriers are not broken.
    fn wait<'a>(
        &self,
        state: MutexGuard<'a, Arrivals>,
        same: impl Fn(&Arrivals) -> bool,
    ) -> Option<MutexGuard<'a, Arrivals>> {
        let waits = |state: &mut Arrivals| same(state) && !state.broken;
        let state = self.changed.wait_while(state, waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (!state.broken).then_some(state)
    }

    /// Arrives at barrier `id` of `threads` threads, and with `waits` returns when all have come,
    /// and for how many of them `predicate` holds; `None` if the barriers are broken.
    fn arrive(&self, id: u32, threads: Option<u32>, predicate: bool, waits: bool) -> Option<u32> {
        let mut state = self.state();
        let threads = threads.unwrap_or(self.threads - state.ended);
        let barrier = &mut state.barriers[id as usize];
        let passed = barrier.passed;
        barrier.arrived += 1;
        barrier.votes += u32::from(predicate);
        self.pass_if_complete(barrier, threads);
        if !waits {
            return Some(0);
        }
        let state = self.wait(state, |state| state.barriers[id as usize].passed == passed)?;
        Some(state.barriers[id as usize].votes_last)
    }

    /// Waits for all threads that have not ended and returns for how many of
    /// them `predicate` holds, or `None` if the barrier is broken.
    pub(super) fn vote(&self, predicate: bool) -> Option<u32> {
        self.arrive(0, None, predicate, true)
    }

    /// Arrives at named barrier `id` of `threads` threads, and with `waits` returns
    /// when all have come; `None` if the barriers are broken.
    pub(super) fn named(&self, id: u32, threads: u32, waits: bool) -> Option<u32> {
        assert!((1..BARRIERS).contains(&id), "named barrier {id} of 1 to 15");
        self.arrive(id, Some(threads), false, waits)
    }

    /// Ends the calling thread's part in a block, waits for the other threads, and returns the next
    /// block. The last thread calls `draw` for it, with the present one.
    fn next(&self, draw: impl FnOnce(Option<u32>) -> Option<u32>) -> Option<u32> {
        let mut state = self.state();
        let (blocks, broken) = (state.blocks, state.broken);
        state.ended += 1;
        if state.ended == self.threads {
            let current = draw(state.current);
            *state = Arrivals::default();
            (state.blocks, state.current, state.broken) = (blocks + 1, current, broken);
            self.changed.notify_all();
        } else {
            let threads = self.threads - state.ended;
            self.pass_if_complete(&mut state.barriers[0], threads);
        }
        let state = self.wait(state, |state| state.blocks == blocks)?;
        state.current
    }
}

/// The state that the threads of one block have in common. A team of OS threads
/// uses it for one block after another.
#[derive(Debug)]
pub struct Block {
    pub(super) rendezvous: Rendezvous,
    /// Shared memory, in words of the widest access.
    shared: Box<[AtomicU64]>,
    /// Its size in words of 32 bits.
    pub(super) shared_words: u32,
}

/// A cluster of blocks, which run at the same time.
#[derive(Debug)]
pub struct Cluster<'a> {
    pub(super) blocks: &'a [Block],
    /// The barrier of all threads.
    pub(super) rendezvous: Rendezvous,
}

impl<'a> Cluster<'a> {
    /// Makes a cluster of blocks of `threads` threads each.
    pub fn new(blocks: &'a [Block], threads: u32) -> Self {
        let rendezvous = Rendezvous::new(threads * blocks.len() as u32);
        Self { blocks, rendezvous }
    }

    /// Releases the threads that wait at the cluster's barrier, now and from now on.
    pub fn break_up(&self) {
        self.rendezvous.break_up();
    }
}

/// The payload with which a thread unwinds that met a broken barrier; it is not a panic of its own.
#[derive(Debug)]
pub struct BrokenBlock;

impl Block {
    /// Makes a block of `threads` threads with `shared_words` 32-bit words of shared memory.
    pub fn new(threads: u32, shared_words: u32) -> Self {
        Self {
            rendezvous: Rendezvous::new(threads),
            shared: (0..shared_words.div_ceil(2))
                .map(|_| AtomicU64::default())
                .collect(),
            shared_words,
        }
    }

    /// Returns 32-bit word `i` of shared memory.
    pub(super) fn shared_32(&self, i: u32) -> &AtomicU32 {
        let words = self.shared_words;
        assert!(i < words, "shared word {i} of {words}");
        // SAFETY: one half of a word in range, aligned to 4 bytes, behind an atomic's cell. Lanes access it
        // with one width while a kernel runs (`Lane`, obligation 2), and `next` clears it while none does.
        unsafe {
            let first = self.shared.as_ptr().cast_mut().cast::<u32>();
            AtomicU32::from_ptr(first.add(i as usize))
        }
    }

    /// Returns the 64-bit word that begins at 32-bit word `i` of shared memory, an even one.
    pub(super) fn shared_64(&self, i: u32) -> &AtomicU64 {
        let fits = i.is_multiple_of(2) && i + 1 < self.shared_words;
        assert!(fits, "a wide shared word at {i} of {}", self.shared_words);
        &self.shared[i as usize / 2]
    }

    /// Releases the threads that wait at a barrier, now and from now on.
    pub fn break_up(&self) {
        self.rendezvous.break_up();
    }

    /// Returns the next block for the team, which one thread draws, given the present one, or `None` if there
    /// is none or the team is broken up. It clears shared memoryfor kernels that forget to.
    pub fn next(&self, draw: impl FnOnce(Option<u32>) -> Option<u32>) -> Option<u32> {
        self.rendezvous.next(|present| {
            for word in &self.shared {
                word.store(0, Ordering::Relaxed);
            }
            draw(present)
        })
    }
}
