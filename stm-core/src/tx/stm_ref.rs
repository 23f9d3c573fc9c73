//! The kernel's handle on the metadata of a transactional memory.

use crate::memory::globals::{self, Counter, FaultRecord, Globals};
use crate::memory::logs::{BUCKETS, Capacity, Logs};
use crate::memory::stripe::{Stripe, StripeMap};
use crate::{run::word::Gate, tx::abort::Abort};
use core::{marker::PhantomData, ptr::addr_of_mut};
use stm_machine::{Lane, observe::ProbeBuffer};

/// Limits of waits and retries. The waits of Xu et al. 2014 are unbounded; on a warp in lockstep, a lane that
/// waits for ever can keep the very lane that it waits for from running.
///
/// ```
/// # #[cfg(feature = "host")] {
/// use stm_core::host::{RetryLimits, StmConfig};
///
/// // Transactions that meet 100 conflicts in a row are given up, and counted.
/// let retry_limits = RetryLimits { retries_max: 100, ..RetryLimits::DEFAULT };
/// let config = StmConfig { retry_limits, ..StmConfig::default() };
/// assert_eq!(config.retry_limits.lanes_max, 32);
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RetryLimits {
    /// How often a read loads its words again before it aborts, because one is locked or, under `fast` and
    /// `fast-table`, newer than the snapshot; 0 for the algorithm's default.
    pub read_polls: u32,
    /// Attempts to acquire the locks before a commit aborts; `fast` and `fast-table` make one.
    pub acquire_tries: u32,
    /// Conflicts in a row before a transaction is given up; 0 for no limit.
    pub retries_max: u32,
    /// Conflicts in a row, at most, before a transaction of a scheduled algorithm draws a ticket for a turn
    /// alone; 1 or more. In a launch of few warps it is four for each of them, and 128 at least.
    pub queue_after: u32,
    /// The most lanes of a warp that make an attempt at a time with a scheduled algorithm; 1 or more.
    pub lanes_max: u32,
    /// The blocks of a launch that find transactions in its loops of single lanes, and the threads of each; 0
    /// for all. Where memory bounds transactions, more threads than it serves are slower than fewer.
    pub blocks_max: u32,
    /// See [`Self::blocks_max`].
    pub threads_max: u32,
}

impl RetryLimits {
    /// The defaults of `StmConfig`.
    pub const DEFAULT: Self = Self {
        read_polls: 0,
        acquire_tries: 8,
        retries_max: 0,
        queue_after: 1024,
        lanes_max: 32,
        blocks_max: 0,
        threads_max: 0,
    };
}

impl Default for RetryLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The transactional memory with algorithm `A` as a kernel's parameter, owned by the host's `Stm`.
///
/// ```
/// use stm_core::prelude::*;
///
/// /// Adds to one word, in the form that names its lane and its algorithm.
/// #[kernel]
/// pub fn add_one<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, sum: &A::Array<u64>) {
///     let _ = stm.atomically(lane, |tx| {
///         let n = tx.read(sum, 0)?;
///         tx.write(sum, 0, n + 1)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let sum = stm.array("sum", &[0u64])?;
/// add_one::launch(&mut stm, Launch::new(2, 4), &sum)?;
/// assert_eq!(sum.download()?, [8]); // one for each thread
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
#[repr(C)]
pub struct StmRef<A> {
    pub(crate) globals: *mut Globals,
    pub(crate) locks: *mut u64,
    pub(crate) region: *mut u64,
    pub(crate) capacity: Capacity,
    pub(crate) map: StripeMap,
    pub(crate) bucket_shift: u32,
    pub(crate) limits: RetryLimits,
    algorithm: PhantomData<A>,
}

// The implementation is by hand, as a derive would require `A: Clone` without need.
stm_machine::handle!([A] StmRef<A>: capacity, map, limits; ..);

#[stm_core_macros::inlined]
impl<A> StmRef<A> {
    /// Makes a handle on metadata in the memory of the device that will use it.
    ///
    /// # Safety
    /// While a kernel uses the handle:
    /// 1. `globals` and `map.locks()` words at `locks` are live, zero at first, and accessed by transactions
    ///    of one algorithm only;
    /// 2. `region` has [`Capacity::warp_words`] words for each warp launched.
    pub unsafe fn from_raw(
        globals: *mut Globals,
        locks: *mut u64,
        region: *mut u64,
        capacity: Capacity,
        map: StripeMap,
        limits: RetryLimits,
    ) -> Self {
        let locks_log2 = map.locks().trailing_zeros();
        let bucket_shift = locks_log2.saturating_sub(BUCKETS.trailing_zeros());
        Self {
            globals,
            locks,
            region,
            capacity,
            map,
            bucket_shift,
            limits,
            algorithm: PhantomData,
        }
    }

