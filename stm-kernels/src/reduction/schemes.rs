//! How the lanes of a warp hand a value each to those of the next warp.
//!
//! The values lie in shared memory in the order of the threads, in words of 32 bits except
//! for [`Tagged`], and behind them the words of synchronisation.

use stm_core::Lane;
use stm_sync::Stop;
use stm_sync::channel::{Shared, TChannels};

#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub warp: u32,
    pub lane: u32,
    pub warps: u32,
    threads: u32,
    stop: Stop,
}

#[stm_core::inlined]
impl Position {
    /// Returns the position of a thread, or `None`, to all threads, if the last warp is not full.
    pub fn of<L: Lane>(lane: &L, stop: Stop) -> Option<Self> {
        let (threads, width) = (lane.block_dim(), lane.warp_width());
        let warps = threads / width;
        if warps * width != threads {
            return None;
        }
        // Shuffled, so that the assembler sees that all lanes of the warp take the same
        // branches. SAFETY: all lanes of the warp come here, and warps are full.
        let warp = unsafe { lane.shuffle_32(u32::MAX >> (32 - width), lane.warp_index(), 0) };
        Some(Self {
            warp,
            lane: lane.lane_index(),
            warps,
            threads,
            stop,
        })
    }

    /// Returns the number of 32-bit words of shared memory of a scheme.
    pub const fn words<S: Scheme>(&self) -> u32 {
        let values = (self.threads * S::VALUE_WORDS).next_multiple_of(2);
        values + self.threads * S::SYNC_WORDS_A_LANE + self.warps * S::SYNC_WORDS_A_WARP
    }

    /// Returns the first word of synchronisation, where values take one word.
    const fn sync(&self) -> u32 {
        self.threads.next_multiple_of(2)
    }

    /// Returns the thread of another warp with this one's lane.
    fn thread<L: Lane>(&self, lane: &L, warp: u32) -> u32 {
        warp * lane.warp_width() + self.lane
    }
}

/// A way to hand over values.
pub trait Scheme: Copy + core::fmt::Debug + Sized + 'static {
    const NAME: &'static str;
    const VALUE_WORDS: u32 = 1;
    /// The number of 32-bit words of synchronisation for each lane, besides the values.
    const SYNC_WORDS_A_LANE: u32 = 0;
    /// The same for each warp.
    const SYNC_WORDS_A_WARP: u32 = 0;
    /// The number of the block's named barriers for each hand-over.
    const BARRIERS: u32 = 0;

    /// Returns how many bytes of synchronisation 16 warps of 32 lanes take, as in Table 1 of
    /// the paper, and a warp, as in its Table 2.
    #[cfg(not(target_arch = "nvptx64"))]
    fn cost_bytes() -> (u32, u32) {
        let lane = Self::SYNC_WORDS_A_LANE + Self::VALUE_WORDS - 1;
        let warp = 4 * (32 * lane + Self::SYNC_WORDS_A_WARP);
        (16 * warp, warp)
    }

    /// Sets up the words of the calling thread; a barrier follows. `None`, to all threads, if
    /// there is not so much shared memory.
    ///
    /// # Safety
    /// Every thread of the block calls it, and nothing else uses its shared memory.
    unsafe fn prepare<L: Lane>(lane: &L, at: Position) -> Option<Self>;

    /// Stores the calling thread's value of a round.
    ///
    /// # Safety
    /// [`Self::prepare`] and a barrier came before, and a barrier after the last round.
    #[inline(always)]
    unsafe fn store<L: Lane>(&self, lane: &L, _at: Position, _round: u32, value: u32) {
        // SAFETY: a word of this thread's. Relaxed: the signal orders it.
        unsafe { lane.shared_store_32(lane.thread_index(), value) };
    }

    /// Tells the next warp that the values of this one are stored.
    ///
    /// # Safety
    /// All lanes of the warp call it together, after [`Self::store`], once a round.
    unsafe fn signal<L: Lane>(&self, lane: &L, at: Position, round: u32);

    /// Waits for the signal of a warp in a round, and returns the value of its lane; `None`, to
    /// one lane at least, if the launch was told to stop.
    ///
    /// # Safety
    /// All lanes of the next warp call it together, once a round.
    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, round: u32) -> Option<u32>;
}

/// How many polls follow each other before a thread looks at the stop flag.
const POLLS: u32 = 256;

/// Polls until `came` returns true, as channels in shared memory do; false if the launch is to stop.
#[inline(always)]
fn spin<L: Lane>(lane: &L, stop: Stop, mut came: impl FnMut() -> bool) -> bool {
    let mut polls = 0;
    while !came() {
        polls += 1;
        if polls == POLLS {
            if stop.is_raised(lane) {
                return false;
            }
            lane.pause(20);
            polls = 0;
        }
    }
    true
}

