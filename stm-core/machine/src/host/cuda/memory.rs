//! Allocations in the memory of a GPU, and memory of the caller's `cudarc`, borrowed for launches.

use crate::host::buffer::Pod;
use crate::host::cuda::context::Cuda;
use crate::host::device::check_range;
use crate::host::foreign::ForeignArray;
use crate::host::prelude::*;
use cudarc::driver::{CudaSlice, CudaViewMut, DevicePtrMut};

/// A GPU allocation.
#[derive(Debug)]
pub struct CudaMemory {
    pub(crate) device: Cuda,
    pub(crate) start: sys::CUdeviceptr,
    pub(crate) bytes: usize,
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        if self.device.alive().is_ok() {
            // SAFETY: allocated by cuMemAlloc, freed once; no kernel uses it, as `launch` and `wait` wait. An
            // error would be the context's, reported later.
            let _ = unsafe { self.device.driver().free(self.start) };
        }
    }
}

impl Memory for CudaMemory {
    fn address(&self) -> *mut u8 {
        self.start as *mut u8
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn space(&self) -> u64 {
        self.device.space()
    }

    fn write(&mut self, offset: usize, data: &[u8]) -> Result {
        check_range(offset, data.len(), self.bytes);
        self.device.alive()?;
        // In the kernels' stream: a plain copy from pageable memory may return before it has been made.
        let (driver, stream) = (self.device.driver(), self.device.stream());
        let start = self.start + offset as u64;
        // SAFETY: in range of a live allocation; the source lives until the stream has been waited for.
        let copied = unsafe {
            (driver.copy_in(start, data, stream)).and_then(|()| driver.wait_for_stream(stream))
        };
        self.device.done("a copy to the device", copied)
    }

    fn read(&self, offset: usize, data: &mut [u8]) -> Result {
        check_range(offset, data.len(), self.bytes);
        self.device.alive()?;
        let (driver, stream) = (self.device.driver(), self.device.stream());
        let start = self.start + offset as u64;
        // SAFETY: in range of a live allocation; the copy waits for kernels in order, of another stream.
        let copied =
            unsafe { (driver.wait_for_stream(stream)).and_then(|()| driver.copy_out(data, start)) };
        self.device.done("a copy from the device", copied)
    }

    fn clear(&mut self) -> Result {
        self.device.alive()?;
        let driver = self.device.driver();
        // SAFETY: the whole of a live allocation.
        let cleared = unsafe { driver.clear(self.start, self.bytes) };
        let cleared = cleared.and_then(|()| driver.synchronize());
        self.device.done("clearing memory", cleared)
    }
}

impl Cuda {
    /// Makes an array over a slice of the caller's `cudarc`, without a copy; `name` names it in an error.
    ///
    /// The host waits for what the caller has put into the slice's stream, and for what `cudarc` knows of in
    /// others. All that this library does with the array has ended when the borrow ends. A slice of another
    /// context is [`Error::OtherDevice`], an empty one [`Error::NoMemory`].
    pub fn borrow<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        slice: &'a mut CudaSlice<T>,
    ) -> Result<ForeignArray<'a, Self, T>> {
        // SAFETY: the slice is borrowed alone.
        unsafe { self.borrow_pointer(name, slice) }
    }

    /// Does what [`Self::borrow`] does, with its errors, for a part of a slice (`slice.slice_mut(..)`).
    pub fn borrow_view<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        mut view: CudaViewMut<'a, T>,
    ) -> Result<ForeignArray<'a, Self, T>> {
        // SAFETY: the view borrows the slice alone.
        unsafe { self.borrow_pointer(name, &mut view) }
    }

    /// Makes the array over memory of `cudarc`.
    ///
    /// # Safety
    /// The memory is borrowed alone for `'a`.
    unsafe fn borrow_pointer<'a, T: Pod + Element>(
        &self,
        name: &'static str,
        memory: &mut impl DevicePtrMut<T>,
    ) -> Result<ForeignArray<'a, Self, T>> {
        let (stream, len) = (Arc::clone(memory.stream()), memory.len());
        if stream.context().cu_ctx() as u64 != self.space() {
            let (what, device) = (name, self.id());
            return Err(Error::OtherDevice { what, device });
        }
        // The stream waits for what `cudarc` knows of in others.
        let (start, written) = memory.device_ptr_mut(&stream);
        drop(written);
        let waited = stream.synchronize();
        self.done("cuStreamSynchronize", waited)?;
        // SAFETY: `cudarc` has so many elements there, borrowed alone; others have ended their work on them.
        unsafe { ForeignArray::from_raw(self, name, start as *mut T, len) }
    }
}
