//! The owner of a barrier across the blocks of a launch.

use crate::host::device::{Device, Launch, Memory};
use crate::host::error::Error;
use crate::host::watchdog::Watchdog;
use crate::kernel::Kernel;
use crate::sync::Stop;
use crate::sync::barrier::{BLOCKS_MAX, Chosen, Kind, Meeting, Place, TBarrier};
use core::marker::PhantomData;
use std::time::Duration;

/// A barrier for launches of one shape, with the algorithm `B`.
///
/// All blocks of such a launch must be resident at the same time. [`Self::launch`] asks
/// the device and refuses a launch that does not fit with the number of blocks that
/// would. On the CPU each thread of each block is an OS thread of its own, of which there
/// may be 4,096; in a simulator all lanes run.
pub struct GridBarrier<D: Device, B> {
    device: D,
    memory: D::Memory,
    launch: Launch,
    place: Place,
    meeting: PhantomData<B>,
}

impl<D: Device, B: Meeting> GridBarrier<D, B> {
    /// Makes a barrier for launches of this shape, whose waits look at the flag `stop`
    /// ([`Watchdog::stop`], [`Stm::stop`](crate::host::Stm::stop)).
    ///
    /// # Errors
    /// A shape that the device does not take, or an error of the device.
    pub fn new(device: &D, launch: Launch, stop: Stop) -> Result<Self, Error> {
        Self::of_kind(device, launch, stop, 0)
    }

    fn of_kind(device: &D, launch: Launch, stop: Stop, kind: u32) -> Result<Self, Error> {
        launch.check(&device.limits())?;
        if launch.blocks > BLOCKS_MAX {
            return Err(Error::LaunchTooLarge {
                what: "blocks at a barrier",
                asked: launch.blocks,
                limit: BLOCKS_MAX,
            });
        }
        let groups = B::groups(launch.blocks);
        let groups = match Kind::ALL.get(kind as usize) {
            Some(kind) if B::NAME == Chosen::NAME => kind.groups(launch.blocks),
            _ => groups,
        };
        let lines = 1 + B::lines(launch.blocks, groups);
        let memory = device.allocate(lines as usize * Place::LINE_BYTES, "a barrier")?;
        // SAFETY: the memory is aligned to 256 bytes, and the groups are the algorithm's;
        // that all lives while a kernel runs is what the caller of `launch` promises.
        let place = unsafe {
            Place::from_raw(
                memory.address().cast(),
                stop,
                launch.blocks,
                groups.ilog2(),
                kind,
            )
        };
        Ok(Self {
            device: device.clone(),
            memory,
            launch: Launch {
                cooperative: true,
                ..launch
            },
            place,
            meeting: PhantomData,
        })
    }

    /// Returns the barrier for the parameters of kernels. It is valid while this and the owner
    /// of the stop flag live.
    pub fn view(&self) -> TBarrier<B> {
        // SAFETY: the memory was zeroed and has the algorithm's lines; `launch` resets it
        // after a launch that failed.
        unsafe { TBarrier::from_raw(self.place) }
    }

    /// Returns the shape of the launches, which are cooperative.
    pub const fn shape(&self) -> Launch {
        self.launch
    }

    /// Returns how many blocks of a kernel are resident at the same time, with the
    /// threads a block and the shared memory of this shape.
    ///
    /// # Errors
    /// Those of [`Device::resident_blocks`].
    pub fn resident_blocks<K: Kernel>(&self) -> Result<u32, Error> {
        self.device.resident_blocks::<K>(&self.launch)
    }

    /// Launches a kernel whose parameters hold this barrier's [view](Self::view),
    /// waits for it, and returns the time that it ran.
    ///
    /// # Errors
    /// [`Error::LaunchTooLarge`] with the number of blocks that would be resident, if
    /// these are not; [`Error::StillWaiting`]; or an error of the device. After an error
    /// the barrier is as new.
    ///
    /// # Safety
    /// The stop flag of the barrier is that of `watchdog`, and the obligations of
    /// [`Device::launch`] hold.
    pub unsafe fn launch<K: Kernel>(
        &mut self,
        watchdog: &mut Watchdog<D>,
        params: &K::Params,
    ) -> Result<Duration, Error> {
        let limit = self.resident_blocks::<K>()?;
        if self.launch.blocks > limit {
            return Err(Error::LaunchTooLarge {
                what: "blocks at the same time",
                asked: self.launch.blocks,
                limit,
            });
        }
        // SAFETY: the caller promises it.
        let launched = unsafe { watchdog.launch::<K>(&self.device, &self.launch, params) };
        if launched.is_err() {
            self.reset()?;
        }
        self.check()?;
        launched
    }

    /// Checks that no launch of another grid has used the barrier. [`Self::launch`] makes
    /// none, so this is for those who launch its users by themselves.
    ///
    /// # Errors
    /// [`Error::OtherGrid`], or an error of the device.
    pub fn check(&self) -> Result<(), Error> {
        let mut word = [0; 4];
        self.memory.read(0, &mut word)?;
        match u32::from_ne_bytes(word) {
            0 => Ok(()),
            used_by => Err(Error::OtherGrid {
                made_for: self.launch.blocks,
                used_by,
            }),
        }
    }

    /// Makes the barrier as it was when it was new, after a launch that was told to stop
    /// or ended with an error.
    ///
    /// # Errors
    /// An error of the device.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.memory.clear()
    }
}

impl<D: Device> GridBarrier<D, Chosen> {
    /// Makes a barrier with an algorithm that is chosen now.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn chosen(device: &D, kind: Kind, launch: Launch, stop: Stop) -> Result<Self, Error> {
        Self::of_kind(device, launch, stop, kind as u32)
    }
}
