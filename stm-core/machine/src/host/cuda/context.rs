//! The context of an NVIDIA GPU: its handles, what it can do, and how errors end it.

use crate::host::cuda::driver::{Call, Driver, Nvidia, ends_context};
use crate::host::prelude::*;
use core::any::TypeId;
use cudarc::driver::{CudaContext, CudaStream};

/// The properties of a GPU, as its driver reports them ([`Cuda::info`]).
///
/// ```
/// use stm_machine::host::Cuda;
///
/// if let Ok(gpu) = Cuda::new(0) {
///     let info = gpu.info();
///     println!("{}: {} GiB, {:?}", info.name, info.memory_bytes >> 30, info.compute_capability);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaInfo {
    /// Its name.
    pub name: String,
    /// Its compute capability, major and minor.
    pub compute_capability: (i32, i32),
    /// The CUDA version of the driver, as 1000 x major + 10 x minor.
    pub driver_version: i32,
    /// The number of bytes of its memory.
    pub memory_bytes: u64,
    /// The number of bytes of its second-level cache.
    pub l2_bytes: u64,
    /// The largest number of threads resident on one multiprocessor.
    pub resident_threads: u32,
}

impl CudaInfo {
    /// Returns whether the GPU has atomics of 128 bits and its driver accepts the PTX version that has them.
    pub(crate) const fn has_wide_atomics(&self) -> bool {
        self.compute_capability.0 >= 9 && self.driver_version >= 12_030
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    pub(crate) function: sys::CUfunction,
    /// The largest number of threads of a block, which its registers bound.
    pub(crate) threads_max: u32,
    pub(crate) compiled_in: Duration,
    /// Whether the module is the one for newer GPUs.
    pub(crate) wide: bool,
}

/// The place of a function that one thread loads while others that want it wait; empty until it is loaded.
pub(crate) type Slot = Arc<Mutex<Option<Loaded>>>;

/// A GPU's context: the driver's handles, which are given back when this is dropped, and what the GPU can do.
pub(crate) struct Context {
    driver: Box<dyn Driver>,
    device: sys::CUdevice,
    /// The driver's context, in which its allocations are.
    pub(crate) handle: sys::CUcontext,
    /// The stream of kernels and copies; null until it is made.
    stream: sys::CUstream,
    /// The stream for the stop flag, while a kernel runs in the other; null until it is made.
    pub(crate) side_stream: sys::CUstream,
    pub(crate) ordinal: usize,
    pub(crate) info: CudaInfo,
    pub(crate) limits: Limits,
    /// The functions loaded. The map is locked briefly, so that a thread can load one while others launch.
    pub(crate) loaded: Mutex<HashMap<(TypeId, bool, Observation), Slot>>,
    pub(crate) lost: Mutex<Option<Error>>,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: each was made once and is given back once, and nothing is left that uses them. Errors are
        // those of earlier launches, which have been reported.
        unsafe {
            let _ = self.driver.set_context(self.handle);
            for stream in [self.stream, self.side_stream] {
                if !stream.is_null() {
                    let _ = self.driver.destroy_stream(stream);
                }
            }
            let _ = self.driver.release_context(self.device);
        }
    }
}

impl Context {
    fn bind(&self) -> Call {
        // SAFETY: the context is retained.
        unsafe { self.driver.set_context(self.handle) }
    }
}

fn describe(driver: &dyn Driver, device: sys::CUdevice) -> Call<(CudaInfo, Limits)> {
    use sys::CUdevice_attribute as A;
    // SAFETY: the driver has this device.
    let attribute = |a| unsafe { driver.device_attribute(device, a) };
    let info = CudaInfo {
        name: driver.device_name(device)?,
        compute_capability: (
            attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        driver_version: driver.version()?,
        // SAFETY: the driver has this device.
        memory_bytes: unsafe { driver.device_memory(device) }? as u64,
        l2_bytes: attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as u64,
        resident_threads: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)? as u32,
    };
    let limits = Limits {
        warp_width: attribute(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)? as u32,
        threads_max: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as u32,
        blocks_max: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)? as u32,
        shared_bytes_max: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
            as u32,
        processors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
        // What every GPU with clusters has, and the driver knows its attribute.
        cluster_max: if info.has_wide_atomics() { 8 } else { 1 },
    };
    Ok((info, limits))
}

// SAFETY: the driver's handles are for any thread that binds the context, which every call here does first.
unsafe impl Send for Context {}
// SAFETY: as above; the mutable parts are behind mutexes.
unsafe impl Sync for Context {}

/// An NVIDIA GPU as a device, through its driver. Clones refer to the same context.
///
/// ```
/// use stm_machine::host::{Buffer, Cuda, Error};
///
/// match Cuda::new(0) {
///     Ok(gpu) => assert_eq!(Buffer::from_slice(&gpu, &[1u32, 2], "words")?.download()?, [1, 2]),
///     Err(error) => println!("no GPU to use: {error}"), // take `Cpu::new()`
/// }
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
#[derive(Clone)]
pub struct Cuda {
    pub(crate) context: Arc<Context>,
    /// Says whether kernels use atomics of 128 bits.
    pub(crate) wide: bool,
    /// The stream of the caller for kernels and copies, if it is not the context's own.
    lent: Option<Arc<CudaStream>>,
}

impl core::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cuda")
            .field("ordinal", &self.context.ordinal)
            .field("info", &self.context.info)
            .field("wide", &self.wide)
            .field("lent", &self.lent.is_some())
            .finish()
    }
}

pub(crate) fn code(error: DriverError) -> String {
    format!("{:?}", error.0)
}

