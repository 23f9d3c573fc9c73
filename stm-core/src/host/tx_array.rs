//! An array of elements that transactions access.

use crate::algorithm::contract::Algorithm;
use crate::host::arranged::{Arranged, Form};
use crate::host::inspect::{owned_cell, word, word_at};
use crate::memory::version::CellWord;
use core::marker::PhantomData;
use std::prelude::v1::*;
use stm_machine::host::{Device, Error, Pod};
use stm_machine::{Element, Layout, View, WordAddress};

/// `len` elements of `T` in the memory of a device, for transactions of any algorithm: the layout is
/// a value and can be changed. Cells may go from one [`Stm`](super::Stm) to another as they are, but
/// two launches at a time must not share them.
///
/// ```
/// use stm_core::prelude::*;
///
/// let mut stm = Stm::on(&Cpu::new())?;
/// let mut words = stm.array("the words", &[1_u32, 2, 3])?;
/// words.upload(&[4, 5, 6])?;
/// assert_eq!(words.download()?, [4, 5, 6]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
pub type TxArray<D, T> = Arranged<D, Elements<T>>;

/// Says that the items of an array are elements.
#[derive(Debug)]
pub struct Elements<T>(PhantomData<T>);

impl<T: Pod + Element> Form for Elements<T> {
    type Item = T;
    type View<A: Algorithm> = A::Array<T>;

    fn layout<A: Algorithm>() -> Layout {
        <A::Array<T> as View<T>>::LAYOUT
    }
    fn stride(layout: Layout) -> usize {
        layout.stride::<T>()
    }
    fn encode(bytes: &mut Vec<u8>, layout: Layout, value: T) {
        encode(bytes, layout, value);
    }
    fn decode(layout: Layout, bytes: &[u8]) -> Option<T> {
        decode(layout, bytes)
    }
    fn held(i: usize, what: &str) -> String {
        owned_cell(i, what)
    }
    unsafe fn view<A: Algorithm>(start: *mut u8, len: u64) -> A::Array<T> {
        // SAFETY: the caller promises it.
        unsafe { View::from_start(start, len) }
    }
}

impl<D: Device, T: Pod + Element> TxArray<D, T> {
    /// Returns the word by which a history names element `i`.
    pub fn word(&self, i: usize) -> WordAddress {
        let at = i * self.layout().stride::<T>();
        let place = self.memory.address().wrapping_add(at);
        WordAddress::of(place.cast::<T>().cast_const())
    }

    pub(super) fn view_for<V: View<T>>(&self, algorithm: &'static str) -> Result<V, Error> {
        self.check_layout_is(V::LAYOUT, algorithm)?;
        // SAFETY: the memory has `len` aligned elements of this layout; that
        // they live while a kernel runs is what the caller of `launch` promises.
        Ok(unsafe { View::from_start(self.memory.address(), self.len() as u64) })
    }
}

pub(super) fn encode<T: Element>(bytes: &mut Vec<u8>, layout: Layout, value: T) {
    let bits = value.to_bits64();
    match (layout, T::WIDE) {
        (Layout::Plain, false) => bytes.extend((bits as u32).to_le_bytes()),
        (Layout::Plain, true) | (Layout::Cells, false) => bytes.extend(bits.to_le_bytes()),
        (Layout::Cells, true) => {
            bytes.extend(0u64.to_le_bytes());
            bytes.extend(bits.to_le_bytes());
        }
    }
}

/// Returns the value of an element, or `None` for a cell that is owned.
pub(super) fn decode<T: Element>(layout: Layout, bytes: &[u8]) -> Option<T> {
    if layout == Layout::Plain {
        return Some(T::from_bits64(word(&bytes[..if T::WIDE { 8 } else { 4 }])));
    }
    let cell = CellWord(word_at(bytes, 0));
    let bits = if T::WIDE {
        word_at(bytes, 8)
    } else {
        u64::from(cell.value())
    };
    (!cell.is_locked()).then(|| T::from_bits64(bits))
}
