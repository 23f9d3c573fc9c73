//! The driver's calls, as a trait, so that tests can stand in for the driver and let any call fail. Each
//! method is one call, or two that always go together; the methods check nothing and keep nothing.
//!
//! # Safety
//! The handles and addresses given are live and of the current context, unless a method says
//! otherwise; memory on the host lives until the stream has been waited for.

use crate::host::device::Launch;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use cudarc::driver::{DriverError, result, sys};
use std::ffi::{CStr, CString, c_void};
use std::string::String;

pub(crate) type Call<T = ()> = Result<T, DriverError>;

/// Gives a macro all calls: whether it is unsafe, its name, the method of [`Driver`], what NVIDIA's driver
/// does, and what the stand-in does with its state, given whether it may succeed.
macro_rules! for_each_call {
    ($make:ident) => { $make! {
        [] cuInit: init() = result::init(), |_, ok| ok;
        [] cuDriverGetVersion: version() -> i32 = version(), |_, ok| ok.map(|()| 12_080);
        [] cuDeviceGetCount: device_count() -> i32 =
            result::device::get_count(), |state, ok| ok.map(|()| state.devices);
        [] cuDeviceGet: device(ordinal: i32) -> sys::CUdevice =
            result::device::get(ordinal), |_, ok| ok.map(|()| ordinal);
        [] cuDeviceGetName: device_name(device: sys::CUdevice) -> String =
            result::device::get_name(device), |_, ok| ok.map(|()| "a stand-in".into());
        [] cuCtxSynchronize: synchronize() = result::ctx::synchronize(), |_, ok| ok;
        [] cuMemGetInfo: free_bytes() -> usize =
            result::mem_get_info().map(|(free, _total)| free),
            |state, ok| ok.map(|()| state.free);
        // A stream that does not wait for the default one.
        [] cuStreamCreate: create_stream() -> sys::CUstream =
            result::stream::create(result::stream::StreamKind::NonBlocking),
            |state, ok| ok.map(|()| new(&mut state.streams));
        [] cuEventCreate: create_event() -> sys::CUevent =
            result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT),
            |state, ok| ok.map(|()| new(&mut state.events));
        [] cuLibraryLoadData: load_module(text: &CStr, log: &mut [u8]) -> sys::CUmodule =
            load_module(text, log), |state, ok| {
                log[..state.log.len()].copy_from_slice(state.log.as_bytes());
                ok.map(|()| handle())
            };
        [unsafe] cuDeviceTotalMem: device_memory(device: sys::CUdevice) -> usize =
            result::device::total_mem(device), |_, ok| ok.map(|()| 1 << 30);
        [unsafe] cuDeviceGetAttribute:
            device_attribute(device: sys::CUdevice, which: sys::CUdevice_attribute) -> i32 =
            result::device::get_attribute(device, which),
            |state, ok| ok.map(|()| state.attribute(which));
        [unsafe] cuDevicePrimaryCtxRetain: retain_context(device: sys::CUdevice) -> sys::CUcontext =
            result::primary_ctx::retain(device),
            |state, ok| ok.map(|()| new(&mut state.contexts));
        [unsafe] cuDevicePrimaryCtxRelease: release_context(device: sys::CUdevice) =
            result::primary_ctx::release(device), |state, ok| gone(&mut state.contexts, ok);
        [unsafe] cuCtxSetCurrent: set_context(context: sys::CUcontext) =
            result::ctx::set_current(context), |_, ok| ok;

        [unsafe] cuMemAlloc: allocate(bytes: usize) -> sys::CUdeviceptr =
            result::malloc_sync(bytes), |state, ok| ok.map(|()| state.allocate(bytes));
        [unsafe] cuMemFree: free(start: sys::CUdeviceptr) =
            result::free_sync(start), |state, ok| state.free(start, ok);
        [unsafe] cuMemcpyHtoDAsync: copy_in(to: sys::CUdeviceptr, data: &[u8], stream: sys::CUstream) =
            result::memcpy_htod_async(to, data, stream),
            |_, ok| ok.map(|()| (to as *mut u8).copy_from(data.as_ptr(), data.len()));
        [unsafe] cuMemcpyDtoH: copy_out(data: &mut [u8], from: sys::CUdeviceptr) =
            result::memcpy_dtoh_sync(data, from),
            |_, ok| ok.map(|()| data.as_mut_ptr().copy_from(from as *const u8, data.len()));
        [unsafe] cuMemcpyDtoDAsync: copy_within(
            to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream
        ) = result::memcpy_dtod_async(to, from, bytes, stream),
            |_, ok| ok.map(|()| (to as *mut u8).copy_from(from as *const u8, bytes));
        [unsafe] cuMemsetD8: clear(start: sys::CUdeviceptr, bytes: usize) =
            result::memset_d8_sync(start, 0, bytes),
            |_, ok| ok.map(|()| (start as *mut u8).write_bytes(0, bytes));

        [unsafe] cuStreamDestroy: destroy_stream(stream: sys::CUstream) =
            result::stream::destroy(stream), |state, ok| gone(&mut state.streams, ok);
        [unsafe] cuStreamSynchronize: wait_for_stream(stream: sys::CUstream) =
            result::stream::synchronize(stream), |_, ok| ok;
        [unsafe] cuEventDestroy: destroy_event(event: sys::CUevent) =
            result::event::destroy(event), |state, ok| gone(&mut state.events, ok);
        [unsafe] cuEventRecord: record_event(event: sys::CUevent, stream: sys::CUstream) =
            result::event::record(event, stream), |_, ok| ok;
        [unsafe] cuEventQuery: query_event(event: sys::CUevent) =
            result::event::query(event), |state, ok| ok.and_then(|()| state.query());
        [unsafe] cuEventSynchronize: wait_for_event(event: sys::CUevent) =
            result::event::synchronize(event), |_, ok| ok;
        // In milliseconds.
        [unsafe] cuEventElapsedTime: elapsed(before: sys::CUevent, after: sys::CUevent) -> f32 =
            result::event::elapsed(before, after), |_, ok| ok.map(|()| 1.0);

        [unsafe] cuModuleGetFunction:
            function(module: sys::CUmodule, name: CString) -> sys::CUfunction =
            result::module::get_function(module, name), |_, ok| ok.map(|()| handle());
        [unsafe] cuFuncGetAttribute: threads_max(function: sys::CUfunction) -> i32 =
            result::function::get_function_attribute(
                function,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            ),
            |_, ok| ok.map(|()| 512);
        [unsafe] cuFuncSetAttribute: allow_shared(function: sys::CUfunction, bytes: i32) =
            result::function::set_function_attribute(
                function,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                bytes,
            ),
            |_, ok| ok;
        [unsafe] cuOccupancyMaxActiveBlocksPerMultiprocessor:
            resident_blocks(function: sys::CUfunction, threads: i32, bytes: usize) -> i32 =
            written(|blocks| sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                blocks, function, threads, bytes,
            )),
            |_, ok| ok.map(|()| 2);
        // `params` points to the one parameter.
        [unsafe] cuLaunchKernel: launch(
            function: sys::CUfunction, launch: &Launch, stream: sys::CUstream,
            params: *mut c_void
        ) = launch_kernel(function, launch, stream, &mut [params]), |_, ok| ok;

        // Without a limit to what this or other threads may call meanwhile.
        [unsafe] cuStreamBeginCapture: begin_capture(stream: sys::CUstream) =
            result::stream::begin_capture(
                stream,
                sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
            ),
            |state, ok| ok.map(|()| state.capturing = true);
        [unsafe] cuStreamEndCapture: end_capture(stream: sys::CUstream) -> sys::CUgraph =
            result::stream::end_capture(stream), |state, ok| {
                // The capture ends even if it has failed.
                state.capturing = false;
                ok.map(|()| new(&mut state.graphs))
            };
        [unsafe] cuGraphInstantiate: instantiate(graph: sys::CUgraph) -> sys::CUgraphExec =
            written(|ready| sys::cuGraphInstantiateWithFlags(ready, graph, 0)),
            |state, ok| ok.map(|()| new(&mut state.graphs));
        [unsafe] cuGraphDestroy: destroy_graph(graph: sys::CUgraph) =
            result::graph::destroy(graph), |state, ok| gone(&mut state.graphs, ok);
        [unsafe] cuGraphLaunch: launch_graph(ready: sys::CUgraphExec, stream: sys::CUstream) =
            result::graph::launch(ready, stream), |_, ok| ok;
        [unsafe] cuGraphExecDestroy: destroy_ready(ready: sys::CUgraphExec) =
            result::graph::exec_destroy(ready), |state, ok| gone(&mut state.graphs, ok);
    } };
}
#[cfg(any(test, feature = "stand-in"))]
pub(super) use for_each_call;

