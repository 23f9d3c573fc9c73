//! An NVIDIA GPU through its driver, with no toolkit: PTX is compiled by the
//! driver when a kernel is first used. Of a kernel with two modules, the one for
//! GPUs with atomics of 128 bits is taken where the GPU and the driver are new
//! enough (compute capability 9.0, CUDA 12.3).
//!
//! After an illegal address, a trap or a watchdog the context is gone with
//! everything in it: the error is [`Error::DeviceLost`], and every later call
//! returns it again.

use super::device::check_range;
use super::{Device, Error, Launch, Limits, Memory};
use crate::kernel::{Build, Kernel};
use crate::probe::Observation;
use core::any::TypeId;
use cudarc::driver::{CudaContext, CudaStream, DriverError, result, sys};
use std::borrow::{Cow, ToOwned};
use std::boxed::Box;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::format;
use std::string::String;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::vec;

/// What a GPU is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaInfo {
    /// Its name.
    pub name: String,
    /// Its compute capability, major and minor.
    pub compute_capability: (i32, i32),
    /// The CUDA version of the driver, as 1000 x major + 10 x minor.
    pub driver_version: i32,
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Bytes of its second-level cache.
    pub l2_bytes: u64,
    /// Most threads resident on one multiprocessor.
    pub resident_threads: u32,
}

/// A kernel's function in its loaded module, and the time the driver took to
/// compile it.
#[derive(Clone, Copy)]
struct Loaded {
    function: sys::CUfunction,
    compiled_in: Duration,
}

struct Shared {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// For the stop flag, while a kernel runs on the other.
    side_stream: Arc<CudaStream>,
    ordinal: usize,
    info: CudaInfo,
    limits: Limits,
    /// By kernel, width of atomics and probe.
    loaded: Mutex<HashMap<(TypeId, bool, Observation), Loaded>>,
    lost: Mutex<Option<Error>>,
}

// SAFETY: the driver's handles may be used from any thread that binds the
// context, which every call here does first.
unsafe impl Send for Shared {}
// SAFETY: as above; the mutable parts are behind mutexes.
unsafe impl Sync for Shared {}

/// A GPU. Clones share it.
#[derive(Clone)]
pub struct Cuda {
    shared: Arc<Shared>,
    /// Whether kernels use atomics of 128 bits.
    wide: bool,
}

impl core::fmt::Debug for Cuda {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cuda")
            .field("ordinal", &self.shared.ordinal)
            .field("info", &self.shared.info)
            .field("wide", &self.wide)
            .finish()
    }
}

fn code(error: DriverError) -> String {
    format!("{:?}", error.0)
}

fn driver(during: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Driver {
        during,
        code: code(error),
    }
}

impl Cuda {
    /// The GPUs that the driver shows.
    pub fn count() -> Result<usize, Error> {
        // SAFETY: looks for the library; nothing else loads it meanwhile.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoDriver);
        }
        result::init().map_err(driver("cuInit"))?;
        Ok(result::device::get_count().map_err(driver("cuDeviceGetCount"))? as usize)
    }

    /// GPU number `ordinal`.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoGpu`], [`Error::GpuTooOld`], or the
    /// driver's.
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
            shared: Arc::new(Shared {
                context,
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

    /// The same GPU as if it had no atomics of 128 bits, to compare with.
    #[must_use]
    pub fn without_wide_atomics(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            wide: false,
        }
    }

    /// The entry point of a kernel for this GPU, and the text of its module: of a
    /// kernel without a module for wide atomics, the one without.
    fn module_of<K: Kernel>(
        &self,
        observation: Observation,
    ) -> Result<(String, Cow<'static, str>), Error> {
        let of = |wide| {
            let build = Build { wide, observation };
            let name = format!("{}{}", K::ENTRY, build.suffix());
            K::ptx(build).map(|text| (name, text))
        };
        match if self.wide { of(true) } else { of(false) } {
            Err(Error::NoPtx { .. }) if self.wide => of(false),
            found => found,
        }
    }

    /// What the GPU is.
    pub fn info(&self) -> &CudaInfo {
        &self.shared.info
    }

    /// Refuses to go on after the context was lost.
    fn alive(&self) -> Result<(), Error> {
        let lost = self
            .shared
            .lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &*lost {
            return Err(error.clone());
        }
        self.shared
            .context
            .bind_to_thread()
            .map_err(driver("cuCtxSetCurrent"))
    }

    /// An error that takes the context with it, remembered.
    fn lose(&self, during: &str, error: DriverError) -> Error {
        let error = Error::DeviceLost {
            during: during.to_owned(),
            code: code(error),
        };
        *self
            .shared
            .lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        error
    }

    /// The kernel's function, its module compiled when first asked for.
    fn function<K: Kernel>(&self, observation: Observation) -> Result<Loaded, Error> {
        self.alive()?;
        let mut loaded = self
            .shared
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let key = (TypeId::of::<K>(), self.wide, observation);
        if let Some(&found) = loaded.get(&key) {
            return Ok(found);
        }
        let (name, ptx) = self.module_of::<K>(observation)?;
        let start = Instant::now();
        let entry = K::ENTRY;
        let module = load_module(&ptx).map_err(|log| Error::BadPtx { entry, log })?;
        let symbol = CString::new(name).map_err(|_| Error::NoPtx { entry })?;
        // SAFETY: the module was just loaded, and is never unloaded: the
        // context takes it along.
        let function =
            unsafe { result::module::get_function(module, symbol) }.map_err(|e| Error::BadPtx {
                entry,
                log: code(e),
            })?;
        let found = Loaded {
            function,
            compiled_in: start.elapsed(),
        };
        tracing::debug!(
            entry,
            ms = found.compiled_in.as_secs_f64() * 1e3,
            "module compiled"
        );
        loaded.insert(key, found);
        Ok(found)
    }
}

