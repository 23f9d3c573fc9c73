//! An array whose layout is a value: what elements and records have in common.

use crate::algorithm::contract::Algorithm;
use crate::host::inspect::{Allocation, Unfinished, Watcher};
use crate::host::stm::Stm;
use core::marker::PhantomData;
use std::string::String;
use std::vec::Vec;
use stm_machine::Layout;
use stm_machine::host::{Device, Error};

/// What the items of an array are, and how they lie in a layout: [`Elements`](super::tx_array::Elements) or
/// [`Structs`](super::records::Structs), and nothing else, as the trait has no public name.
#[allow(missing_docs)] // the trait has no public name
pub trait Form {
    type Item: Copy + Send + Sync;
    type View<A: Algorithm>;

    fn layout<A: Algorithm>() -> Layout;
    /// Returns the number of bytes from one item to the next.
    fn stride(layout: Layout) -> usize;
    fn encode(bytes: &mut Vec<u8>, layout: Layout, item: Self::Item);
    /// Returns an item, or `None` if a transaction owns a cell of it.
    fn decode(layout: Layout, bytes: &[u8]) -> Option<Self::Item>;
    fn held(i: usize, what: &str) -> String;
    /// Makes a view of an array.
    ///
    /// # Safety
    /// There are so many items at the address, aligned and in the layout of the algorithm.
    unsafe fn view<A: Algorithm>(start: *mut u8, len: u64) -> Self::View<A>;
}

/// `len` items in the memory of a device, for transactions of any algorithm: the layout is a value
/// and can be changed; a launch under an algorithm with another one is [`Error::WrongLayout`].
/// [`TxArray`](super::TxArray) and [`Records`](super::Records) are such arrays.
///
/// ```
/// use stm_core::Layout;
/// use stm_core::algorithm::HvSorting;
/// use stm_core::prelude::*;
///
/// let mut words = TxArray::from_slice(&Cpu::new(), Layout::Cells, &[1u32, 2, 3], "words")?;
/// assert_eq!(words.bytes(), 24); // a version beside each value
/// words.arrange::<HvSorting>()?;
/// assert_eq!((words.layout(), words.bytes()), (Layout::Plain, 12));
/// assert_eq!(words.download()?, [1, 2, 3]);
/// # Ok::<(), stm_core::host::Error>(())
/// ```
#[derive(Debug)]
pub struct Arranged<D: Device, F> {
    pub(super) device: D,
    pub(super) memory: Allocation<D::Memory>,
    /// Where a copy to foreign memory puts the number of a cell that is owned,
    /// plus one; made by the first such copy.
    pub(super) owned: Option<D::Memory>,
    layout: Layout,
    len: usize,
    what: &'static str,
    form: PhantomData<F>,
}

impl<D: Device, F: Form> Arranged<D, F> {
    /// Makes an array of zeros; `what` names the array in an error.
    pub fn zeroed(
        device: &D,
        layout: Layout,
        len: usize,
        what: &'static str,
    ) -> Result<Self, Error> {
        Ok(Self {
            device: device.clone(),
            memory: Self::allocated(device, layout, len, what)?,
            owned: None,
            layout,
            len,
            what,
            form: PhantomData,
        })
    }

    fn allocated(
        device: &D,
        layout: Layout,
        len: usize,
        what: &'static str,
    ) -> Result<Allocation<D::Memory>, Error> {
        let unfinished = Unfinished {
            is: |bytes| F::decode(Layout::Cells, bytes).is_none(),
            named: F::held,
        };
        let unfinished = (layout == Layout::Cells).then_some(unfinished);
        Allocation::zeroed(device, (F::stride(layout), len), what, unfinished)
    }

    /// Makes an array with a copy of `data`.
    pub fn from_slice(
        device: &D,
        layout: Layout,
        data: &[F::Item],
        what: &'static str,
    ) -> Result<Self, Error> {
        let mut array = Self::zeroed(device, layout, data.len(), what)?;
        array.upload(data)?;
        Ok(array)
    }

    /// Returns the number of bytes of device memory.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes() as u64
    }

    /// Changes the layout to that of algorithm `A` and sets every version of a
    /// cell to zero; the items keep their values.
    pub fn arrange<A: Algorithm>(&mut self) -> Result<(), Error> {
        self.arrange_as(F::layout::<A>())
    }

    /// Does the same as [`Self::arrange`], given a layout.
    pub fn arrange_as(&mut self, layout: Layout) -> Result<(), Error> {
        if layout == Layout::Plain && self.layout == layout {
            return Ok(());
        }
        let data = self.download()?;
        if self.layout != layout {
            let memory = Self::allocated(&self.device, layout, self.len, self.what)?;
            self.memory.replace(&memory);
            self.layout = layout;
        }
        self.upload(&data)
    }

    /// Replaces all items.
    ///
    /// # Panics
    /// It panics if `data` has another length.
    pub fn upload(&mut self, data: &[F::Item]) -> Result<(), Error> {
        let (len, layout) = (self.len, self.layout);
        assert_eq!(data.len(), len, "upload of another length than the array's");
        (self.memory).upload(data, |bytes, item| F::encode(bytes, layout, *item))
    }

    /// Sets all items to zero.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.memory.clear()
    }

    /// Copies all items to the host.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if a transaction owns a cell, which no launch leaves;
    /// or an error of the device.
    pub fn download(&self) -> Result<Vec<F::Item>, Error> {
        let (layout, what) = (self.layout, self.what);
        self.memory.download(|i, bytes, data| {
            let held = || F::held(i, what);
            let item = F::decode(layout, bytes).ok_or_else(|| Error::Corrupt { what: held() });
            data.push(item?);
            Ok(())
        })
    }

    /// Returns a view for transactions of algorithm `A`, as a kernel parameter. It must not be used
    /// after the array is freed, which the caller of `Device::launch` promises.
    ///
    /// # Panics
    /// It panics if the layout is not the algorithm's ([`Self::arrange`]);
    /// [`Self::try_view`] returns an error.
    pub fn view<A: Algorithm>(&self) -> F::View<A> {
        let view = self.try_view::<A>();
        view.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Does the same as [`Self::view`], without a panic.
    ///
    /// # Errors
    /// [`Error::WrongLayout`] if the layout is not the algorithm's.
    pub fn try_view<A: Algorithm>(&self) -> Result<F::View<A>, Error> {
        self.check_layout_is(F::layout::<A>(), A::NAME)?;
        // SAFETY: the memory has `len` aligned items of this layout; that they live while a
        // kernel runs is what the caller of `launch` promises.
        Ok(unsafe { F::view(self.memory.address(), self.len as u64) })
    }

    pub(super) fn check_layout<A: Algorithm>(&self) -> Result<(), Error> {
        self.check_layout_is(F::layout::<A>(), "the kernel's algorithm")
    }

    pub(super) fn watch(&self, stm: &mut Stm<D>) {
        stm.watch(self);
    }
}

impl<D: Device, F> Arranged<D, F> {
    stm_machine::counted!("items", usize, len);

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.what
    }

    /// Returns the layout.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn check_layout_is(
        &self,
        layout: Layout,
        algorithm: &'static str,
    ) -> Result<(), Error> {
        let what = self.what;
        let wrong = Error::WrongLayout { what, algorithm };
        (self.layout == layout).then_some(()).ok_or(wrong)
    }

    pub(super) fn address(&self) -> *mut u8 {
        self.memory.address()
    }

    pub(super) fn space(&self) -> u64 {
        self.device.space()
    }

    pub(crate) fn watcher(&self) -> Watcher<D::Memory> {
        self.memory.watcher()
    }
}
