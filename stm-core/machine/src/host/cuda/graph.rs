//! Launches recorded as a CUDA graph; and events of a stream.

use crate::host::cuda::context::Cuda;
use crate::host::cuda::module::Entry;
use crate::host::device::{Launch, Replay};
use crate::host::error::Error;
use crate::kernel::Kernel;
use cudarc::driver::sys;
use std::time::Duration;

pub(super) struct Graph<'a> {
    cuda: &'a Cuda,
    ready: sys::CUgraphExec,
}

impl<'a> Graph<'a> {
    /// Records the launches of a kernel.
    ///
    /// # Errors
    /// An error of the device; then the stream records no more.
    ///
    /// # Safety
    /// The obligations are those of [`Device::record`](crate::host::Device::record).
    pub(super) unsafe fn record<K: Kernel>(
        cuda: &'a Cuda,
        launches: &[(Launch, K::Params)],
    ) -> Result<Self, Error> {
        let (driver, stream) = (cuda.driver(), cuda.stream());
        // What loads a module or sets an attribute of it comes before.
        for (launch, _) in launches {
            cuda.ready(Entry::of::<K>(), launch)?;
        }
        // SAFETY: the stream is live.
        let begun = unsafe { driver.begin_capture(stream) };
        cuda.done("cuStreamBeginCapture", begun)?;
        let recorded = launches.iter().try_for_each(|(launch, params)| {
            let params = core::ptr::from_ref(params).cast();
            // SAFETY: nothing runs yet; the caller promises the rest for what will.
            unsafe { cuda.start(Entry::of::<K>(), launch, params) }
        });
        // SAFETY: the stream is live, and capturing.
        let ended = unsafe { driver.end_capture(stream) };
        if let Err(error) = recorded {
            if let Ok(graph) = ended {
                // SAFETY: the graph was made by this call, and is destroyed once. The first
                // error is the one to report.
                let _ = unsafe { driver.destroy_graph(graph) };
            }
            return Err(error);
        }
        let graph = cuda.done("cuStreamEndCapture", ended)?;
        // SAFETY: the graph is live, and destroyed once; what was instantiated does not
        // need it.
        let (made, destroyed) = unsafe { (driver.instantiate(graph), driver.destroy_graph(graph)) };
        let made = Self {
            cuda,
            ready: cuda.done("cuGraphInstantiate", made)?,
        };
        cuda.done("cuGraphDestroy", destroyed)?;
        Ok(made)
    }
}

impl Replay for Graph<'_> {
    fn replay(&mut self) -> Result<Duration, Error> {
        let cuda = self.cuda;
        cuda.alive()?;
        cuda.timed(None, "a recorded kernel", || {
            // SAFETY: both are live, and what the kernels use is until the graph is dropped
            // (`record`).
            let launched = unsafe { cuda.driver().launch_graph(self.ready, cuda.stream()) };
            cuda.done("cuGraphLaunch", launched)
        })
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once, and it does not run. An error here changes
        // nothing.
        let _ = unsafe { self.cuda.driver().destroy_ready(self.ready) };
    }
}

pub(super) struct Event<'a> {
    cuda: &'a Cuda,
    pub(super) event: sys::CUevent,
}

impl<'a> Event<'a> {
    pub(super) fn new(cuda: &'a Cuda) -> Result<Self, Error> {
        let event = cuda.done("cuEventCreate", cuda.driver().create_event())?;
        Ok(Self { cuda, event })
    }

    pub(super) fn record(&self) -> Result<(), Error> {
        let stream = self.cuda.stream();
        // SAFETY: both are live.
        let recorded = unsafe { self.cuda.driver().record_event(self.event, stream) };
        self.cuda.done("cuEventRecord", recorded)
    }

    /// Returns the time from this event to a later one; both have been reached.
    pub(super) fn until(&self, later: &Self) -> Result<Duration, Error> {
        // SAFETY: both are live.
        let elapsed = unsafe { self.cuda.driver().elapsed(self.event, later.event) };
        let ms = self.cuda.done("cuEventElapsedTime", elapsed)?;
        Ok(Duration::from_secs_f64(f64::from(ms) * 1e-3))
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: created once, destroyed once. An error here changes nothing.
        let _ = unsafe { self.cuda.driver().destroy_event(self.event) };
    }
}
