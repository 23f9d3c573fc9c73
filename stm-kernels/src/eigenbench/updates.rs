//! `EigenBench` in its static form.

use super::{EigenbenchWork, checksum};
use core::cell::Cell;
use stm_core::{Lane, StmRef, algorithm::Algorithm};

/// The number of hot words that a transaction reads and writes.
pub const STATIC_WORDS: usize = 32;

#[inline(always)]
pub(super) fn updates<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &EigenbenchWork<A>) {
    let plan = p.plan;
    // What the update whose values come next adds to its words: of a word that is drawn several
    // times each access adds what those before it add as well, and the last value stays.
    let added = Cell::new([0u32; STATIC_WORDS]);
    let at = |i| {
        let hot = plan.transaction(i).hot();
        let words: [u32; STATIC_WORDS] =
            core::array::from_fn(|k| hot.word(k as u32, plan.hot_words));
        let mut sums: [u32; STATIC_WORDS] = core::array::from_fn(|k| hot.amount(k as u32));
        for k in (1..STATIC_WORDS).rev() {
            for before in 0..k {
                if words[before] == words[k] {
                    sums[k] = sums[k].wrapping_add(hot.amount(before as u32));
                }
            }
        }
        added.set(sums);
        words.map(u64::from)
    };
    let change = |_, found: [u32; STATIC_WORDS]| {
        let added = added.get();
        let new: [u32; STATIC_WORDS] = core::array::from_fn(|k| found[k].wrapping_add(added[k]));
        Some(new)
    };
    stm.update_each(lane, 0..p.transactions, &p.hot, at, change);
    let (mut i, mut sum) = (lane.grid_thread(), 0);
    while i < p.transactions {
        sum = checksum(sum, 0, 0);
        i = i.saturating_add(lane.grid_threads());
    }
    if let Some(word) = p.checksums.get(lane.grid_thread()) {
        // SAFETY: in range of a live array, a word of this lane's own.
        unsafe { lane.private_store_32(word, sum) };
    }
}
