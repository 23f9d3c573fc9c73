//! The locks, barriers and semaphores that suit a kind of device.

use crate::barrier::{BLOCKS_MAX, Kind as BarrierKind};
use crate::chosen::Kind as MutexKind;
use crate::host::grid_barrier::GridBarrier;
use crate::host::locks::Locks;
use crate::host::semaphores::Semaphores;
use crate::semaphore::Kind as SemaphoreKind;
use crate::{Barrier, Mutex, Semaphore, Stop};
use stm_machine::host::{Device, Error, Launch};

/// Which mutex, barrier and semaphore suit a kind of device, and what makes them.
///
/// Kernels take them as `TLocks<Mutex>`, `TBarrier<Barrier>` and `TSemaphores<Semaphore>`
/// ([`crate`]), whatever was chosen. [`Locks::chosen`], [`GridBarrier::chosen`] and
/// [`Semaphores::chosen`] make those of another kind, for the same kernels.
///
/// ```
/// use std::time::Duration;
/// use stm_machine::host::{Buffer, Cpu, Launch, Watchdog};
/// use stm_machine::{Lane, TArray, kernel};
/// use stm_sync::host::Defaults;
/// use stm_sync::{Mutex, TLocks, series::IN_A_ROW};
///
/// /// Adds 1 to an element, `times` times in each thread.
/// #[kernel]
/// pub fn add<L: Lane>(
///     lane: &L, mutexes: &TLocks<Mutex>, data: &TArray<u32>, times: u64,
/// ) {
///     let Some(word) = data.get(0) else { return };
///     let mut left = times;
///     // A fault is recorded, and `check` reports it.
///     let _ = mutexes.with_many(lane, 0, IN_A_ROW, || {
///         // SAFETY: the word is live, and mutex 0 protects it.
///         unsafe { lane.store_relaxed_32(word, lane.load_relaxed_32(word) + 1) };
///         left -= 1;
///         left != 0
///     });
/// }
///
/// # fn main() -> Result<(), stm_machine::host::Error> {
/// let device = Cpu::new();
/// let mut watchdog = Watchdog::new(&device, Some(Duration::from_secs(10)))?;
/// let defaults = Defaults::of_device_kind(&device);
/// let mutexes = defaults.mutexes(&device, 1, 8, "the mutex")?;
/// let data = Buffer::zeroed(&device, 1, "data")?;
/// add::launch(&device, &mut watchdog, Launch::new(4, 2), &mutexes, &data, 100)?;
/// mutexes.check()?;
/// assert_eq!(data.download()?, [800u32]);
/// # Ok(()) }
/// ```
///
/// # What they rest on
///
/// Those of a GPU are what one run on an NVIDIA H200 found (26 November 2026, commit 586c43e;
/// `docs/results/h200/sync.json` has a later one), and a guess for other GPUs; `stamp device --measure` and
/// `stamp bench sync` measure yours. Rates are in millions a second. The first row of each
/// group is the default.
///
/// | sections on one mutex, a thread in each of so many blocks | 8 | 32 | 132 | 528 |
/// | --- | --- | --- | --- | --- |
/// | `ticket` | 1.200 | 1.284 | 1.372 | 1.288 |
/// | `anderson`, which takes memory for each user | 1.316 | 1.322 | 1.328 | 1.311 |
/// | `mcs` | 1.051 | 1.104 | 1.052 | 1.031 |
/// | `fetch-add` | 0.975 | 1.019 | 1.074 | 1.037 |
/// | `tas-backoff`, which serves blocks in no order | 1.249 | 1.469 | 1.775 | 1.290 |
///
/// | waits at a barrier, 128 threads in each of so many blocks | 132 | 264 | 528 | 1,056 |
/// | --- | --- | --- | --- | --- |
/// | `counted`, up to 528 blocks | 1.054 | 0.901 | 0.810 | 0.460 |
/// | `grouped`, from there on | 0.655 | 0.658 | 0.644 | 0.567 |
/// | `led` | 0.613 | 0.608 | 0.595 | 0.514 |
/// | `tree` | 0.500 | 0.504 | 0.474 | 0.471 |
///
/// | entries into a semaphore: blocks of one thread, count | 132, 1 | 132, 10 | 132, 120 | 528, 1 | 528, 10 | 528, 120 |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | `tickets` | 1.249 | 11.60 | 91.98 | 1.066 | 10.03 | 110.4 |
/// | `sleeping` | 0.994 | 9.334 | 102.9 | 0.859 | 8.024 | 88.53 |
/// | `spin-backoff` | 0.851 | 0.887 | 0.887 | 0.813 | 0.872 | 0.872 |
///
/// Those of a CPU were the fastest on two cores, in a run that was not recorded.
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
        if device.limits().warp_width > 1 {
            Self::CUDA
        } else {
            Self::CPU
        }
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

    /// Makes `count` mutexes for `users` threads, each on a line of its own; `what` names them in
    /// an error. Its errors are those of [`Locks::new`].
    pub fn mutexes<D: Device>(
        &self,
        device: &D,
        count: u64,
        users: u64,
        what: &'static str,
    ) -> Result<Locks<D, Mutex>, Error> {
        Locks::chosen(device, self.mutex, count, users, what)
    }

    /// Makes a barrier for launches of this shape, whose waits look at the flag `stop`. Its errors
    /// are those of [`GridBarrier::new`].
    pub fn barrier<D: Device>(
        &self,
        device: &D,
        launch: Launch,
        stop: Stop,
    ) -> Result<GridBarrier<D, Barrier>, Error> {
        GridBarrier::chosen(device, self.barrier_of(launch.blocks), launch, stop)
    }

    /// Makes `len` semaphores with room for `count` threads each, whose waits look at the flag
    /// `stop`. Its errors are those of [`Semaphores::new`].
    pub fn semaphores<D: Device>(
        &self,
        device: &D,
        len: usize,
        count: u32,
        stop: Stop,
    ) -> Result<Semaphores<D, Semaphore>, Error> {
        Semaphores::chosen(device, self.semaphore, len, count, stop)
    }
}
