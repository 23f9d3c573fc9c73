//! How an array that transactions share is laid out: what an algorithm reads
//! and writes through.
//!
//! | layout | an element takes | view | for |
//! | --- | --- | --- | --- |
//! | [`Layout::Plain`] | its own size | [`TArray`](crate::TArray) | algorithms with a table of locks, or one lock |
//! | [`Layout::Cells`] | 8 bytes, or 16 for 64-bit elements | [`TCells`](crate::TCells) | algorithms with a version beside each value |
//!
//! A kernel that names its arrays `A::Array<T>` runs with every algorithm `A`.

use crate::lane::Lane;
use crate::memory::word::{Element, WordAddress};

/// How elements lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// One after the other, as in a slice.
    Plain,
    /// Each in a cell with its version.
    Cells,
}

impl Layout {
    /// Bytes from one element to the next.
    pub const fn stride<T: Element>(self) -> usize {
        match (self, T::WIDE) {
            (Self::Plain, false) => 4,
            (Self::Plain, true) | (Self::Cells, false) => 8,
            (Self::Cells, true) => 16,
        }
    }
}

/// A typed view of an array in shared memory: a pointer and a length, small
/// enough to be a kernel parameter. An index past the end is an error that the
/// host reports; it is never a wild access.
pub trait View<T: Element>: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The layout of what it views.
    const LAYOUT: Layout;

    /// A view of `len` elements that begin at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to [`Layout::stride`] and points to `len` live
    ///    elements of this layout, in the memory of the device whose kernels
    ///    will use the view;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, transactions and [`View::peek`] are the only accesses
    ///    to them, and all views of one word are of the same type.
    unsafe fn from_start(start: *mut u8, len: u64) -> Self;

    /// The number of elements.
    fn len(&self) -> u64;

    /// Whether there are no elements.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word that element `i` is: its address, or that of its cell, by which
    /// the algorithms reach it and histories name it. To be followed only if
    /// `i < len()`.
    fn word(&self, i: u64) -> WordAddress;

    /// Element `i` as it is now, without a transaction; `None` past the end.
    ///
    /// One relaxed load: while other lanes run transactions, it finds what the
    /// host or some commit left there, which may be old, and two such loads may
    /// find what never was together. It never finds what an attempt that aborts
    /// has written, nor half of an element: a cell's value is stored when
    /// nothing can stop the commit any more.
    fn peek<L: Lane>(&self, lane: &L, i: u64) -> Option<T>;
}