/// Lets the first lane of the warp signal for all.
///
/// # Safety
/// All lanes of the warp call it together.
#[inline(always)]
unsafe fn release<L: Lane>(lane: &L, at: Position, signal: impl FnOnce()) {
    // SAFETY: the caller's promise.
    unsafe { lane.sync_warp(lane.warp_mask()) };
    if at.lane == 0 {
        // Release of what the barrier has ordered before.
        lane.fence_block();
        signal();
    }
}

/// Loads the value of a thread, after its signal.
///
/// # Safety
/// The signal has come, with acquire.
#[inline(always)]
unsafe fn value<L: Lane>(lane: &L, thread: u32) -> u32 {
    // SAFETY: a word of the values. Relaxed: the signal orders it.
    unsafe { lane.shared_load_32(thread) }
}

/// A spin lock for each lane (Li et al. 2015, Listings 2 and 11): the producer holds it until it has stored,
/// and the consumer waits by acquiring it, for the next round. Both accesses are atomic, as in the paper.
#[derive(Clone, Copy, Debug)]
pub struct AtomLock;

#[stm_core::inlined]
impl Scheme for AtomLock {
    const NAME: &'static str = "atom-lock";
    const SYNC_WORDS_A_LANE: u32 = 1;

    unsafe fn prepare<L: Lane>(lane: &L, at: Position) -> Option<Self> {
        // SAFETY: this thread's word.
        unsafe { lane.shared_store_32(at.sync() + lane.thread_index(), 1) };
        Some(Self)
    }

    unsafe fn signal<L: Lane>(&self, lane: &L, at: Position, _round: u32) {
        // Release: pairs with the fence of the lane that acquires the lock.
        lane.fence_block();
        // SAFETY: this thread's lock, which it holds: from 1 to 0.
        unsafe { lane.shared_fetch_add_32(at.sync() + lane.thread_index(), u32::MAX) };
    }

    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, _round: u32) -> Option<u32> {
        let other = at.thread(lane, warp);
        // SAFETY: that thread's lock and value.
        unsafe {
            let lock = at.sync() + other;
            spin(lane, at.stop, || lane.shared_cas_32(lock, 0, 1) == 0).then(|| {
                // Acquire: pairs with the fence of the lane that released the lock.
                lane.fence_block();
                value(lane, other)
            })
        }
    }
}

/// A spin lock for each warp, which one lane releases and acquires for all.
#[derive(Clone, Copy, Debug)]
pub struct ShrdLock;

#[stm_core::inlined]
impl Scheme for ShrdLock {
    const NAME: &'static str = "shrd-lock";
    const SYNC_WORDS_A_WARP: u32 = 1;

    unsafe fn prepare<L: Lane>(lane: &L, at: Position) -> Option<Self> {
        if at.lane == 0 {
            // SAFETY: this warp's word.
            unsafe { lane.shared_store_32(at.sync() + at.warp, 1) };
        }
        Some(Self)
    }

    unsafe fn signal<L: Lane>(&self, lane: &L, at: Position, _round: u32) {
        // SAFETY: all lanes of the warp come here; its lock, which it holds.
        unsafe {
            release(lane, at, || {
                lane.shared_fetch_add_32(at.sync() + at.warp, u32::MAX);
            });
        }
    }

    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, _round: u32) -> Option<u32> {
        let lock = at.sync() + warp;
        let mut came = true;
        // SAFETY: all lanes of the warp come here; that warp's lock and values.
        unsafe {
            if at.lane == 0 {
                came = spin(lane, at.stop, || lane.shared_cas_32(lock, 0, 1) == 0);
                // Acquire; the barrier passes it on to the other lanes.
                lane.fence_block();
            }
            lane.sync_warp(lane.warp_mask());
            came.then(|| value(lane, at.thread(lane, warp)))
        }
    }
}

/// A named barrier for each pair of warps (Listing 12): the producers arrive, and the consumers
/// wait. Two warps may use at most 15 of them in a block.
#[derive(Clone, Copy, Debug)]
pub struct WarpBarr;

#[stm_core::inlined]
impl Scheme for WarpBarr {
    const NAME: &'static str = "warp-barr";
    const BARRIERS: u32 = 1;

    unsafe fn prepare<L: Lane>(_lane: &L, at: Position) -> Option<Self> {
        (at.warps <= super::WARPS_MAX).then_some(Self)
    }

