//! A stand-in for the driver: memory is the host's, kernels do nothing, and any call may be told to
//! fail. It keeps count of everything that is to be given back.
//!
//! As in the driver, an error that ends the context comes back from every later
//! call. Only tests use it.

use crate::host::cuda::context::Cuda;
use crate::host::cuda::driver::{Call, Driver, ends_context};
use crate::host::device::Launch;
use crate::host::error::Error;
use crate::host::locked;
use cudarc::driver::{DriverError, sys};
use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::prelude::v1::*;
use std::sync::{Arc, Mutex, MutexGuard};

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
        locked(&self.0)
    }

    /// Notes a call, and returns the error that it is to fail with.
    fn enter(&self, name: &'static str) -> Call {
        let mut state = self.state();
        let number = state.calls.len();
        state.calls.push(name);
        if let Some(ended) = state.ended {
            return Err(DriverError(ended));
        }
        let by_number = state.fail.filter(|&(n, _)| n == number).map(|of| of.1);
        let by_name = state.always.filter(|&(wanted, _)| wanted == name);
        let Some(code) = by_number.or(by_name.map(|of| of.1)) else {
            return Ok(());
        };
        if ends_context(DriverError(code)) {
            state.ended = Some(code);
        }
        Err(DriverError(code))
    }
}

/// Counts one more of what is to be given back.
fn new<T>(count: &mut usize) -> *mut T {
    *count += 1;
    handle()
}

/// Writes calls that do no more than note their name, count and return something; those that
/// give back count even if they return the error of an earlier call.
macro_rules! calls {
    (
        $(fn $safe:ident($($a:ident: $at:ty),*) $(-> $sof:ty)? = $scall:ident: $svalue:expr;)*
        $(unsafe fn $name:ident($($b:ident: $bt:ty),*) $(-> $of:ty)? = $call:ident: $value:expr;)*
        $(give_back $gone:ident($what:ty) = $gcall:ident: $count:ident;)*
    ) => {
        $(#[allow(unused_variables)] fn $safe(&self $(, $a: $at)*) -> Call<calls!(@ $($sof)?)> {
            self.enter(stringify!($scall))?;
            Ok(note(&mut self.state(), $svalue))
        })*
        $(#[allow(unused_variables)] unsafe fn $name(&self $(, $b: $bt)*) -> Call<calls!(@ $($of)?)> {
            self.enter(stringify!($call))?;
            Ok(note(&mut self.state(), $value))
        })*
        $(unsafe fn $gone(&self, _: $what) -> Call {
            self.state().$count -= 1;
            self.enter(stringify!($gcall))
        })*
    };
    (@) => { () };
    (@ $of:ty) => { $of };
}

/// Does with the state what a row of [`calls`] says.
fn note<T>(state: &mut State, what: impl FnOnce(&mut State) -> T) -> T {
    what(state)
}

