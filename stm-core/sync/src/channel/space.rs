//! Where the words of channels are.

use crate::sealed::Sealed;
use stm_machine::Lane;

/// A place for channels: words of 64 bits, counted from a first one.
#[stm_machine::inlined]
pub trait Space: Sealed + Copy + core::fmt::Debug + 'static {
    /// The number of words that begin at a multiple of it, so that what different threads store is apart.
    const LINE_WORDS: u64;

    /// The polls of a word in a row before a thread looks at the stop flag, which is in global memory.
    const POLLS: u32;

    /// Returns the space that begins `words` words later.
    #[must_use]
    fn after(self, words: u64) -> Self;

    /// Loads word `i`, relaxed.
    ///
    /// # Safety
    /// The space has the word, and it is accessed only through spaces while the kernel runs.
    unsafe fn load<L: Lane>(self, lane: &L, i: u64) -> u64;

    /// Stores word `i`, relaxed.
    ///
    /// # Safety
    /// The obligations are those of [`Self::load`].
    unsafe fn store<L: Lane>(self, lane: &L, i: u64, v: u64);

    /// Loads words `i` and `i + 1`, `i` even, in one access where the machine can.
    ///
    /// # Safety
    /// The obligations are those of [`Self::load`], for both, and they are accessed only as a pair.
    unsafe fn load_pair<L: Lane>(self, lane: &L, i: u64) -> [u64; 2] {
        // SAFETY: the caller upholds the contract of this function.
        unsafe {
            match self.pair(lane, i) {
                Some(words) => lane.load_relaxed_128(words),
                None => [self.load(lane, i), self.load(lane, i + 1)],
            }
        }
    }

    /// Stores words `i` and `i + 1`, `i` even, in one access where the machine can.
    ///
    /// # Safety
    /// The obligations are those of [`Self::load_pair`].
    unsafe fn store_pair<L: Lane>(self, lane: &L, i: u64, v: [u64; 2]) {
        // SAFETY: the caller upholds the contract of this function.
        unsafe {
            if let Some(words) = self.pair(lane, i) {
                return lane.store_relaxed_128(words, v);
            }
            self.store(lane, i, v[0]);
            self.store(lane, i + 1, v[1]);
        }
    }

    /// Returns the address of words `i` and `i + 1`, `i` even, if one access reaches both.
    #[doc(hidden)]
    fn pair<L: Lane>(self, _lane: &L, _i: u64) -> Option<*mut u64> {
        None
    }
}

/// Words of global memory, which all threads of a launch reach.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Global(*mut u64);

impl Global {
    /// Makes the space that begins at `words`.
    ///
    /// # Safety
    /// The address is aligned to 128 bytes, in the memory of the device whose kernels will
    /// use the space, and the words that they use are live while such a kernel runs.
    pub const unsafe fn from_raw(words: *mut u64) -> Self {
        Self(words)
    }

    #[inline(always)]
    const fn word(self, i: u64) -> *mut u64 {
        self.0.wrapping_add(i as usize)
    }
}

#[stm_machine::inlined]
impl Space for Global {
    const LINE_WORDS: u64 = 16;
    const POLLS: u32 = 16;

    fn after(self, words: u64) -> Self {
        Self(self.word(words))
    }
    unsafe fn load<L: Lane>(self, lane: &L, i: u64) -> u64 {
        // SAFETY: a live word (the caller's promise).
        unsafe { lane.load_relaxed_64(self.word(i)) }
    }
    unsafe fn store<L: Lane>(self, lane: &L, i: u64, v: u64) {
        // SAFETY: as above.
        unsafe { lane.store_relaxed_64(self.word(i), v) };
    }
    // An even word is aligned to 16 bytes.
    fn pair<L: Lane>(self, lane: &L, i: u64) -> Option<*mut u64> {
        lane.has_wide_atomics().then(|| self.word(i))
    }
}

/// Words of a block's shared memory. A pair of words is two accesses on every machine.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shared {
    /// The index of the first 32-bit word, which is even.
    first: u32,
}

#[stm_machine::inlined]
impl Shared {
    /// Makes the space that begins at 32-bit word `first` of the dynamic shared memory, an even number.
    pub(super) const fn at(first: u32) -> Self {
        Self { first }
    }

    const fn index(self, i: u64) -> u32 {
        self.first + 2 * i as u32
    }

