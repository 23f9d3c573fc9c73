//! The reduction of Li et al. 2015 (Listing 10): the cost of handing values from warp to warp, by several
//! schemes.
//!
//! `A[i + 32] = A[i] + i` for each `i` below 32 N, with a warp for each 32 elements: warp w takes 32 values
//! from warp w - 1, adds, and hands them on. A round begins after a barrier of the block, and its time is
//! from the earliest start of a warp to the latest end, by the multiprocessor's clock. The values of each
//! round are others, and are checked.
//!
//! | scheme | in the paper | a warp waits by | bytes of synchronisation a warp |
//! | --- | --- | --- | --- |
//! | [`AtomLock`] | `atom_lock` | a spin lock for each lane | 128 |
//! | [`ShrdLock`] | `shrd_lock` | a spin lock, of one lane for all | 4 |
//! | [`WarpBarr`] | `warp_barr` | a named barrier: `bar.sync` and `bar.arrive` | 0, and 1 of 15 barriers |
//! | [`WarpVote`] | `warp_vote` | a tag that all lanes load, and a vote | 4 |
//! | [`CountedBarr`] | | a barrier that counts arrivals: `mbarrier` | 8 |
//! | [`Tagged`] | in place of `tiny_lock` | the load of the value, by [`TChannels`](stm_sync::channel::TChannels) | 128 |
//!
//! Where the paper's schemes hand over N times, there are N - 1 hand-overs here: nobody waits for the last
//! warp. All order what the value needs by the memory model, with fences that the paper's code leaves out.

mod schemes;

use crate::prelude::*;
use stm_sync::Stop;

pub use schemes::{AtomLock, CountedBarr, Position, Scheme, ShrdLock, Tagged, WarpBarr, WarpVote};

alone! {
    ReductionAtomLock(ReductionParams) = Reduction::<AtomLock>::body
        ["reduction_atom_lock", "reduction" / "atom-lock"];
    ReductionShrdLock(ReductionParams) = Reduction::<ShrdLock>::body
        ["reduction_shrd_lock", "reduction" / "shrd-lock"];
    ReductionWarpBarr(ReductionParams) = Reduction::<WarpBarr>::body
        ["reduction_warp_barr", "reduction" / "warp-barr"];
    ReductionWarpVote(ReductionParams) = Reduction::<WarpVote>::body
        ["reduction_warp_vote", "reduction" / "warp-vote"];
    /// By instructions, where the GPU has them.
    ReductionCountedBarr(ReductionParams) = Reduction::<CountedBarr>::body
        ["reduction_counted_barr", "reduction" / "counted-barr", wide];
    ReductionTagged(ReductionParams) = Reduction::<Tagged>::body
        ["reduction_tagged", "reduction" / "tagged"];
}

/// The most warps of the block, for the schemes with named barriers: 15 hand-overs.
pub const WARPS_MAX: u32 = 16;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ReductionParams {
    /// The clock of each warp at the beginning of each round and at its end: pairs, of all
    /// warps of the first round, then of the second.
    pub times: TArray<u64>,
    /// The values of all threads after the last round.
    pub values: TArray<u32>,
    /// A word, 0 at first: the number of wrong values of all rounds.
    pub wrong: TArray<u32>,
    pub stop: Stop,
    pub rounds: u32,
}

/// Returns the element before the first warp's, for a lane in a round. It differs from round
/// to round, so that a value of an earlier round is a wrong one.
pub const fn initial(round: u32, lane: u32) -> u32 {
    round.wrapping_mul(0x0100_0193) ^ lane
}

/// Returns what thread `lane` of warp `warp` has in the end, with warps of `width` lanes: the
/// sum of the initial value and the indices of the lane in all warps up to its own.
pub const fn expected(round: u32, warp: u32, lane: u32, width: u32) -> u32 {
    let above = width * (warp * (warp + 1) / 2);
    initial(round, lane).wrapping_add(above + (warp + 1) * lane)
}

