//! KM, k-means (STAMP; Xu et al. 2014, section 4.1): each transaction adds one point, all its
//! coordinates and a count, to the new sums of its nearest centre.
//!
//! A launch is one pass over the points:
//! 1. Search: a lane finds the nearest of the old centres for a few points, by plain loads, as nobody writes
//!    them during a launch. It stores the centre in `members` and counts the points whose centre has changed.
//! 2. Transactions: each reads and writes the row of a point's centre, `dims + 1` words. Under an algorithm
//!    with teams, the lanes of the warp run it together, with one word each. There are few rows, so it
//!    matters how soon one is free.
//!
//! A search inside its transaction would be repeated by every attempt and would age the snapshot. STAMP
//! proceeds one point at a time; [`POINTS_A_TURN`] keeps a warp together for longer.
//!
//! For the check, the count that a transaction reads is its place among the additions to that centre, which
//! it stores in `ranks`: the host repeats the additions in that order and compares every sum bit for bit.
//! [`KMeansAdds`] does the same with sums that transactions only add to; the order is then unknown.

pub mod floor;

use crate::rows::{Transactional, transactional};
use crate::words::{load, store};
use core::ops::Range;
use stm_core::algorithm::{Algorithm, Granule};
use stm_core::{Lane, StmRef, TArray, TSums, Tx, TxResult};

transactional! {
    KMeans<A> of Transactional<A, KMeansWork<A>> = read_and_write ["kmeans"];
    /// The k-means kernel whose transactions only add.
    KMeansAdds<A> of Transactional<A, KMeansAddsWork> = add ["kmeans_adds"];
}

/// The work of a pass over `n` points of `dims` coordinates, with `k` centres.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KMeansWork<A: Algorithm> {
    /// The points, one coordinate after the other: coordinate `j` of point `i` is at `j * n + i`,
    /// so that the lanes of a warp load neighbours; constant.
    pub points: TArray<f32>,
    /// The old centres, one after the other, `k * dims`; constant.
    pub centres: TArray<f32>,
    /// The new sums, a row of `dims + 1` words for each centre: the count, then
    /// the bits of an `f32` for each coordinate. Only transactions access it.
    pub rows: A::Array<u32>,
    /// The centre of each point; [`NOWHERE`] at the start.
    pub members: TArray<u32>,
    /// For each point, the number of points that were added to its centre before; of no words, if
    /// the order of the additions is not noted.
    pub ranks: TArray<u32>,
    /// One word: the number of points that changed their centre.
    pub changed: TArray<u64>,
    /// The number of points of the launch, which are the first ones; at most `n`.
    pub transactions: u64,
    /// `k`, at least 1.
    pub clusters: u32,
    /// `dims`, at least 1.
    pub dims: u32,
}

/// [`KMeansWork`] with other rows, and without ranks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KMeansAddsWork {
    pub points: TArray<f32>,
    pub centres: TArray<f32>,
    pub rows: TSums<u32>,
    pub members: TArray<u32>,
    pub changed: TArray<u64>,
    pub transactions: u64,
    pub clusters: u32,
    pub dims: u32,
}

/// The centre of a point that has none yet.
pub const NOWHERE: u32 = u32::MAX;

/// The number of points that a lane searches before it runs their transactions.
pub const POINTS_A_TURN: u64 = 8;

/// The number of reads whose loads are in flight together.
const BATCH: usize = 8;

/// The input of the search for a point's centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) points: TArray<f32>,
    pub(crate) centres: TArray<f32>,
    /// The number of points, which is the distance between the coordinates of a point.
    pub(crate) n: u64,
    pub(crate) clusters: u32,
    pub(crate) dims: u32,
}

