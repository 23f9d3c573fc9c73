//! Cells: a typed view of an array whose elements each carry their version.

use crate::memory::version::CellWord;
use core::marker::PhantomData;
use stm_machine::{Element, Lane, Layout, View, WordAddress};

/// An array whose elements carry their versions, so that one load reads both, and one swap locks.
///
/// | element | cell |
/// | --- | --- |
/// | 32 bits | one word of 64: version, lock bit, value |
/// | 64 bits | two words of 64, aligned to 16 bytes: version and lock bit; value |
///
/// A lane with atomics of 128 bits ([`Lane::has_wide_atomics`]) accesses both words of a cell at once, others
/// one after the other with fences between. A cell of zeros is the value 0 that nobody has written.
///
/// ```
/// use stm_core::algorithm::{Algorithm, Fast, HvSorting};
/// use stm_core::{Layout, TArray, TCells, View};
///
/// // The arrays of `fast`; those of the other algorithms are plain.
/// assert_eq!(<TCells<u32> as View<u32>>::LAYOUT, Layout::Cells);
/// let _: fn(<Fast as Algorithm>::Array<u32>) -> TCells<u32> = |array| array;
/// let _: fn(<HvSorting as Algorithm>::Array<u32>) -> TArray<u32> = |array| array;
/// ```
#[repr(C)]
pub struct TCells<T> {
    start: *mut u64,
    len: u64,
    element: PhantomData<T>,
}

stm_machine::handle!([T] TCells<T>: start, len);

// SAFETY: `word` is the cell of an element, which is live by the promise of `from_start`.
#[stm_core_macros::inlined]
unsafe impl<T: Element> View<T> for TCells<T> {
    const LAYOUT: Layout = Layout::Cells;

    unsafe fn from_start(start: *mut u8, len: u64) -> Self {
        Self {
            start: start.cast(),
            len,
            element: PhantomData,
        }
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn peek<L: Lane>(&self, lane: &L, i: u64) -> Option<T> {
        if i >= self.len {
            return None;
        }
        let cell = self.word(i).pointer::<T>().cast::<u64>();
        // SAFETY: in range of a live array; a cell of a 64-bit element has a second word, its value.
        Some(T::from_bits64(unsafe {
            if T::WIDE && lane.has_wide_atomics() {
                // All accesses to a cell have the same width.
                lane.load_relaxed_128(cell)[1]
            } else if T::WIDE {
                lane.load_relaxed_64(cell.wrapping_add(1))
            } else {
                u64::from(CellWord(lane.load_relaxed_64(cell)).value())
            }
        }))
    }

    fn word(&self, i: u64) -> WordAddress {
        let words = if T::WIDE { 2 } else { 1 };
        let cell = self.start.wrapping_add((i as usize).wrapping_mul(words));
        WordAddress::of(cell.cast_const().cast::<T>())
    }
}
