//! A stand-in for the driver: memory is the host's, kernels do nothing, and any
//! call may be told to fail. It keeps count of everything that is to be given
//! back.
//!
//! As in the driver, an error that ends the context comes back from every later
//! call. Only tests use it.

use crate::host::cuda::context::Cuda;
use crate::host::cuda::driver::{Call, Driver, DriverLaunch, ends_context};
use crate::host::error::Error;
use cudarc::driver::{DriverError, sys};
use std::alloc::{Layout, alloc, dealloc};
use std::boxed::Box;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::string::String;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

/// What exists and what has happened.
#[derive(Debug, Default)]
pub struct State {
    /// The names of the calls so far.
    pub calls: Vec<&'static str>,
    /// The number of the call that fails, counted from 0, and its error.
    pub fail: Option<(usize, sys::CUresult)>,
    /// The name of the calls that fail, all of them, and their error.
    pub always: Option<(&'static str, sys::CUresult)>,
    /// The error that ended the context.
    ended: Option<sys::CUresult>,
    /// The allocations, by address.
    allocations: HashMap<u64, usize>,
    /// The bytes of the device that are still free.
    pub free: usize,
    /// Streams.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// Graphs, and graphs that are ready to be launched.
    pub graphs: usize,
    /// Whether the stream records launches.
    pub capturing: bool,
    /// Contexts.
    pub contexts: usize,
    /// The message that the compiler writes if loading a module fails.
    pub log: &'static str,
    /// A kernel ends only when the word at this address is not zero.
    pub runs_until: Option<u64>,
    /// Whether there is no driver.
    pub absent: bool,
    /// The major number of the devices' compute capability.
    pub major: i32,
    /// The number of devices.
    pub devices: i32,
}

impl State {
    /// Returns what has not been given back: allocations, streams, events and graphs,
    /// contexts, and whether the stream still records.
    pub fn left(&self) -> [usize; 4] {
        [
            self.allocations.len(),
            self.streams,
            self.events + self.graphs + usize::from(self.capturing),
            self.contexts,
        ]
    }
}

/// A stand-in; clones share their state.
#[derive(Clone, Debug)]
pub struct StandIn(Arc<Mutex<State>>);

const ALIGN: usize = 256;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).expect("a layout")
}

/// Any handle; nothing looks behind it.
fn handle<T>() -> *mut T {
    core::ptr::without_provenance_mut(8)
}

impl Default for StandIn {
    fn default() -> Self {
        Self::new()
    }
}

impl StandIn {
    /// Makes a driver with one device of compute capability 9.0.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            free: 1 << 30,
            major: 9,
            devices: 1,
            ..State::default()
        })))
    }

    /// Opens its first device.
    ///
    /// # Errors
    /// Those of [`Cuda::new`], of calls that fail.
    pub fn open(&self) -> Result<Cuda, Error> {
        Cuda::with_driver(Box::new(self.clone()), 0)
    }

    /// Returns what exists and what has happened.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call, and returns the error that it is to fail with.
    fn enter(&self, name: &'static str) -> Call {
        let mut state = self.state();
        let number = state.calls.len();
        state.calls.push(name);
        if let Some(ended) = state.ended {
            return Err(DriverError(ended));
        }
        let at_number = state.fail.filter(|&(n, _)| n == number);
        let by_name = state.always.filter(|&(wanted, _)| wanted == name);
        let code = at_number.map(|(_, code)| code);
        let Some(code) = code.or(by_name.map(|(_, code)| code)) else {
            return Ok(());
        };
        if ends_context(DriverError(code)) {
            state.ended = Some(code);
        }
        Err(DriverError(code))
    }

    /// Notes a call that gives something back, which it does even if it returns
    /// the error of an earlier call.
    fn give_back(&self, name: &'static str, what: impl FnOnce(&mut State)) -> Call {
        what(&mut self.state());
        self.enter(name)
    }
}

