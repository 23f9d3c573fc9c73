//! The metadata that all transactions share, each piece on its own cache line.

use crate::lane::Lane;
use crate::observe::probe::ProbeBuffer;
use crate::tx::abort::Abort;
use core::ptr::addr_of_mut;

/// Copies of the statistics, so that warps seldom add to the same word.
pub const STATISTICS_STRIPES: u32 = 64;

/// Counters of one stripe of the statistics.
pub const COUNTERS: usize = 32;

/// What a counter of the statistics counts; aborts by reason follow
/// [`Counter::AbortsFrom`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Counter {
    /// Attempts begun.
    Attempts = 0,
    /// Attempts that committed.
    Commits = 1,
    /// Commits that wrote nothing.
    ReadOnlyCommits = 2,
    /// Transactions given up after `retries_max` conflicts.
    GaveUp = 3,
    /// Lanes that were told to stop with work left.
    Unfinished = 4,
    /// The first reason's counter; reason `r` is at `AbortsFrom + r`.
    AbortsFrom = 5,
    /// Rounds in which a lane of a warp made an attempt (`for_each`).
    Rounds = 24,
    /// Lanes that made one, summed over the rounds.
    RoundLanes = 25,
}

const _: () = assert!(Counter::AbortsFrom as usize + Abort::COUNT <= Counter::Rounds as usize);
const _: () = assert!((Counter::RoundLanes as usize) < COUNTERS);

/// The clock, and on the same line what is read with it.
#[repr(C, align(128))]
pub struct Clock {
    /// The global clock: updates committed, or rounds of them (`g_clock`).
    pub now: u64,
    /// The queue of transactions that have failed for long: how many have
    /// joined it in the upper half, how many have left in the lower one.
    pub queue: u64,
}

/// A word alone on its 128-byte line.
#[repr(C, align(128))]
pub struct Line<T>(pub T);

/// The first fault of a launch. `reason` is 0 for none, else the
/// [`Abort`]'s number plus one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultRecord {
    /// Which fault, claimed by compare-and-swap; the rest is the claimant's.
    pub reason: u32,
    /// The limit met: the set's capacity in entries.
    pub limit: u32,
    /// The index asked for, if out of range.
    pub index: u64,
    /// The length of the array, if out of range.
    pub len: u64,
    /// The transaction's number in its `for_each` range, or the thread's.
    pub transaction: u64,
}

impl FaultRecord {
    /// No fault.
    pub const NONE: Self = Self {
        reason: 0,
        limit: 0,
        index: 0,
        len: 0,
        transaction: 0,
    };
}

/// Everything shared but the lock table. All zero at the start.
#[repr(C)]
pub struct Globals {
    /// The clock and the queue.
    pub clock: Clock,
    /// The sequence lock of `vbv`: odd while a writer is in.
    pub sequence: Line<u64>,
    /// The lock of `cgl`.
    pub coarse_lock: Line<u32>,
    /// Nonzero tells every lane to stop at its next attempt.
    pub stop: Line<u32>,
    /// The first fault.
    pub fault: Line<FaultRecord>,
    /// The statistics.
    pub statistics: [Line<[u64; COUNTERS]>; STATISTICS_STRIPES as usize],
    /// Where the probe of the launch writes, if it has one.
    pub probe: Line<ProbeBuffer>,
}

/// Adds to a counter, without waiting for it.
///
/// # Safety
/// `globals` is live.
#[inline(always)]
pub(crate) unsafe fn count<L: Lane>(lane: &L, globals: *mut Globals, counter: usize, n: u64) {
    let warps_a_block = lane.block_dim().div_ceil(lane.warp_width());
    let stripe = (lane.block_index() * warps_a_block + lane.warp_index()) % STATISTICS_STRIPES;
    // SAFETY: the stripe and the counter are in range, so the address is
    // inside the live globals; all accesses are through lanes.
    unsafe {
        let line = addr_of_mut!((*globals).statistics)
            .cast::<Line<[u64; COUNTERS]>>()
            .add(stripe as usize);
        lane.add_relaxed_64(line.cast::<u64>().add(counter), n);
    }
}

/// Reports a fault, if it is the launch's first, and tells every lane to stop.
///
/// # Safety
/// `globals` is live.
#[inline(always)]
pub(crate) unsafe fn fault<L: Lane>(lane: &L, globals: *mut Globals, record: FaultRecord) {
    // SAFETY: inside the live globals. The host reads the record after the
    // launch has ended, which orders it; relaxed is enough between lanes, as
    // only the claimant of `reason` writes the rest.
    unsafe {
        let place = addr_of_mut!((*globals).fault).cast::<FaultRecord>();
        if lane.cas_relaxed_32(addr_of_mut!((*place).reason), 0, record.reason) == 0 {
            lane.store_relaxed_32(addr_of_mut!((*place).limit), record.limit);
            lane.store_relaxed_64(addr_of_mut!((*place).index), record.index);
            lane.store_relaxed_64(addr_of_mut!((*place).len), record.len);
            lane.store_relaxed_64(addr_of_mut!((*place).transaction), record.transaction);
        }
        lane.store_relaxed_32(addr_of_mut!((*globals).stop).cast(), 1);
    }
}
