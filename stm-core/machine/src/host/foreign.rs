//! Arrays over memory that somebody else owns, on which kernels work as it is.

use crate::array::io::{Input, Output};
use crate::array::plain::TArray;
use crate::array::view::{Layout, View};
use crate::host::argument::on;
use crate::host::buffer::{Buffer, Pod};
use crate::host::cpu::Cpu;
use crate::host::prelude::*;
use crate::memory::word::WordAddress;

/// `len` elements of `T` in the memory of a device, of another owner, borrowed alone for `'a`.
///
/// [`Cpu::borrow`], `Cuda::borrow`, [`Self::of_buffer`] or [`Self::from_raw`] make it, without a copy. Lend
/// it to a launch as `&array` for a view of its elements, as [`array.as_input()`](Self::as_input) for
/// `&Input<T>`, or as `&mut array` for `&Output<T>`. The owner has it back when the borrow has ended:
///
/// ```compile_fail,E0506
/// use stm_machine::host::Cpu;
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let mut data = [1u32; 10];
/// let words = Cpu::new().borrow("words", &mut data)?;
/// data[0] = 2;
/// println!("{}", words.len());
/// # Ok(()) }
/// ```
///
/// ```
/// use stm_machine::host::{Buffer, Cpu, ForeignArray};
///
/// let cpu = Cpu::new();
/// let mut data = vec![1u32, 2, 3];
/// let words = cpu.borrow("words", &mut data)?; // no copy
/// assert_eq!((words.len(), words.name()), (3, "words"));
/// data[0] = 5; // the borrow has ended
/// let mut buffer = Buffer::from_slice(&cpu, &data, "buffer")?;
/// assert_eq!(ForeignArray::of_buffer(&mut buffer)?.len(), 3);
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
pub struct ForeignArray<'a, D: Device, T> {
    start: *mut T,
    len: usize,
    space: u64,
    what: &'static str,
    device: PhantomData<fn() -> D>,
    borrowed: PhantomData<&'a mut [T]>,
}

/// Foreign memory that a launch reads and nobody writes ([`ForeignArray::as_input`]).
///
/// ```
/// use stm_machine::host::{Cpu, Launch, Watchdog};
/// use stm_machine::{Input, Lane, Output, kernel};
///
/// /// Copies.
/// #[kernel]
/// pub fn copy_each<L: Lane>(lane: &L, from: &Input<u32>, to: &Output<u32>) {
///     let i = lane.grid_thread();
///     from.get(lane, i).map(|value| to.set(lane, i, value));
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let cpu = Cpu::new();
/// let (mut from, mut to) = (vec![4u32, 5], vec![0u32; 2]);
/// let (read, mut written) = (cpu.borrow("from", &mut from)?, cpu.borrow("to", &mut to)?);
/// let mut watchdog = Watchdog::new(&cpu, None)?;
/// copy_each::launch(&cpu, &mut watchdog, Launch::new(1, 2), read.as_input(), &mut written)?;
/// assert_eq!(to, [4, 5]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ForeignInput<'b, 'a, D: Device, T>(&'b ForeignArray<'a, D, T>);

// SAFETY: it stands for an exclusive borrow of the elements.
unsafe impl<D: Device, T: Send> Send for ForeignArray<'_, D, T> {}
// SAFETY: a shared reference gives no access on the host.
unsafe impl<D: Device, T: Sync> Sync for ForeignArray<'_, D, T> {}

