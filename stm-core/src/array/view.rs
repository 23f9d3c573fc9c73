//! Layouts: how the elements of a transactional array lie in memory.
//!
//! | layout | size of an element | view | used by |
//! | --- | --- | --- | --- |
//! | [`Layout::Plain`] | its own size | [`TArray`](crate::TArray) | algorithms with a lock table, or with one lock |
//! | [`Layout::Cells`] | 8 bytes, or 16 for 64-bit elements | [`TCells`](crate::TCells) | algorithms that keep a version beside each value |
//!
//! A kernel that declares its arrays as `A::Array<T>` runs under every
//! algorithm `A`.

use crate::lane::Lane;
use crate::memory::word::{Element, WordAddress};

/// The layout of elements in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The elements follow each other, as in a slice.
    Plain,
    /// Each element is in a cell together with its version.
    Cells,
}

impl Layout {
    /// Returns the number of bytes from one element to the next.
    pub const fn stride<T: Element>(self) -> usize {
        match (self, T::WIDE) {
            (Self::Plain, false) => 4,
            (Self::Plain, true) | (Self::Cells, false) => 8,
            (Self::Cells, true) => 16,
        }
    }
}

/// A typed view of an array that transactions access: a pointer and a length,
/// small enough to be a kernel parameter. An index past the end is an error
/// that the host reports; it never becomes a wild access.
pub trait View<T: Element>: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The layout of the array.
    const LAYOUT: Layout;

    /// Makes a view of `len` elements that begin at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to [`Layout::stride`] and points to `len` live
    ///    elements of this layout, in the memory of the device whose kernels
    ///    will use the view;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, transactions and [`View::peek`] are the only accesses
    ///    to them, and all views of one word are of the same type.
    unsafe fn from_start(start: *mut u8, len: u64) -> Self;

    /// Returns the number of elements.
    fn len(&self) -> u64;

    /// Returns whether there are no elements.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the word of element `i`: its address or that of its cell, by
    /// which the algorithms access it and histories name it. It may be accessed
    /// only if `i < len()`.
    fn word(&self, i: u64) -> WordAddress;

    /// Returns the present value of element `i` without a transaction, or
    /// `None` past the end.
    ///
    /// It is one relaxed load. While other lanes run transactions, it finds a
    /// value that the host or some commit left there, which may be old, and two
    /// such loads may find values that never existed together. It never finds
    /// half of an element. It never finds a value that an aborted attempt wrote
    /// by [`Tx::write`](crate::Tx::write), because a commit writes back only
    /// when nothing can stop it any more. This is not true of the words of a new
    /// node ([`Tx::alloc_record`](crate::Tx::alloc_record),
    /// [`Tx::init`](crate::Tx::init)) under `fast` and `fast-table`: they are
    /// stored at once, but only those who have the node's index find them.
    fn peek<L: Lane>(&self, lane: &L, i: u64) -> Option<T>;
}