macro_rules! methods {
    ($(
        [$($unsafe:tt)?] $call:ident: $name:ident($($arg:ident: $type:ty),*) $(-> $of:ty)? =
            $does:expr, $_stand_in:expr;
    )*) => {$(
        #[doc = concat!("`", stringify!($call), "`.")]
        $($unsafe)? fn $name(&self $(, $arg: $type)*) -> methods!(@ $($of)?) {
            $($unsafe)? { $does }
        }
    )*};
    (@) => { Call };
    (@ $of:ty) => { Call<$of> };
}

/// The driver. What each method does by itself is NVIDIA's call; a stand-in replaces all of them.
// SAFETY of the calls: each passes on what its caller promises (module).
#[allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)] // stated once, above
pub(crate) trait Driver: Send + Sync {
    fn is_present(&self) -> bool {
        // It searches for the library; nothing else loads it in the meantime.
        unsafe { sys::is_culib_present() }
    }
    for_each_call!(methods);
}

fn written<T>(call: impl FnOnce(*mut T) -> sys::CUresult) -> Call<T> {
    let mut value = MaybeUninit::uninit();
    call(value.as_mut_ptr()).result()?;
    // SAFETY: the call has succeeded, so it has written the value.
    Ok(unsafe { value.assume_init() })
}