    unsafe fn signal<L: Lane>(&self, lane: &L, at: Position, _round: u32) {
        // SAFETY: all lanes of the warp come here, and those of the next one.
        unsafe { lane.barrier_named_arrive(1 + at.warp, 2 * lane.warp_width()) };
    }

    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, _round: u32) -> Option<u32> {
        // SAFETY: as above; the barrier orders the value.
        unsafe {
            lane.barrier_named_sync(1 + warp, 2 * lane.warp_width());
            Some(value(lane, at.thread(lane, warp)))
        }
    }
}

/// A tag for each warp, the number of the round, which all lanes of the next one load, and a vote (Listing
/// 9). A vote need not order memory, so here it asks whether all have seen the tag.
#[derive(Clone, Copy, Debug)]
pub struct WarpVote;

#[stm_core::inlined]
impl Scheme for WarpVote {
    const NAME: &'static str = "warp-vote";
    const SYNC_WORDS_A_WARP: u32 = 1;

    unsafe fn prepare<L: Lane>(lane: &L, at: Position) -> Option<Self> {
        if at.lane == 0 {
            // SAFETY: this warp's word.
            unsafe { lane.shared_store_32(at.sync() + at.warp, 0) };
        }
        Some(Self)
    }

    unsafe fn signal<L: Lane>(&self, lane: &L, at: Position, round: u32) {
        // SAFETY: all lanes of the warp come here; its word.
        unsafe {
            release(lane, at, || {
                lane.shared_store_32(at.sync() + at.warp, round);
            });
        };
    }

    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, round: u32) -> Option<u32> {
        let (tag, mask) = (at.sync() + warp, lane.warp_mask());
        // SAFETY: all lanes of the warp come here and vote together; that warp's word and values.
        unsafe {
            let (mut polls, mut came) = (0, true);
            while lane.ballot(mask, lane.shared_load_32(tag) == round) != mask {
                polls += 1;
                if polls == POLLS {
                    // The lanes leave together.
                    if lane.ballot(mask, at.stop.is_raised(lane)) != 0 {
                        came = false;
                        break;
                    }
                    lane.pause(20);
                    polls = 0;
                }
            }
            // Acquire: pairs with the fence before the tag.
            lane.fence_block();
            came.then(|| value(lane, at.thread(lane, warp)))
        }
    }
}

/// A barrier for each warp that counts the arrivals of its lanes: `mbarrier`, in the phase of the round.
#[derive(Clone, Copy, Debug)]
pub struct CountedBarr;

#[stm_core::inlined]
impl Scheme for CountedBarr {
    const NAME: &'static str = "counted-barr";
    const SYNC_WORDS_A_WARP: u32 = 2;

    unsafe fn prepare<L: Lane>(lane: &L, at: Position) -> Option<Self> {
        if at.lane == 0 {
            let i = at.sync() + 2 * at.warp;
            // SAFETY: this warp's words, from an even one on.
            unsafe { lane.mbarrier_init(i, lane.warp_width()) };
        }
        Some(Self)
    }

    unsafe fn signal<L: Lane>(&self, lane: &L, at: Position, _round: u32) {
        // SAFETY: this warp's barrier, at which each lane arrives once a round.
        unsafe { lane.mbarrier_arrive(at.sync() + 2 * at.warp) };
    }

    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, round: u32) -> Option<u32> {
        let i = at.sync() + 2 * warp;
        // SAFETY: that warp's barrier and values. Round 1 is phase 0.
        unsafe {
            spin(lane, at.stop, || lane.mbarrier_try_wait(i, (round - 1) & 1))
                .then(|| value(lane, at.thread(lane, warp)))
        }
    }
}

/// A channel for each lane, with the round as the tag: the wait is the load of the value.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    channels: TChannels<u32, Shared>,
}

#[stm_core::inlined]
impl Scheme for Tagged {
    const NAME: &'static str = "tagged";
    const VALUE_WORDS: u32 = 2;

    unsafe fn prepare<L: Lane>(lane: &L, at: Position) -> Option<Self> {
        // SAFETY: the caller's promise.
        let channels = unsafe { TChannels::in_shared(lane, 0, at.threads, at.stop) };
        channels.map(|channels| Self { channels })
    }

    unsafe fn store<L: Lane>(&self, lane: &L, _at: Position, round: u32, value: u32) {
        self.channels
            .put(lane, u64::from(lane.thread_index()), round, value);
    }

    unsafe fn signal<L: Lane>(&self, _lane: &L, _at: Position, _round: u32) {}

    unsafe fn take<L: Lane>(&self, lane: &L, at: Position, warp: u32, round: u32) -> Option<u32> {
        let other = u64::from(at.thread(lane, warp));
        self.channels.get(lane, other, round).ok()
    }
}
