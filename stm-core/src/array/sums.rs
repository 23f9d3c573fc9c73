//! A typed view of rows of sums, to which transactions add without conflict.
//!
//! A *row* is a header word of 64 bits and `row_len` elements after it:
//!
//! | bits of a header | meaning |
//! | --- | --- |
//! | 63..20 | additions ended, modulo 2^44 |
//! | 19..0 | transactions that have announced additions and not ended them |
//!
//! A transaction counts once in each row, and only while it commits, so the
//! lower field holds fewer than the threads that a machine runs at a time: some
//! 2^19 on the largest GPU. It cannot overflow, whatever the launch's size. The
//! upper field comes round to a value that some reader still holds after 2^44
//! commits within one of its attempts: days.
//!
//! Elements change by atomic additions only, and the versioned algorithms look
//! at the header to tell whether a row stands still. All other algorithms take
//! the elements for plain words, read and write them, and leave the header
//! alone: so there is one layout for all.
//!
//! Additions of a transaction that do not fit on the lane's stack share the logs
//! with the entries of its sets. While they do, a word that was read several
//! times takes room several times, and a set may be full before it has as many
//! distinct words as the capacity says.

use crate::lane::Lane;
use crate::memory::word::{Element, WordAddress};
use core::marker::PhantomData;

/// What one transaction adds to a header when its additions begin.
pub(crate) const ANNOUNCED: u64 = 1;
/// What it adds when they have ended: one fewer pending, one more ended.
pub(crate) const ENDED: u64 = (1 << PENDING_BITS) - ANNOUNCED;
/// Bits of the lower field.
const PENDING_BITS: u32 = 20;

/// Whether a row whose header is this has additions in progress.
#[inline(always)]
pub(crate) const fn is_pending(header: u64) -> bool {
    header & ((1 << PENDING_BITS) - 1) != 0
}

/// How an addition is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Addend {
    /// Of 32 bits, wrapping.
    Word = 0,
    /// Of an `f32`.
    Float = 1,
    /// Of 64 bits, wrapping.
    Wide = 2,
}

mod sealed {
    pub trait Sealed {
        const KIND: u32;
    }
}

/// An element that atomics add to: `u32`, `i32`, `u64` and `i64`, which wrap,
/// and `f32`, whose sums depend on the order of the additions.
pub trait Summand: Element + sealed::Sealed {
    /// How it is added.
    #[doc(hidden)]
    const ADDED_AS: u32 = <Self as sealed::Sealed>::KIND;

    /// The sum.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! summand {
    ($ty:ty, $kind:ident, |$a:ident, $b:ident| $plus:expr) => {
        impl sealed::Sealed for $ty {
            const KIND: u32 = Addend::$kind as u32;
        }
        impl Summand for $ty {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $plus
            }
        }
    };
}

summand!(u32, Word, |a, b| a.wrapping_add(b));
summand!(i32, Word, |a, b| a.wrapping_add(b));
summand!(f32, Float, |a, b| a + b);
summand!(u64, Wide, |a, b| a.wrapping_add(b));
summand!(i64, Wide, |a, b| a.wrapping_add(b));

/// Rows of sums: `rows` times `row_len` elements, small enough to be a kernel
/// parameter. The host's [`Sums`](crate::host::Sums) makes one.
///
/// Additions of different transactions to the same element do not conflict
/// under the versioned algorithms; a read conflicts with additions anywhere in
/// its row. So long rows make additions cheap, as each transaction touches the
/// header of each of its rows twice, and short ones make reads succeed.
#[repr(C)]
pub struct TSums<T> {
    start: *mut u64,
    rows: u64,
    row_len: u32,
    row_words: u32,
    element: PhantomData<T>,
}

// SAFETY: the pointer is only followed through a `Lane`, whose accesses are
// atomic, and `from_raw` demands memory that outlives the launch.
unsafe impl<T: Send> Send for TSums<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for TSums<T> {}

impl<T> Clone for TSums<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for TSums<T> {}