fn version() -> Call<i32> {
    // SAFETY: it writes a number.
    written(|version| unsafe { sys::cuDriverGetVersion(version) })
}

/// Loads a text by `cuLibraryLoadData` and `cuLibraryGetModule`, or by `cuModuleLoadDataEx`, which writes the
/// driver's messages into `log`. The latter, all that a driver before CUDA 12 has, holds a lock of the
/// context while it compiles, so that other threads wait. A library is of no context and holds none. (The
/// linker holds none either, but makes other code.) It gets no options, as the driver may keep them; for
/// messages, a text that it refuses is loaded as a module. The driver keeps a library until the process ends.
fn load_module(text: &CStr, log: &mut [u8]) -> Call<sys::CUmodule> {
    let text = text.as_ptr().cast();
    if version()? >= 12_000 {
        let (none, no_values) = (null_mut(), null_mut());
        // SAFETY: the text ends in a NUL and lives through the call; there are no options.
        let library = written(|library| unsafe {
            sys::cuLibraryLoadData(library, text, none, no_values, 0, null_mut(), null_mut(), 0)
        });
        let loaded = library.and_then(|library| {
            // SAFETY: no other thread has the library.
            written(|module| unsafe { sys::cuLibraryGetModule(module, library) })
        });
        match loaded {
            Err(error) if !ends_context(error) => {}
            done => return done,
        }
    }
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let (count, options) = (options.len() as u32, options.as_mut_ptr());
    // SAFETY: the same, with two options and values as the driver documents them; all live through the call.
    written(|module| unsafe {
        sys::cuModuleLoadDataEx(module, text, count, options, values.as_mut_ptr())
    })
}

/// Returns whether an error ends the context: later calls return it again, and its memory is lost.
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

pub(crate) struct Nvidia;

impl Driver for Nvidia {}

/// Launches by `cuLaunchKernel`, `cuLaunchCooperativeKernel`, or `cuLaunchKernelEx` for clusters.
///
/// # Safety
/// The obligations are those of [`Driver::launch`].
unsafe fn launch_kernel(
    function: sys::CUfunction,
    launch: &Launch,
    stream: sys::CUstream,
    parameters: &mut [*mut c_void],
) -> Call {
    use sys::{CUlaunchAttributeID as Id, CUlaunchAttributeValue as Value};
    if launch.cluster == 1 {
        let start = if launch.cooperative {
            result::launch_cooperative_kernel
        } else {
            result::launch_kernel
        };
        let (grid, block) = ((launch.blocks, 1, 1), (launch.threads, 1, 1));
        let bytes = launch.shared_bytes;
        // SAFETY: the caller promises it.
        return unsafe { start(function, grid, block, bytes, stream, parameters) };
    }
    let attribute = |id, value| sys::CUlaunchAttribute {
        id,
        pad: [0; 4],
        value,
    };
    let (x, cooperative) = (launch.cluster, launch.cooperative.into());
    let cluster = Value {
        clusterDim: sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y: 1, z: 1 },
    };
    let mut attributes = [
        attribute(Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster),
        attribute(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Value { cooperative }),
    ];
    let config = sys::CUlaunchConfig {
        gridDimX: launch.blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: launch.threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: launch.shared_bytes,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    };
    let (config, parameters) = (&raw const config, parameters.as_mut_ptr());
    // SAFETY: attributes and parameters live until the driver has copied them; the rest the caller promises.
    unsafe { sys::cuLaunchKernelEx(config, function, parameters, null_mut()) }.result()
}
