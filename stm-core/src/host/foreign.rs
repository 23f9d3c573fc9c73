//! Memory of others as arrays of transactions: of an algorithm with plain arrays (`fast-table`, the paper's)
//! as it is, else copied into cells and back by the device.

use crate::host::arranged::TxArray;
use crate::host::inspect::{OWNED_CELL, unfinished};
use crate::host::prelude::*;
use crate::kernel::copy::{FromCells, FromCellsParams, IntoCells, IntoCellsParams};
use stm_machine::TArray;
use stm_machine::host::Limits;

/// Gives the view of a [`ForeignArray`] that the transactions of an algorithm use.
///
/// Lend the array to a launch as `&array`, for a kernel's parameter `&A::Array<T>`. Under an algorithm that
/// keeps versions beside the values, copy it into a [`TxArray`](crate::host::TxArray) of cells and back.
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
    /// Returns a view for transactions of algorithm `A`, as a kernel parameter, which must not be used after
    /// the borrow. An algorithm that keeps versions beside the values is [`Error::ForeignCells`].
    fn try_view<A: Algorithm>(&self) -> Result<A::Array<T>>;
}

impl<D: Device, T: Pod + Element> ForeignView<T> for ForeignArray<'_, D, T> {
    fn try_view<A: Algorithm>(&self) -> Result<A::Array<T>> {
        self.view_for(A::NAME)
    }
}

/// Returns the shape of a copy of so many words: 8 blocks of 256 threads on each multiprocessor of a GPU,
/// which fill it, and never more than there is work for.
fn shape_of(limits: &Limits, words: u64) -> Launch {
    let threads = (8 * limits.warp_width).min(limits.threads_max);
    let blocks = (8 * limits.processors).min(limits.blocks_max);
    let needed = words.div_ceil(u64::from(threads)).max(1);
    Launch::new(needed.min(u64::from(blocks)) as u32, threads)
}

impl<D: Device, T: Pod + Element> TxArray<D, T> {
    /// Replaces all elements by those of foreign memory; cells get the version that [`Self::upload`] gives
    /// them. The device copies, and nothing goes through the host, which waits. Returns the time that the
    /// device took; the errors are [`Error::OtherLength`] and [`Error::OtherDevice`].
    pub fn copy_from(&mut self, from: &ForeignArray<'_, D, T>) -> Result<Duration> {
        self.copy(from, false)
    }

    /// Copies all elements to foreign memory, as [`Self::copy_from`] does in the other direction, with its
    /// errors. A cell that a transaction owns, which no launch leaves, is [`Error::Corrupt`].
    pub fn copy_to(&mut self, to: &mut ForeignArray<'_, D, T>) -> Result<Duration> {
        self.copy(to, true)
    }

    /// Copies all elements to foreign memory if they go `out`, or else from it.
    fn copy(&mut self, other: &ForeignArray<'_, D, T>, out: bool) -> Result<Duration> {
        if other.len() != self.len() {
            return Err(Error::OtherLength {
                what: self.name(),
                len: self.len(),
                other: other.name(),
                other_len: other.len(),
            });
        }
        let elements = other.elements_on(&self.device)?;
        let (own, foreign) = (self.memory.address(), elements.at(0).cast::<u8>());
        let (to, from) = if out { (foreign, own) } else { (own, foreign) };
        match (self.layout(), T::WIDE) {
            // SAFETY: so many bytes of this device each, one borrowed alone, the other the array's own.
            (Layout::Plain, _) => unsafe {
                self.device.copy(to, from, self.len() * size_of::<T>())
            },
            (Layout::Cells, false) => self.copy_cells::<u32>(elements, out),
            (Layout::Cells, true) => self.copy_cells::<u64>(elements, out),
        }
    }

