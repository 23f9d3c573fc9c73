//! What a machine's memory, barriers and semaphores do, alone: [`Accesses`] has the twelve benchmarks of
//! Stuart and Owens 2011 (section 3), [`RandomAccesses`] the rate of each access, [`Meetings`] the time of a
//! barrier, [`Entries`] that of a semaphore. The words stay zero, whatever is done to them.

use crate::prelude::*;
use stm_sync::barrier::{Chosen, TBarrier};
use stm_sync::semaphore::{self, TSemaphores};

alone! {
    /// The first thread of each block makes the same accesses, some of them in flight together.
    Accesses(AccessesParams) = accesses ["machine_accesses", "machine" / "accesses"];
    /// Every thread accesses words at random places, some of them in flight together.
    RandomAccesses(RandomAccessesParams) = random_accesses
        ["machine_random", "machine" / "random", wide];
    /// All threads wait at a barrier again and again.
    Meetings(MeetingsParams) = meetings ["machine_meetings", "machine" / "meetings"];
    /// The first thread of each block enters and leaves a semaphore, with nothing to do inside.
    Entries(EntriesParams) = entries ["machine_entries", "machine" / "entries"];
}

/// The number of accesses that a thread has in flight.
pub const IN_FLIGHT: u32 = 8;

/// Joins the results, so that none is left out.
#[inline(always)]
fn sum(found: [u32; IN_FLIGHT as usize]) -> u32 {
    found[0] ^ found[1] ^ found[2] ^ found[3] ^ found[4] ^ found[5] ^ found[6] ^ found[7]
}

#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A load, which is a volatile read in the paper.
    Load,
    /// A store of 0, a volatile write in the paper.
    Store,
    /// An addition of 0 whose result is used, an atomic read in the paper.
    Add,
    /// A compare-and-swap of 0 for 0, which always succeeds, for an atomic write. The paper
    /// has an exchange; the one that lanes have is an acquire.
    Swap,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AccessesParams {
    /// The words, which are zero.
    pub words: TArray<u32>,
    /// A word for each block, for the result.
    pub results: TArray<u32>,
    /// The number of accesses, a multiple of [`IN_FLIGHT`].
    pub accesses: u32,
    /// How many words the blocks' words are apart: 0 if they contend.
    pub stride: u32,
    pub operation: Operation,
    /// Whether an addition comes first.
    pub after_atomic: bool,
    /// What is added and stored: 0. A compiler that knew would make a load of an addition.
    pub zero: u32,
}

#[inline(always)]
fn accesses<L: Lane>(lane: &L, p: &AccessesParams) {
    if lane.thread_index() != 0 {
        return;
    }
    let block = u64::from(lane.block_index());
    let word = p.words.get(block * u64::from(p.stride));
    let (Some(word), Some(result)) = (word, p.results.get(block)) else {
        return;
    };
    // SAFETY: live words, used with 32 bits only. Relaxed: nothing is read on the strength of what is found.
    unsafe {
        let mut all = if p.after_atomic {
            lane.fetch_add_relaxed_32(word, p.zero)
        } else {
            0
        };
        macro_rules! repeated {
            ($access:expr) => {{
                let mut k = 0;
                while k < p.accesses {
                    all ^= sum(spelled!(J of 8 => { let _ = J; $access }));
                    k += IN_FLIGHT;
                }
            }};
        }
        // One branch before the loop and none inside.
        match p.operation {
            Operation::Load => repeated!(lane.load_relaxed_32(word)),
            Operation::Store => repeated!({
                lane.store_relaxed_32(word, p.zero);
                0
            }),
            Operation::Add => repeated!(lane.fetch_add_relaxed_32(word, p.zero)),
            Operation::Swap => repeated!(lane.cas_relaxed_32(word, p.zero, p.zero)),
        }
        lane.store_relaxed_32(result, all);
    }
}

#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Bits32,
    Bits64,
    /// 128 bits, on lanes that have them; nothing adds so many.
    Bits128,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RandomAccessesParams {
    /// The memory, which is zero: a power of two of words, at least two and at most 2^31.
    pub words: TArray<u64>,
    /// A word for each thread, for the result.
    pub results: TArray<u32>,
    /// The number of accesses of a thread, a multiple of [`IN_FLIGHT`].
    pub accesses: u32,
    pub operation: Operation,
    pub width: Width,
    /// What is added and stored: 0, as in [`AccessesParams::zero`].
    pub zero: u32,
}

/// The steps from a thread's draw to the next, and from thread to thread: odd, and far apart.
const STEPS: (u32, u32) = (0x9E37_79B9, 0x85EB_CA6B);

