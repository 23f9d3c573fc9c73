//! The driver's calls, as a trait, so that tests can stand in for the driver and let any call fail.
//!
//! Each method is one call of the CUDA driver, or two that always go together;
//! the methods check nothing and keep nothing.
//!
//! # Safety
//! The handles and addresses given are live and of the current context, unless a method says
//! otherwise; memory on the host lives until the stream has been waited for.

use cudarc::driver::{DriverError, result, sys};
use std::ffi::{CStr, CString, c_void};
use std::string::String;

/// The result of a driver's call.
pub(crate) type Call<T = ()> = Result<T, DriverError>;

/// A launch as the driver takes it.
#[derive(Clone, Copy)]
pub(crate) struct DriverLaunch {
    pub(crate) function: sys::CUfunction,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) cooperative: bool,
    pub(crate) cluster: u32,
    pub(crate) stream: sys::CUstream,
    /// Points to the one parameter.
    pub(crate) params: *mut c_void,
}

/// The driver. What each method does by itself is NVIDIA's call; a stand-in replaces all of them.
// SAFETY of the calls below: each passes on what its caller promises (module).
#[allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)] // stated once, above
pub(crate) trait Driver: Send + Sync {
    /// Returns whether there is a driver; without one, no other call is allowed.
    fn is_present(&self) -> bool {
        // It searches for the library; nothing else loads it in the meantime.
        unsafe { sys::is_culib_present() }
    }
    /// `cuInit`.
    fn init(&self) -> Call {
        result::init()
    }
    /// `cuDriverGetVersion`.
    fn version(&self) -> Call<i32> {
        let mut version = 0;
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
        Ok(version)
    }
    /// `cuDeviceGetCount`.
    fn device_count(&self) -> Call<i32> {
        result::device::get_count()
    }
    /// `cuDeviceGet`.
    fn device(&self, ordinal: i32) -> Call<sys::CUdevice> {
        result::device::get(ordinal)
    }
    /// `cuDeviceGetName`.
    fn device_name(&self, device: sys::CUdevice) -> Call<String> {
        result::device::get_name(device)
    }
    /// `cuDeviceTotalMem`.
    unsafe fn device_memory(&self, device: sys::CUdevice) -> Call<usize> {
        unsafe { result::device::total_mem(device) }
    }
    /// `cuDeviceGetAttribute`.
    unsafe fn device_attribute(
        &self,
        device: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Call<i32> {
        unsafe { result::device::get_attribute(device, attribute) }
    }

    /// `cuDevicePrimaryCtxRetain`.
    unsafe fn retain_context(&self, device: sys::CUdevice) -> Call<sys::CUcontext> {
        unsafe { result::primary_ctx::retain(device) }
    }
    /// `cuDevicePrimaryCtxRelease`.
    unsafe fn release_context(&self, device: sys::CUdevice) -> Call {
        unsafe { result::primary_ctx::release(device) }
    }
    /// `cuCtxSetCurrent`.
    unsafe fn set_context(&self, context: sys::CUcontext) -> Call {
        unsafe { result::ctx::set_current(context) }
    }
    /// `cuCtxSynchronize`.
    fn synchronize(&self) -> Call {
        result::ctx::synchronize()
    }
    /// `cuMemGetInfo`: the free bytes.
    fn free_bytes(&self) -> Call<usize> {
        result::mem_get_info().map(|(free, _total)| free)
    }

    /// `cuMemAlloc`.
    unsafe fn allocate(&self, bytes: usize) -> Call<sys::CUdeviceptr> {
        unsafe { result::malloc_sync(bytes) }
    }
    /// `cuMemFree`.
    unsafe fn free(&self, start: sys::CUdeviceptr) -> Call {
        unsafe { result::free_sync(start) }
    }
    /// `cuMemcpyHtoDAsync`.
    unsafe fn copy_in(&self, to: sys::CUdeviceptr, data: &[u8], stream: sys::CUstream) -> Call {
        unsafe { result::memcpy_htod_async(to, data, stream) }
    }
    /// `cuMemcpyDtoH`.
    unsafe fn copy_out(&self, data: &mut [u8], from: sys::CUdeviceptr) -> Call {
        unsafe { result::memcpy_dtoh_sync(data, from) }
    }
    /// `cuMemcpyDtoDAsync`.
    unsafe fn copy_within(
        &self,
        to: sys::CUdeviceptr,
        from: sys::CUdeviceptr,
        bytes: usize,
        stream: sys::CUstream,
    ) -> Call {
        unsafe { result::memcpy_dtod_async(to, from, bytes, stream) }
    }
    /// `cuMemsetD8` with zero.
    unsafe fn clear(&self, start: sys::CUdeviceptr, bytes: usize) -> Call {
        unsafe { result::memset_d8_sync(start, 0, bytes) }
    }

    /// `cuStreamCreate`: a stream that does not wait for the default one.
    fn create_stream(&self) -> Call<sys::CUstream> {
        result::stream::create(result::stream::StreamKind::NonBlocking)
    }
    /// `cuStreamDestroy`.
    unsafe fn destroy_stream(&self, stream: sys::CUstream) -> Call {
        unsafe { result::stream::destroy(stream) }
    }
    /// `cuStreamSynchronize`.
    unsafe fn wait_for_stream(&self, stream: sys::CUstream) -> Call {
        unsafe { result::stream::synchronize(stream) }
    }
    /// `cuEventCreate`.
    fn create_event(&self) -> Call<sys::CUevent> {
        result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
    }
    /// `cuEventDestroy`.
    unsafe fn destroy_event(&self, event: sys::CUevent) -> Call {
        unsafe { result::event::destroy(event) }
    }
    /// `cuEventRecord`.
    unsafe fn record_event(&self, event: sys::CUevent, stream: sys::CUstream) -> Call {
        unsafe { result::event::record(event, stream) }
    }
    /// `cuEventQuery`.
    unsafe fn query_event(&self, event: sys::CUevent) -> Call {
        unsafe { result::event::query(event) }
    }
    /// `cuEventSynchronize`.
    unsafe fn wait_for_event(&self, event: sys::CUevent) -> Call {
        unsafe { result::event::synchronize(event) }
    }
    /// `cuEventElapsedTime`, in milliseconds.
    unsafe fn elapsed(&self, before: sys::CUevent, after: sys::CUevent) -> Call<f32> {
        unsafe { result::event::elapsed(before, after) }
    }

    /// `cuLibraryLoadData` and `cuLibraryGetModule`, or `cuModuleLoadDataEx`, which writes the
    /// driver's messages into `log`.
    ///
    /// `cuModuleLoadDataEx`, which is all that a driver before CUDA 12 has, holds a lock of the
    /// context while it compiles, so that other threads wait with their copies and launches, and
    /// with texts of their own. A library is of no context and holds none. (The linker holds none
    /// either, but makes other code of the same text, from 9 per cent faster to 8 per cent slower.)
    /// A library gets no options, as the driver may keep them; for the messages about a text that
    /// it refuses, the text is loaded as a module. The driver keeps a library until the process
    /// ends.
    fn load_module(&self, text: &CStr, log: &mut [u8]) -> Call<sys::CUmodule> {
        let (text, mut module) = (text.as_ptr().cast(), core::ptr::null_mut());
        if self.version()? >= 12_000 {
            let (none, no_values) = (core::ptr::null_mut(), core::ptr::null_mut());
            let (of_none, no_more) = (core::ptr::null_mut(), core::ptr::null_mut());
            let mut library = core::ptr::null_mut();
            let out = &raw mut library;
            // The text ends in a NUL and lives through the calls; no other thread has the library.
            let loaded = unsafe {
                sys::cuLibraryLoadData(out, text, none, no_values, 0, of_none, no_more, 0)
                    .result()
                    .and_then(|()| sys::cuLibraryGetModule(&raw mut module, library).result())
            };
            match loaded {
                Ok(()) => return Ok(module),
                Err(error) if ends_context(error) => return Err(error),
                Err(_) => {}
            }
        }
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let (count, out) = (options.len() as u32, &raw mut module);
        // The same, with two options and their values, of the types that the driver documents; all
        // live through the call.
        unsafe {
            sys::cuModuleLoadDataEx(out, text, count, options.as_mut_ptr(), values.as_mut_ptr())
        }
        .result()?;
        Ok(module)
    }
    /// `cuModuleGetFunction`.
    unsafe fn function(&self, module: sys::CUmodule, name: CString) -> Call<sys::CUfunction> {
        unsafe { result::module::get_function(module, name) }
    }
    /// `cuFuncGetAttribute` of the largest number of threads of a block.
    unsafe fn threads_max(&self, function: sys::CUfunction) -> Call<i32> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK as THREADS;
        unsafe { result::function::get_function_attribute(function, THREADS) }
    }
    /// `cuFuncSetAttribute` of the largest dynamic shared memory.
    unsafe fn allow_shared(&self, function: sys::CUfunction, bytes: i32) -> Call {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SHARED;
        unsafe { result::function::set_function_attribute(function, SHARED, bytes) }
    }
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    unsafe fn resident_blocks(
        &self,
        function: sys::CUfunction,
        threads: i32,
        shared_bytes: usize,
    ) -> Call<i32> {
        let mut blocks = 0;
        unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function,
                threads,
                shared_bytes,
            )
        }
        .result()?;
        Ok(blocks)
    }
    /// `cuLaunchKernel` or `cuLaunchCooperativeKernel`, or `cuLaunchKernelEx` for clusters.
    unsafe fn launch(&self, launch: DriverLaunch) -> Call {
        let mut parameters = [launch.params];
        if launch.cluster > 1 {
            return unsafe { launch_clusters(&launch, &mut parameters) };
        }
        let start = if launch.cooperative {
            result::launch_cooperative_kernel
        } else {
            result::launch_kernel
        };
        unsafe {
            start(
                launch.function,
                (launch.blocks, 1, 1),
                (launch.threads, 1, 1),
                launch.shared_bytes,
                launch.stream,
                &mut parameters,
            )
        }
    }

    /// `cuStreamBeginCapture`, without a limit to what this or other threads may call meanwhile.
    unsafe fn begin_capture(&self, stream: sys::CUstream) -> Call {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        unsafe { result::stream::begin_capture(stream, mode) }
    }
    /// `cuStreamEndCapture`.
    unsafe fn end_capture(&self, stream: sys::CUstream) -> Call<sys::CUgraph> {
        unsafe { result::stream::end_capture(stream) }
    }
    /// `cuGraphInstantiateWithFlags`.
    unsafe fn instantiate(&self, graph: sys::CUgraph) -> Call<sys::CUgraphExec> {
        let mut ready = core::ptr::null_mut();
        unsafe { sys::cuGraphInstantiateWithFlags(&raw mut ready, graph, 0) }.result()?;
        Ok(ready)
    }
    /// `cuGraphDestroy`.
    unsafe fn destroy_graph(&self, graph: sys::CUgraph) -> Call {
        unsafe { result::graph::destroy(graph) }
    }
    /// `cuGraphLaunch`.
    unsafe fn launch_graph(&self, ready: sys::CUgraphExec, stream: sys::CUstream) -> Call {
        unsafe { result::graph::launch(ready, stream) }
    }
    /// `cuGraphExecDestroy`.
    unsafe fn destroy_ready(&self, ready: sys::CUgraphExec) -> Call {
        unsafe { result::graph::exec_destroy(ready) }
    }
}

