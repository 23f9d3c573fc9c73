//! A sorted list with entry points, into which transactions insert a key: the benchmark of lock granularity
//! of Grote 2020 (section 5.3), over [`TList`]. [`crate::sorted::locked`] does the same under locks.

pub mod locked;

use crate::rows::transactional;
use stm_core::{Lane, StmRef, TArray, View, algorithm::Algorithm, collections::TList};

transactional! {
    Sorted<A>(SortedWork<A>) = sorted ["sorted"];
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SortedWork<A: Algorithm> {
    pub entries: TList<A, u32, u32>,
    /// The key of each transaction; constant, and no two are equal.
    pub keys: TArray<u32>,
    pub transactions: u64,
}

#[inline(always)]
pub const fn value(i: u64) -> u32 {
    i as u32
}

#[inline(always)]
fn sorted<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, p: &SortedWork<A>) {
    stm.for_each(lane, 0..p.transactions, |tx, i| {
        let Some(key) = p.keys.peek(lane, i) else {
            return tx.cancel();
        };
        p.entries.entry(tx, key)?.insert_new(value(i)).map(|_| ())
    });
}
