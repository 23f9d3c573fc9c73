//! Layouts: how the elements of an array lie in memory.
//!
//! | layout | size of an element | view |
//! | --- | --- | --- |
//! | [`Layout::Plain`] | its own size | [`TArray`](crate::TArray) |
//! | [`Layout::Cells`] | 8 bytes, or 16 for 64-bit elements | that of a library which keeps a word beside each value |

use crate::lane::Lane;
use crate::memory::word::{Element, WordAddress};

/// The layout of elements in memory.
///
/// ```
/// use stm_machine::Layout;
///
/// assert_eq!((Layout::Plain.stride::<u32>(), Layout::Plain.stride::<f64>()), (4, 8));
/// assert_eq!((Layout::Cells.stride::<u32>(), Layout::Cells.stride::<f64>()), (8, 16)); // bytes
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// The elements follow each other, as in a slice.
    Plain,
    /// Each element is in a cell together with a word that tells its versions apart.
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

/// A typed view of an array in a device's memory, a kernel parameter of a pointer and a length. An
/// index past the end is an error that the host reports; it never becomes a wild access.
///
/// A view is neither `Send` nor `Sync`, so that no static and no other thread keeps it for longer than
/// the launch, in which its memory lives.
///
/// ```
/// use stm_machine::{Lane, Output, TArray, View, host::{Buffer, Cpu, Launch, Watchdog}, kernel};
///
/// /// Returns the sum of what an array of any layout holds.
/// fn total<L: Lane>(lane: &L, words: &impl View<u32>) -> u32 {
///     (0..words.len()).filter_map(|i| words.peek(lane, i)).sum()
/// }
///
/// #[kernel]
/// pub fn add_all<L: Lane>(lane: &L, words: &TArray<u32>, sum: &Output<u32>) {
///     sum.set(lane, 0, total(lane, words));
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let cpu = Cpu::new();
/// let words = Buffer::from_slice(&cpu, &[1u32, 2, 3], "words")?;
/// let mut sum = Buffer::zeroed(&cpu, 1, "sum")?;
/// add_all::launch(&cpu, &mut Watchdog::new(&cpu, None)?, Launch::new(1, 1), &words, &mut sum)?;
/// assert_eq!(sum.download()?, [6u32]);
/// # Ok(()) }
/// ```
///
/// # Safety
/// 1. [`Self::word`] returns the word of an element for each index below [`Self::len`], of the memory
///    that [`Self::from_start`] was given;
/// 2. the type is neither `Send` nor `Sync`.
#[diagnostic::on_unimplemented(
    message = "the kernel's parameter `{Self}` does not have elements of type `{T}`",
    label = "an array of `{T}`",
    note = "the elements of the array that is lent and those of the kernel's parameter are of one type"
)]
pub unsafe trait View<T: Element>: Copy + core::fmt::Debug + 'static {
    /// The layout of the array.
    const LAYOUT: Layout;

    /// Makes a view of `len` elements that begin at `start`.
    ///
    /// # Safety
    /// 1. `start` is aligned to [`Layout::stride`] and points to `len` live elements of this layout, in the
    ///    memory of the device whose kernels will use the view;
    /// 2. they stay live while such a kernel runs;
    /// 3. while it runs, the library of the view and [`View::peek`] make the only accesses
    ///    to them, and all views of one word are of the same type.
    unsafe fn from_start(start: *mut u8, len: u64) -> Self;

    /// Returns the number of elements.
    fn len(&self) -> u64;

    /// Returns whether there are no elements.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the word of element `i`: its address or that of its cell, by which it is accessed,
    /// and by which logs name it. It may be accessed only if `i < len()`.
    fn word(&self, i: u64) -> WordAddress;

    /// Returns the present value of element `i`, or `None` past the end.
    ///
    /// It is one relaxed load. While other lanes change elements, it finds a value that some of them
    /// have left there, which may be old, and two such loads may find values that never existed
    /// together. It never finds half of an element.
    fn peek<L: Lane>(&self, lane: &L, i: u64) -> Option<T>;
}
