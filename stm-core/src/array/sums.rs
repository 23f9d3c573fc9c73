//! Rows of sums: a typed view of elements to which transactions add without conflict.
//!
//! A *row* is a header word of 64 bits and `row_len` elements after it:
//!
//! | bits of a header | meaning |
//! | --- | --- |
//! | 63..20 | the number of additions that have ended, modulo 2^44 |
//! | 19..0 | the number of transactions that have announced additions and not yet ended them |
//!
//! A transaction counts once in each row, and only while it commits: fewer than the machine runs threads,
//! some 2^19 on the largest GPU, so the lower field cannot overflow. The upper one returns to a value that a
//! reader holds after 2^44 commits within one of its attempts, which takes days.
//!
//! The elements change by atomic additions only, and `fast` and `fast-table` read the header to tell whether
//! the row stands still. All others read and write the elements as plain words, without the header.
//!
//! Additions that do not fit on the lane's stack use the logs of the sets' entries, which may then be full.

use crate::hint::Sealed;
use core::marker::PhantomData;
use stm_machine::{Element, Lane, WordAddress};

/// The value that a transaction adds to a header to announce its additions.
pub(crate) const ANNOUNCED: u64 = 1;
/// The value that it adds when they have ended: one fewer pending, one more ended.
pub(crate) const ENDED: u64 = (1 << PENDING_BITS) - ANNOUNCED;
const PENDING_BITS: u32 = 20;

#[inline(always)]
pub(crate) const fn is_pending(header: u64) -> bool {
    header & ((1 << PENDING_BITS) - 1) != 0
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Addend {
    Word = 0,
    Float = 1,
    Wide = 2,
}

/// An element that atomics can add to: integers, which wrap, and `f32`, whose sums depend on the order.
///
/// ```
/// use stm_core::Summand;
///
/// assert_eq!(u32::MAX.plus(3), 2); // integers wrap
/// assert_eq!(1.5f32.plus(0.25), 1.75);
/// ```
pub trait Summand: Element + Sealed {
    /// The kind of its additions.
    #[doc(hidden)]
    const ADDED_AS: u32;

    /// Returns the sum of the two values.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! summand {
    ($ty:ty, $kind:ident, |$a:ident, $b:ident| $plus:expr) => {
        impl Sealed for $ty {}
        impl Summand for $ty {
            const ADDED_AS: u32 = Addend::$kind as u32;

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

/// A view of `rows` rows of `row_len` sums; the host's [`Sums`](crate::host::Sums) makes one.
///
/// Under `fast` and `fast-table`, additions of different transactions to an element do not conflict, while a
/// read conflicts with additions anywhere in its row. Long rows make additions cheap, as each transaction
/// touches the header of each of its rows twice; short rows make reads succeed more often.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Counts words by their last digit.
/// #[kernel]
/// pub fn histogram(stm: &Stm, words: Input<u32>, counts: Sums<u32>) {
///     stm.each(0..words.len(), |tx, i| {
///         let digit = words.get(stm.lane(), i).unwrap_or(0) % 10;
///         tx.add(counts, 0, digit, 1) // conflicts with no other addition
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let cpu = Cpu::new();
/// let mut stm = Stm::on(&cpu)?;
/// let words = Buffer::from_slice(&cpu, &[11u32, 21, 32], "words")?;
/// let counts = stm_core::host::Sums::<_, u32>::zeroed(&cpu, 1, 10, "counts")?;
/// histogram::launch(&mut stm, Launch::new(1, 2), &words, &counts)?;
/// assert_eq!(counts.download()?[..4], [0, 2, 1, 0]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct TSums<T> {
    start: *mut u64,
    rows: u64,
    row_len: u32,
    row_words: u32,
    element: PhantomData<T>,
}

stm_machine::handle!([T] TSums<T>: start, rows, row_len; ..);

pub(crate) const ROW_LEN_MAX: u32 = 1 << 20;

/// Returns how many words of 64 bits a row takes, including its header.
pub(crate) const fn row_words<T: Element>(row_len: u32) -> u64 {
    1 + if T::WIDE {
        row_len as u64
    } else {
        (row_len as u64).div_ceil(2)
    }
}

#[stm_core_macros::inlined]
impl<T: Summand> TSums<T> {
    /// Returns a view of `rows` rows that begin at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to 8 and points to the live words of `rows` rows in the memory of the device
    ///    whose kernels will use the view; each row is a header, 0 at first, and its elements, in whole words
    ///    of 64 bits;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, only transactions and [`Self::peek`] access them, by views of one layout for each
    ///    row;
    /// 4. `row_len` is at most 2^20.
    pub const unsafe fn from_raw(start: *mut u64, rows: u64, row_len: u32) -> Self {
        Self {
            start,
            rows,
            row_len,
            row_words: row_words::<T>(row_len) as u32,
            element: PhantomData,
        }
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of elements of a row.
    pub const fn row_len(&self) -> u32 {
        self.row_len
    }

    /// Views the same rows as elements of another type of this width, for rows that mix integers and floats.
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

    /// Returns the header of a row. It may be accessed only if `row < rows()`.
    pub(crate) fn header(&self, row: u64) -> *mut u64 {
        self.start
            .wrapping_add(row.wrapping_mul(u64::from(self.row_words)) as usize)
    }

    pub(crate) fn element(&self, row: u64, column: u32) -> *mut T {
        self.header(row)
            .wrapping_add(1)
            .cast::<T>()
            .wrapping_add(column as usize)
    }

    /// Returns the word of an element, by which histories name it. It may be accessed if the element exists.
    pub fn word(&self, row: u64, column: u32) -> WordAddress {
        WordAddress::of(self.element(row, column).cast_const())
    }

    /// Returns the present value of an element, or `None` past the end: one relaxed load, without a
    /// transaction, which may see some additions of a commit and miss others.
    pub fn peek<L: Lane>(&self, lane: &L, row: u64, column: u32) -> Option<T> {
        (row < self.rows && column < self.row_len)
            // SAFETY: in range of live rows (`from_raw`).
            .then(|| unsafe { self.word(row, column).load_relaxed(lane) })
    }
}

/// Consecutive elements of one row.
#[derive(Clone, Copy)]
pub struct RowSlice<T> {
    pub(crate) header: *mut u64,
    pub(crate) first: u32,
    pub(crate) start: *mut T,
    pub(crate) count: u32,
}

#[stm_core_macros::inlined]
impl<T: Element> RowSlice<T> {
    /// Returns the word of element `k`, or of the last element if there are fewer.
    pub(crate) fn word(&self, k: u32) -> WordAddress {
        let element = self
            .start
            .wrapping_add(k.min(self.count.wrapping_sub(1)) as usize);
        WordAddress::of(element.cast_const())
    }

    /// Returns the words of the first `N` elements; the last one repeats.
    pub(crate) fn words<const N: usize>(&self) -> [WordAddress; N] {
        core::array::from_fn(|k| self.word(k as u32))
    }
}
