//! The global metadata of a transactional memory, each piece on its own cache line.

use crate::tx::abort::Abort;
use core::ptr::addr_of_mut;
use stm_machine::{Lane, observe::ProbeBuffer};

/// The number of copies of the statistics, so that warps rarely add to the same word.
pub const STATISTICS_STRIPES: u32 = 64;

/// The number of counters in one copy of the statistics.
pub const COUNTERS: usize = 32;

/// The counters of the statistics. Those of aborts by reason follow [`Counter::AbortsFrom`].
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
    /// The first counter of aborts; that of reason `r` is at `AbortsFrom + r`.
    AbortsFrom = 5,
    /// Turns alone (`run/gate.rs`).
    Turns = 29,
    /// Rounds in which a lane of a warp made an attempt (`for_each`).
    Rounds = 30,
    /// Lanes that made an attempt, summed over the rounds.
    RoundLanes = 31,
}

const _: () = assert!(Counter::AbortsFrom as usize + Abort::COUNT <= Counter::Turns as usize);
const _: () = assert!((Counter::RoundLanes as usize) < COUNTERS);

/// The clock, and beside it the gate's word, which is loaded with it in one request.
#[repr(C, align(128))]
pub struct Clock {
    /// The global clock: the number of updates committed, or of warps' joint commits (`g_clock`).
    pub now: u64,
    /// The gate's word (`run/gate.rs`).
    pub gate: u64,
    /// How long a transaction takes in a turn, in the lanes' time (`run/period.rs`); 0 at first.
    pub turn: u32,
    /// The tickets of the last period; 0 before the first.
    pub period: u32,
}

const _: () = assert!(core::mem::offset_of!(Clock, now) == 0);
const _: () = assert!(core::mem::offset_of!(Clock, gate) == size_of::<u64>());

/// The words by which threads that wait find out that all wait (`run/wait.rs`).
#[repr(C, align(128))]
pub struct Sleepers {
    /// The number of threads that were woken.
    pub wakes: u64,
    /// The number of the current question.
    pub question: u32,
    /// 1 while a thread is the asker.
    pub asker: u32,
}

/// A word alone on its 128-byte line.
#[repr(C, align(128))]
pub struct Line<T>(pub T);

/// The first fault of a launch. `reason` is 0 for none, else the [`Abort`]'s number plus one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultRecord {
    /// The number of the fault, claimed by compare-and-swap; only the claimant stores the other fields.
    pub reason: u32,
    /// The limit that was met: the log's capacity in entries.
    pub limit: u32,
    /// The index, if it was out of range, or the subject of a deferred action.
    pub index: u64,
    /// The length of the array, if the index was out of range.
    pub len: u64,
    /// The transaction's number in its `for_each` range, or the thread's number.
    pub transaction: u64,
}

impl FaultRecord {
    /// The record of no fault.
    pub const NONE: Self = Self {
        reason: 0,
        limit: 0,
        index: 0,
        len: 0,
        transaction: 0,
    };
}

/// All global metadata except the lock table. It is all zero at the start.
#[repr(C)]
pub struct Globals {
    /// The clock and the gate's word.
    pub clock: Clock,
    /// The sequence lock of `vbv`, which is odd while a writer writes back.
    pub sequence: Line<u64>,
    /// The lock of `cgl`.
    pub coarse_lock: Line<u32>,
    /// The stop flag: nonzero tells every lane to stop at its next attempt.
    pub stop: Line<u32>,
    /// The first fault.
    pub fault: Line<FaultRecord>,
    /// The statistics.
    pub statistics: [Line<[u64; COUNTERS]>; STATISTICS_STRIPES as usize],
    /// The words of threads that wait for a change.
    pub sleepers: Sleepers,
    /// The description of the probe's buffer, if the launch has a probe.
    pub probe: Line<ProbeBuffer>,
    /// The number of the launch, not 0, which no other launch of the program has.
    pub launch: Line<u64>,
}

/// Adds to a counter without waiting for the result.
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
// By hand, as `inlined` is for impls and traits.
#[cfg_attr(any(target_arch = "nvptx64", not(debug_assertions)), inline(always))]
pub(crate) unsafe fn fault<L: Lane>(lane: &L, globals: *mut Globals, record: FaultRecord) {
    // SAFETY: inside the live globals. The host reads the record after the launch has ended, which orders it;
    // relaxed is enough between lanes, as only the claimant of `reason` writes the rest.
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
