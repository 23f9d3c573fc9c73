//! Allocations in the memory of a GPU.

use crate::host::cuda::context::Cuda;
use crate::host::device::{Device, Memory, check_range};
use crate::host::error::Error;
use cudarc::driver::sys;

/// A GPU allocation.
pub struct CudaMemory {
    pub(crate) device: Cuda,
    pub(crate) start: sys::CUdeviceptr,
    pub(crate) bytes: usize,
}

impl core::fmt::Debug for CudaMemory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CudaMemory")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        if self.device.alive().is_ok() {
            // SAFETY: allocated by cuMemAlloc, freed once; no kernel uses it, as
            // `launch` and `wait` wait. An error would be the context's, reported
            // later.
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

    fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        check_range(offset, data.len(), self.bytes);
        self.device.alive()?;
        // The copy is in the kernels' stream: a plain copy from pageable memory
        // may return before it has reached the device, and kernels do not wait
        // for it.
        let (driver, stream) = (self.device.driver(), self.device.stream());
        // SAFETY: in range of a live allocation; the source lives until the
        // stream has been waited for.
        let copied = unsafe {
            driver
                .copy_in(self.start + offset as u64, data, stream)
                .and_then(|()| driver.wait_for_stream(stream))
        };
        self.device.done("a copy to the device", copied)
    }

    fn read(&self, offset: usize, data: &mut [u8]) -> Result<(), Error> {
        check_range(offset, data.len(), self.bytes);
        self.device.alive()?;
        let (driver, stream) = (self.device.driver(), self.device.stream());
        // Kernels in order may still run, and the copy is not in their stream.
        // SAFETY: in range of a live allocation.
        let copied = unsafe {
            driver
                .wait_for_stream(stream)
                .and_then(|()| driver.copy_out(data, self.start + offset as u64))
        };
        self.device.done("a copy from the device", copied)
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.device.alive()?;
        let driver = self.device.driver();
        // SAFETY: the whole of a live allocation.
        let cleared = unsafe { driver.clear(self.start, self.bytes) };
        self.device.done(
            "clearing memory",
            cleared.and_then(|()| driver.synchronize()),
        )
    }
}