impl Search {
    /// Returns the centre nearest to point `i`, the first one of several, by
    /// the sum of squared differences in `f32`, coordinate after coordinate.
    #[inline(always)]
    pub(crate) fn nearest<L: Lane>(&self, lane: &L, i: u64) -> u32 {
        let (mut nearest, mut least) = (0, f32::INFINITY);
        let mut c = 0;
        while c < self.clusters {
            // Four are compared at a time, spelled out, so that they stay in registers. The last
            // four repeat the last centre, which then is not nearer.
            let compared = [c, c + 1, c + 2, c + 3].map(|c| c.min(self.clusters - 1));
            let mut centre = compared.map(|c| u64::from(c) * u64::from(self.dims));
            let mut squares = [0f32; 4];
            let mut at = i;
            let end = centre[0] + u64::from(self.dims);
            while centre[0] < end {
                let x = f32::from_bits(load(lane, &self.points, at));
                let apart = |c: u64| x - f32::from_bits(load(lane, &self.centres, c));
                let [a0, a1, a2, a3] = centre.map(apart);
                let [s0, s1, s2, s3] = squares;
                squares = [s0 + a0 * a0, s1 + a1 * a1, s2 + a2 * a2, s3 + a3 * a3];
                centre = centre.map(|c| c + 1);
                at += self.n;
            }
            let mut offer = |k: usize| {
                if squares[k] < least {
                    (nearest, least) = (compared[k], squares[k]);
                }
            };
            offer(0);
            offer(1);
            offer(2);
            offer(3);
            c += 4;
        }
        nearest
    }
}

/// A pass over the points, whatever its transactions are.
struct PassOver<'a, A: Algorithm> {
    stm: &'a StmRef<A>,
    search: Search,
    members: TArray<u32>,
    changed: TArray<u64>,
    transactions: u64,
}

impl<A: Algorithm> PassOver<'_, A> {
    /// Finds the centre of each point, for a few points of each lane at a time, and calls
    /// `transactions` for those points of a range that the calling lane, or its warp, has searched.
    #[inline(always)]
    fn run<L: Lane>(&self, lane: &L, mut transactions: impl FnMut(Range<u64>)) {
        let p = self;
        // The threads of a block with one transaction at a time divide the search of its points.
        let first = match A::GRANULE {
            Granule::Lane | Granule::LaneInTurn => lane.grid_thread(),
            Granule::Block => {
                u64::from(lane.block_index())
                    + u64::from(lane.thread_index()) * u64::from(lane.grid_dim())
            }
        };
        let stride = lane.grid_threads();
        let mut changed = 0;
        let mut stopped = false;
        let mut start = 0;
        while start < p.transactions {
            let next = start + stride * POINTS_A_TURN;
            // A stopped lane continues to the end without work, as it still
            // takes part in votes of its warp and barriers of its block.
            stopped = stopped || p.stm.stopped(lane);
            if A::TEAMS {
                // SAFETY: all lanes of the warp make the same number of turns.
                stopped = unsafe { lane.ballot(lane.warp_mask(), stopped) } != 0;
            }
            let end = if stopped {
                start
            } else {
                next.min(p.transactions)
            };
            let mut i = start + first;
            while i < end {
                let nearest = p.search.nearest(lane, i);
                changed += u64::from(load(lane, &p.members, i) != nearest);
                store(lane, &p.members, i, nearest);
                i += stride;
            }
            if A::GRANULE == Granule::Block {
                // SAFETY: all threads of the block make the same number of turns.
                unsafe { lane.barrier() };
            }
            transactions(start..end);
            start = next;
        }
        if changed != 0
            && let Some(word) = p.changed.get(0)
        {
            // SAFETY: a live word (`TArray`), which the launch only adds to.
            unsafe { lane.add_relaxed_64(word, changed) };
        }
    }
}

/// The pass of a kernel's work.
macro_rules! pass_over {
    ($p:ident) => {
        PassOver {
            stm: &$p.stm,
            search: Search {
                points: $p.work.points,
                centres: $p.work.centres,
                n: $p.work.members.len(),
                clusters: $p.work.clusters,
                dims: $p.work.dims,
            },
            members: $p.work.members,
            changed: $p.work.changed,
            transactions: $p.work.transactions,
        }
    };
}

#[inline(always)]
fn read_and_write<L: Lane, A: Algorithm>(lane: &L, p: &Transactional<A, KMeansWork<A>>) {
    let pass = pass_over!(p);
    if A::TEAMS && lane.warp_width() > 1 {
        pass.run(lane, |range| add_as_team(lane, p, range));
    } else {
        pass.run(lane, |range| {
            p.stm.for_each(lane, range, |tx, i| add_to_row(tx, p, i));
        });
    }
}