    /// Does the same with cells by kernels. `W` is as wide as an element.
    fn copy_cells<W: Element>(&mut self, elements: TArray<T>, out: bool) -> Result<Duration>
    where
        IntoCells<W>: crate::Kernel<Params = IntoCellsParams<W>>,
        FromCells<W>: crate::Kernel<Params = FromCellsParams<W>>,
    {
        debug_assert_eq!(size_of::<T>(), size_of::<W>());
        // SAFETY: the elements are aligned to the size of a `W`, of any bit pattern, and nobody else's.
        let elements = unsafe { TArray::<W>::from_raw(elements.at(0).cast(), elements.len()) };
        let (start, words) = (self.memory.address(), Layout::Cells.stride::<T>() / 8);
        // SAFETY: the memory has so many words for each element, and is this array's alone.
        let cells = unsafe { TArray::<u64>::from_raw(start.cast(), (self.len() * words) as u64) };
        let shape = shape_of(&self.device.limits(), cells.len());
        if !out {
            let params = IntoCellsParams { elements, cells };
            // SAFETY: as many elements as cells are on this device, one side borrowed alone, the other the
            // array's own, and used by nothing else until `launch` returns.
            return unsafe { self.device.launch::<IntoCells<W>>(&shape, &params) };
        }
        let owned = match &mut self.owned {
            Some(owned) => owned,
            none => none.insert(Buffer::zeroed(&self.device, 1, "the result of a copy")?),
        };
        let params = FromCellsParams {
            cells,
            elements,
            owned: owned.tarray(),
        };
        // SAFETY: as above.
        let time = unsafe { self.device.launch::<FromCells<W>>(&shape, &params) }?;
        let Some(cell) = owned.download()?[0].checked_sub(1) else {
            return Ok(time);
        };
        owned.clear()?;
        let what = unfinished(OWNED_CELL, cell as usize, self.name());
        Err(Error::Corrupt { what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::version::CellWord;
    use core::fmt::Debug;
    use std::borrow::ToOwned;
    use stm_machine::host::Cpu;

    fn copies_with_an_owned_cell<T: Pod + Element + Debug>(len: usize, cell: usize) {
        let cpu = Cpu::new();
        let mut data: Vec<T> = vec![T::from_bits64(3); len];
        let mut array = TxArray::from_slice(&cpu, Layout::Cells, &data, "an array").unwrap();
        let mut to = cpu.borrow("data", &mut data).unwrap();
        array.copy_to(&mut to).unwrap();
        let (at, held) = (cell * Layout::Cells.stride::<T>(), CellWord::LOCKED);
        array.memory.write(at, &held.to_le_bytes()).unwrap();
        let error = array.copy_to(&mut to).unwrap_err();
        let what = unfinished(OWNED_CELL, cell, "an array");
        assert_eq!(error, Error::Corrupt { what });
        assert_eq!(array.download().unwrap_err(), error);
        // A later copy looks anew.
        array.copy_from(&to).unwrap();
        array.copy_to(&mut to).unwrap();
    }

    #[test]
    fn a_copy_from_cells_of_which_one_is_owned_names_it() {
        for (len, cell) in [(1, 0), (100, 0), (100, 57), (100, 99)] {
            copies_with_an_owned_cell::<u32>(len, cell);
            copies_with_an_owned_cell::<f64>(len, cell);
        }
    }

    #[test]
    fn memory_of_another_address_space_is_refused_before_anything_is_copied() {
        let cpu = Cpu::new();
        let mut data = [7u32; 4];
        for layout in [Layout::Plain, Layout::Cells] {
            let mut array = TxArray::from_slice(&cpu, layout, &[1u32; 4], "an array").unwrap();
            let other = cpu.borrow("data", &mut data).unwrap();
            let mut other = other.as_if_in_space(1);
            let (what, device) = ("data", "cpu".to_owned());
            let refused = Err(Error::OtherDevice { what, device });
            assert_eq!(array.copy_from(&other), refused);
            assert_eq!(array.copy_to(&mut other), refused);
            assert_eq!(array.download().unwrap(), [1; 4]);
        }
        assert_eq!(data, [7; 4]);
    }

    #[test]
    fn a_copy_fills_the_device_and_launches_no_more_blocks_than_it_has_words_for() {
        let mut limits = Cpu::new().limits();
        (limits.warp_width, limits.processors) = (32, 132);
        let shape = |limits: &Limits, words| {
            let launch = shape_of(limits, words);
            assert!(launch.check(limits).is_ok());
            (launch.blocks, launch.threads)
        };
        assert_eq!(shape(&limits, 1 << 26), (1056, 256));
        assert_eq!(shape(&limits, 257), (2, 256));
        assert_eq!(shape(&limits, 1), (1, 256));
        (limits.threads_max, limits.blocks_max) = (64, 3);
        assert_eq!(shape(&limits, 1 << 26), (3, 64));
        // The CPU.
        (limits.warp_width, limits.processors) = (1, 2);
        assert_eq!(shape(&limits, 5), (1, 8));
    }
}
