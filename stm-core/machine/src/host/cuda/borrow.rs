//! Memory of the caller's `cudarc`, borrowed for launches.

use crate::host::buffer::Pod;
use crate::host::cuda::context::Cuda;
use crate::host::device::Device;
use crate::host::error::Error;
use crate::host::foreign::ForeignArray;
use crate::memory::word::Element;
use cudarc::driver::{CudaSlice, CudaStream, CudaViewMut, DevicePtrMut, DeviceSlice};
use std::sync::Arc;

impl Cuda {
    /// Makes an array over a slice of the caller's `cudarc`, without a copy;
    /// `name` names it in an error.
    ///
    /// The host waits for what the caller has put into the slice's stream, and
    /// for what `cudarc` knows of in others, so that any launch may have the
    /// array, whatever stream it is in. All that this library does with the array
    /// has ended when the borrow ends.
    ///
    /// # Errors
    /// [`Error::OtherDevice`] if the slice is of another context,
    /// [`Error::NoMemory`] if it is empty, or an error of the driver.
    pub fn borrow<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        slice: &'a mut CudaSlice<T>,
    ) -> Result<ForeignArray<'a, Self, T>, Error> {
        let (stream, len) = (Arc::clone(slice.stream()), slice.len());
        // SAFETY: the slice is borrowed alone.
        unsafe { self.borrow_pointer(name, slice, &stream, len) }
    }

    /// Does what [`Self::borrow`] does, for a part of a slice
    /// (`slice.slice_mut(..)`).
    ///
    /// # Errors
    /// Those of [`Self::borrow`].
    pub fn borrow_view<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        mut view: CudaViewMut<'a, T>,
    ) -> Result<ForeignArray<'a, Self, T>, Error> {
        let (stream, len) = (Arc::clone(view.stream()), view.len());
        // SAFETY: the view borrows the slice alone.
        unsafe { self.borrow_pointer(name, &mut view, &stream, len) }
    }

    /// Makes the array over memory of `len` elements.
    ///
    /// # Safety
    /// The memory is borrowed alone for `'a`.
    unsafe fn borrow_pointer<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        memory: &mut impl DevicePtrMut<T>,
        stream: &CudaStream,
        len: usize,
    ) -> Result<ForeignArray<'a, Self, T>, Error> {
        if stream.context().cu_ctx() as u64 != self.space() {
            return Err(Error::OtherDevice {
                what: name,
                device: self.id(),
            });
        }
        // The stream waits for what `cudarc` knows of in others.
        let (start, written) = memory.device_ptr_mut(stream);
        drop(written);
        let waited = stream.synchronize();
        self.done("cuStreamSynchronize", waited)?;
        // SAFETY: `cudarc` has this many elements there, which the caller has
        // borrowed alone; what others have done with them has ended.
        unsafe { ForeignArray::from_raw(self, name, start as *mut T, len) }
    }
}
