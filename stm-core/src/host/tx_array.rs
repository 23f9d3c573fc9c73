//! An array that transactions access, in whichever layout their algorithm uses.

use crate::algorithm::contract::Algorithm;
use crate::host::inspect::{Allocation, Items, Watcher, allocate, owned_cell};
use crate::memory::version::CellWord;
use core::marker::PhantomData;
use std::vec::Vec;
use stm_machine::host::Device;
use stm_machine::host::Error;
use stm_machine::host::Pod;
use stm_machine::{Element, WordAddress};
use stm_machine::{Layout, View};

/// `len` elements of `T` in the memory of a device, for transactions of any
/// algorithm: the layout is a value and can be changed.
///
/// Cells may go from one [`Stm`](super::Stm) to another as they are, from launch
/// to launch; two launches at a time must not share them.
#[derive(Debug)]
pub struct TxArray<D: Device, T> {
    pub(super) device: D,
    pub(super) memory: Allocation<D::Memory>,
    /// Where a copy to foreign memory puts the number of a cell that is owned,
    /// plus one; made by the first such copy.
    pub(super) owned: Option<D::Memory>,
    layout: Layout,
    len: usize,
    what: &'static str,
    element: PhantomData<T>,
}

impl<D: Device, T: Pod + Element> TxArray<D, T> {
    /// Makes `len` zeros; `what` names the array in an error.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn zeroed(
        device: &D,
        layout: Layout,
        len: usize,
        what: &'static str,
    ) -> Result<Self, Error> {
        Ok(Self {
            device: device.clone(),
            memory: Allocation::new(
                allocate(device, layout.stride::<T>(), len, 1, what)?,
                items_of(layout),
                layout.stride::<T>(),
                len,
                what,
            ),
            owned: None,
            layout,
            len,
            what,
            element: PhantomData,
        })
    }

    /// Makes an array with a copy of `data`.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn from_slice(
        device: &D,
        layout: Layout,
        data: &[T],
        what: &'static str,
    ) -> Result<Self, Error> {
        let mut array = Self::zeroed(device, layout, data.len(), what)?;
        array.upload(data)?;
        Ok(array)
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.what
    }

    /// Returns the layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the word by which a history names element `i`.
    pub fn word(&self, i: usize) -> WordAddress {
        let place = self
            .memory
            .address()
            .wrapping_add(i * self.layout.stride::<T>());
        WordAddress::of(place.cast::<T>().cast_const())
    }

    /// Returns the number of the address space that it is in.
    pub(super) fn space(&self) -> u64 {
        self.device.space()
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes() as u64
    }

    /// Changes the layout to that of algorithm `A` and sets every version of a
    /// cell to zero; the elements keep their values.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn arrange<A: Algorithm>(&mut self) -> Result<(), Error> {
        self.arrange_as(<A::Array<T> as View<T>>::LAYOUT)
    }

    /// Does the same as [`Self::arrange`], given a layout.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn arrange_as(&mut self, layout: Layout) -> Result<(), Error> {
        if layout == Layout::Plain && self.layout == layout {
            return Ok(());
        }
        let data = self.download()?;
        if self.layout != layout {
            let stride = layout.stride::<T>();
            let memory = allocate(&self.device, stride, self.len, 1, self.what)?;
            self.memory.replace(memory, items_of(layout), stride);
            self.layout = layout;
        }
        self.upload(&data)
    }

    /// Replaces all elements.
    ///
    /// # Panics
    /// It panics if `data` has another length.
    ///
    /// # Errors
    /// An error of the device.
    pub fn upload(&mut self, data: &[T]) -> Result<(), Error> {
        assert_eq!(
            data.len(),
            self.len,
            "upload of another length than the array's"
        );
        let layout = self.layout;
        self.memory
            .upload(data, |bytes, value| encode(bytes, layout, *value))
    }

    /// Sets all elements to zero.
    ///
    /// # Errors
    /// An error of the device.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.memory.clear()
    }

    /// Copies all elements to the host.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a transaction owns a cell, which no launch leaves;
    /// or an error of the device.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data = Vec::with_capacity(self.len);
        self.memory.download(|i, element| {
            let value = decode(self.layout, element).ok_or_else(|| Error::Corrupt {
                what: owned_cell(i, self.what),
            })?;
            data.push(value);
            Ok(())
        })?;
        Ok(data)
    }

    /// Returns a view for transactions of algorithm `A`, as a kernel parameter.
    /// It must not be used after the array is freed, which the caller of
    /// `Device::launch` promises.
    ///
    /// # Panics
    /// It panics if the layout is not the algorithm's ([`Self::arrange`]);
    /// [`Self::try_view`] returns an error.
    pub fn view<A: Algorithm>(&self) -> A::Array<T> {
        self.try_view::<A>()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Does the same as [`Self::view`], without a panic.
    ///
    /// # Errors
    /// [`Error::WrongLayout`] if the layout is not the algorithm's.
    pub fn try_view<A: Algorithm>(&self) -> Result<A::Array<T>, Error> {
        self.view_for(A::NAME)
    }

    /// Returns a view of this type, for the transactions of `algorithm`.
    pub(super) fn view_for<V: View<T>>(&self, algorithm: &'static str) -> Result<V, Error> {
        if self.layout != V::LAYOUT {
            let what = self.what;
            return Err(Error::WrongLayout { what, algorithm });
        }
        // SAFETY: the memory has `len` aligned elements of this layout; that
        // they live while a kernel runs is what the caller of `launch` promises.
        Ok(unsafe { View::from_start(self.memory.address(), self.len as u64) })
    }
}

impl<D: Device, T> TxArray<D, T> {
    /// Returns what an [`Stm`](super::Stm) keeps to watch the array.
    pub(crate) fn watcher(&self) -> Watcher<D::Memory> {
        self.memory.watcher()
    }
}

const fn items_of(layout: Layout) -> Items {
    match layout {
        Layout::Plain => Items::Elements,
        Layout::Cells => Items::Cells,
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
    let word = |at: usize, len: usize| {
        let mut word = [0; 8];
        word[..len].copy_from_slice(&bytes[at..at + len]);
        u64::from_le_bytes(word)
    };
    let bits = match (layout, T::WIDE) {
        (Layout::Plain, false) => return Some(T::from_bits64(word(0, 4))),
        (Layout::Plain, true) => return Some(T::from_bits64(word(0, 8))),
        (Layout::Cells, false) => u64::from(CellWord(word(0, 8)).value()),
        (Layout::Cells, true) => word(8, 8),
    };
    (!CellWord(word(0, 8)).is_locked()).then(|| T::from_bits64(bits))
}
