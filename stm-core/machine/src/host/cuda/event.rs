//! Events of a stream.

use crate::host::cuda::context::Cuda;
use crate::host::error::Error;
use cudarc::driver::sys;
use std::time::Duration;

/// An event, destroyed when dropped.
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
