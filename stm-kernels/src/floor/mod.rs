//! What the transactional memory is measured against: the workloads' accesses
//! without transactions.
//!
//! | kernel | is | result |
//! | --- | --- | --- |
//! | `Floor` of [`ra`], [`bank`], [`ht`], [`eigenbench`], [`genome`], [`kmeans`]; [`ra::CellsFloor`] | a *floor*: the same draws and the same addresses, relaxed loads and stores, nothing that synchronises | unsafe: updates may be lost |
//! | [`ra::Additions`], [`bank::Additions`], [`ht::CasTable`], [`genome::CasSet`], [`kmeans::Additions`] | a *rival*: what one writes by hand for this workload and no other | right, and verified |
//!
//! A floor says what the memory system gives to these accesses, so no
//! transactional memory can be faster. All loads of a transaction are in flight
//! before the first result is used, as far as its batches reach. Arrays are
//! checked for being there once a launch, not once an access: what a
//! transactional memory adds is to be seen, this included.

pub mod bank;
pub mod eigenbench;
pub mod genome;
pub mod ht;
pub mod kmeans;
pub mod ra;

use stm_core::{Element, Lane, TArray};

/// Runs `transaction` for the numbers that `StmRef::for_each` gives this lane:
/// its own, and every so many as there are lanes.
#[inline(always)]
fn for_each<L: Lane>(lane: &L, transactions: u64, mut transaction: impl FnMut(u64)) {
    let stride = lane.grid_threads();
    let mut i = lane.grid_thread();
    while i < transactions {
        transaction(i);
        i += stride;
    }
}

/// Returns the address of element `i` of the array whose first is `first`.
///
/// The caller's obligation is that the array has it, before anything follows
/// the address: checked once by [`first`], with the plan that draws `i`.
#[inline(always)]
fn at<T>(first: *mut T, i: u32) -> *mut T {
    first.wrapping_add(i as usize)
}

/// Returns the address of the first of `len` elements, if the array has as
/// many.
#[inline(always)]
fn first<T: Element>(array: &TArray<T>, len: u64) -> Option<*mut T> {
    array.get(0).filter(|_| len <= array.len())
}
