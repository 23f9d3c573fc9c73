//! The locks, barriers and semaphores that suit a kind of device.

use crate::barrier::{BLOCKS_MAX, Kind as BarrierKind};
use crate::chosen::Kind as MutexKind;
use crate::host::grid_barrier::GridBarrier;
use crate::host::locks::Locks;
use crate::host::semaphores::Semaphores;
use crate::semaphore::Kind as SemaphoreKind;
use crate::{Barrier, Mutex, Semaphore, Stop};
use stm_machine::host::{Device, Launch, Result};

/// Which mutex, barrier and semaphore suit a kind of device, and what makes them.
///
/// Kernels take them as `TLocks<Mutex>`, `TBarrier<Barrier>` and `TSemaphores<Semaphore>` ([`crate`]), which
/// [`Locks::chosen`], [`GridBarrier::chosen`] and [`Semaphores::chosen`] make of other kinds, too.
///
/// ```
/// use stm_machine::host::{Cpu, Watchdog};
/// use stm_sync::host::Defaults;
///
/// let device = Cpu::new();
/// let watchdog = Watchdog::new(&device, None)?;
/// let defaults = Defaults::of_device_kind(&device);
/// let mutexes = defaults.mutexes(&device, 1, 8, "the mutex")?; // for 8 threads
/// let semaphores = defaults.semaphores(&device, 1, 2, watchdog.stop())?; // 2 threads inside
/// assert_eq!((mutexes.len(), semaphores.count()), (1, 2));
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
///
/// Those of a GPU are what a recorded run on an NVIDIA H200 found (`docs/results/h200/sync.json`), and a
/// guess for others; `stamp device --measure` and `stamp bench sync` measure yours. Its mutex serves all
/// blocks alike; `tas-backoff` is faster, in no order. Those of a CPU were fastest on two cores (not
/// recorded).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Defaults {
    mutex: MutexKind,
    /// The barrier up to each number of blocks, in ascending order.
    barriers: &'static [(u32, BarrierKind)],
    semaphore: SemaphoreKind,
}

impl Defaults {
    /// What suits a CPU.
    pub const CPU: Self = Self {
        mutex: MutexKind::FetchAdd,
        barriers: &[(BLOCKS_MAX, BarrierKind::Counted)],
        semaphore: SemaphoreKind::Tickets,
    };

    /// What suits a GPU that is programmed by CUDA.
    pub const CUDA: Self = Self {
        mutex: MutexKind::Ticket,
        barriers: &[
            (528, BarrierKind::Counted),
            (BLOCKS_MAX, BarrierKind::Grouped),
        ],
        semaphore: SemaphoreKind::Tickets,
    };

    /// Returns what suits a device: [`Self::CUDA`] if its threads run in warps, else [`Self::CPU`].
    pub fn of_device_kind(device: &impl Device) -> Self {
        let has_warps = device.limits().warp_width > 1;
        if has_warps { Self::CUDA } else { Self::CPU }
    }

    /// Returns the kind of the mutexes.
    pub const fn mutex(&self) -> MutexKind {
        self.mutex
    }

    /// Returns the algorithm of a barrier of this number of blocks.
    pub fn barrier_of(&self, blocks: u32) -> BarrierKind {
        let next = self.barriers.iter().find(|&&(most, _)| most >= blocks);
        next.or(self.barriers.last())
            .map_or(BarrierKind::Counted, |&(_, kind)| kind)
    }

    /// Returns the algorithm of the semaphores.
    pub const fn semaphore(&self) -> SemaphoreKind {
        self.semaphore
    }

    /// Makes mutexes, each on its own line, for `users` threads, as [`Locks::new`]; `what` names them in
    /// errors.
    pub fn mutexes<D: Device>(
        &self,
        device: &D,
        count: u64,
        users: u64,
        what: &'static str,
    ) -> Result<Locks<D, Mutex>> {
        Locks::chosen(device, self.mutex, count, users, what)
    }

    /// Makes a barrier for launches of this shape, whose waits look at `stop`, as [`GridBarrier::new`] does.
    pub fn barrier<D: Device>(
        &self,
        device: &D,
        launch: Launch,
        stop: Stop,
    ) -> Result<GridBarrier<D, Barrier>> {
        GridBarrier::chosen(device, self.barrier_of(launch.blocks), launch, stop)
    }

    /// Makes `len` semaphores with room for `count` threads each, as [`Semaphores::new`] does.
    pub fn semaphores<D: Device>(
        &self,
        device: &D,
        len: usize,
        count: u32,
        stop: Stop,
    ) -> Result<Semaphores<D, Semaphore>> {
        Semaphores::chosen(device, self.semaphore, len, count, stop)
    }
}
