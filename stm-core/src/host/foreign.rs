//! Arrays over memory that somebody else owns, as the arrays of transactions: of an algorithm with
//! plain arrays (`fast-table`, and the paper's) as they are, else copied into cells and back.

use crate::algorithm::contract::Algorithm;
use stm_machine::Element;
use stm_machine::host::{Device, Error, ForeignArray, Pod};

/// Gives the view of a [`ForeignArray`] that the transactions of an algorithm use.
///
/// Lend the array to a launch as `&array`, for a kernel's parameter `&A::Array<T>`. Under an
/// algorithm that keeps versions beside the values, copy it into a
/// [`TxArray`](crate::host::TxArray) of cells and back.
///
/// ```
/// use stm_core::prelude::*;
///
/// #[kernel]
/// pub fn raise_one(stm: &Stm, words: Cells<u32>) {
///     stm.each(0..words.len(), |tx, i| {
///         let word = tx.read(words, i)?;
///         tx.write(words, i, word + 1)
///     });
/// }
///
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let (device, mut data) = (Cpu::new(), vec![1u32; 10]);
/// let mut stm = Stm::on(&device)?;
/// let words = device.borrow("words", &mut data)?; // as it is
/// raise_one::launch_with::<FastTable, _>(&mut stm, Launch::new(2, 4), &words)?;
///
/// let mut stm = Stm::on(&device)?;
/// let mut cells = stm.array("cells", &[0u32; 10])?; // through cells
/// let mut words = device.borrow("words", &mut data)?;
/// cells.copy_from(&words)?;
/// raise_one::launch(&mut stm, Launch::new(2, 4), &cells)?;
/// cells.copy_to(&mut words)?;
/// assert_eq!(data, [3; 10]);
/// # Ok(()) }
/// ```
pub trait ForeignView<T: Element> {
    /// Returns a view for transactions of algorithm `A`, as a kernel parameter. It must not be used
    /// after the borrow has ended, which the caller of `Device::launch` promises.
    ///
    /// # Errors
    /// [`Error::ForeignCells`] if the algorithm keeps versions beside the values.
    fn try_view<A: Algorithm>(&self) -> Result<A::Array<T>, Error>;
}

impl<D: Device, T: Pod + Element> ForeignView<T> for ForeignArray<'_, D, T> {
    fn try_view<A: Algorithm>(&self) -> Result<A::Array<T>, Error> {
        self.view_for(A::NAME)
    }
}
