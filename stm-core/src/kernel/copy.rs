//! The kernels that the library itself launches: elements are copied into cells and back, in the memory of
//! the device, by the 64-bit words of the cells, one a lane at a time, so that a warp accesses neighbours:
//!
//! | element | word of the cells | from cells |
//! | --- | --- | --- |
//! | 32 bits | version 0 and the element | the element |
//! | 64 bits, first word | version 0 | nothing |
//! | 64 bits, second word | the element | the element |
//!
//! On the CPU each thread has words that follow one another. Nothing synchronises, because no transaction
//! runs meanwhile; `ORDERING.md`, "Cells of another `Stm`", says why any version of a cell is valid. The
//! entry points are in `stm-kernels`, and their PTX is in `ptx/` of this crate.

use crate::memory::version::CellWord;
use core::marker::PhantomData;
use stm_machine::{Element, Kernel, Lane, TArray, View};

/// Copies elements into cells. `T` is `u32` or `u64`, and stands for all elements of its width.
#[derive(Clone, Copy, Debug)]
pub struct IntoCells<T>(PhantomData<T>);

/// The parameters of [`IntoCells`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IntoCellsParams<T> {
    /// The elements.
    pub elements: TArray<T>,
    /// The words of as many cells: one each, or two if `T` has 64 bits.
    pub cells: TArray<u64>,
}

/// Copies the values of cells to elements. `T` is `u32` or `u64`.
#[derive(Clone, Copy, Debug)]
pub struct FromCells<T>(PhantomData<T>);

/// The parameters of [`FromCells`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FromCellsParams<T> {
    /// The words of the cells.
    pub cells: TArray<u64>,
    /// The elements, as many as cells.
    pub elements: TArray<T>,
    /// One word, which gets the number of a cell that is owned, plus one, if there is such a cell.
    pub owned: TArray<u64>,
}

#[inline(always)]
const fn element_of<T: Element>(word: u64) -> u64 {
    if T::WIDE { word / 2 } else { word }
}

/// Returns whether a word of the cells has the value; the others of a cell have the version alone.
#[inline(always)]
const fn has_value<T: Element>(word: u64) -> bool {
    !T::WIDE || word % 2 == 1
}

/// Copies words 0 to `len - 1`, each by one lane of the grid.
#[inline(always)]
fn copy<L: Lane>(lane: &L, len: u64, load: impl Fn(&L, u64) -> u64, store: impl Fn(&L, u64, u64)) {
    let threads = lane.grid_threads();
    // Threads without a warp have words in a row each, so that no two share a cache line.
    let (mut word, step, len) = if lane.warp_width() == 1 {
        let part = len.div_ceil(threads);
        let first = lane.grid_thread() * part;
        (first, 1, len.min(first + part))
    } else {
        (lane.grid_thread(), threads, len)
    };
    while word + 3 * step < len {
        // Written out, so that the compiler keeps the four in registers.
        let [a, b, c, d] = [word, word + step, word + 2 * step, word + 3 * step];
        let bits = [load(lane, a), load(lane, b), load(lane, c), load(lane, d)];
        store(lane, a, bits[0]);
        store(lane, b, bits[1]);
        store(lane, c, bits[2]);
        store(lane, d, bits[3]);
        word = d + step;
    }
    while word < len {
        store(lane, word, load(lane, word));
        word += step;
    }
}

impl<T: Element> IntoCells<T> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, params: &IntoCellsParams<T>) {
        let IntoCellsParams { elements, cells } = *params;
        copy(
            lane,
            cells.len(),
            |lane, word| {
                let element = elements.word(element_of::<T>(word));
                // SAFETY: there are as many elements as cells, and nobody
                // writes them. Relaxed: the launch comes after what wrote them.
                let value: T = unsafe { element.load_relaxed(lane) };
                if has_value::<T>(word) {
                    value.to_bits64()
                } else {
                    0
                }
            },
            // SAFETY: in range of a live array that nothing else accesses.
            // Relaxed: the next launch sees everything.
            |lane, word, bits| unsafe { cells.word(word).store_relaxed(lane, bits) },
        );
    }
}

impl<T: Element> FromCells<T> {
    #[inline(always)]
    fn body<L: Lane>(lane: &L, params: &FromCellsParams<T>) {
        let FromCellsParams {
            cells,
            elements,
            owned,
        } = *params;
        copy(
            lane,
            cells.len(),
            // SAFETY: in range of a live array that nobody writes. Relaxed: the launch is after its writers.
            |lane, word| unsafe { cells.word(word).load_relaxed(lane) },
            |lane, word, bits| {
                let element = element_of::<T>(word);
                // The version comes first in a cell.
                if (!T::WIDE || !has_value::<T>(word)) && CellWord(bits).is_locked() {
                    // SAFETY: the array has one word, to which all store.
                    unsafe { owned.word(0).store_relaxed(lane, element + 1) };
                }
                if has_value::<T>(word) {
                    // SAFETY: there are as many elements as cells, and nothing else accesses them.
                    unsafe {
                        (elements.word(element)).store_relaxed(lane, T::from_bits64(bits));
                    }
                }
            },
        );
    }
}

/// Makes kernels of the two types, with the names of their entry points and the files of their PTX.
macro_rules! kernels_of_words {
    ($($kernel:ident<$word:ty>($params:ident), $entry:literal, $file:literal;)*) => {
        $(
            impl Kernel for $kernel<$word> {
                const ENTRY: &'static str = $entry;
                type Params = $params<$word>;

                #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
                fn ptx(
                    build: stm_machine::kernel::Build,
                ) -> Result<std::borrow::Cow<'static, str>, stm_machine::host::Error> {
                    if build == stm_machine::kernel::Build::default() {
                        return Ok(include_str!(concat!("../../ptx/", $file, ".ptx")).into());
                    }
                    Err(stm_machine::host::Error::NoPtx { entry: Self::ENTRY })
                }

                #[inline(always)]
                fn run<L: Lane>(lane: &L, params: &Self::Params) {
                    Self::body(lane, params);
                }
            }
        )*
    };
}

kernels_of_words! {
    IntoCells<u32>(IntoCellsParams), "copy_into_cells_32", "copy/into-cells-32";
    IntoCells<u64>(IntoCellsParams), "copy_into_cells_64", "copy/into-cells-64";
    FromCells<u32>(FromCellsParams), "copy_from_cells_32", "copy/from-cells-32";
    FromCells<u64>(FromCellsParams), "copy_from_cells_64", "copy/from-cells-64";
}
