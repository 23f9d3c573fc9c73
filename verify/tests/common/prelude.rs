//! What nearly every test on the simulator uses.
#![allow(dead_code, unused_imports)] // no test has a use for all of it

pub(crate) use crate::asserts::*;
pub(crate) use std::cell::{Cell, RefCell};
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::time::Duration;
pub(crate) use stm_core::algorithm::{Algorithm, Fast, FastTable, Granule, HvSorting, Variant};
pub(crate) use stm_core::host::{
    Buffer, Capacity, Cpu, Device, Error, Launch, Statistics, Stm, StmConfig,
};
pub(crate) use stm_core::internal::Crew;
pub(crate) use stm_core::internal::algorithm::{Cells, Table, Versioned};
pub(crate) use stm_core::internal::host::{StopAt, Watchdog};
pub(crate) use stm_core::internal::observe::Mutant;
pub(crate) use stm_core::{
    Element, Kernel, Lane, StmRef, TeamTx, Tx, TxResult, View, with_algorithm,
};
pub(crate) use verify::check::{Check, Checked, Run};
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