/// Returns the time of each round, from the earliest start to the latest end, in the clock's
/// units, given what a launch with `warps` warps left in [`ReductionParams::times`].
#[cfg(not(target_arch = "nvptx64"))]
pub fn spans(times: &[u64], warps: u32) -> std::vec::Vec<u64> {
    let rounds = times.chunks_exact(2 * warps.max(1) as usize);
    let span = |round: &[u64]| {
        let start = round.iter().step_by(2).min().copied().unwrap_or(0);
        let end = round.iter().skip(1).step_by(2).max().copied().unwrap_or(0);
        end.saturating_sub(start)
    };
    rounds.map(span).collect()
}

/// One block makes the reduction by the scheme `S`, again and again.
struct Reduction<S>(PhantomData<S>);

#[stm_core::inlined]
impl<S: Scheme> Reduction<S> {
    fn body<L: Lane>(lane: &L, p: &ReductionParams) {
        let Some(at) = Position::of(lane, p.stop) else {
            return;
        };
        // The same for all threads of the block.
        if lane.block_index() != 0 || at.words::<S>() > lane.shared_words() {
            return;
        }
        // SAFETY: every thread of the block comes here, and nothing else uses its shared memory.
        let scheme = unsafe {
            let scheme = S::prepare(lane, at);
            lane.barrier();
            scheme
        };
        let Some(scheme) = scheme else { return };
        let (mut wrong, mut stopped, mut round) = (0, false, 1);
        // SAFETY: every thread of the block makes the same rounds, until one was told to stop.
        while round <= p.rounds && !unsafe { lane.barrier_any(stopped) } {
            // SAFETY: as above.
            let (times, value) = unsafe { Self::round(lane, at, &scheme, round) };
            stopped = value.is_none();
            let right = expected(round, at.warp, at.lane, lane.warp_width());
            wrong += u32::from(value != Some(right));
            Self::note(lane, at, p, round, times, value.unwrap_or(0));
            round += 1;
        }
        if let (true, Some(word)) = (wrong != 0, p.wrong.on(lane, 0)) {
            word.fetch_add(wrong); // relaxed: the host reads it
        }
    }

    /// Makes one round, and returns its times and the value, or `None` if the launch was told
    /// to stop. Then, too, the warp signals, so that nobody waits for it.
    ///
    /// # Safety
    /// All lanes of the warp call it together.
    unsafe fn round<L: Lane>(
        lane: &L,
        at: Position,
        scheme: &S,
        round: u32,
    ) -> ([u64; 2], Option<u32>) {
        let start = lane.clock();
        // SAFETY: the caller's promise. The warp takes one way through the branches.
        let value = unsafe {
            let taken = if at.warp == 0 {
                Some(initial(round, at.lane))
            } else {
                scheme.take(lane, at, at.warp - 1, round)
            };
            let value = taken.map(|taken| taken.wrapping_add(lane.thread_index()));
            scheme.store(lane, at, round, value.unwrap_or(0));
            if at.warp + 1 != at.warps {
                scheme.signal(lane, at, round);
            }
            lane.sync_warp(lane.warp_mask());
            value
        };
        ([start, lane.clock()], value)
    }

    fn note<L: Lane>(
        lane: &L,
        at: Position,
        p: &ReductionParams,
        round: u32,
        times: [u64; 2],
        value: u32,
    ) {
        if at.lane == 0 {
            let pair = u64::from(round - 1) * u64::from(at.warps) + u64::from(at.warp);
            let time = |k: u64| p.times.on(lane, 2 * pair + k);
            if let (Some(start), Some(end)) = (time(0), time(1)) {
                // Relaxed: the host reads them.
                start.store(times[0]);
                end.store(times[1]);
            }
        }
        if round == p.rounds {
            store(lane, &p.values, lane.thread_index().into(), value);
        }
    }
}
