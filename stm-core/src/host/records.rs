//! An array of records, in whichever layout its algorithm uses.

use crate::algorithm::contract::Algorithm;
use crate::array::record::{Field, Fields, Record, TRecords, offset, stride};
use crate::host::inspect::{Allocation, Items, Watcher, allocate};
use crate::host::tx_array::{decode, encode};
use core::marker::PhantomData;
use std::format;
use std::vec::Vec;
use stm_machine::Layout;
use stm_machine::host::Device;
use stm_machine::host::Error;
use stm_machine::{Element, WordAddress};

/// `len` records of type `R` in the memory of a device, for transactions of any
/// algorithm: the layout is a value and can be changed.
///
/// What [`TxArray`](super::TxArray) says about the versions of cells holds for
/// records as well.
#[derive(Debug)]
pub struct Records<D: Device, R> {
    device: D,
    memory: Allocation<D::Memory>,
    layout: Layout,
    len: usize,
    what: &'static str,
    record: PhantomData<R>,
}

/// The least number of bytes that records take.
const BYTES_MIN: usize = 16;

impl<D: Device, R: Record> Records<D, R> {
    /// Makes `len` records of zeros; `what` names the array in an error.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn zeroed(
        device: &D,
        layout: Layout,
        len: usize,
        what: &'static str,
    ) -> Result<Self, Error> {
        let stride = stride::<R>(layout) as usize;
        Ok(Self {
            device: device.clone(),
            memory: Allocation::new(
                allocate(device, stride, len, BYTES_MIN, what)?,
                Self::items(layout),
                stride,
                len,
                what,
            ),
            layout,
            len,
            what,
            record: PhantomData,
        })
    }

    /// Makes an array with a copy of `data`.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn from_slice(
        device: &D,
        layout: Layout,
        data: &[R],
        what: &'static str,
    ) -> Result<Self, Error> {
        let mut records = Self::zeroed(device, layout, data.len(), what)?;
        records.upload(data)?;
        Ok(records)
    }

    fn items(layout: Layout) -> Items {
        match layout {
            Layout::Plain => Items::Elements,
            Layout::Cells => Items::Records {
                wide: R::Wide::COUNT as usize,
                narrow: R::Narrow::COUNT as usize,
            },
        }
    }

    /// Returns what a memory that watches the records keeps of them.
    pub(crate) fn watcher(&self) -> Watcher<D::Memory> {
        self.memory.watcher()
    }

    /// Returns the number of bytes that records take, or `None` if it does not
    /// fit the type.
    pub fn bytes_of(len: u64, layout: Layout) -> Option<u64> {
        len.checked_mul(stride::<R>(layout))
    }

    /// Returns the number of records.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no records.
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

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes() as u64
    }

    /// Returns the word by which a history names a field of record `i`.
    pub fn word<T: Element>(&self, i: usize, field: Field<R, T>) -> WordAddress {
        self.word_at::<T>(i, field.position() as usize)
    }

    fn word_at<T: Element>(&self, i: usize, position: usize) -> WordAddress {
        let at = i as u64 * stride::<R>(self.layout) + offset::<R, T>(self.layout, position as u64);
        let place = self.memory.address().wrapping_add(at as usize);
        WordAddress::of(place.cast_const().cast::<T>())
    }

    /// Returns the words of all fields and the bits that they hold.
    ///
    /// # Errors
    /// The errors are those of [`Self::download`].
    pub fn words(&self) -> Result<Vec<(WordAddress, u64)>, Error> {
        let mut words = Vec::new();
        for (i, record) in self.download()?.into_iter().enumerate() {
            let (wide, narrow) = record.split();
            for k in 0..R::Wide::COUNT as usize {
                words.push((self.word_at::<u64>(i, k), wide.get(k)));
            }
            for k in 0..R::Narrow::COUNT as usize {
                words.push((self.word_at::<u32>(i, k), narrow.get(k)));
            }
        }
        Ok(words)
    }

    /// Returns the names of the fields, in the order in which [`Self::words`]
    /// lists those of one record.
    pub fn field_names() -> Vec<&'static str> {
        let of = |wide| R::FIELDS.iter().filter(move |field| field.1 == wide);
        of(true).chain(of(false)).map(|field| field.0).collect()
    }

    /// Changes the layout and sets every version of a cell to zero; the records
    /// keep their values.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn arrange_as(&mut self, layout: Layout) -> Result<(), Error> {
        if layout == Layout::Plain && self.layout == layout {
            return Ok(());
        }
        let data = self.download()?;
        if self.layout != layout {
            let stride = stride::<R>(layout) as usize;
            let memory = allocate(&self.device, stride, self.len, BYTES_MIN, self.what)?;
            self.memory.replace(memory, Self::items(layout), stride);
            self.layout = layout;
        }
        self.upload(&data)
    }

    /// Does the same as [`Self::arrange_as`] with the layout of algorithm `A`.
    ///
    /// # Errors
    /// The device has too little memory, or reports another error.
    pub fn arrange<A: Algorithm>(&mut self) -> Result<(), Error> {
        self.arrange_as(TRecords::<A, R>::LAYOUT)
    }

    /// Replaces all records.
    ///
    /// # Panics
    /// It panics if `data` has another length.
    ///
    /// # Errors
    /// An error of the device.
    pub fn upload(&mut self, data: &[R]) -> Result<(), Error> {
        assert_eq!(
            data.len(),
            self.len,
            "upload of another length than the array's"
        );
        let layout = self.layout;
        self.memory.upload(data, |bytes, record| {
            let (wide, narrow) = record.split();
            for k in 0..R::Wide::COUNT as usize {
                encode(bytes, layout, wide.get(k));
            }
            for k in 0..R::Narrow::COUNT as usize {
                encode(bytes, layout, narrow.get(k) as u32);
            }
        })
    }

    /// Sets all fields to zero.
    ///
    /// # Errors
    /// An error of the device.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.memory.clear()
    }

    /// Copies all records to the host.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a transaction owns a cell, which no launch leaves;
    /// or an error of the device.
    pub fn download(&self) -> Result<Vec<R>, Error> {
        let mut data = Vec::with_capacity(self.len);
        self.memory.download(|i, bytes| {
            data.push(self.decode(bytes, i)?);
            Ok(())
        })?;
        Ok(data)
    }

    /// Decodes the bytes of record `i`.
    fn decode(&self, bytes: &[u8], i: usize) -> Result<R, Error> {
        let mut held = false;
        let mut found = |bits: Option<u64>| {
            held |= bits.is_none();
            bits.unwrap_or(0)
        };
        let layout = self.layout;
        let wide = R::Wide::from_fn(|k| {
            let at = offset::<R, u64>(layout, k as u64);
            found(decode::<u64>(layout, &bytes[at as usize..]))
        });
        let narrow = R::Narrow::from_fn(|k| {
            let at = offset::<R, u32>(layout, k as u64);
            found(decode::<u32>(layout, &bytes[at as usize..]).map(u64::from))
        });
        if held {
            return Err(Error::Corrupt {
                what: format!("a cell of record {i} of {} is held", self.what),
            });
        }
        Ok(R::join(wide, narrow))
    }

    /// Returns a view for transactions of algorithm `A`, as a kernel parameter.
    /// It must not be used after the array is freed, which the caller of
    /// `Device::launch` promises.
    ///
    /// # Panics
    /// It panics if the layout is not the algorithm's ([`Self::arrange`]);
    /// [`Self::try_view`] returns an error.
    pub fn view<A: Algorithm>(&self) -> TRecords<A, R> {
        self.try_view::<A>()
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Does the same as [`Self::view`], without a panic.
    ///
    /// # Errors
    /// [`Error::WrongLayout`] if the layout is not the algorithm's.
    pub fn try_view<A: Algorithm>(&self) -> Result<TRecords<A, R>, Error> {
        if self.layout != TRecords::<A, R>::LAYOUT {
            return Err(Error::WrongLayout {
                what: self.what,
                algorithm: A::NAME,
            });
        }
        // SAFETY: the memory is aligned and has `len` records of this layout;
        // that they live while a kernel runs is what the caller of `launch`
        // promises.
        Ok(unsafe { TRecords::from_start(self.memory.address(), self.len as u64) })
    }

    /// Returns the number of the address space that it is in.
    pub(super) fn space(&self) -> u64 {
        self.memory.space()
    }
}
