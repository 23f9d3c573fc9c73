//! Tests of whole transactions on the CPU device, with every algorithm.
#![cfg(feature = "host")]

mod common;

use common::{
    CpuTx, array, assert_ends, assert_full, assert_past_the_end, capacity, config, launch,
};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;
use stm_core::algorithm::{Algorithm, HvSorting};
use stm_core::host::{
    Buffer, Cpu, Error, Launch, RetryLimits, Statistics, Stm, StmConfig, TxArray,
};
use stm_core::{Lane, TxResult};

/// The transaction of a number, on the arrays `wide` and `small`.
type Body<A> = dyn Fn(
    &mut CpuTx<'_, '_, A>,
    u64,
    &<A as Algorithm>::Array<u64>,
    &<A as Algorithm>::Array<i32>,
) -> TxResult<()>;

/// A memory with its arrays.
struct World {
    stm: Stm<Cpu>,
    wide: TxArray<Cpu, u64>,
    small: TxArray<Cpu, i32>,
}

impl World {
    fn new<A: Algorithm>((blocks, threads): (u32, u32), config: StmConfig) -> Self {
        Self {
            stm: Stm::new(&Cpu::new(), Launch::new(blocks, threads), config).unwrap(),
            wide: array::<A, _>(&[0; 4], "wide"),
            small: array::<A, _>(&[0; 8], "small"),
        }
    }

    fn launch<A: Algorithm>(&mut self, n: u64, body: &Body<A>) -> Result<Statistics, Error> {
        let (wide, small) = (self.wide.view::<A>(), self.small.view::<A>());
        let handle = self.stm.handle::<A>();
        launch(&mut self.stm, |lane| {
            handle.for_each(lane, 0..n, |tx, i| body(tx, i, &wide, &small));
        })
    }
}

/// How a launch ended, and what the arrays then held.
type Outcome = (Result<Statistics, Error>, Vec<u64>, Vec<i32>);

fn run_with<A: Algorithm>(
    transactions: u64,
    shape: (u32, u32),
    config: StmConfig,
    body: &Body<A>,
) -> Outcome {
    let mut world = World::new::<A>(shape, config);
    let ended = world.launch::<A>(transactions, body);
    let wide = world.wide.download().unwrap();
    (ended, wide, world.small.download().unwrap())
}

fn run<A: Algorithm>(transactions: u64, body: &Body<A>) -> Outcome {
    run_with::<A>(transactions, (3, 4), config(|c| c.locks = 1 << 6), body)
}

