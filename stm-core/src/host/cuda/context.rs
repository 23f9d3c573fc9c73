//! The context of an NVIDIA GPU: its handles, what it can do, and how errors
//! end it.
//!
//! Invariant: after an illegal address, a trap or a watchdog the context is
//! lost with everything in it. The error is [`Error::DeviceLost`], and every
//! later call returns it again.

use crate::host::device::Limits;
use crate::host::error::Error;
use crate::observe::probe::Observation;
use core::any::TypeId;
use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use std::borrow::ToOwned;
use std::collections::HashMap;
use std::format;
use std::string::String;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The properties of a GPU.
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

/// A kernel's function in its loaded module, and the time that the driver took
/// to compile it.
#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    pub(crate) function: sys::CUfunction,
    pub(crate) compiled_in: Duration,
}

pub(crate) struct Context {
    pub(crate) driver: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    /// The stream for the stop flag, while a kernel runs in the other.
    pub(crate) side_stream: Arc<CudaStream>,
    pub(crate) ordinal: usize,
    pub(crate) info: CudaInfo,
    pub(crate) limits: Limits,
    /// The functions loaded, by kernel, width of atomics and probe.
    pub(crate) loaded: Mutex<HashMap<(TypeId, bool, Observation), Loaded>>,
    pub(crate) lost: Mutex<Option<Error>>,
}

// SAFETY: the driver's handles may be used from any thread that binds the
// context, which every call here does first.
unsafe impl Send for Context {}
// SAFETY: as above; the mutable parts are behind mutexes.
unsafe impl Sync for Context {}

/// A GPU. Clones refer to the same context.
#[derive(Clone)]
pub struct Cuda {
    pub(crate) context: Arc<Context>,
    /// Says whether kernels use atomics of 128 bits.
    pub(crate) wide: bool,
}

impl core::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cuda")
            .field("ordinal", &self.context.ordinal)
            .field("info", &self.context.info)
            .field("wide", &self.wide)
            .finish()
    }
}

pub(crate) fn code(error: DriverError) -> String {
    format!("{:?}", error.0)
}

pub(crate) fn driver(during: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Driver {
        during,
        code: code(error),
    }
}

impl Cuda {
    /// Returns the number of GPUs that the driver reports.
    pub fn count() -> Result<usize, Error> {
        // SAFETY: this searches for the library; nothing else loads it in the
        // meantime.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        result::init().map_err(driver("cuInit"))?;
        Ok(result::device::get_count().map_err(driver("cuDeviceGetCount"))? as usize)
    }

    /// Opens GPU number `ordinal`.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoGpu`], [`Error::GpuTooOld`], or an error
    /// of the driver.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        let count = match Self::count() {
            Ok(count) => count,
            // A driver without any GPU says so when it is initialised.
            Err(Error::Driver { code, .. }) if code == "CUDA_ERROR_NO_DEVICE" => 0,
            Err(error) => return Err(error),
        };
        if ordinal >= count {
            return Err(Error::NoGpu { ordinal, count });
        }
        let context = CudaContext::new(ordinal).map_err(driver("cuDevicePrimaryCtxRetain"))?;
        let (info, limits) = Self::describe(&context).map_err(driver("cuDeviceGetAttribute"))?;
        check_capability(&info)?;
        let stream = context.new_stream().map_err(driver("cuStreamCreate"))?;
        let side_stream = context.new_stream().map_err(driver("cuStreamCreate"))?;
        Ok(Self {
            wide: has_wide_atomics(&info),
            context: Arc::new(Context {
                driver: context,
                stream,
                side_stream,
                ordinal,
                info,
                limits,
                loaded: Mutex::default(),
                lost: Mutex::default(),
            }),
        })
    }

    fn describe(context: &CudaContext) -> Result<(CudaInfo, Limits), DriverError> {
        use sys::CUdevice_attribute as A;
        let attribute = |a| context.attribute(a);
        let mut driver_version = 0;
        // SAFETY: the driver writes one integer.
        unsafe { sys::cuDriverGetVersion(&raw mut driver_version) }.result()?;
        let info = CudaInfo {
            name: context.name()?,
            compute_capability: context.compute_capability()?,
            driver_version,
            memory_bytes: context.total_mem()? as u64,
            l2_bytes: attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as u64,
            resident_threads: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?
                as u32,
        };
        let limits = Limits {
            warp_width: attribute(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)? as u32,
            threads_max: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as u32,
            blocks_max: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)? as u32,
            shared_bytes_max: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                as u32,
            processors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
        };
        Ok((info, limits))
    }

    /// Returns the same GPU as if it had no atomics of 128 bits, for
    /// comparisons.
    #[must_use]
    pub fn without_wide_atomics(&self) -> Self {
        Self {
            context: Arc::clone(&self.context),
            wide: false,
        }
    }

    /// Returns the properties of the GPU.
    pub fn info(&self) -> &CudaInfo {
        &self.context.info
    }

    /// Returns an error if the context was lost.
    pub(crate) fn alive(&self) -> Result<(), Error> {
        let lost = self
            .context
            .lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &*lost {
            return Err(error.clone());
        }
        self.context
            .driver
            .bind_to_thread()
            .map_err(driver("cuCtxSetCurrent"))
    }

    /// Makes an error of the driver; if it is one that ends the context, later
    /// calls return it again.
    pub(crate) fn lose(&self, during: &str, error: DriverError) -> Error {
        let error = Error::DeviceLost {
            during: during.to_owned(),
            code: code(error),
        };
        *self
            .context
            .lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        error
    }
}

/// Refuses a GPU without scoped atomics and forward progress of each thread.
fn check_capability(info: &CudaInfo) -> Result<(), Error> {
    let (major, minor) = info.compute_capability;
    if major < 7 {
        return Err(Error::GpuTooOld {
            name: info.name.clone(),
            major,
            minor,
        });
    }
    Ok(())
}

/// Returns whether the GPU has atomics of 128 bits and its driver accepts the
/// PTX version that has them.
pub(crate) const fn has_wide_atomics(info: &CudaInfo) -> bool {
    info.compute_capability.0 >= 9 && info.driver_version >= 12_030
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_gpu_older_than_sm_70_is_refused_with_its_name_and_capability() {
        let mut info = CudaInfo {
            name: "NVIDIA GeForce GTX 1080".to_owned(),
            compute_capability: (6, 1),
            driver_version: 12080,
            memory_bytes: 8 << 30,
            l2_bytes: 2 << 20,
            resident_threads: 2048,
        };
        let text = check_capability(&info).unwrap_err().to_string();
        assert!(
            text.contains("GTX 1080") && text.contains("6.1") && text.contains("use the CPU"),
            "{text}"
        );
        info.compute_capability = (7, 0);
        assert_eq!(check_capability(&info), Ok(()));
        // Atomics of 128 bits need the GPU and the driver.
        for (capability, driver, wide) in [
            ((8, 9), 13_000, false),
            ((9, 0), 12_020, false),
            ((9, 0), 12_030, true),
            ((12, 0), 13_000, true),
        ] {
            (info.compute_capability, info.driver_version) = (capability, driver);
            assert_eq!(has_wide_atomics(&info), wide, "{capability:?} {driver}");
        }
    }
}
