//! Tests of whole transactions on the CPU device, with every algorithm.
#![cfg(feature = "host")]

mod common;

use common::{array, assert_ends, capacity, launch};
use std::time::Duration;
use stm_core::algorithm::{
    Algorithm, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv,
};
use stm_core::host::{Buffer, Cpu, Error, Launch, Statistics, Stm, StmConfig, TxArray};
use stm_core::{Lane, RetryLimits, StmRef, View};

/// The job of a launch.
#[derive(Clone, Copy)]
enum Job {
    /// Adds 1 to word 0 (`words` 64-bit) and to word i % n (`small` 32-bit).
    Count,
    /// Cancels after writing.
    Cancel,
    /// Reads `n` distinct words, then writes `m`.
    Fill(u64, u64),
    /// Reads and writes past the end if the first word is nonzero.
    PastTheEnd,
    /// Swallows the error of an index past the end and returns Ok.
    Swallow,
    /// Reads two words that others keep equal, and counts where they differ.
    Invariant,
    /// Reads its own writes: writes a word, reads it, and writes it again.
    Own,
}

/// Runs the transactions of a job.
fn work<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    (wide, small): &(A::Array<u64>, A::Array<i32>),
    (job, transactions): (Job, u64),
) {
    stm.for_each(lane, 0..transactions, |tx, i| match job {
        Job::Count => {
            let n = tx.read(wide, 0)?;
            tx.write(wide, 0, n + 1)?;
            let at = i % small.len();
            let m = tx.read(small, at)?;
            tx.write(small, at, m - 1)
        }
        Job::Cancel => {
            tx.write(wide, 0, 99)?;
            tx.cancel()
        }
        Job::Fill(reads, writes) => {
            for k in 0..reads {
                tx.read(small, k)?;
            }
            for k in 0..writes {
                tx.write(small, k, 1)?;
            }
            Ok(())
        }
        Job::PastTheEnd => {
            let len = small.len();
            tx.read(small, len + 7).map(|_| ())
        }
        Job::Swallow => {
            tx.write(wide, 0, 99)?;
            let _ = tx.read(small, u64::MAX);
            Ok(())
        }
        Job::Invariant => {
            if i % 2 == 0 {
                let n = tx.read(wide, 0)?;
                tx.write(wide, 0, n + 1)?;
                tx.write(wide, 1, n + 1)
            } else {
                let [a, b] = tx.read_many(wide, [0, 1])?;
                let bad = tx.read(wide, 2)?;
                if a == b {
                    Ok(())
                } else {
                    tx.write(wide, 2, bad + 1)
                }
            }
        }
        Job::Own => {
            tx.write(small, 0, 5)?;
            tx.write(small, 0, 6)?;
            let one = tx.read(small, 0)?;
            let [a, b] = tx.read_many(small, [0, 1])?;
            tx.write(small, 1, 10 * one + a + b)
        }
    });
}

/// The arrays of a launch.
struct Arrays(TxArray<Cpu, u64>, TxArray<Cpu, i32>);

impl Arrays {
    fn new<A: Algorithm>() -> Self {
        Self(
            array::<A, _>(&[0; 4], "wide"),
            array::<A, _>(&[0; 8], "small"),
        )
    }

    fn launch<A: Algorithm>(
        &self,
        stm: &mut Stm<Cpu>,
        job: Job,
        transactions: u64,
    ) -> Result<Statistics, Error> {
        let (handle, views) = (stm.handle::<A>(), (self.0.view::<A>(), self.1.view::<A>()));
        launch(stm, |lane| work(lane, &handle, &views, (job, transactions)))
    }
}

type Outcome = (Result<Statistics, Error>, Vec<u64>, Vec<i32>);

fn run_with<A: Algorithm>(
    job: Job,
    transactions: u64,
    shape: (u32, u32),
    config: StmConfig,
) -> Outcome {
    let arrays = Arrays::new::<A>();
    let mut stm = Stm::new(&Cpu::new(), Launch::new(shape.0, shape.1), config).unwrap();
    let result = arrays.launch::<A>(&mut stm, job, transactions);
    let Arrays(wide, small) = arrays;
    (result, wide.download().unwrap(), small.download().unwrap())
}

fn run<A: Algorithm>(job: Job, transactions: u64) -> Outcome {
    run_with::<A>(
        job,
        transactions,
        (3, 4),
        StmConfig {
            locks: 1 << 6,
            ..StmConfig::default()
        },
    )
}

