//! Launches on a GPU: the implementation of [`Device`].

use crate::host::cuda::context::{Cuda, driver, has_wide_atomics};
use crate::host::cuda::memory::CudaMemory;
use crate::host::cuda::module::Entry;
use crate::host::device::{Device, Launch, Limits, Memory};
use crate::host::error::Error;
use crate::kernel::Kernel;
use crate::observe::probe::Observation;
use cudarc::driver::{DriverError, result, sys};
use std::boxed::Box;
use std::ffi::c_void;
use std::format;
use std::string::String;
use std::thread;
use std::time::{Duration, Instant};

/// An event, destroyed when dropped.
struct Event(sys::CUevent);

impl Event {
    fn new() -> Result<Self, Error> {
        result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
            .map(Self)
            .map_err(driver("cuEventCreate"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. An error here changes nothing.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}

impl Device for Cuda {
    type Memory = CudaMemory;

    fn name(&self) -> String {
        self.context.info.name.clone()
    }

    fn id(&self) -> String {
        if has_wide_atomics(&self.context.info) == self.wide {
            format!("cuda:{}", self.context.ordinal)
        } else {
            format!("cuda:{},atomics=64", self.context.ordinal)
        }
    }

    fn limits(&self) -> Limits {
        self.context.limits.clone()
    }

    fn atomics_bits(&self) -> u32 {
        if self.wide { 128 } else { 64 }
    }

    fn available_bytes(&self) -> Result<u64, Error> {
        self.alive()?;
        let (free, _total) = self
            .context
            .driver
            .mem_get_info()
            .map_err(driver("cuMemGetInfo"))?;
        Ok(free as u64)
    }

    fn allocate(&self, bytes: usize, what: &'static str) -> Result<CudaMemory, Error> {
        let available = self.available_bytes()?;
        let out = Error::OutOfMemory {
            what,
            needed: bytes as u64,
            available,
        };
        if bytes as u64 > available {
            return Err(out);
        }
        // SAFETY: the allocation is initialised below, before anybody reads it.
        let start = match unsafe { result::malloc_sync(bytes.max(1)) } {
            Ok(start) => start,
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => return Err(out),
            Err(error) => return Err(driver("cuMemAlloc")(error)),
        };
        let mut memory = CudaMemory {
            device: self.clone(),
            start,
            bytes: bytes.max(1),
        };
        memory.clear()?;
        Ok(memory)
    }

    fn prepare<K: Kernel>(&self, observation: Observation) -> Result<Duration, Error> {
        self.function(Entry::of::<K>(), observation)
            .map(|loaded| loaded.compiled_in)
    }

    unsafe fn launch<K: Kernel>(
        &self,
        launch: &Launch,
        params: &K::Params,
    ) -> Result<Duration, Error> {
        let params = core::ptr::from_ref(params).cast::<c_void>();
        // SAFETY: the entry point takes one parameter, K::Params by value; its
        // validity is the caller's promise.
        unsafe { self.launch_entry(Entry::of::<K>(), launch, params) }
    }
}

/// Waits between two polls of a kernel that has run for `elapsed`: about a
/// sixteenth of that time, so that short kernels are not seen to end late, and
/// at most 200 us.
fn pause_between_polls(elapsed: Duration) {
    let pause = (elapsed / 16).min(Duration::from_micros(200));
    if pause < Duration::from_micros(20) {
        thread::yield_now();
    } else {
        thread::sleep(pause);
    }
}

impl Cuda {
    /// Launches an entry point and waits for it.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`]; `params` points to the entry point's parameters.
    unsafe fn launch_entry(
        &self,
        kernel: Entry,
        launch: &Launch,
        params: *const c_void,
    ) -> Result<Duration, Error> {
        launch.check(&self.limits())?;
        let function = self.function(kernel, launch.probe.observation())?.function;
        self.check_function(function, launch)?;
        let stream = self.context.stream.cu_stream();
        let (before, after) = (Event::new()?, Event::new()?);
        let mut arguments = [params.cast_mut()];
        // SAFETY: the event is live.
        unsafe { result::event::record(before.0, stream) }.map_err(driver("cuEventRecord"))?;
        let (grid, block) = ((launch.blocks, 1, 1), (launch.threads, 1, 1));
        // SAFETY: the entry point takes what `params` points to (the caller's
        // promise).
        let launched = unsafe {
            if launch.cooperative {
                result::launch_cooperative_kernel(
                    function,
                    grid,
                    block,
                    launch.shared_bytes,
                    stream,
                    &mut arguments,
                )
            } else {
                result::launch_kernel(
                    function,
                    grid,
                    block,
                    launch.shared_bytes,
                    stream,
                    &mut arguments,
                )
            }
        };
        launched.map_err(driver("cuLaunchKernel"))?;
        // SAFETY: the event is live.
        unsafe { result::event::record(after.0, stream) }.map_err(driver("cuEventRecord"))?;
        self.wait(&after, launch)
            .map_err(|e| self.lose(&format!("kernel {}", kernel.name), e))?;
        // SAFETY: both events have been recorded and reached.
        let ms = unsafe { result::event::elapsed(before.0, after.0) }
            .map_err(driver("cuEventElapsedTime"))?;
        Ok(Duration::from_secs_f64(f64::from(ms) * 1e-3))
    }

    /// Checks the limits that depend on the kernel: its registers bound the
    /// threads of a block, and shared memory beyond 48 KiB must be requested.
    fn check_function(&self, function: sys::CUfunction, launch: &Launch) -> Result<(), Error> {
        use sys::CUfunction_attribute as A;
        let failed = driver("cuFuncGetAttribute");
        // SAFETY: the function is loaded.
        let limit = unsafe {
            result::function::get_function_attribute(
                function,
                A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            )
        }
        .map_err(&failed)? as u32;
        if launch.threads > limit {
            return Err(Error::LaunchTooLarge {
                what: "threads a block of this kernel, which needs many registers,",
                asked: launch.threads,
                limit,
            });
        }
        if launch.shared_bytes > 48 << 10 {
            // SAFETY: the function is loaded, and the value below the device's limit.
            unsafe {
                result::function::set_function_attribute(
                    function,
                    A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    launch.shared_bytes as i32,
                )
            }
            .map_err(&failed)?;
        }
        if launch.cooperative {
            let mut a_processor = 0;
            // SAFETY: the function is loaded; the driver writes one integer.
            unsafe {
                sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    &raw mut a_processor,
                    function,
                    launch.threads as i32,
                    launch.shared_bytes as usize,
                )
            }
            .result()
            .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessor"))?;
            let limit = a_processor as u32 * self.context.limits.processors;
            if launch.blocks > limit {
                return Err(Error::LaunchTooLarge {
                    what: "blocks at the same time",
                    asked: launch.blocks,
                    limit,
                });
            }
        }
        Ok(())
    }

    /// Waits for the kernel. At the time limit, it sets the stop flag through a
    /// stream of its own and continues to wait.
    fn wait(&self, after: &Event, launch: &Launch) -> Result<(), DriverError> {
        if let Some(stop) = launch.stop.filter(|stop| stop.after.is_some()) {
            let start = Instant::now();
            let one = Box::new([1u32]);
            let mut told = false;
            loop {
                // SAFETY: the event is live.
                match unsafe { result::event::query(after.0) } {
                    Ok(()) => return Ok(()),
                    Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => {}
                    Err(error) => return Err(error),
                }
                if !told && stop.is_due(start) {
                    // SAFETY: the flag is live device memory (StopAt), the
                    // source lives until the synchronize below.
                    unsafe {
                        let side = self.context.side_stream.cu_stream();
                        result::memcpy_htod_async(
                            stop.flag as sys::CUdeviceptr,
                            one.as_slice(),
                            side,
                        )?;
                        result::stream::synchronize(side)?;
                    }
                    told = true;
                }
                pause_between_polls(start.elapsed());
            }
        }
        // SAFETY: the event is live.
        unsafe { result::event::synchronize(after.0) }
    }
}
