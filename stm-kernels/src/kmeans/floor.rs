//! KM without transactions; [`crate::kmeans`] describes what a transaction does.
//!
//! [`Additions`] adds each coordinate, in an unknown order, so its sums are right within rounding errors.

use crate::floor::{Guarded, first, for_each};
use crate::kmeans::{KMeansWork, Search};
use crate::prelude::*;

/// The work of the kernels, with ranks only if the order of the additions is noted.
type Work = KMeansWork<Cgl>;

alone! {
    Floor(Work) = floor ["floor_kmeans", "kmeans" / "floor"];
    /// The rival of KM: an atomic addition for each word of a row.
    Additions(Work) = additions ["rival_kmeans", "kmeans" / "atomic-adds"];
    /// The rival of KM whose blocks add to sums of their own, in shared memory. It needs a
    /// word of that for each word of the sums.
    Privatised(Work) = privatised ["privatised_kmeans", "kmeans" / "privatised"];
    /// The rival of KM whose warps add a point at a time, each lane some of its words: what
    /// teams are compared with.
    WarpAPoint(Work) = warp_a_point ["warps_kmeans", "kmeans" / "warp-a-point"];
    CriticalSection(Guarded<Work>) = critical_section
        ["critical_kmeans", "kmeans" / "critical-section"];
}

#[stm_core::inlined]
impl KMeansWork<Cgl> {
    const fn search(&self) -> Search {
        Search {
            points: self.points,
            centres: self.centres,
            n: self.members.len(),
            clusters: self.clusters,
            dims: self.dims,
        }
    }

    /// Finds the centre of point `i`, stores it, and returns it with whether it is
    /// another than before.
    fn find<L: Lane>(&self, lane: &L, i: u64) -> (u32, bool) {
        let nearest = self.search().nearest(lane, i);
        let changes = load(lane, &self.members, i) != nearest;
        store(lane, &self.members, i, nearest);
        (nearest, changes)
    }

    fn count<L: Lane>(&self, lane: &L, changed: u64) {
        if changed != 0 {
            add(lane, &self.changed, 0, changed);
        }
    }

    /// Returns the first word of the sums, if all are there, and the words of a row.
    fn rows(&self) -> Option<(*mut u32, u32)> {
        let words = self.dims + 1;
        let rows = first(&self.rows, u64::from(self.clusters) * u64::from(words))?;
        Some((rows, words))
    }
}

/// Runs all points and calls `add` with the row of the nearest centre and the point.
#[inline(always)]
fn run<L: Lane>(lane: &L, p: &Work, add: impl Fn(*mut u32, u64)) {
    let Some((rows, words)) = p.rows() else {
        return;
    };
    let mut changed = 0;
    for_each(lane, p.transactions, |i| {
        let (nearest, changes) = p.find(lane, i);
        changed += u64::from(changes);
        add(rows.wrapping_add(nearest as usize * words as usize), i);
    });
    p.count(lane, changed);
}

#[inline(always)]
fn coordinate<L: Lane>(lane: &L, p: &Work, i: u64, j: u32) -> f32 {
    f32::from_bits(load(lane, &p.points, u64::from(j) * p.members.len() + i))
}

/// The number of words in flight together.
const BATCH: usize = 8;

/// Adds point `i` to a row by loads and stores, and returns the points that the row had.
///
/// # Safety
/// The row has a count and a word for each coordinate.
#[inline(always)]
unsafe fn add_to<L: Lane>(lane: &L, p: &Work, row: *mut u32, i: u64) -> u32 {
    let words = p.dims + 1;
    let mut count = 0;
    let mut k = 0;
    while k < words {
        // The last batch repeats the last word to its end.
        let found: [(*mut u32, u32, f32); BATCH] = core::array::from_fn(|b| {
            let k = (k + b as u32).min(words - 1);
            let word = row.wrapping_add(k as usize);
            // SAFETY: the caller's promise.
            let held = unsafe { lane.load_relaxed_32(word) };
            (word, held, coordinate(lane, p, i, k.max(1) - 1))
        });
        for (word, held, x) in found {
            if k < words {
                let new = if k == 0 {
                    count = held;
                    held.wrapping_add(1)
                } else {
                    (f32::from_bits(held) + x).to_bits()
                };
                // SAFETY: the caller's promise.
                unsafe { lane.store_relaxed_32(word, new) };
            }
            k += 1;
        }
    }
    count
}

#[inline(always)]
fn floor<L: Lane>(lane: &L, p: &Work) {
    run(lane, p, |row, i| {
        // SAFETY: `run` gives a row.
        unsafe { add_to(lane, p, row, i) };
    });
}

#[inline(always)]
fn critical_section<L: Lane>(lane: &L, guarded: &Guarded<Work>) {
    let p = &guarded.work;
    run(lane, p, |row, i| {
        let rank = guarded.lock.with(lane, 0, || {
            // SAFETY: `run` gives a row.
            unsafe { add_to(lane, p, row, i) }
        });
        // A fault has been recorded, and what was not done shows in the counts.
        if let Ok(rank) = rank {
            store(lane, &p.ranks, i, rank);
        }
    });
}