    /// Returns whether a block has `words` words from 32-bit word `first` on, an even one.
    fn has<L: Lane>(lane: &L, first: u32, words: u64) -> bool {
        let all = u64::from(lane.shared_words());
        first & 1 == 0 && words <= all && u64::from(first) + 2 * words <= all
    }

    /// Returns the space of `words` words from 32-bit word `first` of shared memory on, which the block's
    /// threads clear together; `None` for all of them if the block has not so much, or `first` is odd.
    ///
    /// # Safety
    /// Every thread of the block calls it with the same values ([`Lane`], obligation 6), and
    /// nothing else accesses the words in this launch.
    pub(super) unsafe fn cleared<L: Lane>(lane: &L, first: u32, words: u64) -> Option<Self> {
        if !Self::has(lane, first, words) {
            return None;
        }
        let space = Self::at(first);
        // SAFETY: in range, and used by channels only (the caller); every thread of the block comes here.
        unsafe {
            clear(lane, space, words);
            lane.barrier();
        }
        Some(space)
    }
}

/// Words of the shared memory of one block of a cluster (`sm_90`), which the blocks of the cluster reach; a
/// channel is best in the block that gets from it. A pair of words is two accesses on every machine.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// The index of the first 32-bit word, which is even.
    first: u32,
    /// The number of the block in its cluster.
    rank: u32,
}

impl Cluster {
    /// Returns the space of `words` words from 32-bit word `first` of the shared memory of block `rank` on,
    /// which that block's threads clear before the cluster meets; `None` for all if a block has not so much,
    /// `first` is odd or there is no such block.
    ///
    /// # Safety
    /// Every thread of the cluster calls it with the same values
    /// ([`Lane::cluster_barrier`]), and nothing else accesses the words in this launch.
    #[inline(always)]
    pub(super) unsafe fn cleared<L: Lane>(
        lane: &L,
        first: u32,
        rank: u32,
        words: u64,
    ) -> Option<Self> {
        if rank >= lane.cluster_size() || !Shared::has(lane, first, words) {
            return None;
        }
        let space = Self { first, rank };
        if rank == lane.cluster_rank() {
            // SAFETY: in range, and used by channels only (the caller's promise).
            unsafe { clear(lane, space, words) };
        }
        // SAFETY: every thread of the cluster comes here.
        unsafe { lane.cluster_barrier() };
        Some(space)
    }
}

/// Stores zeros to the words of a space, by the threads of a block together.
///
/// # Safety
/// The obligations are those of [`Space::store`] for each word.
#[inline(always)]
unsafe fn clear<L: Lane, S: Space>(lane: &L, space: S, words: u64) {
    let mut i = u64::from(lane.thread_index());
    while i < words {
        // SAFETY: the caller's promise.
        unsafe { space.store(lane, i, 0) };
        i += u64::from(lane.block_dim());
    }
}

#[stm_machine::inlined]
impl Space for Cluster {
    const LINE_WORDS: u64 = 2;
    const POLLS: u32 = 64;

    fn after(self, words: u64) -> Self {
        Self {
            first: self.first + 2 * words as u32,
            ..self
        }
    }
    unsafe fn load<L: Lane>(self, lane: &L, i: u64) -> u64 {
        // SAFETY: in range, and the block has not ended (the caller's promise).
        unsafe { lane.cluster_load_64(self.rank, self.first + 2 * i as u32) }
    }
    unsafe fn store<L: Lane>(self, lane: &L, i: u64, v: u64) {
        // SAFETY: as above.
        unsafe { lane.cluster_store_64(self.rank, self.first + 2 * i as u32, v) };
    }
}

#[stm_machine::inlined]
impl Space for Shared {
    const LINE_WORDS: u64 = 2;
    const POLLS: u32 = 256;

    fn after(self, words: u64) -> Self {
        Self::at(self.index(words))
    }
    unsafe fn load<L: Lane>(self, lane: &L, i: u64) -> u64 {
        // SAFETY: in range (the caller's promise).
        unsafe { lane.shared_load_64(self.index(i)) }
    }
    unsafe fn store<L: Lane>(self, lane: &L, i: u64, v: u64) {
        // SAFETY: as above.
        unsafe { lane.shared_store_64(self.index(i), v) };
    }
}
