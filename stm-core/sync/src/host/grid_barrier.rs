//! The owner of a barrier across the blocks of a launch.

use crate::barrier::{BLOCKS_MAX, BarrierMemory, Chosen, Kind, Meeting, TBarrier};
use crate::host::check_stop;
use core::marker::PhantomData;
use std::time::Duration;
use stm_machine::host::{Device, Error, Launch, Memory, Watchdog};
use stm_machine::{Kernel, Stop};

/// A barrier for launches of one shape, with the algorithm `B`.
///
/// All blocks of such a launch must be resident at the same time. [`Self::launch`] asks
/// the device and refuses a launch that does not fit with the number of blocks that
/// would. On the CPU each thread of each block is an OS thread of its own, of which there
/// may be 4,096; in a simulator all lanes run.
///
/// It is lent to a kernel as `&GridBarrier<D, B>`, whose launch must have its [shape](Self::shape):
/// blocks that need not be resident together might wait for each other for ever. The
/// [crate's page](crate) has an example. After a launch that ended with an error, call
/// [`Self::reset`].
pub struct GridBarrier<D: Device, B> {
    device: D,
    memory: D::Memory,
    launch: Launch,
    place: BarrierMemory,
    meeting: PhantomData<B>,
}

impl<D: Device, B: Meeting> GridBarrier<D, B> {
    /// Makes a barrier for launches of this shape, whose waits look at the flag `stop`
    /// ([`Watchdog::stop`], or that of an `Stm`).
    ///
    /// One with an algorithm that is chosen at launch is made by [`GridBarrier::chosen`]; this
    /// does not compile, as it does not say which:
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
    pub fn new(device: &D, launch: Launch, stop: Stop) -> Result<Self, Error> {
        const { assert!(!B::CHOSEN, "say which algorithm: GridBarrier::chosen") };
        Self::of_kind(device, launch, stop, 0)
    }

    fn of_kind(device: &D, launch: Launch, stop: Stop, kind: u32) -> Result<Self, Error> {
        launch.check(&device.limits())?;
        Error::above("blocks at a barrier", launch.blocks, BLOCKS_MAX)?;
        let groups = match Kind::ALL.get(kind as usize) {
            Some(kind) if B::CHOSEN => kind.groups(launch.blocks),
            _ => B::groups(launch.blocks),
        };
        let lines = 1 + B::lines(launch.blocks, groups);
        let memory = device.allocate(lines as usize * BarrierMemory::LINE_BYTES, "a barrier")?;
        // SAFETY: the memory is aligned to 256 bytes, and the groups are the algorithm's;
        // that all lives while a kernel runs is what the caller of `launch` promises.
        let place = unsafe {
            let (start, groups) = (memory.address().cast(), groups.ilog2());
            BarrierMemory::from_raw(start, stop, launch.blocks, groups, kind)
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

    /// Returns how many blocks of a kernel are resident at the same time, with the threads a block
    /// and the shared memory of this shape. Its errors are those of [`Device::resident_blocks`].
    pub fn resident_blocks<K: Kernel>(&self) -> Result<u32, Error> {
        self.device.resident_blocks::<K>(&self.launch)
    }

    /// Launches a kernel whose parameters hold this barrier's [view](Self::view),
    /// waits for it, and returns the time that it ran.
    ///
    /// # Errors
    /// [`Error::LaunchTooLarge`] with the number of blocks that would be resident, if these are
    /// not; [`Error::OtherGrid`] if a launch that somebody else made before was of another grid;
    /// [`Error::StillWaiting`]; or an error of the device. After an error the barrier is as new.
    ///
    /// # Safety
    /// The stop flag of the barrier is that of `watchdog`, and the obligations of
    /// [`Device::launch`] hold.
    pub unsafe fn launch<K: Kernel>(
        &mut self,
        watchdog: &mut Watchdog<D>,
        params: &K::Params,
    ) -> Result<Duration, Error> {
        self.check()?;
        self.check_residency::<K>(&self.launch)?;
        // SAFETY: the caller promises it.
        let launched = unsafe { watchdog.launch::<K>(&self.device, &self.launch, params) };
        if launched.is_err() {
            self.reset()?;
        }
        launched
    }

    fn check_residency<K: Kernel>(&self, launch: &Launch) -> Result<(), Error> {
        let limit = self.device.resident_blocks::<K>(launch)?;
        Error::above("blocks at the same time", launch.blocks, limit)
    }

    /// Checks that no launch of another grid has used the barrier. [`Self::launch`] makes
    /// none, so this is for those who launch its users by themselves. Such a launch is
    /// reported once; as all its waits were refused, the barrier is usable afterwards.
    ///
    /// # Errors
    /// [`Error::OtherGrid`], or an error of the device.
    pub fn check(&mut self) -> Result<(), Error> {
        let mut word = [0; 4];
        self.memory.read(0, &mut word)?;
        let (made_for, used_by) = (self.launch.blocks, u32::from_ne_bytes(word));
        if used_by == 0 {
            return Ok(());
        }
        self.memory.write(0, &[0; 4])?;
        Err(Error::OtherGrid { made_for, used_by })
    }

    /// Makes the barrier as it was when it was new, after a launch that was told to stop
    /// or ended with an error.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.memory.clear()
    }
}

impl<D: Device> GridBarrier<D, Chosen> {
    /// Makes a barrier with an algorithm that is chosen now. Its errors are those of [`Self::new`].
    pub fn chosen(device: &D, kind: Kind, launch: Launch, stop: Stop) -> Result<Self, Error> {
        Self::of_kind(device, launch, stop, kind as u32)
    }
}

// SAFETY: the view is of the barrier's memory, which has the lines of algorithm `B` and is
// accessed by nobody else while it is borrowed; a launch of another grid finds no wait.
stm_machine::__lent! {
    |it|
    [B: Meeting] &GridBarrier<D, B> => TBarrier<B>: it.memory.space(), Ok(it.view()),
        [it.memory.address()], {
        fn check_launch<K: Kernel>(&self, launch: &Launch, stop: Stop) -> Result<(), Error> {
            check_stop(self.place.stop(), stop, "barrier")?;
            let (made_for, used_by) = (self.launch.blocks, launch.blocks);
            if used_by != made_for {
                return Err(Error::OtherGrid { made_for, used_by });
            }
            if !launch.cooperative {
                return Err(Error::NotCooperative);
            }
            self.check_residency::<K>(launch)
        }
    };
}