fn failed(during: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Driver {
        during,
        code: code(error),
    }
}

fn count_of(driver: &dyn Driver) -> Result<usize> {
    if !driver.is_present() {
        return Err(Error::NoDriver);
    }
    driver.init().map_err(failed("cuInit"))?;
    Ok(driver.device_count().map_err(failed("cuDeviceGetCount"))? as usize)
}

impl Cuda {
    /// Returns the number of GPUs that the driver reports.
    pub fn count() -> Result<usize> {
        count_of(&Nvidia)
    }

    /// Opens GPU number `ordinal`, or returns [`Error::NoDriver`], [`Error::NoGpu`] or [`Error::GpuTooOld`].
    pub fn new(ordinal: usize) -> Result<Self> {
        Self::with_driver(Box::new(Nvidia), ordinal)
    }

    pub(crate) fn with_driver(driver: Box<dyn Driver>, ordinal: usize) -> Result<Self> {
        let count = match count_of(&*driver) {
            Ok(count) => count,
            // A driver without any GPU says so when it is initialised.
            Err(Error::Driver { code, .. }) if code == "CUDA_ERROR_NO_DEVICE" => 0,
            Err(error) => return Err(error),
        };
        if ordinal >= count {
            return Err(Error::NoGpu { ordinal, count });
        }
        let device = (driver.device(ordinal as i32)).map_err(failed("cuDeviceGet"))?;
        let described = describe(&*driver, device);
        let (info, limits) = described.map_err(failed("cuDeviceGetAttribute"))?;
        // Older ones lack scoped atomics and forward progress of each thread.
        if let (major @ ..7, minor) = info.compute_capability {
            let name = info.name;
            return Err(Error::GpuTooOld { name, major, minor });
        }
        // SAFETY: the driver has this device.
        let retained = unsafe { driver.retain_context(device) };
        let handle = retained.map_err(failed("cuDevicePrimaryCtxRetain"))?;
        let mut context = Context {
            driver,
            device,
            handle,
            stream: core::ptr::null_mut(),
            side_stream: core::ptr::null_mut(),
            ordinal,
            info,
            limits,
            loaded: Mutex::default(),
            lost: Mutex::default(),
        };
        context.bind().map_err(failed("cuCtxSetCurrent"))?;
        context.stream = (context.driver.create_stream()).map_err(failed("cuStreamCreate"))?;
        context.side_stream = (context.driver.create_stream()).map_err(failed("cuStreamCreate"))?;
        Ok(Self {
            wide: context.info.has_wide_atomics(),
            lent: None,
            context: Arc::new(context),
        })
    }

    /// Returns the same GPU as if it had no atomics of 128 bits, for comparisons.
    #[must_use]
    pub fn without_wide_atomics(&self) -> Self {
        let mut same = self.clone();
        same.wide = false;
        same
    }

    /// Opens the GPU of a context that other code uses. It is the GPU's primary one, so kernels of either
    /// reach the memory of both. Its errors are those of [`Self::new`].
    pub fn beside(context: &CudaContext) -> Result<Self> {
        Self::new(context.ordinal())
    }

    /// Returns the same GPU with kernels and copies in the caller's stream, in order with what the caller
    /// puts there; memory of either is memory of both. A stream of another GPU is [`Error::OtherDevice`].
    pub fn on_stream(&self, stream: &Arc<CudaStream>) -> Result<Self> {
        if stream.context().ordinal() != self.context.ordinal {
            let (what, device) = ("stream", format!("cuda:{}", self.context.ordinal));
            return Err(Error::OtherDevice { what, device });
        }
        let mut same = self.clone();
        same.lent = Some(Arc::clone(stream));
        Ok(same)
    }

    pub(crate) fn stream(&self) -> sys::CUstream {
        let own = self.context.stream;
        self.lent.as_ref().map_or(own, |stream| stream.cu_stream())
    }

    /// Returns the properties of the GPU.
    pub fn info(&self) -> &CudaInfo {
        &self.context.info
    }

    pub(crate) fn driver(&self) -> &dyn Driver {
        &*self.context.driver
    }

    /// Returns an error if the context was lost, and else makes it the calling thread's.
    pub(crate) fn alive(&self) -> Result {
        let lost = locked(&self.context.lost).clone();
        lost.map_or(Ok(()), Err)?;
        self.done("cuCtxSetCurrent", self.context.bind())
    }

    /// Returns what a call of the driver returned. An error that ends the context is [`Error::DeviceLost`],
    /// and later calls return it again.
    pub(crate) fn done<T>(&self, during: &'static str, call: Call<T>) -> Result<T> {
        call.map_err(|error| {
            if ends_context(error) {
                return self.lose(during, error);
            }
            failed(during)(error)
        })
    }

    pub(crate) fn lose(&self, during: &str, error: DriverError) -> Error {
        let (during, code) = (during.to_owned(), code(error));
        let error = Error::DeviceLost { during, code };
        locked(&self.context.lost).get_or_insert(error).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomics_of_128_bits_need_the_gpu_and_the_driver() {
        for (compute_capability, driver_version, wide) in [
            ((8, 9), 13_000, false),
            ((9, 0), 12_020, false),
            ((9, 0), 12_030, true),
            ((12, 0), 13_000, true),
        ] {
            let info = CudaInfo {
                name: String::new(),
                compute_capability,
                driver_version,
                memory_bytes: 0,
                l2_bytes: 0,
                resident_threads: 0,
            };
            assert_eq!(info.has_wide_atomics(), wide, "{info:?}");
        }
    }
}
