//! An array in a device's memory.

use crate::array::plain::TArray;
use crate::host::device::allocate;
use crate::host::prelude::*;

/// A type whose values may be copied as bytes: each bit pattern is a value, without padding.
///
/// ```
/// use stm_machine::host::{Buffer, Cpu, Pod};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(C)]
/// struct Pixel { red: u8, green: u8, blue: u8 }
///
/// // SAFETY: three bytes, without padding, each of which may have any value.
/// unsafe impl Pod for Pixel {}
///
/// let white = Pixel { red: 255, green: 255, blue: 255 };
/// let pixels = Buffer::from_slice(&Cpu::new(), &[white; 4], "pixels")?;
/// assert_eq!(pixels.download()?[3], white);
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
///
/// # Safety
/// The type has these properties.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

macro_rules! pod {
    ($($ty:ty)*) => {
        // SAFETY: primitive numbers: every pattern is one, no padding.
        $(unsafe impl Pod for $ty {})*
    };
}
pod!(u8 u16 u32 u64 i32 i64 f32 f64);

/// `len` elements of `T` in the memory of a device: plain data, for the input and the results of kernels.
///
/// ```
/// use stm_machine::host::{Buffer, Cpu};
///
/// let mut words = Buffer::from_slice(&Cpu::new(), &[1u32, 2, 3], "words")?;
/// words.upload(&[4, 5, 6])?;
/// assert_eq!(words.download()?, [4, 5, 6]);
/// words.clear()?;
/// assert_eq!((words.len(), words.download()?), (3, vec![0; 3]));
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
pub struct Buffer<D: Device, T> {
    memory: D::Memory,
    len: usize,
    what: &'static str,
    element: PhantomData<T>,
}

crate::shown!([D: Device, T] Buffer<D, T>: what, len; ..);

/// Returns the bytes of elements.
#[doc(hidden)]
pub fn bytes_of<T: Pod>(data: &[T]) -> &[u8] {
    // SAFETY: T has no padding (Pod), so each of its bytes is initialised.
    unsafe { core::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}

/// Returns the bytes of elements, to store others.
#[doc(hidden)]
pub fn bytes_of_mut<T: Pod>(data: &mut [T]) -> &mut [u8] {
    // SAFETY: T has no padding, and any bytes make a T (Pod).
    unsafe { core::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) }
}

impl<D: Device, T: Pod> Buffer<D, T> {
    /// Makes `len` zeros; `what` names the buffer in an error.
    pub fn zeroed(device: &D, len: usize, what: &'static str) -> Result<Self> {
        Ok(Self {
            memory: allocate(device, len.checked_mul(size_of::<T>()), what)?,
            len,
            what,
            element: PhantomData,
        })
    }

    /// Makes a buffer with a copy of `data`.
    pub fn from_slice(device: &D, data: &[T], what: &'static str) -> Result<Self> {
        let mut buffer = Self::zeroed(device, data.len(), what)?;
        buffer.upload(data)?;
        Ok(buffer)
    }

    crate::counted!("elements", usize, len);

    /// Returns the name that errors use.
    pub const fn name(&self) -> &'static str {
        self.what
    }

    /// Replaces all elements.
    ///
    /// # Panics
    /// It panics if `data` has another length.
    pub fn upload(&mut self, data: &[T]) -> Result {
        let (len, own) = (data.len(), self.len);
        assert_eq!(len, own, "upload of another length than the buffer's");
        self.memory.write(0, bytes_of(data))
    }

    /// Sets all elements to zero.
    pub fn clear(&mut self) -> Result {
        self.memory.clear()
    }

    /// Copies all elements to the host.
    pub fn download(&self) -> Result<Vec<T>> {
        let mut data = Vec::with_capacity(self.len);
        // SAFETY: zero bytes are a T (Pod).
        data.resize(self.len, unsafe { core::mem::zeroed() });
        self.memory.read(0, bytes_of_mut(&mut data))?;
        Ok(data)
    }

    /// Returns the number of the address space that it is in.
    pub fn space(&self) -> u64 {
        self.memory.space()
    }

    /// Returns the address of the first element, on the device.
    pub fn as_mut_ptr(&self) -> *mut T {
        self.memory.address().cast()
    }
}

impl<D: Device, T: Pod + Element> Buffer<D, T> {
    /// Returns a view of the elements, as a kernel parameter, for as long as the buffer lives.
    pub fn tarray(&self) -> TArray<T> {
        // SAFETY: the buffer has len aligned elements, which the caller of `launch` keeps alive.
        unsafe { TArray::from_raw(self.as_mut_ptr(), self.len as u64) }
    }
}
