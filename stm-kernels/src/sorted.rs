//! A sorted list with entry points, into which each transaction inserts one key with
//! a value: the benchmark of lock granularity of Grote 2020 (section 5.3), over
//! [`TList`]. [`crate::locked::sorted`] does the same under locks.

use core::marker::PhantomData;
use stm_core::{Lane, StmRef, TArray, algorithm::Algorithm, collections::TList, kernels};

/// The kernel with transactions of algorithm `A`.
#[derive(Clone, Copy, Debug)]
pub struct Sorted<A>(PhantomData<A>);

/// The parameters of [`Sorted`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SortedParams<A: Algorithm> {
    /// The transactional memory.
    pub stm: StmRef<A>,
    /// The list.
    pub entries: TList<A, u32, u32>,
    /// The key of each transaction; constant, and no two are equal.
    pub keys: TArray<u32>,
    /// Transactions of the launch.
    pub transactions: u64,
}

/// Returns the value that belongs to the key of transaction `i`.
#[inline(always)]
pub const fn value(i: u64) -> u32 {
    i as u32
}

impl<A: Algorithm> Sorted<A> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, p: &SortedParams<A>) {
        p.stm.for_each(lane, 0..p.transactions, |tx, i| {
            let Some(key) = p.keys.get(i) else {
                return tx.cancel();
            };
            // SAFETY: an element of a live array that nothing writes. Relaxed: it is as
            // the host left it.
            let key = unsafe { lane.load_relaxed_32(key) };
            p.entries.entry(tx, key)?.insert_new(value(i)).map(|_| ())
        });
    }
}

kernels!(Sorted, SortedParams, "sorted");