macro_rules! for_every_algorithm {
    ($($test:ident)*) => {
        mod cgl { $(#[test] fn $test() { super::$test::<super::Cgl>() })* }
        mod egpgv { $(#[test] fn $test() { super::$test::<super::Egpgv>() })* }
        mod vbv { $(#[test] fn $test() { super::$test::<super::Vbv>() })* }
        mod tbv_sorting { $(#[test] fn $test() { super::$test::<super::TbvSorting>() })* }
        mod hv_sorting { $(#[test] fn $test() { super::$test::<super::HvSorting>() })* }
        mod hv_backoff { $(#[test] fn $test() { super::$test::<super::HvBackoff>() })* }
        mod fast { $(#[test] fn $test() { super::$test::<super::Fast>() })* }
        mod fast_table { $(#[test] fn $test() { super::$test::<super::FastTable>() })* }
    };
}
for_every_algorithm! {
    no_increment_is_lost
    no_increment_is_lost_with_one_lock
    a_cancelled_transaction_has_no_effect
    sets_hold_their_capacity_and_name_the_limit_beyond_it
    an_index_past_the_end_is_reported_with_index_and_length
    a_swallowed_failure_does_not_commit
    readers_see_writes_together
    a_transaction_reads_its_own_last_write
    retries_are_bounded_when_asked
    a_memory_can_be_launched_again
}

fn no_increment_is_lost<A: Algorithm>() {
    let (result, wide, small) = run::<A>(Job::Count, 4000);
    let statistics = result.unwrap();
    assert_eq!(wide[0], 4000);
    assert_eq!(small, [-500; 8]);
    assert_eq!(statistics.commits, 4000);
    assert_eq!(statistics.attempts, 4000 + statistics.aborted());
}

fn no_increment_is_lost_with_one_lock<A: Algorithm>() {
    let config = StmConfig {
        locks: 1,
        stripe_bytes: 16,
        ..StmConfig::default()
    };
    let (result, wide, small) = run_with::<A>(Job::Count, 1000, (2, 8), config);
    result.unwrap();
    assert_eq!((wide[0], small.iter().sum::<i32>()), (1000, -1000));
}

fn a_cancelled_transaction_has_no_effect<A: Algorithm>() {
    let (result, wide, _) = run::<A>(Job::Cancel, 100);
    let statistics = result.unwrap();
    assert_eq!(wide[0], 0);
    assert_eq!(statistics.commits, 0);
    assert_eq!(statistics.aborted_for("user"), 100);
}

fn sets_hold_their_capacity_and_name_the_limit_beyond_it<A: Algorithm>() {
    let config = StmConfig {
        capacity: capacity(5, 4),
        ..StmConfig::default()
    };
    let go = |reads, writes| run_with::<A>(Job::Fill(reads, writes), 50, (1, 1), config).0;
    go(5, 4).unwrap();
    let Err(Error::CapacityExceeded {
        set: "write set",
        limit: 4,
        ..
    }) = go(5, 5)
    else {
        panic!("a fifth write fits into a write set of 4");
    };
    // The coarse lock keeps no read set: it has nothing to validate.
    let sixth = go(6, 4);
    if A::NAME == "cgl" {
        sixth.unwrap();
    } else {
        let Err(Error::CapacityExceeded {
            set: "read set",
            limit: 5,
            ..
        }) = sixth
        else {
            panic!("a sixth read fits into a read set of 5");
        };
    }
}

fn an_index_past_the_end_is_reported_with_index_and_length<A: Algorithm>() {
    let (result, ..) = run::<A>(Job::PastTheEnd, 30);
    assert_ends!(
        result,
        Err(Error::OutOfRange {
            index: 15,
            len: 8,
            ..
        })
    );
}

fn a_swallowed_failure_does_not_commit<A: Algorithm>() {
    let (result, wide, _) = run::<A>(Job::Swallow, 5);
    assert_ends!(
        result,
        Err(Error::OutOfRange {
            index: u64::MAX,
            len: 8,
            ..
        })
    );
    assert_eq!(wide[0], 0);
}

fn readers_see_writes_together<A: Algorithm>() {
    let (result, wide, _) = run::<A>(Job::Invariant, 6000);
    result.unwrap();
    assert_eq!(
        wide[..3],
        [3000, 3000, 0],
        "the third word counts readers that saw a torn pair"
    );
}

fn a_transaction_reads_its_own_last_write<A: Algorithm>() {
    let (result, _, small) = run::<A>(Job::Own, 1);
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
    let config = StmConfig {
        locks: 1,
        retry_limits,
        ..StmConfig::default()
    };
    let (result, wide, _) = run_with::<A>(Job::Count, 2000, (2, 8), config);
    let statistics = result.unwrap();
    assert_eq!(statistics.commits + statistics.gave_up, 2000);
    assert_eq!(
        wide[0], statistics.commits,
        "what was given up had an effect, or a commit none"
    );
}

fn a_memory_can_be_launched_again<A: Algorithm>() {
    let arrays = Arrays::new::<A>();
    let mut stm = Stm::new(&Cpu::new(), Launch::new(2, 2), StmConfig::default()).unwrap();
    for round in 1..=3 {
        let statistics = arrays.launch::<A>(&mut stm, Job::Count, 300).unwrap();
        assert_eq!(statistics.commits, 300, "the statistics are of one launch");
        assert_eq!(arrays.0.download().unwrap()[0], 300 * round);
    }
}

#[test]
fn a_launch_that_makes_no_progress_stops_at_its_time_limit() {
    // Two transactions that change what they have read, behind their own backs,
    // so that every attempt meets a conflict.
    let cpu = Cpu::new();
    let words = Buffer::<_, u32>::zeroed(&cpu, 2, "words").unwrap();
    let config = StmConfig {
        time_limit: Some(Duration::from_millis(50)),
        ..StmConfig::default()
    };
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
    let Err(Error::Timeout {
        committed: 0,
        aborted,
        ..
    }) = result
    else {
        panic!("{result:?}")
    };
    assert!(aborted > 0);
    assert_eq!(words.download().unwrap()[0], 0);
}

#[test]
fn a_launch_without_conflicts_stops_at_its_time_limit() {
    let config = StmConfig {
        time_limit: Some(Duration::from_millis(30)),
        ..StmConfig::default()
    };
    // Two days of work for one thread.
    let (result, wide, _) = run_with::<HvSorting>(Job::Count, 1 << 40, (1, 1), config);
    assert!(
        matches!(result, Err(Error::Timeout { committed, aborted: 0, .. }) if committed == wide[0])
    );
}
