//! The locks, barriers and semaphores that suit a machine.

use crate::host::device::{Device, Launch};
use crate::host::error::Error;
use crate::host::grid_barrier::GridBarrier;
use crate::host::locks::Locks;
use crate::host::machine::Choice;
use crate::host::semaphores::Semaphores;
use crate::sync::barrier::{BLOCKS_MAX, Kind as BarrierKind};
use crate::sync::chosen::Kind as MutexKind;
use crate::sync::semaphore::Kind as SemaphoreKind;
use crate::sync::{Barrier, Mutex, Semaphore, Stop};
use std::vec;
use std::vec::Vec;

/// Which mutex, barrier and semaphore suit a machine, and what makes them.
///
/// Kernels take them as `TLocks<Mutex>`, `TBarrier<Barrier>` and `TSemaphores<Semaphore>`
/// ([`crate::sync`]), whatever was chosen.
///
/// ```
/// use stm_core::prelude::*;
/// use stm_core::host::Defaults;
/// use stm_core::sync::{Mutex, TLocks, series::IN_A_ROW};
///
/// /// Adds 1 to an element, `times` times in each thread.
/// #[kernel]
/// pub fn add<L: Lane, A: Algorithm>(
///     lane: &L, stm: &StmRef<A>, mutexes: &TLocks<Mutex>, data: &TArray<u32>, times: u64,
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
/// # fn main() -> Result<(), stm_core::host::Error> {
/// let device = Cpu::new();
/// let mut stm = Stm::on(&device)?;
/// // Or `Defaults::of(&choice)`, with what was measured of this machine.
/// let defaults = Defaults::of_device_kind(&device);
/// let mutexes = defaults.mutexes(&device, 1, 8, "the mutex")?;
/// let data = Buffer::zeroed(&device, 1, "data")?;
/// add::launch(&mut stm, Launch::new(4, 2), &mutexes, &data, 100)?;
/// mutexes.check()?;
/// assert_eq!(data.download()?, [800u32]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defaults {
    mutex: MutexKind,
    /// The barrier up to each number of blocks, in ascending order.
    barriers: Vec<(u32, BarrierKind)>,
    semaphore_low: SemaphoreKind,
    semaphore_high: SemaphoreKind,
}

/// The 32-bit words of a line.
const LINE_WORDS: u32 = 32;

impl Defaults {
    /// Takes what was chosen from a measurement of the machine.
    pub fn of(choice: &Choice) -> Self {
        let mut barriers = choice.barriers.clone();
        if barriers.is_empty() {
            barriers.push((BLOCKS_MAX, choice.barrier));
        }
        Self {
            mutex: choice.mutex,
            barriers,
            semaphore_low: choice.semaphore_low,
            semaphore_high: choice.semaphore_high,
        }
    }

    /// Takes what was the fastest on an NVIDIA H200 for a GPU, and what was on two cores for
    /// a CPU. It is a guess for all other machines: [`Self::of`] is the way if there is a
    /// measurement.
    pub fn of_device_kind(device: &impl Device) -> Self {
        let is_gpu = device.limits().warp_width > 1;
        let barriers = if is_gpu {
            vec![(264, BarrierKind::Counted), (BLOCKS_MAX, BarrierKind::Led)]
        } else {
            vec![(BLOCKS_MAX, BarrierKind::Counted)]
        };
        Self {
            mutex: if is_gpu {
                MutexKind::Ticket
            } else {
                MutexKind::FetchAdd
            },
            barriers,
            semaphore_low: SemaphoreKind::Tickets,
            semaphore_high: SemaphoreKind::Tickets,
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

    /// Returns the algorithm of semaphores with this count that so many threads enter at a
    /// time: with room for half of them, most find it at once.
    pub const fn semaphore_of(&self, count: u32, threads: u64) -> SemaphoreKind {
        if count as u64 * 2 >= threads {
            self.semaphore_high
        } else {
            self.semaphore_low
        }
    }

    /// Makes `count` mutexes for `users` threads, each on a line of its own; `what` names
    /// them in an error. Several of a kind that has a word for each user, which was chosen as
    /// one of it is the fastest, would take too much memory; ticket locks take their place.
    ///
    /// # Errors
    /// Those of [`Locks::new`].
    pub fn mutexes<D: Device>(
        &self,
        device: &D,
        count: u64,
        users: u64,
        what: &'static str,
    ) -> Result<Locks<D, Mutex>, Error> {
        let most = users.min(u64::from(u32::MAX)) as u32;
        let small = self.mutex.lock_words(most) <= LINE_WORDS;
        let kind = if count == 1 || small {
            self.mutex
        } else {
            MutexKind::Ticket
        };
        Locks::chosen(device, kind, count, users, what)
    }

    /// Makes a barrier for launches of this shape, whose waits look at the flag `stop`.
    ///
    /// # Errors
    /// Those of [`GridBarrier::new`].
    pub fn barrier<D: Device>(
        &self,
        device: &D,
        launch: Launch,
        stop: Stop,
    ) -> Result<GridBarrier<D, Barrier>, Error> {
        GridBarrier::chosen(device, self.barrier_of(launch.blocks), launch, stop)
    }

    /// Makes `len` semaphores with room for `count` threads each, for launches of which
    /// `threads` enter at a time; their waits look at the flag `stop`.
    ///
    /// # Errors
    /// Those of [`Semaphores::new`].
    pub fn semaphores<D: Device>(
        &self,
        device: &D,
        len: usize,
        (count, threads): (u32, u64),
        stop: Stop,
    ) -> Result<Semaphores<D, Semaphore>, Error> {
        let kind = self.semaphore_of(count, threads);
        Semaphores::chosen(device, kind, len, count, stop)
    }
}