    /// Returns the polls before a read aborts: the number configured, or `own`, the algorithm's default.
    pub(crate) const fn read_polls_or(&self, own: u32) -> u32 {
        match self.limits.read_polls {
            0 => own,
            given => given,
        }
    }

    pub(crate) fn logs<L: Lane>(&self, lane: &L) -> Logs {
        // SAFETY: obligation 2 of `from_raw`.
        unsafe { Logs::of_lane(lane, self.region, self.capacity) }
    }

    pub(crate) fn lock(&self, stripe: Stripe) -> *mut u64 {
        // The map masks, so the stripe is in the table.
        self.locks.wrapping_add(stripe.0 as usize)
    }

    pub(crate) fn lock_of(&self, address: u64) -> *mut u64 {
        self.lock(self.map.stripe(address))
    }

    pub(crate) fn clock(&self) -> *mut u64 {
        // SAFETY: a field of live globals (obligation 1 of `from_raw`).
        unsafe { addr_of_mut!((*self.globals).clock.now) }
    }

    pub(crate) const fn gate(&self) -> Gate {
        Gate {
            globals: self.globals,
            patience: self.limits.queue_after,
        }
    }

    pub(crate) fn probe_buffer(&self) -> *const ProbeBuffer {
        // SAFETY: a field of live globals (obligation 1 of `from_raw`).
        unsafe { &raw const (*self.globals).probe.0 }
    }

    pub(crate) fn launch_number<L: Lane>(&self, lane: &L) -> u64 {
        // SAFETY: a field of live globals (`from_raw`, 1). Relaxed: it does not change during a launch.
        unsafe { lane.load_relaxed_64(addr_of_mut!((*self.globals).launch).cast()) }
    }

    pub(crate) fn sequence(&self) -> *mut u64 {
        // SAFETY: a field of live globals (obligation 1 of `from_raw`).
        unsafe { addr_of_mut!((*self.globals).sequence).cast() }
    }

    pub(crate) fn coarse_lock(&self) -> *mut u32 {
        // SAFETY: a field of live globals (obligation 1 of `from_raw`).
        unsafe { addr_of_mut!((*self.globals).coarse_lock).cast() }
    }

    /// Returns whether the launch was told to stop, for loops around transactions. Ask only while there is
    /// work left: the host reports what is undone as a timeout.
    pub fn stopped<L: Lane>(&self, lane: &L) -> bool {
        let stops = self.asked_to_stop(lane);
        if stops {
            self.unfinished(lane);
        }
        stops
    }

    pub(crate) fn unfinished<L: Lane>(&self, lane: &L) {
        self.count(lane, Counter::Unfinished as usize, 1);
    }

    pub(crate) fn count<L: Lane>(&self, lane: &L, counter: usize, n: u64) {
        // SAFETY: the globals are live (obligation 1 of `from_raw`).
        unsafe { globals::count(lane, self.globals, counter, n) };
    }

    pub(crate) fn fault<L: Lane>(&self, lane: &L, record: FaultRecord) {
        // SAFETY: the globals are live (obligation 1 of `from_raw`).
        unsafe { globals::fault(lane, self.globals, record) };
    }

    /// Returns why an attempt ends whose code returned `abort`, from elsewhere, although it has not failed.
    pub(crate) fn not_given<L: Lane>(&self, lane: &L, abort: Abort) -> Abort {
        match abort {
            Abort::User => abort,
            Abort::Stopped if self.asked_to_stop(lane) => abort,
            _ => Abort::ForeignAbort,
        }
    }

    pub(crate) fn asked_to_stop<L: Lane>(&self, lane: &L) -> bool {
        // SAFETY: a field of live globals (`from_raw`, 1). Relaxed: it has no data, and is seen eventually.
        unsafe { lane.load_relaxed_32(addr_of_mut!((*self.globals).stop).cast()) != 0 }
    }
}
