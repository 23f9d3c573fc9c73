//! Modules: PTX text that the driver compiles when a kernel is first used.

use crate::host::cuda::context::Loaded;
use crate::host::cuda::context::{Cuda, code};
use crate::host::error::Error;
use crate::host::parameters::Shape;
use crate::kernel::{Build, Kernel};
use crate::observe::probe::Observation;
use core::any::TypeId;
use cudarc::driver::{result, sys};
use std::borrow::{Cow, ToOwned};
use std::ffi::{CString, c_void};
use std::format;
use std::string::String;
use std::sync::PoisonError;
use std::time::Instant;
use std::vec;

/// The entry point of a launch without the kernel's type, so that only a few
/// lines are compiled for each kernel.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    id: TypeId,
    pub(crate) name: &'static str,
    ptx: fn(Build) -> Result<Cow<'static, str>, Error>,
    parameters: Shape,
}

impl Entry {
    /// Returns the entry point of a kernel.
    pub(crate) fn of<K: Kernel>() -> Self {
        Self {
            id: TypeId::of::<K>(),
            name: K::ENTRY,
            ptx: K::ptx,
            parameters: Shape::of::<K>(),
        }
    }
}

impl Cuda {
    /// Returns the name of a kernel's entry point for this GPU, and the text of
    /// its module. A kernel without a module for wide atomics has only the
    /// other one.
    fn module_of(
        &self,
        kernel: Entry,
        observation: Observation,
    ) -> Result<(String, Cow<'static, str>), Error> {
        let of = |wide| {
            let build = Build { wide, observation };
            let name = format!("{}{}", kernel.name, build.suffix());
            (kernel.ptx)(build).map(|text| (name, text))
        };
        match if self.wide { of(true) } else { of(false) } {
            Err(Error::NoPtx { .. }) if self.wide => of(false),
            found => found,
        }
    }

    /// Returns the kernel's function; the first call compiles its module.
    pub(crate) fn function(
        &self,
        kernel: Entry,
        observation: Observation,
    ) -> Result<Loaded, Error> {
        self.alive()?;
        let mut loaded = self
            .context
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let key = (kernel.id, self.wide, observation);
        if let Some(&found) = loaded.get(&key) {
            return Ok(found);
        }
        let (name, ptx) = self.module_of(kernel, observation)?;
        kernel.parameters.check(&ptx, &name)?;
        let start = Instant::now();
        let entry = kernel.name;
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

/// Loads PTX text into the current context; the error is the driver's log on
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
