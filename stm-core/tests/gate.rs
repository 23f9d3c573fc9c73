//! The gate on the CPU: launches that end while places are present and tickets wait. The
//! simulator has the rest (`verify/tests/sim/gate.rs`).
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, config};
use std::marker::PhantomData;
use std::time::Duration;
use stm_core::host::{Error, Statistics};
use stm_core::prelude::*;

/// What one of the transactions does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// The same as the others.
    Increments,
    /// It reads past the end.
    Faults,
    /// It panics.
    Panics,
}

// SAFETY: a number, which means the same everywhere.
unsafe impl Plain for How {}

const THREADS: u32 = 4;
/// The transaction that ends a launch.
const LAST: u64 = 3000;

/// Adds to one word in transactions; each thread runs them by `atomically` if they are
/// to be alone.
#[kernel(all)]
pub fn increments<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    hot: &A::Array<u32>,
    transactions: u64,
    how: How,
    alone: bool,
) {
    let body = |tx: &mut Tx<'_, L, A>, i: u64| {
        let count = tx.read(hot, 0)?;
        // Another thread commits in between.
        std::thread::yield_now();
        if i == LAST && how != How::Increments {
            assert!(how != How::Panics, "a transaction fails");
            tx.read(hot, 7)?;
        }
        tx.write(hot, 0, count + 1)
    };
    if alone {
        let mut i = lane.grid_thread();
        while i < transactions && stm.atomically(lane, |tx| body(tx, i)).is_ok() {
            i += lane.grid_threads();
        }
    } else {
        stm.for_each(lane, 0..transactions, body);
    }
}

struct Memory<A> {
    stm: Stm<Cpu>,
    hot: TxArray<Cpu, u32>,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> Memory<A> {
    fn new() -> Self {
        let config = config(|c| c.retry_limits.queue_after = 1);
        Self {
            hot: array::<A, u32>(&[0], "hot"),
            stm: Stm::new(&Cpu::new(), Launch::new(THREADS / 2, 2), config).unwrap(),
            algorithm: PhantomData,
        }
    }

    fn launch(&mut self, transactions: u64, how: How, alone: bool) -> Result<Statistics, Error> {
        let (stm, shape) = (&mut self.stm, Launch::new(THREADS / 2, 2));
        increments::launch_with::<A, _>(stm, shape, &self.hot, transactions, how, alone)
            .map(|done| done.statistics)
    }

    /// Runs a launch to its end, which finds nobody at the gate.
    fn goes_on(&mut self) {
        for alone in [false, true] {
            let before = self.hot.download().unwrap()[0];
            let done = self.launch(2000, How::Increments, alone).unwrap();
            assert_eq!(done.commits, 2000);
            assert_eq!(self.hot.download().unwrap(), [before + 2000]);
        }
    }
}

fn all(test: impl Fn(bool) + Copy) {
    for alone in [false, true] {
        test(alone);
    }
}

#[test]
fn turns_alone_on_the_cpu_lose_no_update() {
    all(|alone| {
        let mut memory = Memory::<Fast>::new();
        let done = memory.launch(20_000, How::Increments, alone).unwrap();
        assert_eq!(memory.hot.download().unwrap(), [20_000]);
        assert!(done.turns > 0, "{done:?}");
        Memory::<FastTable>::new().goes_on();
    });
}

#[test]
fn a_fault_while_tickets_wait_ends_the_launch_and_the_next_one_finds_the_gate_free() {
    all(|alone| {
        let mut memory = Memory::<Fast>::new();
        let error = memory.launch(u64::from(u32::MAX), How::Faults, alone);
        assert_ends!(error, Err(Error::OutOfRange { index: 7, .. }));
        memory.goes_on();
    });
}

#[test]
fn a_time_limit_ends_all_that_wait_and_the_next_launch_finds_the_gate_free() {
    all(|alone| {
        let mut memory = Memory::<Fast>::new();
        memory.stm.set_time_limit(Some(Duration::from_millis(100)));
        let error = memory.launch(u64::from(u32::MAX), How::Increments, alone);
        assert_ends!(error, Err(Error::Timeout { .. }));
        memory.stm.set_time_limit(None);
        memory.goes_on();
    });
}

/// Whoever panics may have a turn, which nobody else is let in by.
#[test]
fn a_panic_while_tickets_wait_ends_the_launch() {
    all(|alone| {
        let mut memory = Memory::<Fast>::new();
        let error = memory.launch(u64::from(u32::MAX), How::Panics, alone);
        assert_ends!(error, Err(Error::Panicked { ref message, .. }) if message == "a transaction fails");
    });
}
