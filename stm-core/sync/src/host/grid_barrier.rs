//! The owner of a barrier across the blocks of a launch.

use super::owner::{Owner, Reference};
use crate::barrier::{BLOCKS_MAX, BarrierMemory, Chosen, Kind, Meeting, TBarrier};
use std::time::Duration;
use stm_machine::host::{Device, Error, Launch, Memory, Result, Watchdog};
use stm_machine::{Kernel, Stop};

/// A barrier for launches of one shape, with the algorithm `B`, lent to a kernel as `&GridBarrier<D, B>`,
/// whose launch must have its [shape](Owner::shape). The [crate's page](crate) has an example. All blocks of
/// such a launch must be resident at the same time: [`launch`](Owner::launch) asks the device, and refuses a
/// launch that does not fit with the number of blocks that would. On the CPU there may be 4,096 threads; in a
/// simulator all lanes run. After an error, call [`reset`](Owner::reset).
pub type GridBarrier<D, B> = Owner<D, TBarrier<B>, Launch>;

impl<B: Meeting> Reference<Launch> for TBarrier<B> {
    fn stop(&self) -> Option<(Stop, &'static str)> {
        Some((self.place.stop, "barrier"))
    }

    fn check_launch<D: Device, K: Kernel>(owner: &GridBarrier<D, B>, launch: &Launch) -> Result {
        let (made_for, used_by) = (owner.made.blocks, launch.blocks);
        if used_by != made_for {
            return Err(Error::OtherGrid { made_for, used_by });
        }
        if !launch.cooperative {
            return Err(Error::NotCooperative);
        }
        owner.check_residency::<K>(launch)
    }
}

impl<D: Device, B: Meeting> GridBarrier<D, B> {
    /// Makes a barrier for launches of this shape, if the device takes it, whose waits look at the flag
    /// `stop` ([`Watchdog::stop`], or that of an `Stm`). [`GridBarrier::chosen`] makes one with an algorithm
    /// that is chosen at launch; this does not compile, as it does not say which:
    ///
    /// ```compile_fail,E0080
    /// # use stm_machine::host::{Cpu, Launch, Watchdog};
    /// # use stm_sync::{barrier::Chosen, host::GridBarrier};
    /// # let watchdog = Watchdog::new(&Cpu::new(), None).unwrap();
    /// GridBarrier::<_, Chosen>::new(&Cpu::new(), Launch::new(1, 1), watchdog.stop());
    /// ```
    ///
    /// # Errors
    /// A shape that the device does not take, or an error of the device.
    pub fn new(device: &D, launch: Launch, stop: Stop) -> Result<Self> {
        const { assert!(!B::CHOSEN, "say which algorithm: GridBarrier::chosen") };
        Self::of_kind(device, launch, stop, 0)
    }

    fn of_kind(device: &D, launch: Launch, stop: Stop, kind: u32) -> Result<Self> {
        launch.check(&device.limits())?;
        Error::above("blocks at a barrier", launch.blocks, BLOCKS_MAX)?;
        let groups = match Kind::ALL.get(kind as usize) {
            Some(kind) if B::CHOSEN => kind.groups(launch.blocks),
            _ => B::groups(launch.blocks),
        };
        let lines = 1 + B::lines(launch.blocks, groups);
        let bytes = u64::from(lines) * BarrierMemory::LINE_BYTES as u64;
        let mut made = launch;
        made.cooperative = true;
        // SAFETY: the memory is aligned to 256 bytes, zero, has the algorithm's lines and groups, and is kept
        // alive by the caller of a launch.
        Self::of(device, "a barrier", [Some(bytes)], made, |[start]| unsafe {
            let (start, groups) = (start.cast(), groups.ilog2());
            let place = BarrierMemory::from_raw(start, stop, launch.blocks, groups, kind);
            TBarrier::from_raw(place)
        })
    }

    /// Returns the shape of the launches, which are cooperative.
    pub const fn shape(&self) -> Launch {
        self.made
    }

    /// Returns how many blocks of a kernel are resident at the same time in this shape
    /// ([`Device::resident_blocks`]).
    pub fn resident_blocks<K: Kernel>(&self) -> Result<u32> {
        self.device.resident_blocks::<K>(&self.made)
    }

    /// Launches a kernel whose parameters hold this barrier's [view](Self::view), waits for it, and returns
    /// the time that it ran. After an error the barrier is as new.
    ///
    /// # Errors
    /// [`Error::LaunchTooLarge`] with the number of blocks that would be resident, if these are not;
    /// [`Error::OtherGrid`] if a launch of others before was of another grid; [`Error::StillWaiting`].
    ///
    /// # Safety
    /// The stop flag of the barrier is that of `watchdog`, and the obligations of [`Device::launch`] hold.
    pub unsafe fn launch<K: Kernel>(
        &mut self,
        watchdog: &mut Watchdog<D>,
        params: &K::Params,
    ) -> Result<Duration> {
        self.check()?;
        self.check_residency::<K>(&self.made)?;
        // SAFETY: the caller promises it.
        let launched = unsafe { watchdog.launch::<K>(&self.device, &self.made, params) };
        if launched.is_err() {
            self.reset()?;
        }
        launched
    }

    fn check_residency<K: Kernel>(&self, launch: &Launch) -> Result {
        let limit = self.device.resident_blocks::<K>(launch)?;
        Error::above("blocks at the same time", launch.blocks, limit)
    }

    /// Checks that no launch of another grid has used the barrier, for those who launch its users without
    /// [`Self::launch`]. Such a launch is reported once, as [`Error::OtherGrid`]; all its waits were refused,
    /// so that the barrier is usable afterwards.
    pub fn check(&mut self) -> Result {
        let (made_for, used_by) = (self.made.blocks, self.words(0..1)?[0]);
        if used_by == 0 {
            return Ok(());
        }
        self.memory.write(0, &[0; 4])?;
        Err(Error::OtherGrid { made_for, used_by })
    }
}

impl<D: Device> GridBarrier<D, Chosen> {
    /// Makes a barrier with an algorithm that is chosen now. Its errors are those of [`Self::new`].
    pub fn chosen(device: &D, kind: Kind, launch: Launch, stop: Stop) -> Result<Self> {
        Self::of_kind(device, launch, stop, kind as u32)
    }
}
