//! The time limit of launches whose threads wait for each other.

use crate::host::argument::on;
use crate::host::buffer::Buffer;
use crate::host::prelude::*;
use crate::lane::Stop;

/// The stop flag of launches with barriers and semaphores, and the time at which it is raised. Every wait
/// looks at it, so the limit ends each, with [`Error::StillWaiting`]. On the CPU a panic raises it too.
pub struct Watchdog<D: Device> {
    flag: Buffer<D, u32>,
    limit: Option<Duration>,
}

impl<D: Device> Watchdog<D> {
    /// Makes a flag, with a time limit for each launch; without one, launches may wait for ever.
    pub fn new(device: &D, limit: Option<Duration>) -> Result<Self> {
        let flag = Buffer::zeroed(device, 1, "the stop flag")?;
        Ok(Self { flag, limit })
    }

    /// Returns the flag for the parameters of kernels. It is valid while this lives.
    pub fn stop(&self) -> Stop {
        // SAFETY: a word of this device, which the caller of a launch keeps alive.
        unsafe { Stop::from_raw(self.flag.as_mut_ptr()) }
    }

    /// Refuses a device that does not reach the flag, with [`Error::OtherDevice`].
    pub fn check_device(&self, device: &D) -> Result {
        on(device, self.flag.space(), "the stop flag")
    }

    /// Launches a kernel whose waits look at this flag, waits for it, and returns the time that it ran.
    ///
    /// # Errors
    /// [`Error::StillWaiting`] if the flag was raised; barriers and semaphores must be reset then.
    ///
    /// # Safety
    /// The obligations are those of [`Device::launch`].
    pub unsafe fn launch<K: Kernel>(
        &mut self,
        device: &D,
        launch: &Launch,
        params: &K::Params,
    ) -> Result<Duration> {
        let (flag, after) = (self.flag.as_mut_ptr(), self.limit);
        let mut launch = *launch;
        launch.stop = Some(StopAt { flag, after });
        self.flag.clear()?;
        // SAFETY: the caller promises it.
        let time = unsafe { device.launch::<K>(&launch, params) }?;
        match self.limit {
            Some(limit) if self.flag.download()? != [0] => Err(Error::StillWaiting { limit }),
            _ => Ok(time),
        }
    }
}