#[inline(always)]
fn additions<L: Lane>(lane: &L, p: &Work) {
    run(lane, p, |row, i| {
        // SAFETY: the words of the row, which `run` gives. Relaxed: the
        // host reads them after the launch, and no lane waits for the sums.
        unsafe { lane.fetch_add_relaxed_32(row, 1) };
        let mut j = 0;
        while j < p.dims {
            let sum = row.wrapping_add(j as usize + 1);
            // SAFETY: as above.
            unsafe { lane.add_relaxed_f32(sum, coordinate(lane, p, i, j)) };
            j += 1;
        }
    });
}

/// The lanes of a warp search a point each, and then add these points one after the other.
#[inline(always)]
fn warp_a_point<L: Lane>(lane: &L, p: &Work) {
    let Some((rows, words)) = p.rows() else {
        return;
    };
    let (lanes, me) = (lane.warp_mask(), lane.lane_index());
    let size = lanes.count_ones();
    let mut changed = 0;
    // The first point of the warp; all of its lanes make the same turns.
    let mut start = lane.grid_thread() - u64::from(me);
    while start < p.transactions {
        let mine = start + u64::from(me);
        let mut nearest = 0;
        if mine < p.transactions {
            let (found, changes) = p.find(lane, mine);
            nearest = found;
            changed += u64::from(changes);
        }
        let left = (p.transactions - start).min(u64::from(size)) as u32;
        let mut turn = 0;
        while turn < left {
            // SAFETY: all lanes of the warp come here, as often.
            let row = unsafe { lane.shuffle_32(lanes, nearest, turn) };
            let row = rows.wrapping_add(row as usize * words as usize);
            let i = start + u64::from(turn);
            let mut k = me;
            while k < words {
                let word = row.wrapping_add(k as usize);
                // SAFETY: a word of the row. Relaxed: the host reads it after the
                // launch, and no lane waits for it.
                unsafe {
                    if k == 0 {
                        lane.fetch_add_relaxed_32(word, 1);
                    } else {
                        lane.add_relaxed_f32(word, coordinate(lane, p, i, k - 1));
                    }
                }
                k += size;
            }
            turn += 1;
        }
        start += lane.grid_threads();
    }
    p.count(lane, changed);
}

#[inline(always)]
fn privatised<L: Lane>(lane: &L, p: &Work) {
    let Some((rows, words)) = p.rows() else {
        return;
    };
    let all = p.clusters * words;
    if all > lane.shared_words() {
        return; // the sums stay as they are, which the host finds wrong
    }
    let (me, threads) = (lane.thread_index(), lane.block_dim());
    let mut k = me;
    while k < all {
        // SAFETY: below the number of words (above), and this thread's until the barrier.
        unsafe { lane.shared_store_32(k, 0) };
        k += threads;
    }
    // SAFETY: all threads of the block come here.
    unsafe { lane.barrier() };
    let mut changed = 0;
    for_each(lane, p.transactions, |i| {
        let (nearest, changes) = p.find(lane, i);
        changed += u64::from(changes);
        let row = nearest * words;
        // SAFETY: a row of the sums, which are in shared memory (above).
        unsafe { lane.shared_fetch_add_32(row, 1) };
        let mut j = 0;
        while j < p.dims {
            // SAFETY: as above.
            unsafe { shared_add_f32(lane, row + 1 + j, coordinate(lane, p, i, j)) };
            j += 1;
        }
    });
    p.count(lane, changed);
    // SAFETY: all threads of the block come here.
    unsafe { lane.barrier() };
    k = me;
    while k < all {
        let to = rows.wrapping_add(k as usize);
        let is_count = k.checked_rem(words) == Some(0);
        // SAFETY: below the number of words of both. The barrier orders the block's
        // additions before this. Relaxed: the host reads the sums after the launch.
        unsafe {
            let sum = lane.shared_load_32(k);
            if sum == 0 {
                // Nothing was added, or what adds nothing.
            } else if is_count {
                lane.fetch_add_relaxed_32(to, sum);
            } else {
                lane.add_relaxed_f32(to, f32::from_bits(sum));
            }
        }
        k += threads;
    }
}

/// Adds to an `f32` in shared memory, as a GPU does whose shared memory adds integers only.
///
/// # Safety
/// The word is of shared memory, and accessed by atomic operations only until the block meets at a barrier.
#[inline(always)]
unsafe fn shared_add_f32<L: Lane>(lane: &L, word: u32, x: f32) {
    // SAFETY: the caller's promise.
    let mut before = unsafe { lane.shared_load_32(word) };
    loop {
        let sum = (f32::from_bits(before) + x).to_bits();
        // SAFETY: the caller's promise.
        let found = unsafe { lane.shared_cas_32(word, before, sum) };
        if found == before {
            return;
        }
        before = found;
    }
}