macro_rules! for_every_algorithm {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        $(for_every_algorithm! {
            @ $variant $entry:
            no_increment_is_lost
            no_increment_is_lost_with_one_lock
            a_cancelled_transaction_has_no_effect
            sets_hold_their_capacity_and_name_the_limit_beyond_it
            an_index_past_the_end_is_reported_with_index_and_length
            a_swallowed_failure_does_not_commit
            readers_see_writes_together
            a_transaction_reads_its_own_last_write
            retries_are_bounded_when_asked
            threads_that_limits_leave_out_find_no_transactions
            a_memory_can_be_launched_again
        })*
    };
    (@ $variant:ident $entry:ident: $($test:ident)*) => {
        mod $entry { $(#[test] fn $test() { super::$test::<stm_core::algorithm::$variant>() })* }
    };
}
stm_core::for_each_algorithm!(for_every_algorithm! {});

/// Adds 1 to word 0 of `wide`, and takes 1 from a word of `small`.
fn count<A: Algorithm>(
    tx: &mut CpuTx<'_, '_, A>,
    i: u64,
    wide: &A::Array<u64>,
    small: &A::Array<i32>,
) -> TxResult<()> {
    let n = tx.read(wide, 0)?;
    tx.write(wide, 0, n + 1)?;
    let at = i % 8;
    let m = tx.read(small, at)?;
    tx.write(small, at, m - 1)
}

fn no_increment_is_lost<A: Algorithm>() {
    let (result, wide, small) = run::<A>(4000, &count);
    let statistics = result.unwrap();
    assert_eq!(wide[0], 4000);
    assert_eq!(small, [-500; 8]);
    assert_eq!(statistics.commits, 4000);
    assert_eq!(statistics.attempts, 4000 + statistics.aborted());
}

fn no_increment_is_lost_with_one_lock<A: Algorithm>() {
    let config = config(|c| (c.locks, c.stripe_bytes) = (1, 16));
    let (result, wide, small) = run_with::<A>(1000, (2, 8), config, &count);
    result.unwrap();
    assert_eq!((wide[0], small.iter().sum::<i32>()), (1000, -1000));
}

fn a_cancelled_transaction_has_no_effect<A: Algorithm>() {
    let (result, wide, _) = run::<A>(100, &|tx, _, wide, _| {
        tx.write(wide, 0, 99)?;
        tx.cancel()
    });
    let statistics = result.unwrap();
    assert_eq!(wide[0], 0);
    assert_eq!(statistics.commits, 0);
    assert_eq!(statistics.aborted_for("user"), 100);
}

fn sets_hold_their_capacity_and_name_the_limit_beyond_it<A: Algorithm>() {
    let config = config(|c| c.capacity = capacity(5, 4));
    let go = |reads, writes| {
        let body: &Body<A> = &move |tx, _, _, small| {
            (0..reads).try_for_each(|k| tx.read(small, k).map(|_| ()))?;
            (0..writes).try_for_each(|k| tx.write(small, k, 1))
        };
        run_with::<A>(50, (1, 1), config, body).0
    };
    go(5, 4).unwrap();
    assert_full(go(5, 5), "write set", 4);
    // The coarse lock keeps no read set: it has nothing to validate.
    let sixth = go(6, 4);
    if A::NAME == "cgl" {
        sixth.unwrap();
    } else {
        assert_full(sixth, "read set", 5);
    }
}

fn an_index_past_the_end_is_reported_with_index_and_length<A: Algorithm>() {
    let (result, ..) = run::<A>(30, &|tx, _, _, small| tx.read(small, 15).map(|_| ()));
    assert_past_the_end(result, 15, 8);
}

fn a_swallowed_failure_does_not_commit<A: Algorithm>() {
    let (result, wide, _) = run::<A>(5, &|tx, _, wide, small| {
        tx.write(wide, 0, 99)?;
        let _ = tx.read(small, u64::MAX);
        Ok(())
    });
    assert_past_the_end(result, u64::MAX, 8);
    assert_eq!(wide[0], 0);
}

/// The third word counts readers that saw a torn pair.
fn readers_see_writes_together<A: Algorithm>() {
    let (result, wide, _) = run::<A>(6000, &|tx, i, wide, _| {
        if i % 2 == 0 {
            let n = tx.read(wide, 0)?;
            tx.write(wide, 0, n + 1)?;
            return tx.write(wide, 1, n + 1);
        }
        let [a, b] = tx.read_many(wide, [0, 1])?;
        let bad = tx.read(wide, 2)?;
        if a == b {
            Ok(())
        } else {
            tx.write(wide, 2, bad + 1)
        }
    });
    result.unwrap();
    assert_eq!(wide[..3], [3000, 3000, 0]);
}

fn a_transaction_reads_its_own_last_write<A: Algorithm>() {
    let (result, _, small) = run::<A>(1, &|tx, _, _, small| {
        tx.write(small, 0, 5)?;
        tx.write(small, 0, 6)?;
        let one = tx.read(small, 0)?;
        let [a, b] = tx.read_many(small, [0, 1])?;
        tx.write(small, 1, 10 * one + a + b)
    });
    result.unwrap();
    assert_eq!(small[..2], [6, 66]);
}

fn retries_are_bounded_when_asked<A: Algorithm>() {
    let retry_limits = RetryLimits {
        read_polls: 1,
        acquire_tries: 1,
        retries_max: 1,
        ..RetryLimits::DEFAULT
    };
    let config = config(|c| (c.locks, c.retry_limits) = (1, retry_limits));
    let (result, wide, _) = run_with::<A>(2000, (2, 8), config, &count);
    let statistics = result.unwrap();
    assert_eq!(statistics.commits + statistics.gave_up, 2000);
    assert_eq!(
        wide[0], statistics.commits,
        "what was given up had an effect, or a commit none"
    );
}

fn threads_that_limits_leave_out_find_no_transactions<A: Algorithm>() {
    let ran: &Mutex<BTreeSet<(u32, u32)>> = Box::leak(Box::default());
    let config = config(|c| {
        (c.retry_limits.blocks_max, c.retry_limits.threads_max) = (2, 3);
    });
    let (result, wide, _) = run_with::<A>(100, (3, 4), config, &move |tx, i, wide, small| {
        let lane = tx.lane();
        (ran.lock().unwrap()).insert((lane.block_index(), lane.thread_index()));
        count(tx, i, wide, small)
    });
    assert_eq!((result.unwrap().commits, wide[0]), (100, 100));
    let ran = ran.lock().unwrap();
    assert!(
        ran.iter().all(|&(block, thread)| block < 2 && thread < 3),
        "{ran:?}"
    );
}

fn a_memory_can_be_launched_again<A: Algorithm>() {
    let mut world = World::new::<A>((2, 2), StmConfig::default());
    for round in 1..=3 {
        let statistics = world.launch::<A>(300, &count).unwrap();
        assert_eq!(statistics.commits, 300, "the statistics are of one launch");
        assert_eq!(world.wide.download().unwrap()[0], 300 * round);
    }
}

#[test]
fn a_launch_that_makes_no_progress_stops_at_its_time_limit() {
    // Two transactions that change what they have read, behind their own backs,
    // so that every attempt meets a conflict.
    let cpu = Cpu::new();
    let words = Buffer::<_, u32>::zeroed(&cpu, 2, "words").unwrap();
    let config = config(|c| c.time_limit = Some(Duration::from_millis(50)));
    let mut stm = Stm::new(&cpu, Launch::new(1, 2), config).unwrap();
    let (handle, array) = (stm.handle::<HvSorting>(), words.tarray());
    let result = launch(&mut stm, |lane| {
        handle.for_each(lane, 0..2, |tx, _| {
            tx.read(&array, 1)?;
            // SAFETY: an element of a live array, which lanes alone access.
            unsafe { lane.fetch_add_relaxed_32(array.get(1).unwrap(), 1) };
            tx.write(&array, 0, 1)
        });
    });
    assert_ends!(
        result,
        Err(Error::Timeout {
            committed: 0,
            aborted: 1..,
            ..
        })
    );
    assert_eq!(words.download().unwrap()[0], 0);
}

#[test]
fn a_launch_without_conflicts_stops_at_its_time_limit() {
    let config = config(|c| c.time_limit = Some(Duration::from_millis(30)));
    // Two days of work for one thread.
    let (result, wide, _) = run_with::<HvSorting>(1 << 40, (1, 1), config, &count);
    assert_ends!(
        result,
        Err(Error::Timeout { committed, aborted: 0, .. }) if committed == wide[0]
    );
}
