//! Yardsticks for the transactional memory: the workloads' accesses without transactions.
//!
//! A workload's yardsticks are in its module `floor` ([`ra::floor`](crate::ra::floor), ...); what they share is here.
//!
//! | kernel | is | result |
//! | --- | --- | --- |
//! | `Floor`, and `CellsFloor` of `ra` | the same accesses *without synchronisation*: the same draws and the same addresses, relaxed loads and stores | unsafe: updates may be lost |
//! | `Additions`, `CasTable`, `CasSet`, `Privatised`, `WarpAPoint` | a *rival*: what one writes by hand for this workload and no other | right, and verified |
//! | `CriticalSection`, `LinkSection` of `genome`; `Map`, `Ordered`, `List` of `chain` | the same transactions as *critical sections* of one lock ([`Guarded`]) | right, and verified |
//!
//! The first show how fast the memory system serves the accesses in this kernel's order, which is no bound: a
//! rival that needs fewer can be faster. All loads of a transaction are in flight before the first result is
//! used, as far as its batches reach. An array's length is checked once a launch, as the comparison is to
//! show all that a transactional memory adds.
//!
//! # Critical sections
//!
//! They are what a careful engineer writes who guards all data with one lock ([`Lock`]):
//!
//! - Words are drawn, and constant data is loaded, before the lock is taken.
//! - In the section a batch is loaded together and then stored; the release is the only wait for the stores.
//! - Lanes of a warp that want the lock take it once, and their sections follow each other under it; it goes
//!   from lane to lane by a barrier of the warp (`stm_sync`, `TLocks::with`).
//!
//! - Containers are plain structures without versions ([`plain`]).
//!
//! The lock is tried by a compare-and-swap at once, with a pause that doubles after each failure. A load
//! before it costs a trip to the L2 cache more, and `stamp bench sync` finds it slower at one hot lock for
//! every number of blocks.

pub mod plain;

use stm_core::{Element, Lane, TArray};
use stm_sync::{TLocks, TasBackoff};

/// The lock of critical sections: an array of one.
pub type Lock = TLocks<TasBackoff>;

/// The parameters of a critical section: the lock, and those of the work that it guards.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Guarded<P> {
    pub lock: Lock,
    pub work: P,
}

/// Calls `transaction` for the numbers that `StmRef::for_each` gives to this lane: its own number,
/// and then every one that is a multiple of the number of lanes further on.
#[inline(always)]
pub(crate) fn for_each<L: Lane>(lane: &L, transactions: u64, mut transaction: impl FnMut(u64)) {
    let stride = lane.grid_threads();
    let mut i = lane.grid_thread();
    while i < transactions {
        transaction(i);
        i += stride;
    }
}

/// Does the same with transactions that are critical sections: `draw` makes what `section` does
/// under the lock. It ends at the first fault, which the lock has recorded.
#[inline(always)]
pub(crate) fn for_each_locked<L: Lane, D>(
    lane: &L,
    lock: &Lock,
    transactions: u64,
    draw: impl Fn(u64) -> D,
    mut section: impl FnMut(D),
) {
    let stride = lane.grid_threads();
    let mut i = lane.grid_thread();
    while i < transactions {
        let drawn = draw(i);
        if lock.with(lane, 0, || section(drawn)).is_err() {
            return;
        }
        i += stride;
    }
}

/// Returns the address of element `i` of the array from `first` on. The caller must know that it has the
/// element: [`first`] checks this once, with the plan that draws `i`.
#[inline(always)]
pub(crate) fn at<T>(first: *mut T, i: u32) -> *mut T {
    first.wrapping_add(i as usize)
}

/// Returns the address of the first of `len` elements, if the array has that many.
#[inline(always)]
pub(crate) fn first<T: Element>(array: &TArray<T>, len: u64) -> Option<*mut T> {
    array.get(0).filter(|_| len <= array.len())
}
