//! What nearly every test on the simulator uses: launches of closures with a transactional memory, and simulations.
#![allow(dead_code, unused_imports)] // no test has a use for all of it

pub(crate) use std::cell::{Cell, RefCell};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::time::Duration;
pub(crate) use stm_core::algorithm::{Algorithm, Fast, FastTable, Granule, HvSorting, Variant};
pub(crate) use stm_core::host::{Buffer, Cpu, Device, Error, Launch, Statistics, Stm, StmConfig};
pub(crate) use stm_core::internal::Crew;
pub(crate) use stm_core::internal::algorithm::{Cells, Table, Versioned};
pub(crate) use stm_core::internal::host::{StopAt, Watchdog};
pub(crate) use stm_core::internal::observe::Mutant;
pub(crate) use stm_core::{
    Element, Kernel, Lane, StmRef, TeamTx, Tx, TxResult, View, with_algorithm,
};
pub(crate) use stm_core_tests::{
    array, assert_is, assert_says, capacity, layout, of_each, shared, under_all,
};
pub(crate) use verify::sim::{
    self, Closure, MemoryModel, RunReport, Schedule, Sim, SimConfig, SimError, SimErrorKind,
    SimLane,
};

pub(crate) type SimTx<'t, 'l, A> = Tx<'t, SimLane<'l>, A>;

/// Returns how many cases a test has that has so many in the short run of the checks: `STM_TEST_CASES` times as
/// many, which `cargo xtask ci --all` sets.
pub(crate) fn times(cases: u64) -> u64 {
    let more = std::env::var("STM_TEST_CASES").map(|more| more.parse::<u64>());
    cases * more.map_or(1, |more| more.expect("STM_TEST_CASES is a number"))
}

/// Adds 1 to a word by a load and a store, which only a lock makes one.
pub(crate) fn increment(lane: &SimLane<'_>, p: *mut u32) {
    // SAFETY: a live word that is accessed with 32 bits only.
    unsafe { lane.store_relaxed_32(p, lane.load_relaxed_32(p) + 1) }
}

/// A word of the simulator's memory that a lane accesses in a section.
pub(crate) fn word(buffer: &Buffer<Sim, u32>, i: usize) -> *mut u32 {
    assert!(i < buffer.len());
    buffer.as_mut_ptr().wrapping_add(i)
}

pub(crate) struct Flag(Buffer<Sim, u32>);

impl Flag {
    pub(crate) fn new(sim: &Sim) -> Self {
        Self(Buffer::zeroed(sim, 1, "flag").unwrap())
    }

    pub(crate) fn wait_for(&self, lane: &SimLane<'_>, value: u32) {
        // SAFETY: a live word of 32 bits.
        while unsafe { lane.load_acquire_32(word(&self.0, 0)) } != value {
            lane.pause(1);
        }
    }

    pub(crate) fn set(&self, lane: &SimLane<'_>, value: u32) {
        // SAFETY: as above.
        unsafe { lane.store_release_32(word(&self.0, 0), value) };
    }

    pub(crate) fn count(&self, lane: &SimLane<'_>) {
        // SAFETY: as above.
        unsafe { lane.fetch_add_relaxed_32(word(&self.0, 0), 1) };
    }
}

/// Launches a closure with a transactional memory, and returns how that ended.
pub(crate) fn ended<A: Algorithm>(
    sim: &Sim,
    launch: Launch,
    config: StmConfig,
    kernel: impl Fn(&SimLane<'_>, &StmRef<A>),
) -> Result<Statistics, Error> {
    let mut stm = Stm::new(sim, launch, config)?;
    let handle = stm.handle::<A>();
    sim::launch(&mut stm, |lane| kernel(lane, &handle))
}

/// Does the same, which must end well.
#[track_caller]
pub(crate) fn launched<A: Algorithm>(
    sim: &Sim,
    launch: Launch,
    config: StmConfig,
    kernel: impl Fn(&SimLane<'_>, &StmRef<A>),
) -> Statistics {
    ended::<A>(sim, launch, config, kernel)
        .unwrap_or_else(|error| panic!("{} on {}: {error}", A::NAME, sim.config()))
}

/// Returns the settings of a small memory, in which attempts conflict and queue soon.
pub(crate) fn small(reads: u32, writes: u32) -> StmConfig {
    let mut config = StmConfig::default();
    (config.locks, config.stripe_bytes) = (16, 8);
    config.capacity = capacity(reads, writes);
    let limits = &mut config.retry_limits;
    (limits.read_polls, limits.queue_after) = (8, 6);
    config
}

/// The configuration of run `k`: by turns each schedule, width, order of votes, and atomics of 128 bits.
pub(crate) fn numbered(k: u64, schedules: &str, widths: [u32; 4]) -> SimConfig {
    let schedules = Schedule::named(schedules);
    let (i, n) = (k as usize, schedules.len());
    let config = SimConfig::of(widths[i / n % 4], schedules[i % n]);
    SimConfig {
        votes_order: (i / n / 4).is_multiple_of(2),
        wide_atomics: (i / n / 8).is_multiple_of(2),
        seed: k,
        ..config.with_stale(30)
    }
}

/// The launch of a test: 8 lanes that run transactions, or 4 blocks.
pub(crate) const fn eight<A: Algorithm>() -> Launch {
    match A::GRANULE {
        Granule::Block => Launch::new(4, 2),
        _ => Launch::new(2, 4),
    }
}
