//! KM without transactions; [`crate::kmeans`] describes what a transaction
//! does.
//!
//! [`Additions`] adds each coordinate separately. Additions of `f32` do not
//! commute exactly and their order is unknown, so its sums are right within
//! rounding errors, and not bit for bit.

use super::{first, for_each};
use crate::kmeans::{Search, load, store};
use stm_core::kernel_alone;
use stm_core::{Lane, TArray};

/// The floor of KM: its accesses without synchronisation.
#[derive(Clone, Copy, Debug)]
pub struct Floor;

/// The rival of KM: an atomic addition for each word of a row.
#[derive(Clone, Copy, Debug)]
pub struct Additions;

/// The parameters of both kernels; the arrays are those of
/// [`KMeansParams`](crate::kmeans::KMeansParams).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The points, by coordinate; constant.
    pub points: TArray<f32>,
    /// The old centres; constant.
    pub centres: TArray<f32>,
    /// The new sums, a row of `dims + 1` words for each centre.
    pub rows: TArray<u32>,
    /// The centre of each point.
    pub members: TArray<u32>,
    /// One word: the number of points that changed their centre.
    pub changed: TArray<u64>,
    /// The number of points of the launch.
    pub transactions: u64,
    /// The number of centres, at least 1.
    pub clusters: u32,
    /// The number of coordinates, at least 1.
    pub dims: u32,
}

/// Runs all points and calls `add` with the row of the nearest centre and the
/// point.
#[inline(always)]
fn run<L: Lane>(lane: &L, p: &Params, add: impl Fn(*mut u32, u64)) {
    let words = u64::from(p.dims) + 1;
    let Some(rows) = first(&p.rows, u64::from(p.clusters) * words) else {
        return;
    };
    let search = Search {
        points: p.points,
        centres: p.centres,
        n: p.members.len(),
        clusters: p.clusters,
        dims: p.dims,
    };
    let mut changed = 0;
    for_each(lane, p.transactions, |i| {
        let nearest = search.nearest(lane, i);
        changed += u64::from(load(lane, &p.members, i) != nearest);
        store(lane, &p.members, i, nearest);
        add(rows.wrapping_add(nearest as usize * words as usize), i);
    });
    if changed != 0
        && let Some(word) = p.changed.get(0)
    {
        // SAFETY: a live word, which the launch only adds to.
        unsafe { lane.add_relaxed_64(word, changed) };
    }
}

/// Loads coordinate `j` of point `i`.
#[inline(always)]
fn coordinate<L: Lane>(lane: &L, p: &Params, i: u64, j: u32) -> f32 {
    f32::from_bits(load(lane, &p.points, u64::from(j) * p.members.len() + i))
}

/// The number of words in flight together.
const BATCH: usize = 8;

impl Floor {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
        run(lane, p, |row, i| {
            let words = p.dims + 1;
            let mut k = 0;
            while k < words {
                // The last batch repeats the last word to its end.
                let found: [(*mut u32, u32); BATCH] = core::array::from_fn(|b| {
                    let word = row.wrapping_add((k + b as u32).min(words - 1) as usize);
                    // SAFETY: a word of the row, which `run` gives.
                    (word, unsafe { lane.load_relaxed_32(word) })
                });
                for (word, found) in found {
                    if k < words {
                        let new = if k == 0 {
                            found.wrapping_add(1)
                        } else {
                            (f32::from_bits(found) + coordinate(lane, p, i, k - 1)).to_bits()
                        };
                        // SAFETY: as above.
                        unsafe { lane.store_relaxed_32(word, new) };
                    }
                    k += 1;
                }
            }
        });
    }
}

impl Additions {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &Params) {
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
}

kernel_alone!(Floor, Params, "floor_kmeans", "kmeans" / "floor");
kernel_alone!(Additions, Params, "rival_kmeans", "kmeans" / "atomic-adds");
