//! Yardsticks for the transactional memory: the workloads' accesses without
//! transactions.
//!
//! | kernel | is | result |
//! | --- | --- | --- |
//! | `Floor` of [`ra`], [`bank`], [`ht`], [`eigenbench`], [`genome`], [`kmeans`]; [`ra::CellsFloor`] | a *floor*: the same draws and the same addresses, relaxed loads and stores, nothing that synchronises | unsafe: updates may be lost |
//! | [`ra::Additions`], [`bank::Additions`], [`ht::CasTable`], [`genome::CasSet`], [`kmeans::Additions`] | a *rival*: what one writes by hand for this workload and no other | right, and verified |
//!
//! A floor shows how fast the memory system serves these accesses with this
//! kernel's order of loads and stores. It is no lower bound for every program
//! that computes the same result: a rival that needs fewer accesses can be
//! faster. All loads of a transaction are in flight before the first result is
//! used, as far as its batches reach. The length of an array is checked once
//! for each launch and not at each access, as the comparison is to show
//! everything that a transactional memory adds, including such checks.

pub mod bank;
pub mod eigenbench;
pub mod genome;
pub mod ht;
pub mod kmeans;
pub mod ra;

use stm_core::{Element, Lane, TArray};

/// Calls `transaction` for the numbers that `StmRef::for_each` gives to this
/// lane: its own number, and then every one that is a multiple of the number of
/// lanes further on.
#[inline(always)]
fn for_each<L: Lane>(lane: &L, transactions: u64, mut transaction: impl FnMut(u64)) {
    let stride = lane.grid_threads();
    let mut i = lane.grid_thread();
    while i < transactions {
        transaction(i);
        i += stride;
    }
}

/// Returns the address of element `i` of the array whose first element is at
/// `first`.
///
/// Before the address is accessed, the caller must know that the array has the
/// element: [`first`] checks this once, with the plan that draws `i`.
#[inline(always)]
fn at<T>(first: *mut T, i: u32) -> *mut T {
    first.wrapping_add(i as usize)
}

/// Returns the address of the first of `len` elements, if the array has that
/// many.
#[inline(always)]
fn first<T: Element>(array: &TArray<T>, len: u64) -> Option<*mut T> {
    array.get(0).filter(|_| len <= array.len())
}