crate::shown!([D: Device, T] ForeignArray<'_, D, T>: what, len; ..);

impl<D: Device, T: Pod + Element> ForeignArray<'_, D, T> {
    /// Makes the array of `len` elements at `start`, called `name` in errors: [`Error::NoMemory`] if `start`
    /// is null or `len` zero, [`Error::Misaligned`] if `start` is not a multiple of the element's size.
    ///
    /// # Safety
    /// 1. `start` points to `len` live, initialised elements in the memory of this device: in the context of
    ///    its GPU, or in the host's memory for the CPU;
    /// 2. they live for the lifetime that the caller chooses;
    /// 3. in that time nothing else accesses them, and what other streams or threads have done with them
    ///    before has ended, or comes earlier in the stream of every device that launches with the array.
    pub unsafe fn from_raw(
        device: &D,
        name: &'static str,
        start: *mut T,
        len: usize,
    ) -> Result<Self> {
        // SAFETY: the caller promises it.
        unsafe { Self::in_space(device.space(), name, start, len) }
    }

    /// Does what [`Self::from_raw`] does, given the address space.
    ///
    /// # Safety
    /// The obligations are those of [`Self::from_raw`].
    unsafe fn in_space(space: u64, what: &'static str, start: *mut T, len: usize) -> Result<Self> {
        if start.is_null() || len == 0 {
            return Err(Error::NoMemory { what });
        }
        let (address, align) = (start.addr() as u64, size_of::<T>());
        if !start.addr().is_multiple_of(align) {
            return Err(Error::Misaligned {
                what,
                address,
                align,
            });
        }
        Ok(Self {
            start,
            len,
            space,
            what,
            device: PhantomData,
            borrowed: PhantomData,
        })
    }

    /// Returns the number of elements, which is not zero.
    #[allow(clippy::len_without_is_empty)] // it never is
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.what
    }

    /// Returns the address of the first element, on the device.
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.start
    }

    /// Returns the word by which a history names element `i`.
    pub fn word(&self, i: usize) -> WordAddress {
        WordAddress::of(self.start.wrapping_add(i).cast_const())
    }

    /// Returns a view of this type, as a kernel parameter, for the time of the borrow, or, if it is not one
    /// of plain elements, [`Error::ForeignCells`], in which `user` wants it.
    pub fn view_for<V: View<T>>(&self, user: &'static str) -> Result<V> {
        if V::LAYOUT != Layout::Plain {
            let (what, algorithm) = (self.what, user);
            return Err(Error::ForeignCells { what, algorithm });
        }
        // SAFETY: there are `len` aligned elements (`from_raw`), which the caller of `launch` keeps alive.
        Ok(unsafe { View::from_start(self.start.cast(), self.len as u64) })
    }

    /// Says that it is in another address space than it is, for tests of what is refused.
    #[cfg(any(test, feature = "stand-in"))]
    #[doc(hidden)]
    #[must_use]
    pub const fn as_if_in_space(mut self, space: u64) -> Self {
        self.space = space;
        self
    }

    /// Returns a view of the elements, after it has checked that kernels on the device reach them.
    pub fn elements_on(&self, device: &D) -> Result<TArray<T>> {
        on(device, self.space, self.what)?;
        self.view_for("the library")
    }
}

impl<'a, D: Device, T: Pod + Element> ForeignArray<'a, D, T> {
    /// Returns what is lent to a launch for a kernel's parameter `&Input<T>`.
    pub const fn as_input(&self) -> ForeignInput<'_, 'a, D, T> {
        ForeignInput(self)
    }

    /// Makes the array over a buffer, as if somebody else owned it; an empty one is [`Error::NoMemory`].
    pub fn of_buffer(buffer: &'a mut Buffer<D, T>) -> Result<Self> {
        let (space, name) = (buffer.space(), buffer.name());
        // SAFETY: the buffer has this many elements, is borrowed alone, and waits for its own copies.
        unsafe { Self::in_space(space, name, buffer.as_mut_ptr(), buffer.len()) }
    }
}

impl Cpu {
    /// Makes an array over elements of the host, for kernels on the CPU; `name` names it in an error,
    /// [`Error::NoMemory`] if there are none, and [`Error::Misaligned`] on a host that aligns numbers less.
    pub fn borrow<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        data: &'a mut [T],
    ) -> Result<ForeignArray<'a, Self, T>> {
        // SAFETY: the slice is borrowed alone.
        unsafe { ForeignArray::from_raw(self, name, data.as_mut_ptr(), data.len()) }
    }
}

/// What wants a view that is lent to a kernel, in errors.
const USER: &str = "the kernel's algorithm";

// SAFETY: the memory is borrowed alone, `view_for` checks the layout; nobody else has an output in a launch.
crate::__lent! {
    |it|
    [T: Pod + Element, V: View<T>] &ForeignArray<'_, D, T> => V: it.space, it.view_for(USER), [it.start.cast()];
    [T: Pod + Element] ForeignInput<'_, '_, D, T> => Input<T>:
        it.0.space, it.0.view_for(USER).map(Input::of), [];
    [T: Pod + Element] &mut ForeignArray<'_, D, T> => Output<T>:
        it.space, it.view_for(USER).map(Output::of), [];
}
