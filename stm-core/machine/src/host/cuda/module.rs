//! Modules: PTX text that the driver compiles when a kernel is first used.

use crate::host::cuda::context::{Cuda, Loaded, code};
use crate::host::cuda::driver::ends_context;
use crate::host::parameters::Passed;
use crate::host::prelude::*;
use crate::kernel::Build;
use core::any::TypeId;
use std::borrow::Cow;
use std::ffi::CString;

/// The entry point of a launch without the kernel's type, so that little is compiled for each kernel.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    id: TypeId,
    pub(crate) name: &'static str,
    ptx: fn(Build) -> Result<Cow<'static, str>>,
    passed: Passed,
}

impl Entry {
    pub(crate) fn of<K: Kernel>() -> Self {
        Self {
            id: TypeId::of::<K>(),
            name: K::ENTRY,
            ptx: K::ptx,
            passed: Passed::to::<K>(),
        }
    }
}

impl Cuda {
    /// Returns the name of the entry point for this GPU, the text of its module, and whether that is the one
    /// for newer GPUs, which not every kernel has.
    fn module_of(
        &self,
        kernel: Entry,
        observation: Observation,
    ) -> Result<(String, Cow<'static, str>, bool)> {
        let of = |wide| {
            let build = Build { wide, observation };
            let name = format!("{}{}", kernel.name, build.suffix());
            (kernel.ptx)(build).map(|text| (name, text, wide))
        };
        match if self.wide { of(true) } else { of(false) } {
            Err(Error::NoPtx { .. }) if self.wide => of(false),
            found => found,
        }
    }

    /// Returns how long the driver took to compile the kernel's module, which it has done then.
    pub(crate) fn compiled_in(&self, kernel: Entry, observation: Observation) -> Result<Duration> {
        Ok(self.function(kernel, observation)?.compiled_in)
    }

    /// Returns the kernel's function, whose module the first call compiles while threads that want it wait.
    pub(crate) fn function(&self, kernel: Entry, observation: Observation) -> Result<Loaded> {
        self.alive()?;
        let key = (kernel.id, self.wide, observation);
        let slot = Arc::clone(locked(&self.context.loaded).entry(key).or_default());
        let mut slot = locked(&slot);
        if let Some(found) = *slot {
            return Ok(found);
        }
        let (name, ptx, wide) = self.module_of(kernel, observation)?;
        kernel.passed.check(&ptx, &name)?;
        let start = Instant::now();
        let entry = kernel.name;
        let module = self.load_module(entry, &ptx)?;
        let symbol = CString::new(name).map_err(|_| Error::NoPtx { entry })?;
        // SAFETY: the module was just loaded, and is never unloaded: the context takes it along.
        let found = unsafe { self.driver().function(module, symbol) };
        let function = found
            .map_err(|error| self.refused("cuModuleGetFunction", error, entry, code(error)))?;
        // SAFETY: the function is loaded.
        let threads_max = unsafe { self.driver().threads_max(function) };
        let found = Loaded {
            function,
            threads_max: self.done("cuFuncGetAttribute", threads_max)? as u32,
            compiled_in: start.elapsed(),
            wide,
        };
        let ms = found.compiled_in.as_secs_f64() * 1e3;
        tracing::debug!(entry, ms, "module compiled");
        *slot = Some(found);
        Ok(found)
    }

    /// Returns the error of a module that the driver does not take, for what `log` says.
    fn refused(&self, during: &str, error: DriverError, entry: &'static str, log: String) -> Error {
        if ends_context(error) {
            self.lose(during, error)
        } else {
            Error::BadPtx { entry, log }
        }
    }

    fn load_module(&self, entry: &'static str, ptx: &str) -> Result<sys::CUmodule> {
        let log = "the text contains a NUL".to_owned();
        let text = CString::new(ptx).map_err(|_| Error::BadPtx { entry, log })?;
        let mut log = vec![0u8; 8192];
        let loaded = self.driver().load_module(&text, &mut log);
        loaded.map_err(|error| {
            let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
            let log = String::from_utf8_lossy(&log[..end]);
            let words: Vec<&str> = log.split_whitespace().collect();
            let log = format!("{}: {}", code(error), words.join(" "));
            self.refused("cuLibraryLoadData", error, entry, log)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::cuda::stand_in::StandIn;
    use crate::lane::Lane;

    struct Nothing;

    impl Kernel for Nothing {
        const ENTRY: &'static str = "nothing";
        type Params = ();
        fn ptx(_build: Build) -> Result<Cow<'static, str>> {
            // Long enough for other threads to ask for the same.
            std::thread::sleep(core::time::Duration::from_millis(20));
            Ok(Cow::Borrowed(".version 7.0"))
        }
        fn run<L: Lane>(_lane: &L, _params: &()) {}
    }

    #[test]
    fn threads_that_want_the_same_module_load_it_once() {
        let driver = StandIn::new();
        let cuda = driver.open().unwrap();
        let load = || cuda.function(Entry::of::<Nothing>(), Observation::Silent);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(load().is_ok()));
            }
        });
        let calls = driver.state().calls.clone();
        let loads = calls.iter().filter(|call| **call == "cuLibraryLoadData");
        assert_eq!(loads.count(), 1);
    }
}
