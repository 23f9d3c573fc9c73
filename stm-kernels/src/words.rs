//! Accesses to single elements of arrays that no transaction reads or writes. The host makes the
//! arrays long enough: past the end a load is 0, and a store does nothing.

use stm_core::internal::memory::Word;
use stm_core::{Element, Lane, TArray};
use stm_sync::Combined;

/// Loads element `i` of an array that nobody writes during a launch, or that only this lane has written.
#[inline(always)]
pub(crate) fn load<L: Lane, T: Element>(lane: &L, array: &TArray<T>, i: u64) -> u32 {
    const { assert!(!T::WIDE, "32 bits are loaded") }
    // SAFETY: in range of a live array of 32-bit words (`TArray`).
    (array.get(i)).map_or(0, |p| unsafe { lane.load_relaxed_32(p.cast()) })
}

/// Does the same with 64 bits.
#[inline(always)]
pub(crate) fn load_64<L: Lane>(lane: &L, array: &TArray<u64>, i: u64) -> u64 {
    // SAFETY: in range of a live array of 64-bit words (`TArray`).
    (array.get(i)).map_or(0, |p| unsafe { lane.load_relaxed_64(p) })
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

/// Returns an array, if it has so many elements, and some.
#[inline(always)]
pub(crate) fn whole<T: Element>(array: &TArray<T>, len: u64) -> Option<TArray<T>> {
    (len <= array.len() && !array.is_empty()).then_some(*array)
}

/// An array of whose elements the caller knows that they are there: [`whole`] has checked once that it is as long
/// as the plan needs that draws them.
pub(crate) trait Known<T> {
    /// Returns element `i` as a lane accesses it.
    fn nth<'l, L: Lane>(&self, lane: &'l L, i: impl Into<u64>) -> Word<'l, L, T>;
}

impl<T: Element> Known<T> for TArray<T> {
    #[inline(always)]
    fn nth<'l, L: Lane>(&self, lane: &'l L, i: impl Into<u64>) -> Word<'l, L, T> {
        let i = i.into();
        debug_assert!(i < self.len(), "element {i} of {}", self.len());
        // SAFETY: an element, as the caller knows, of a live array whose views have its width (`TArray`).
        unsafe { Word::of(lane, self.at(i)) }
    }
}

/// A word that alone a combiner protects, as its holder keeps it, and what a request does to it.
pub(crate) struct Kept<W, F>(pub(crate) W, pub(crate) F);

#[stm_core::inlined]
impl<M: Lane, F: Fn(&mut u32, u32) -> u32> Combined<1> for Kept<Word<'_, M, u32>, F> {
    type State = u32;
    // Nothing but the word is protected.
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, _lane: &L) -> u32 {
        // Relaxed, here and below: the combiner orders it.
        self.0.load()
    }

    fn apply<L: Lane>(&self, _lane: &L, word: &mut u32, [request]: [u32; 1]) -> u32 {
        (self.1)(word, request)
    }

    fn end<L: Lane>(&self, _lane: &L, word: u32) {
        self.0.store(word);
    }
}