/// Runs the transactions of those points of a range that the calling warp
/// has searched, each by all of its lanes.
#[inline(always)]
fn add_as_team<L: Lane, A: Algorithm>(
    lane: &L,
    p: &Transactional<A, KMeansWork<A>>,
    range: Range<u64>,
) {
    let lanes = lane.warp_mask();
    let size = lanes.count_ones();
    let stride = lane.grid_threads();
    let first = range.start + lane.grid_thread() - u64::from(lane.lane_index());
    let (mut mine, mut from) = (0, first);
    while from < range.end {
        mine += (range.end - from).min(u64::from(size));
        from += stride;
    }
    let words = p.work.dims + 1;
    let points = p.work.members.len();
    // This makes the stores to `members` visible to all lanes.
    // SAFETY: all lanes of the warp come here, as often.
    unsafe { lane.sync_warp(lanes) };
    p.stm.for_each_of_team(lane, 0..mine, |tx, number| {
        let number = number as u32;
        let turn = number.checked_div(size).unwrap_or(0); // size is not 0
        let i = first + u64::from(turn) * stride + u64::from(number - turn * size);
        let row = u64::from(load(lane, &p.work.members, i)) * u64::from(words);
        let mut k = tx.rank();
        while k - tx.rank() < words {
            let at = (k < words).then_some(row + u64::from(k));
            let x = if at.is_some() && k != 0 {
                load(lane, &p.work.points, u64::from(k - 1) * points + i)
            } else {
                0
            };
            let found = tx.read(&p.work.rows, at)?.unwrap_or(0);
            let new = if k == 0 {
                // As in `add_to_row`.
                store(lane, &p.work.ranks, i, found);
                found.wrapping_add(1)
            } else {
                (f32::from_bits(found) + f32::from_bits(x)).to_bits()
            };
            tx.write(&p.work.rows, at.map(|at| (at, new)))?;
            k += tx.size();
        }
        Ok(())
    });
}

#[inline(always)]
fn add_to_row<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &Transactional<A, KMeansWork<A>>,
    i: u64,
) -> TxResult<()> {
    let lane = tx.lane();
    let points = p.work.members.len();
    let words = p.work.dims + 1;
    let member = load(lane, &p.work.members, i);
    if member >= p.work.clusters {
        // Another lane of the block was stopped before its search.
        return tx.cancel();
    }
    let row = u64::from(member) * u64::from(words);
    let mut k = 0;
    while k < words {
        // The last batch repeats the last word to its end.
        let at: [u64; BATCH] =
            core::array::from_fn(|b| row + u64::from((k + b as u32).min(words - 1)));
        let found = tx.read_many(&p.work.rows, at)?;
        let count = (words - k).min(BATCH as u32);
        let mut new = found;
        for new in &mut new {
            if k == 0 {
                // If the attempt aborts, this lane's next attempt overwrites the value.
                store(lane, &p.work.ranks, i, *new);
                *new = new.wrapping_add(1);
            } else if k < words {
                let x = f32::from_bits(load(lane, &p.work.points, u64::from(k - 1) * points + i));
                *new = (f32::from_bits(*new) + x).to_bits();
            }
            k += 1;
        }
        tx.write_many(&p.work.rows, at, new, count)?;
    }
    Ok(())
}

#[inline(always)]
fn add<L: Lane, A: Algorithm>(lane: &L, p: &Transactional<A, KMeansAddsWork>) {
    let pass = pass_over!(p);
    pass.run(lane, |range| {
        p.stm.for_each(lane, range, |tx, i| add_to_sums(tx, p, i));
    });
}

#[inline(always)]
fn add_to_sums<L: Lane, A: Algorithm>(
    tx: &mut Tx<'_, L, A>,
    p: &Transactional<A, KMeansAddsWork>,
    i: u64,
) -> TxResult<()> {
    let lane = tx.lane();
    let (points, dims) = (p.work.members.len(), p.work.dims);
    let member = load(lane, &p.work.members, i);
    if member >= p.work.clusters {
        // Another lane of the block was stopped before its search.
        return tx.cancel();
    }
    let row = u64::from(member);
    tx.add(&p.work.rows, row, 0, 1)?;
    let sums = p.work.rows.cast::<f32>();
    let mut k = 0;
    while k < dims {
        // The last batch repeats the last coordinate to its end, and adds it once.
        let point: [f32; BATCH] = core::array::from_fn(|b| {
            let j = (k + b as u32).min(dims - 1);
            f32::from_bits(load(lane, &p.work.points, u64::from(j) * points + i))
        });
        tx.add_many(&sums, row, 1 + k, point, (dims - k).min(BATCH as u32))?;
        k += BATCH as u32;
    }
    Ok(())
}