/// Refuses a GPU without scoped atomics and forward progress for each thread.
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

/// Whether the GPU has atomics of 128 bits, and its driver reads the PTX that
/// they came with.
const fn has_wide_atomics(info: &CudaInfo) -> bool {
    info.compute_capability.0 >= 9 && info.driver_version >= 12_030
}

/// Loads PTX text into the current context; on failure, the driver's log on
/// one line.
fn load_module(ptx: &str) -> Result<sys::CUmodule, String> {
    let text = CString::new(ptx).map_err(|_| "the text contains a NUL".to_owned())?;
    let mut log = vec![0u8; 8192];
    let mut module = core::ptr::null_mut();
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    // SAFETY: the text ends in a NUL; two options with their values, of the
    // types that the driver documents; all live through the call.
    let status = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    status.result().map(|()| module).map_err(|error| {
        let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
        let log = String::from_utf8_lossy(&log[..end]);
        format!(
            "{}: {}",
            code(error),
            log.split_whitespace().collect::<vec::Vec<_>>().join(" ")
        )
    })
}

/// A GPU allocation.
pub struct CudaMemory {
    device: Cuda,
    start: sys::CUdeviceptr,
    bytes: usize,
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
            // SAFETY: allocated by cuMemAlloc, freed once; no kernel runs, as
            // `launch` waits. An error would be the context's, reported later.
            let _ = unsafe { result::free_sync(self.start) };
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

    fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), Error> {
        check_range(offset, data.len(), self.bytes);
        self.device.alive()?;
        // In the kernels' stream: a plain copy from pageable memory may return
        // before it has reached the device, and kernels do not wait for it.
        let stream = self.device.shared.stream.cu_stream();
        // SAFETY: in range of a live allocation; the source lives until the
        // stream has been waited for.
        unsafe {
            result::memcpy_htod_async(self.start + offset as u64, data, stream)
                .and_then(|()| result::stream::synchronize(stream))
        }
        .map_err(|e| self.device.lose("a copy to the device", e))
    }

    fn read(&self, offset: usize, data: &mut [u8]) -> Result<(), Error> {
        check_range(offset, data.len(), self.bytes);
        self.device.alive()?;
        // SAFETY: in range of a live allocation.
        unsafe { result::memcpy_dtoh_sync(data, self.start + offset as u64) }
            .map_err(|e| self.device.lose("a copy from the device", e))
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.device.alive()?;
        // SAFETY: the whole of a live allocation.
        unsafe { result::memset_d8_sync(self.start, 0, self.bytes) }
            .map_err(|e| self.device.lose("clearing memory", e))?;
        self.device
            .shared
            .context
            .synchronize()
            .map_err(|e| self.device.lose("clearing memory", e))
    }
}

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
        self.shared.info.name.clone()
    }

    fn id(&self) -> String {
        if has_wide_atomics(&self.shared.info) == self.wide {
            format!("cuda:{}", self.shared.ordinal)
        } else {
            format!("cuda:{},atomics=64", self.shared.ordinal)
        }
    }

    fn limits(&self) -> Limits {
        self.shared.limits.clone()
    }

    fn atomics_bits(&self) -> u32 {
        if self.wide { 128 } else { 64 }
    }

    fn available_bytes(&self) -> Result<u64, Error> {
        self.alive()?;
        let (free, _total) = self
            .shared
            .context
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
        self.function::<K>(observation).map(|loaded| loaded.compiled_in)
    }

    unsafe fn launch<K: Kernel>(
        &self,
        launch: &Launch,
        params: &K::Params,
    ) -> Result<Duration, Error> {
        launch.check(&self.limits())?;
        let function = self.function::<K>(launch.probe.observation())?.function;
        self.check_function(function, launch)?;
        let stream = self.shared.stream.cu_stream();
        let (before, after) = (Event::new()?, Event::new()?);
        let mut arguments = [core::ptr::from_ref(params).cast_mut().cast::<c_void>()];
        // SAFETY: the event is live.
        unsafe { result::event::record(before.0, stream) }.map_err(driver("cuEventRecord"))?;
        let (grid, block) = ((launch.blocks, 1, 1), (launch.threads, 1, 1));
        // SAFETY: the entry point takes one parameter, K::Params by value; its
        // validity is the caller's promise.
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
            .map_err(|e| self.lose(&format!("kernel {}", K::ENTRY), e))?;
        // SAFETY: both events have been recorded and reached.
        let ms = unsafe { result::event::elapsed(before.0, after.0) }
            .map_err(driver("cuEventElapsedTime"))?;
        Ok(Duration::from_secs_f64(f64::from(ms) * 1e-3))
    }
}

impl Cuda {
    /// Limits that depend on the kernel: its registers bound the threads of a
    /// block, and shared memory beyond 48 KiB must be asked for.
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
            let limit = a_processor as u32 * self.shared.limits.processors;
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

    /// Waits for the kernel; at the time limit, sets the stop flag through a
    /// stream of its own and goes on waiting.
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
                        let side = self.shared.side_stream.cu_stream();
                        result::memcpy_htod_async(
                            stop.flag as sys::CUdeviceptr,
                            one.as_slice(),
                            side,
                        )?;
                        result::stream::synchronize(side)?;
                    }
                    told = true;
                }
                thread::sleep(Duration::from_micros(200));
            }
        }
        // SAFETY: the event is live.
        unsafe { result::event::synchronize(after.0) }
    }
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
            text.contains("GTX 1080") && text.contains("6.1") && text.contains("--device cpu"),
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
