//! Accesses to single elements of arrays that no transaction reads or writes. The host makes the
//! arrays long enough: past the end a load is 0, and a store does nothing.

use stm_core::{Element, Lane, TArray};
use stm_sync::Combined;

/// Loads element `i` of an array that nobody writes during a launch, or that only this lane has written.
#[inline(always)]
pub(crate) fn load<L: Lane, T: Element>(lane: &L, array: &TArray<T>, i: u64) -> u32 {
    const { assert!(!T::WIDE, "32 bits are loaded") }
    array
        .get(i)
        // SAFETY: in range of a live array of 32-bit words (`TArray`).
        .map_or(0, |p| unsafe {
            lane.load_relaxed_32(p.cast_const().cast())
        })
}

/// Does the same with 64 bits.
#[inline(always)]
pub(crate) fn load_64<L: Lane>(lane: &L, array: &TArray<u64>, i: u64) -> u64 {
    // SAFETY: in range of a live array of 64-bit words (`TArray`).
    array
        .get(i)
        .map_or(0, |p| unsafe { lane.load_relaxed_64(p) })
}

/// Stores element `i` of an array, which no other lane may access; the host reads it after the launch.
#[inline(always)]
pub(crate) fn store<L: Lane>(lane: &L, array: &TArray<u32>, i: u64, v: u32) {
    if let Some(p) = array.get(i) {
        // SAFETY: in range of a live array of 32-bit words (`TArray`).
        unsafe { lane.store_relaxed_32(p, v) };
    }
}

/// Does the same with 64 bits.
#[inline(always)]
pub(crate) fn store_64<L: Lane>(lane: &L, array: &TArray<u64>, i: u64, v: u64) {
    if let Some(p) = array.get(i) {
        // SAFETY: in range of a live array of 64-bit words (`TArray`).
        unsafe { lane.store_relaxed_64(p, v) };
    }
}

/// Adds to element `i`, to which the launch does nothing else; the host reads it afterwards.
#[inline(always)]
pub(crate) fn add<L: Lane>(lane: &L, array: &TArray<u64>, i: u64, n: u64) {
    if let Some(word) = array.get(i) {
        // SAFETY: in range of a live array of 64-bit words (`TArray`).
        unsafe { lane.add_relaxed_64(word, n) };
    }
}

/// A word that alone a combiner protects, as its holder keeps it, and what a request does to it.
pub(crate) struct Word<F>(pub(crate) *mut u32, pub(crate) F);

#[stm_core::inlined]
impl<F: Fn(&mut u32, u32) -> u32> Combined<1> for Word<F> {
    type State = u32;
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, lane: &L) -> u32 {
        // SAFETY: a live word that the combiner protects. Relaxed: it orders it.
        unsafe { lane.load_relaxed_32(self.0) }
    }

    fn apply<L: Lane>(&self, _lane: &L, word: &mut u32, [request]: [u32; 1]) -> u32 {
        (self.1)(word, request)
    }

    fn end<L: Lane>(&self, lane: &L, word: u32) {
        // SAFETY: as in `begin`.
        unsafe { lane.store_relaxed_32(self.0, word) };
    }
}