impl<T> core::fmt::Debug for TSums<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TSums")
            .field("start", &self.start)
            .field("rows", &self.rows)
            .field("row_len", &self.row_len)
            .finish_non_exhaustive()
    }
}

/// The most elements of a row.
pub(crate) const ROW_LEN_MAX: u32 = 1 << 20;

/// Words of 64 bits of a row, the header included.
pub(crate) const fn row_words<T: Element>(row_len: u32) -> u64 {
    1 + if T::WIDE {
        row_len as u64
    } else {
        (row_len as u64).div_ceil(2)
    }
}

impl<T: Summand> TSums<T> {
    /// A view of `rows` rows that begin at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to 8 and points to `rows` times [`row_words`] live
    ///    words, with each header 0 at first, in the memory of the device whose
    ///    kernels will use the view;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, transactions and [`Self::peek`] are the only accesses
    ///    to them, and all views of one row have the same layout;
    /// 4. `row_len` is at most [`ROW_LEN_MAX`].
    pub const unsafe fn from_raw(start: *mut u64, rows: u64, row_len: u32) -> Self {
        Self {
            start,
            rows,
            row_len,
            row_words: row_words::<T>(row_len) as u32,
            element: PhantomData,
        }
    }

    /// The number of rows.
    #[inline(always)]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of elements of a row.
    #[inline(always)]
    pub const fn row_len(&self) -> u32 {
        self.row_len
    }

    /// The same rows as elements of another type as wide: for rows in which
    /// some elements are integers and others floats. Whoever reads an element
    /// takes its bits for the type of the view.
    #[inline(always)]
    #[must_use]
    pub const fn cast<U: Summand>(self) -> TSums<U> {
        const { assert!(T::WIDE == U::WIDE, "as wide as the rows' own type") }
        TSums {
            start: self.start,
            rows: self.rows,
            row_len: self.row_len,
            row_words: self.row_words,
            element: PhantomData,
        }
    }

    /// The header of a row, to be followed only if `row < rows()`.
    #[inline(always)]
    pub(crate) fn header(&self, row: u64) -> *mut u64 {
        self.start
            .wrapping_add(row.wrapping_mul(u64::from(self.row_words)) as usize)
    }

    /// The first element of a row from `column` on.
    #[inline(always)]
    pub(crate) fn element(&self, row: u64, column: u32) -> *mut T {
        self.header(row)
            .wrapping_add(1)
            .cast::<T>()
            .wrapping_add(column as usize)
    }

    /// The word that an element is, by which histories name it. To be followed
    /// only if it exists.
    #[inline(always)]
    pub fn word(&self, row: u64, column: u32) -> WordAddress {
        WordAddress::of(self.element(row, column).cast_const())
    }

    /// An element as it is now, without a transaction; `None` past the end. One
    /// relaxed load, which may find some additions of a commit and not others.
    #[inline(always)]
    pub fn peek<L: Lane>(&self, lane: &L, row: u64, column: u32) -> Option<T> {
        (row < self.rows && column < self.row_len)
            // SAFETY: in range of live rows (`from_raw`).
            .then(|| unsafe { self.word(row, column).load_relaxed(lane) })
    }
}

/// Elements of one row that follow each other.
#[derive(Clone, Copy)]
pub struct RowSlice<T> {
    /// The row's header.
    pub(crate) header: *mut u64,
    /// The first element's number in its row.
    pub(crate) first: u32,
    /// The first element.
    pub(crate) start: *mut T,
    /// How many.
    pub(crate) count: u32,
}

impl<T: Element> RowSlice<T> {
    /// Element `k`; past the end, of which there is none, the last.
    #[inline(always)]
    pub(crate) fn word(&self, k: u32) -> WordAddress {
        let element = self
            .start
            .wrapping_add(k.min(self.count.wrapping_sub(1)) as usize);
        WordAddress::of(element.cast_const())
    }

    /// The first `N` elements, the last repeated.
    #[inline(always)]
    pub(crate) fn words<const N: usize>(&self) -> [WordAddress; N] {
        core::array::from_fn(|k| self.word(k as u32))
    }
}
