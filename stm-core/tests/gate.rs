//! The gate on the CPU: launches that end while places are present and tickets wait. The
//! simulator has the rest (`verify/tests/sim/gate.rs`).
#![cfg(feature = "host")]

mod common;

use common::{CpuTx, array, assert_ends, config, launch};
use std::marker::PhantomData;
use std::time::Duration;
use stm_core::host::{Error, Statistics};
use stm_core::prelude::*;

const THREADS: u32 = 4;
/// The transaction that may end a launch.
const LAST: u64 = 3000;

/// What that transaction does beside incrementing.
type Last<A> = dyn Fn(&mut CpuTx<'_, '_, A>, &<A as Algorithm>::Array<u32>) -> TxResult<()>;

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

    /// Adds to one word in transactions; each thread runs them by `atomically` if they are to be
    /// alone.
    fn launch(&mut self, n: u64, alone: bool, last: &Last<A>) -> Result<Statistics, Error> {
        let (handle, hot) = (self.stm.handle::<A>(), self.hot.view::<A>());
        let body = |tx: &mut CpuTx<'_, '_, A>, i: u64| {
            let count = tx.read(&hot, 0)?;
            // Another thread commits in between.
            std::thread::yield_now();
            if i == LAST {
                last(tx, &hot)?;
            }
            tx.write(&hot, 0, count + 1)
        };
        launch(&mut self.stm, |lane| {
            if alone {
                let mut i = lane.grid_thread();
                while i < n && handle.atomically(lane, |tx| body(tx, i)).is_ok() {
                    i += lane.grid_threads();
                }
            } else {
                handle.for_each(lane, 0..n, body);
            }
        })
    }

    /// Runs a launch to its end, which finds nobody at the gate.
    fn goes_on(&mut self) {
        for alone in [false, true] {
            let before = self.hot.download().unwrap()[0];
            let done = self.launch(2000, alone, &|_, _| Ok(())).unwrap();
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
        let done = memory.launch(20_000, alone, &|_, _| Ok(())).unwrap();
        assert_eq!(memory.hot.download().unwrap(), [20_000]);
        assert!(done.turns > 0, "{done:?}");
        Memory::<FastTable>::new().goes_on();
    });
}

#[test]
fn a_fault_while_tickets_wait_ends_the_launch_and_the_next_one_finds_the_gate_free() {
    all(|alone| {
        let mut memory = Memory::<Fast>::new();
        let error = memory.launch(u64::from(u32::MAX), alone, &|tx, hot| {
            tx.read(hot, 7).map(|_| ())
        });
        assert_ends!(error, Err(Error::OutOfRange { index: 7, .. }));
        memory.goes_on();
    });
}

#[test]
fn a_time_limit_ends_all_that_wait_and_the_next_launch_finds_the_gate_free() {
    all(|alone| {
        let mut memory = Memory::<Fast>::new();
        memory.stm.set_time_limit(Some(Duration::from_millis(100)));
        let error = memory.launch(u64::from(u32::MAX), alone, &|_, _| Ok(()));
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
        let error = memory.launch(u64::from(u32::MAX), alone, &|_, _| {
            panic!("a transaction fails")
        });
        assert_ends!(error, Err(Error::Panicked { ref message, .. }) if message == "a transaction fails");
    });
}
