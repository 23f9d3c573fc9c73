//! Launches that are recorded once and made again and again.

use crate::host::device::{Device, Launch};
use crate::host::error::Error;
use crate::kernel::Kernel;
use std::boxed::Box;
use std::time::Duration;
use std::vec::Vec;

/// Launches that [`Device::record`] has recorded.
pub trait Replay {
    /// Makes the launches in their order, waits for the last one, and returns the time from
    /// the beginning of the first to the end of the last, by the device's own clock where it has
    /// one.
    ///
    /// # Errors
    /// An error of the device.
    fn replay(&mut self) -> Result<Duration, Error>;
}

/// Launches that are kept, and begun one after the other.
struct Kept<'d, D, K: Kernel> {
    device: &'d D,
    launches: Vec<(Launch, K::Params)>,
}

impl<D: Device, K: Kernel> Replay for Kept<'_, D, K> {
    fn replay(&mut self) -> Result<Duration, Error> {
        let mut laps = self.device.laps(2)?;
        laps.lap()?;
        let begun = self.launches.iter().try_for_each(|(launch, params)| {
            // SAFETY: whoever recorded it promised it until the recording is dropped.
            unsafe { self.device.enqueue::<K>(launch, params) }
        });
        let ended = laps.lap();
        // What has begun is waited for whatever happened.
        self.device.wait(None)?;
        begun?;
        ended?;
        Ok(laps.read()?.into_iter().sum())
    }
}

/// Keeps launches.
pub(super) fn keep<'d, D: Device, K: Kernel>(
    device: &'d D,
    launches: &[(Launch, K::Params)],
) -> Box<dyn Replay + 'd> {
    Box::new(Kept::<D, K> {
        device,
        launches: launches.to_vec(),
    })
}