/// Makes random accesses of words of `1 << log2` bytes: `access` is given the address of one, or of
/// its first half, and returns 32 bits. It returns something that depends on all results.
#[inline(always)]
fn at_random<L: Lane, T>(
    lane: &L,
    p: &RandomAccessesParams,
    log2: u32,
    first: *mut u64,
    access: impl Fn(*mut T) -> u32,
) -> u32 {
    // Words of this width, of which there are a power of two, in words of 64 bits shifted by the difference.
    let words = (p.words.len() << 3) >> log2;
    let mask = (words as u32).wrapping_sub(1);
    let mut state = (lane.grid_thread() as u32).wrapping_mul(STEPS.1);
    let (mut all, mut k) = (0, 0);
    while k < p.accesses {
        all ^= sum(spelled!(J of 8 => {
            let i = mix(state.wrapping_add(J.wrapping_mul(STEPS.0))) & mask;
            access(first.cast::<u8>().wrapping_add((i as usize) << log2).cast())
        }));
        state = state.wrapping_add(IN_FLIGHT.wrapping_mul(STEPS.0));
        k += IN_FLIGHT;
    }
    all
}

/// Makes random accesses of one width, each by the same operation.
macro_rules! accesses {
    ($lane:ident, $p:ident, $log2:literal, $first:ident: $load:ident, $store:ident, $add:ident, $swap:ident) => {{
        let zero = $p.zero.into();
        // SAFETY: `at_random` keeps the index in range of live words, which are used with
        // these bits only. Relaxed: nothing is read on the strength of what is found.
        unsafe {
            match $p.operation {
                Operation::Load => at_random($lane, $p, $log2, $first, |w| $lane.$load(w) as u32),
                Operation::Store => at_random($lane, $p, $log2, $first, |w| {
                    $lane.$store(w, zero);
                    0
                }),
                Operation::Add => {
                    at_random($lane, $p, $log2, $first, |w| $lane.$add(w, zero) as u32)
                }
                Operation::Swap => at_random($lane, $p, $log2, $first, |w| {
                    $lane.$swap(w, zero, zero) as u32
                }),
            }
        }
    }};
}

/// Does the same with words of 128 bits, as far as the lane has them.
#[inline(always)]
fn widest<L: Lane>(lane: &L, p: &RandomAccessesParams, first: *mut u64) -> u32 {
    if !lane.has_wide_atomics() {
        return 0;
    }
    // SAFETY: as above, with 128 bits, which the lane has.
    unsafe {
        match p.operation {
            Operation::Load => at_random(lane, p, 4, first, |w| lane.load_relaxed_128(w)[0] as u32),
            Operation::Store => at_random(lane, p, 4, first, |w| {
                lane.store_relaxed_128(w, [p.zero.into(); 2]);
                0
            }),
            Operation::Add => 0,
            Operation::Swap => at_random(lane, p, 4, first, |w| {
                lane.cas_relaxed_128(w, [0; 2], [0; 2])[0] as u32
            }),
        }
    }
}

#[inline(always)]
fn random_accesses<L: Lane>(lane: &L, p: &RandomAccessesParams) {
    let (Some(first), Some(result)) = (p.words.get(0), p.results.get(lane.grid_thread())) else {
        return;
    };
    let all = match p.width {
        Width::Bits32 => accesses!(lane, p, 2, first:
            load_relaxed_32, store_relaxed_32, fetch_add_relaxed_32, cas_relaxed_32),
        Width::Bits64 => accesses!(lane, p, 3, first:
            load_relaxed_64, store_relaxed_64, fetch_add_relaxed_64, cas_relaxed_64),
        Width::Bits128 => widest(lane, p, first),
    };
    // SAFETY: a live word of this thread's.
    unsafe { lane.store_relaxed_32(result, all) };
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MeetingsParams {
    pub barrier: TBarrier<Chosen>,
    pub waits: u32,
}

#[inline(always)]
fn meetings<L: Lane>(lane: &L, p: &MeetingsParams) {
    let mut grid = p.barrier.enter(lane);
    let mut k = 0;
    while k < p.waits {
        // SAFETY: every thread of the grid waits as often.
        if unsafe { grid.wait() }.is_err() {
            return;
        }
        k += 1;
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EntriesParams {
    pub semaphores: TSemaphores<semaphore::Chosen>,
    pub times: u32,
}

#[inline(always)]
fn entries<L: Lane>(lane: &L, p: &EntriesParams) {
    let Some(semaphore) = p.semaphores.get(0) else {
        return;
    };
    if lane.thread_index() != 0 {
        return;
    }
    let mut k = 0;
    while k < p.times {
        if semaphore.with(lane, || ()).is_err() {
            return;
        }
        k += 1;
    }
}