// SAFETY of the calls below: addresses are those of `allocate`, as the trait
// demands of its callers.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Driver for StandIn {
    fn is_present(&self) -> bool {
        !self.state().absent
    }
    fn init(&self) -> Call {
        self.enter("cuInit")
    }
    fn version(&self) -> Call<i32> {
        self.enter("cuDriverGetVersion").map(|()| 12_080)
    }
    fn device_count(&self) -> Call<i32> {
        self.enter("cuDeviceGetCount")?;
        Ok(self.state().devices)
    }
    fn device(&self, ordinal: i32) -> Call<sys::CUdevice> {
        self.enter("cuDeviceGet").map(|()| ordinal)
    }
    fn device_name(&self, _device: sys::CUdevice) -> Call<String> {
        self.enter("cuDeviceGetName").map(|()| "a stand-in".into())
    }
    unsafe fn device_memory(&self, _device: sys::CUdevice) -> Call<usize> {
        self.enter("cuDeviceTotalMem").map(|()| 1 << 30)
    }
    unsafe fn device_attribute(
        &self,
        _device: sys::CUdevice,
        attribute: sys::CUdevice_attribute,
    ) -> Call<i32> {
        use sys::CUdevice_attribute as A;
        self.enter("cuDeviceGetAttribute")?;
        Ok(match attribute {
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => self.state().major,
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            A::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
            A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => i32::MAX,
            A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => 4,
            _ => 1024,
        })
    }

    unsafe fn retain_context(&self, _device: sys::CUdevice) -> Call<sys::CUcontext> {
        self.enter("cuDevicePrimaryCtxRetain")?;
        self.state().contexts += 1;
        Ok(handle())
    }
    unsafe fn release_context(&self, _device: sys::CUdevice) -> Call {
        self.give_back("cuDevicePrimaryCtxRelease", |state| state.contexts -= 1)
    }
    unsafe fn set_context(&self, _context: sys::CUcontext) -> Call {
        self.enter("cuCtxSetCurrent")
    }
    fn synchronize(&self) -> Call {
        self.enter("cuCtxSynchronize")
    }
    fn free_bytes(&self) -> Call<usize> {
        self.enter("cuMemGetInfo")?;
        Ok(self.state().free)
    }

    unsafe fn allocate(&self, bytes: usize) -> Call<sys::CUdeviceptr> {
        self.enter("cuMemAlloc")?;
        let start = unsafe { alloc(layout(bytes)) } as u64;
        let mut state = self.state();
        state.free -= bytes;
        state.allocations.insert(start, bytes);
        Ok(start)
    }
    unsafe fn free(&self, start: sys::CUdeviceptr) -> Call {
        self.give_back("cuMemFree", |state| {
            let bytes = state.allocations.remove(&start).expect("an allocation");
            state.free += bytes;
            unsafe { dealloc(start as *mut u8, layout(bytes)) };
        })
    }
    unsafe fn copy_in(&self, to: sys::CUdeviceptr, data: &[u8], _stream: sys::CUstream) -> Call {
        self.enter("cuMemcpyHtoDAsync")?;
        unsafe { (to as *mut u8).copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Ok(())
    }
    unsafe fn copy_out(&self, data: &mut [u8], from: sys::CUdeviceptr) -> Call {
        self.enter("cuMemcpyDtoH")?;
        unsafe { (from as *const u8).copy_to_nonoverlapping(data.as_mut_ptr(), data.len()) };
        Ok(())
    }
    unsafe fn copy_within(
        &self,
        to: sys::CUdeviceptr,
        from: sys::CUdeviceptr,
        bytes: usize,
        _stream: sys::CUstream,
    ) -> Call {
        self.enter("cuMemcpyDtoDAsync")?;
        unsafe { (to as *mut u8).copy_from_nonoverlapping(from as *const u8, bytes) };
        Ok(())
    }
    unsafe fn clear(&self, start: sys::CUdeviceptr, bytes: usize) -> Call {
        self.enter("cuMemsetD8")?;
        unsafe { (start as *mut u8).write_bytes(0, bytes) };
        Ok(())
    }

    fn create_stream(&self) -> Call<sys::CUstream> {
        self.enter("cuStreamCreate")?;
        self.state().streams += 1;
        Ok(handle())
    }
    unsafe fn destroy_stream(&self, _stream: sys::CUstream) -> Call {
        self.give_back("cuStreamDestroy", |state| state.streams -= 1)
    }
    unsafe fn wait_for_stream(&self, _stream: sys::CUstream) -> Call {
        self.enter("cuStreamSynchronize")
    }
    fn create_event(&self) -> Call<sys::CUevent> {
        self.enter("cuEventCreate")?;
        self.state().events += 1;
        Ok(handle())
    }
    unsafe fn destroy_event(&self, _event: sys::CUevent) -> Call {
        self.give_back("cuEventDestroy", |state| state.events -= 1)
    }
    unsafe fn record_event(&self, _event: sys::CUevent, _stream: sys::CUstream) -> Call {
        self.enter("cuEventRecord")
    }
    unsafe fn query_event(&self, _event: sys::CUevent) -> Call {
        self.enter("cuEventQuery")?;
        match self.state().runs_until {
            Some(flag) if unsafe { (flag as *const u32).read() } == 0 => {
                Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY))
            }
            _ => Ok(()),
        }
    }
    unsafe fn wait_for_event(&self, _event: sys::CUevent) -> Call {
        self.enter("cuEventSynchronize")
    }
    unsafe fn elapsed(&self, _before: sys::CUevent, _after: sys::CUevent) -> Call<f32> {
        self.enter("cuEventElapsedTime").map(|()| 1.0)
    }

    fn load_module(&self, _text: &CStr, log: &mut [u8]) -> Call<sys::CUmodule> {
        let entered = self.enter("cuModuleLoadDataEx");
        if entered.is_err() {
            let text = self.state().log.as_bytes();
            log[..text.len()].copy_from_slice(text);
        }
        entered.map(|()| handle())
    }
    unsafe fn function(&self, _module: sys::CUmodule, _name: CString) -> Call<sys::CUfunction> {
        self.enter("cuModuleGetFunction").map(|()| handle())
    }
    unsafe fn threads_max(&self, _function: sys::CUfunction) -> Call<i32> {
        self.enter("cuFuncGetAttribute").map(|()| 512)
    }
    unsafe fn allow_shared(&self, _function: sys::CUfunction, _bytes: i32) -> Call {
        self.enter("cuFuncSetAttribute")
    }
    unsafe fn resident_blocks(
        &self,
        _function: sys::CUfunction,
        _threads: i32,
        _shared_bytes: usize,
    ) -> Call<i32> {
        self.enter("cuOccupancyMaxActiveBlocksPerMultiprocessor")
            .map(|()| 2)
    }
    unsafe fn launch(&self, _launch: DriverLaunch) -> Call {
        self.enter("cuLaunchKernel")
    }

    unsafe fn begin_capture(&self, _stream: sys::CUstream) -> Call {
        self.enter("cuStreamBeginCapture")?;
        self.state().capturing = true;
        Ok(())
    }
    unsafe fn end_capture(&self, _stream: sys::CUstream) -> Call<sys::CUgraph> {
        // The capture ends even if it has failed.
        self.state().capturing = false;
        self.enter("cuStreamEndCapture")?;
        self.state().graphs += 1;
        Ok(handle())
    }
    unsafe fn instantiate(&self, _graph: sys::CUgraph) -> Call<sys::CUgraphExec> {
        self.enter("cuGraphInstantiate")?;
        self.state().graphs += 1;
        Ok(handle())
    }
    unsafe fn destroy_graph(&self, _graph: sys::CUgraph) -> Call {
        self.give_back("cuGraphDestroy", |state| state.graphs -= 1)
    }
    unsafe fn launch_graph(&self, _ready: sys::CUgraphExec, _stream: sys::CUstream) -> Call {
        self.enter("cuGraphLaunch")
    }
    unsafe fn destroy_ready(&self, _ready: sys::CUgraphExec) -> Call {
        self.give_back("cuGraphExecDestroy", |state| state.graphs -= 1)
    }
}