/// Returns whether an error ends the context: every later call then returns it
/// again, and nothing in the device's memory can be trusted.
pub(crate) const fn ends_context(error: DriverError) -> bool {
    use sys::CUresult as R;
    matches!(
        error.0,
        R::CUDA_ERROR_ILLEGAL_ADDRESS
            | R::CUDA_ERROR_MISALIGNED_ADDRESS
            | R::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | R::CUDA_ERROR_INVALID_PC
            | R::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | R::CUDA_ERROR_HARDWARE_STACK_ERROR
            | R::CUDA_ERROR_LAUNCH_FAILED
            | R::CUDA_ERROR_LAUNCH_TIMEOUT
            | R::CUDA_ERROR_ASSERT
            | R::CUDA_ERROR_ECC_UNCORRECTABLE
            | R::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | R::CUDA_ERROR_CONTAINED
            | R::CUDA_ERROR_EXTERNAL_DEVICE
            | R::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | R::CUDA_ERROR_DEINITIALIZED
            | R::CUDA_ERROR_DEVICE_UNAVAILABLE
            | R::CUDA_ERROR_UNKNOWN
    )
}

/// NVIDIA's driver, found at run time: all calls as the trait has them.
pub(crate) struct Nvidia;

impl Driver for Nvidia {}

/// Launches with clusters.
///
/// # Safety
/// The obligations are those of [`Driver::launch`].
unsafe fn launch_clusters(launch: &DriverLaunch, parameters: &mut [*mut c_void]) -> Call {
    use sys::CUlaunchAttributeID as Id;
    let attribute = |id, value| sys::CUlaunchAttribute {
        id,
        pad: [0; 4],
        value,
    };
    let dimension = sys::CUlaunchAttributeValue_union__bindgen_ty_1 {
        x: launch.cluster,
        y: 1,
        z: 1,
    };
    let mut attributes = [
        attribute(
            Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            sys::CUlaunchAttributeValue {
                clusterDim: dimension,
            },
        ),
        attribute(
            Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            sys::CUlaunchAttributeValue {
                cooperative: i32::from(launch.cooperative),
            },
        ),
    ];
    let config = sys::CUlaunchConfig {
        gridDimX: launch.blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: launch.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: launch.shared_bytes,
        hStream: launch.stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    };
    // SAFETY: the attributes and the parameters live until the driver has copied them; the
    // rest is the caller's promise.
    unsafe {
        sys::cuLaunchKernelEx(
            &raw const config,
            launch.function,
            parameters.as_mut_ptr(),
            core::ptr::null_mut(),
        )
    }
    .result()
}
