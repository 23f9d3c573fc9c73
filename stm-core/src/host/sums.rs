//! Rows of sums in the memory of a device.

use crate::array::sums::{ROW_LEN_MAX, Summand, TSums, is_pending, row_words};
use crate::host::inspect::{Allocation, Items};
use crate::host::prelude::*;

/// `rows` rows of `row_len` sums of type `T`, for transactions of any algorithm: all use the same layout
/// ([`TSums`]), and a launch continues with what the one before left.
///
/// ```
/// use stm_core::host::{Cpu, Sums};
///
/// // Two rows of three: a transaction that reads conflicts with additions to the same row alone.
/// let mut sums = Sums::from_slice(&Cpu::new(), 3, &[1u64, 2, 3, 4, 5, 6], "sums")?;
/// assert_eq!((sums.rows(), sums.row_len()), (2, 3));
/// sums.clear()?;
/// assert_eq!(sums.download()?, [0; 6]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
#[derive(Debug)]
pub struct Sums<D: Device, T> {
    pub(super) memory: Allocation<D::Memory>,
    rows: usize,
    row_len: u32,
    what: &'static str,
    element: PhantomData<(D, T)>,
}

impl<D: Device, T: Pod + Summand> Sums<D, T> {
    /// Makes rows of zeros; `what` names them in an error.
    ///
    /// # Panics
    /// It panics if `row_len` is 0 or above 2^20.
    pub fn zeroed(device: &D, rows: usize, row_len: u32, what: &'static str) -> Result<Self> {
        let fits = (1..=ROW_LEN_MAX).contains(&row_len);
        assert!(fits, "a row of {row_len} elements: 1 to {ROW_LEN_MAX} fit");
        let stride = 8 * row_words::<T>(row_len) as usize;
        let items = Items {
            what,
            len: rows,
            stride,
            values: vec![(8, row_len as usize * size_of::<T>())],
            words: vec![0],
            is_unfinished: is_pending,
            named: ["row", "has additions pending"],
        };
        Ok(Self {
            memory: Allocation::zeroed(device, items)?,
            rows,
            row_len,
            what,
            element: PhantomData,
        })
    }

    /// Makes rows with the elements of `data`, one row after the other.
    ///
    /// # Panics
    /// It panics as [`Self::zeroed`] does, and if the last row is incomplete.
    pub fn from_slice(device: &D, row_len: u32, data: &[T], what: &'static str) -> Result<Self> {
        let rows = data.len() / (row_len.max(1) as usize);
        let mut sums = Self::zeroed(device, rows, row_len, what)?;
        sums.upload(data)?;
        Ok(sums)
    }

    /// Returns the number of bytes that rows take, or `None` if it does not fit the type.
    pub fn bytes_of(rows: u64, row_len: u32) -> Option<u64> {
        rows.checked_mul(8 * row_words::<T>(row_len))
    }

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.what
    }

    /// Returns the number of rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of elements of a row.
    pub const fn row_len(&self) -> u32 {
        self.row_len
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes() as u64
    }

    /// Returns the word by which a history names an element.
    pub fn word(&self, row: usize, column: u32) -> WordAddress {
        self.view().word(row as u64, column)
    }

    /// Replaces all elements, one row after the other.
    ///
    /// # Panics
    /// It panics if `data` is not as long as all rows.
    pub fn upload(&mut self, data: &[T]) -> Result {
        let len = self.rows * self.row_len as usize;
        assert_eq!(data.len(), len, "upload of another length than the rows'");
        self.memory.upload(bytes_of(data))
    }

    /// Sets all elements to zero.
    pub fn clear(&mut self) -> Result {
        self.memory.clear()
    }

    /// Copies all elements; additions pending in a row, which no launch leaves, are [`Error::Corrupt`].
    pub fn download(&self) -> Result<Vec<T>> {
        let mut data = vec![T::from_bits64(0); self.rows * self.row_len as usize];
        self.memory.download(bytes_of_mut(&mut data))?;
        Ok(data)
    }

    /// Returns a view for transactions, as a kernel parameter, not to be used after the rows are freed.
    pub fn view(&self) -> TSums<T> {
        // SAFETY: these are the rows, with nothing pending, and the caller of `launch` keeps them alive.
        unsafe { TSums::from_raw(self.memory.address().cast(), self.rows as u64, self.row_len) }
    }
}

// SAFETY: the view is of the rows' memory, which they write only while nobody has borrowed them.
stm_machine::__lent! {
    |it|
    [T: Summand + Pod] &Sums<D, T> => TSums<T>:
        it.memory.space(), Ok(it.view()), [it.memory.address()];
}
