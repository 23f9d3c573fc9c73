//! A stand-in for the driver, for tests: memory is the host's, kernels do nothing, any call may be told to
//! fail, and what is to be given back is counted. An error that ends the context comes back later.

use crate::host::cuda::context::Cuda;
use crate::host::cuda::driver::{Call, Driver, ends_context, for_each_call};
use crate::host::prelude::*;
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, CString, c_void};
use std::sync::MutexGuard;

/// What exists and what has happened.
#[derive(Debug, Default)]
#[allow(missing_docs)] // of the fields whose names say enough
pub struct State {
    pub calls: Vec<&'static str>,
    /// The number of the call that fails, counted from 0, and its error.
    pub fail: Option<(usize, sys::CUresult)>,
    /// The name of the calls that fail, all of them, and their error.
    pub always: Option<(&'static str, sys::CUresult)>,
    ended: Option<sys::CUresult>,
    allocations: HashMap<u64, usize>,
    pub free: usize,
    pub streams: usize,
    pub events: usize,
    pub graphs: usize,
    pub capturing: bool,
    pub contexts: usize,
    /// The message that the compiler writes if loading a module fails.
    pub log: &'static str,
    /// A kernel ends only when the word at this address is not zero.
    pub runs_until: Option<u64>,
    pub absent: bool,
    pub major: i32,
    pub devices: i32,
}

impl State {
    /// Returns what was not given back: allocations, streams, events, graphs and a capture, contexts.
    pub fn left(&self) -> [usize; 4] {
        [
            self.allocations.len(),
            self.streams,
            self.events + self.graphs + usize::from(self.capturing),
            self.contexts,
        ]
    }

    fn attribute(&self, attribute: sys::CUdevice_attribute) -> i32 {
        use sys::CUdevice_attribute as A;
        match attribute {
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => self.major,
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            A::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
            A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => i32::MAX,
            A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => 4,
            _ => 1024,
        }
    }

    fn allocate(&mut self, bytes: usize) -> sys::CUdeviceptr {
        // SAFETY: the size is not zero, as the driver demands.
        let start = unsafe { alloc(layout(bytes)) } as u64;
        self.free -= bytes;
        self.allocations.insert(start, bytes);
        start
    }

    /// Frees memory, whatever the call says.
    fn free(&mut self, start: sys::CUdeviceptr, ok: Call) -> Call {
        let bytes = self.allocations.remove(&start).expect("an allocation");
        self.free += bytes;
        // SAFETY: allocated above with this layout.
        unsafe { dealloc(start as *mut u8, layout(bytes)) };
        ok
    }

    fn query(&self) -> Call {
        match self.runs_until {
            // SAFETY: the flag is live memory of `allocate`.
            Some(flag) if unsafe { (flag as *const u32).read() } == 0 => {
                Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_READY))
            }
            _ => Ok(()),
        }
    }
}

/// A stand-in; clones share their state.
#[derive(Clone, Debug)]
pub struct StandIn(Arc<Mutex<State>>);

const ALIGN: usize = 256;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGN).expect("a layout")
}

fn handle<T>() -> *mut T {
    core::ptr::without_provenance_mut(8)
}

#[allow(clippy::new_without_default)] // for tests
impl StandIn {
    /// Makes a driver with one device of compute capability 9.0.
    pub fn new() -> Self {
        let mut state = State::default();
        (state.free, state.major, state.devices) = (1 << 30, 9, 1);
        Self(Arc::new(Mutex::new(state)))
    }

    /// Opens its first device, with the errors of [`Cuda::new`].
    pub fn open(&self) -> Result<Cuda> {
        Cuda::with_driver(Box::new(self.clone()), 0)
    }

    /// Returns what exists and what has happened.
    pub fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.0)
    }

    /// Notes a call, and does with the state what it does, given whether it may succeed.
    fn call<T>(
        &self,
        name: &'static str,
        does: impl FnOnce(&mut State, Call) -> Call<T>,
    ) -> Call<T> {
        let mut state = self.state();
        let number = state.calls.len();
        state.calls.push(name);
        let by_number = state.fail.filter(|&(n, _)| n == number).map(|of| of.1);
        let by_name = state.always.filter(|&(wanted, _)| wanted == name);
        let fails = by_number.or(by_name.map(|of| of.1));
        let fails = state.ended.or(fails).map(DriverError);
        state.ended = fails.filter(|error| ends_context(*error)).map(|of| of.0);
        does(&mut state, fails.map_or(Ok(()), Err))
    }
}

fn new<T>(count: &mut usize) -> *mut T {
    *count += 1;
    handle()
}

/// Counts one less, whatever the call says.
fn gone(count: &mut usize, ok: Call) -> Call {
    *count -= 1;
    ok
}

macro_rules! stand_ins {
    ($(
        [$($unsafe:tt)?] $call:ident: $name:ident($($arg:ident: $type:ty),*) $(-> $of:ty)? =
            $_nvidia:expr, $does:expr;
    )*) => {$(
        $($unsafe)? fn $name(&self $(, $arg: $type)*) -> stand_ins!(@ $($of)?) {
            $($unsafe)? { self.call(stringify!($call), $does) }
        }
    )*};
    (@) => { Call };
    (@ $of:ty) => { Call<$of> };
}

// SAFETY of the calls: addresses are those of `allocate`, as the trait demands of its callers.
#[allow(clippy::undocumented_unsafe_blocks, unused_unsafe, unused_variables)]
impl Driver for StandIn {
    fn is_present(&self) -> bool {
        !self.state().absent
    }
    for_each_call!(stand_ins);
}