// SAFETY of the calls below: addresses are those of `allocate`, as the trait
// demands of its callers.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Driver for StandIn {
    calls! {
        fn init() = cuInit: |_| ();
        fn version() -> i32 = cuDriverGetVersion: |_| 12_080;
        fn device_count() -> i32 = cuDeviceGetCount: |state| state.devices;
        fn device(ordinal: i32) -> sys::CUdevice = cuDeviceGet: |_| ordinal;
        fn device_name(device: sys::CUdevice) -> String = cuDeviceGetName: |_| "a stand-in".into();
        fn synchronize() = cuCtxSynchronize: |_| ();
        fn free_bytes() -> usize = cuMemGetInfo: |state| state.free;
        fn create_stream() -> sys::CUstream = cuStreamCreate: |state| new(&mut state.streams);
        fn create_event() -> sys::CUevent = cuEventCreate: |state| new(&mut state.events);

        unsafe fn device_memory(device: sys::CUdevice) -> usize = cuDeviceTotalMem: |_| 1 << 30;
        unsafe fn retain_context(device: sys::CUdevice) -> sys::CUcontext =
            cuDevicePrimaryCtxRetain: |state| new(&mut state.contexts);
        unsafe fn set_context(context: sys::CUcontext) = cuCtxSetCurrent: |_| ();
        unsafe fn wait_for_stream(stream: sys::CUstream) = cuStreamSynchronize: |_| ();
        unsafe fn record_event(event: sys::CUevent, stream: sys::CUstream) = cuEventRecord: |_| ();
        unsafe fn wait_for_event(event: sys::CUevent) = cuEventSynchronize: |_| ();
        unsafe fn elapsed(before: sys::CUevent, after: sys::CUevent) -> f32 =
            cuEventElapsedTime: |_| 1.0;
        unsafe fn function(module: sys::CUmodule, name: CString) -> sys::CUfunction =
            cuModuleGetFunction: |_| handle();
        unsafe fn threads_max(function: sys::CUfunction) -> i32 = cuFuncGetAttribute: |_| 512;
        unsafe fn allow_shared(function: sys::CUfunction, bytes: i32) = cuFuncSetAttribute: |_| ();
        unsafe fn resident_blocks(function: sys::CUfunction, threads: i32, bytes: usize) -> i32 =
            cuOccupancyMaxActiveBlocksPerMultiprocessor: |_| 2;
        unsafe fn launch(
            function: sys::CUfunction, launch: &Launch, stream: sys::CUstream, params: *mut c_void
        ) = cuLaunchKernel: |_| ();
        unsafe fn begin_capture(stream: sys::CUstream) =
            cuStreamBeginCapture: |state| state.capturing = true;
        unsafe fn instantiate(graph: sys::CUgraph) -> sys::CUgraphExec =
            cuGraphInstantiate: |state| new(&mut state.graphs);
        unsafe fn launch_graph(ready: sys::CUgraphExec, stream: sys::CUstream) =
            cuGraphLaunch: |_| ();

        give_back release_context(sys::CUdevice) = cuDevicePrimaryCtxRelease: contexts;
        give_back destroy_stream(sys::CUstream) = cuStreamDestroy: streams;
        give_back destroy_event(sys::CUevent) = cuEventDestroy: events;
        give_back destroy_graph(sys::CUgraph) = cuGraphDestroy: graphs;
        give_back destroy_ready(sys::CUgraphExec) = cuGraphExecDestroy: graphs;
    }

    fn is_present(&self) -> bool {
        !self.state().absent
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

    unsafe fn allocate(&self, bytes: usize) -> Call<sys::CUdeviceptr> {
        self.enter("cuMemAlloc")?;
        let start = unsafe { alloc(layout(bytes)) } as u64;
        let mut state = self.state();
        state.free -= bytes;
        state.allocations.insert(start, bytes);
        Ok(start)
    }
    unsafe fn free(&self, start: sys::CUdeviceptr) -> Call {
        // It is given back whatever the call says.
        let mut state = self.state();
        let bytes = state.allocations.remove(&start).expect("an allocation");
        state.free += bytes;
        unsafe { dealloc(start as *mut u8, layout(bytes)) };
        drop(state);
        self.enter("cuMemFree")
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

    unsafe fn query_event(&self, _event: sys::CUevent) -> Call {
        self.enter("cuEventQuery")?;
        match self.state().runs_until {
            Some(flag) if unsafe { (flag as *const u32).read() } == 0 => {
                Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY))
            }
            _ => Ok(()),
        }
    }

    fn load_module(&self, _text: &CStr, log: &mut [u8]) -> Call<sys::CUmodule> {
        let entered = self.enter("cuLibraryLoadData");
        if entered.is_err() {
            let text = self.state().log.as_bytes();
            log[..text.len()].copy_from_slice(text);
        }
        entered.map(|()| handle())
    }

    unsafe fn end_capture(&self, _stream: sys::CUstream) -> Call<sys::CUgraph> {
        // The capture ends even if it has failed.
        self.state().capturing = false;
        self.enter("cuStreamEndCapture")?;
        self.state().graphs += 1;
        Ok(handle())
    }
}
