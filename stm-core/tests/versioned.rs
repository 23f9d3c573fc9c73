//! Tests of what is specific to the versioned algorithms, on the CPU: sets
//! beyond the stack, words named twice, versions without an end, layouts.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, capacity};
use stm_core::RetryLimits;
use stm_core::algorithm::HvSorting;
use stm_core::array::Layout;
use stm_core::host::{Error, Statistics};
use stm_core::prelude::*;

/// What a transaction does with the words.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// Reads all words, some of them twice, and adds 1 to each, backwards.
    Backwards,
    /// Does the same with every word written before any is read.
    Blind,
    /// Writes words that were read together, in the order of the reads; each
    /// word is named twice.
    Twice,
    /// Reads all words and writes none except a counter at the end.
    ManyReads,
}

// SAFETY: a number, which means the same everywhere.
unsafe impl Plain for Job {}

/// Runs so many transactions of a job.
#[kernel(all)]
pub fn many<L: Lane, A: Algorithm>(
    lane: &L,
    stm: &StmRef<A>,
    words: &A::Array<u32>,
    sums: &A::Array<u64>,
    transactions: u64,
    job: Job,
) {
    let n = words.len();
    stm.for_each(lane, 0..transactions, |tx, i| match job {
        Job::Backwards => {
            let mut sum = 0;
            for k in 0..n {
                let [a, b] = tx.read_many(words, [k, k / 2])?;
                sum += u64::from(a) + u64::from(b);
            }
            for k in (0..n).rev() {
                let v = tx.read(words, k)?;
                tx.write(words, k, v + 1)?;
            }
            tx.write(sums, i % 2, sum)
        }
        Job::Blind => {
            for k in 0..n {
                tx.write(words, k, i as u32)?;
            }
            for k in 0..n {
                if tx.read(words, k)? != i as u32 {
                    return tx.write(sums, 0, 1);
                }
            }
            Ok(())
        }
        Job::Twice => {
            let mut k = 0;
            while k < n {
                let at = [k, k + 1, k, k + 1];
                let v = tx.read_many(words, at)?;
                if i % 2 == 0 {
                    tx.write_many(words, at, v.map(|v| v + 1), 4)?;
                } else {
                    for (at, v) in at.into_iter().zip(v) {
                        tx.write(words, at, v + 1)?;
                    }
                }
                k += 2;
            }
            Ok(())
        }
        Job::ManyReads => {
            for k in 0..n {
                tx.read(words, k)?;
            }
            let v = tx.read(sums, 0)?;
            tx.write(sums, 0, v + 1)
        }
    });
}

const WORDS: u32 = 50;

fn run<A: Algorithm>(job: Job, transactions: u64, locks: u64) -> Outcome {
    let cpu = Cpu::new();
    let layout = <A::Array<u32> as View<u32>>::LAYOUT;
    let words = TxArray::<_, u32>::zeroed(&cpu, layout, WORDS as usize, "words").unwrap();
    let sums = TxArray::<_, u64>::zeroed(&cpu, layout, 2, "sums").unwrap();
    let config = StmConfig {
        locks,
        // There is room for every word once, so words read twice must use the
        // same entry.
        capacity: capacity(WORDS + 1, WORDS + 1),
        retry_limits: RetryLimits {
            queue_after: 4,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(2, 2), config).unwrap();
    let shape = Launch::new(2, 2);
    let done = many::launch_with::<A, _>(&mut stm, shape, &words, &sums, transactions, job);
    (
        done.unwrap().statistics,
        words.download().unwrap(),
        sums.download().unwrap(),
    )
}

/// The statistics of a launch, and the two arrays after it.
type Outcome = (Statistics, Vec<u32>, Vec<u64>);

/// A function that launches a job, given the number of transactions and the
/// number of locks.
type Run = fn(Job, u64, u64) -> Outcome;

fn both(test: fn(u64, Run)) {
    test(1 << 10, run::<Fast>);
    // With eight locks, most words have the same lock as others of the
    // transaction.
    for locks in [1 << 10, 8, 1] {
        test(locks, run::<FastTable>);
    }
}

#[test]
fn sets_beyond_the_stack_lose_nothing() {
    both(|locks, run| {
        let (statistics, words, _) = run(Job::Backwards, 60, locks);
        assert_eq!(statistics.commits, 60);
        assert_eq!(words, [60; WORDS as usize]);
    });
}

#[test]
fn words_written_unread_are_the_transactions_own() {
    both(|locks, run| {
        let (_, words, sums) = run(Job::Blind, 60, locks);
        assert_eq!(sums[0], 0, "a transaction read another one's value");
        assert!(words.iter().all(|&w| w == words[0] && w < 60), "{words:?}");
    });
}

#[test]
fn a_word_named_twice_holds_its_last_write() {
    both(|locks, run| {
        let (statistics, words, _) = run(Job::Twice, 60, locks);
        assert_eq!(statistics.commits, 60);
        assert_eq!(words, [60; WORDS as usize]);
    });
}

#[test]
fn words_read_and_not_written_do_not_stop_each_other() {
    both(|locks, run| {
        let (statistics, _, sums) = run(Job::ManyReads, 200, locks);
        assert_eq!((statistics.commits, sums[0]), (200, 200));
    });
}

#[test]
fn rounds_and_their_lanes_are_counted() {
    let (statistics, ..) = run::<Fast>(Job::ManyReads, 40, 8);
    // As warps have one lane, each attempt is a round.
    assert_eq!(statistics.rounds, statistics.attempts);
    assert_eq!(statistics.round_lanes, statistics.attempts);
    let (statistics, ..) = run::<HvSorting>(Job::ManyReads, 40, 8);
    assert_eq!(statistics.rounds, statistics.attempts);
}

/// Runs `Job::Backwards` on the data with the clock of a new `Stm` at `clock`.
fn continue_at(
    cpu: &Cpu,
    clock: u64,
    words: &TxArray<Cpu, u32>,
    sums: &TxArray<Cpu, u64>,
) -> Statistics {
    let config = StmConfig {
        time_limit: Some(std::time::Duration::from_mins(2)),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(cpu, Launch::new(2, 2), config).unwrap();
    stm.advance_clock(clock).unwrap();
    let shape = Launch::new(2, 2);
    let done = many::launch_with::<Fast, _>(&mut stm, shape, words, sums, 100, Job::Backwards);
    done.unwrap().statistics
}

#[test]
fn versions_have_no_end() {
    let cpu = Cpu::new();
    let half = 1u64 << 30;
    for clock in [
        half - 50,     // the cells look newer in the middle of the launch
        half + 50,     // they do so from the start
        2 * half - 50, // the packed versions begin anew
        3 * half - 50,
        (1 << 32) - 50,
        (1 << 57) - 50,
    ] {
        let words = TxArray::<_, u32>::zeroed(&cpu, Layout::Cells, 4, "words").unwrap();
        let sums = TxArray::<_, u64>::zeroed(&cpu, Layout::Cells, 2, "sums").unwrap();
        let statistics = continue_at(&cpu, clock, &words, &sums);
        assert_eq!(statistics.commits, 100, "from {clock}");
        assert_eq!(words.download().unwrap(), [100; 4], "from {clock}");
    }
}

#[test]
fn cells_go_from_one_memory_to_another_as_they_are() {
    let cpu = Cpu::new();
    let words = TxArray::<_, u32>::zeroed(&cpu, Layout::Cells, 4, "words").unwrap();
    let sums = TxArray::<_, u64>::zeroed(&cpu, Layout::Cells, 2, "sums").unwrap();
    // Ahead, behind, and by more than a circle of packed versions.
    for (k, clock) in [(1, 1000), (2, 0), (3, 1 << 33), (4, 5), (5, (1 << 30) + 7)] {
        continue_at(&cpu, clock, &words, &sums);
        assert_eq!(words.download().unwrap(), [100 * k; 4], "at {clock}");
    }
}

#[test]
fn a_layout_changes_and_the_values_stay() {
    let cpu = Cpu::new();
    let narrow: Vec<i32> = (-3..4).collect();
    let wide: Vec<f64> = (0..5).map(|k| f64::from(k) / 3.0).collect();
    let mut a = TxArray::from_slice(&cpu, Layout::Plain, &narrow, "a").unwrap();
    let mut b = TxArray::from_slice(&cpu, Layout::Plain, &wide, "b").unwrap();
    for layout in [Layout::Cells, Layout::Cells, Layout::Plain] {
        a.arrange_as(layout).unwrap();
        b.arrange_as(layout).unwrap();
        assert_eq!(a.download().unwrap(), narrow);
        assert_eq!(b.download().unwrap(), wide);
    }
    a.arrange::<Fast>().unwrap();
    assert_eq!((a.layout(), a.bytes()), (Layout::Cells, 7 * 8));
    assert_eq!(a.view::<Fast>().len(), 7);
}

#[test]
fn the_clock_does_not_go_back() {
    let mut stm = Stm::new(&Cpu::new(), Launch::new(1, 1), StmConfig::default()).unwrap();
    stm.advance_clock(5).unwrap();
    stm.advance_clock(5).unwrap();
    let error = stm.advance_clock(4).unwrap_err();
    assert_ends!(error, Error::BadConfig { value: 4, .. });
}

#[test]
fn a_view_of_another_layout_is_an_error_that_names_the_array() {
    let a = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Cells, 4, "a").unwrap();
    let error = a.try_view::<HvSorting>().unwrap_err();
    assert_ends!(
        error,
        Error::WrongLayout {
            what: "a",
            algorithm: "hv-sorting"
        }
    );
    assert_eq!(a.try_view::<Fast>().unwrap().len(), 4);
}

#[test]
#[should_panic(expected = "the layout of a is not the one that fast wants")]
fn a_view_of_another_layout_is_refused() {
    let a = TxArray::<_, u32>::zeroed(&Cpu::new(), Layout::Plain, 4, "a").unwrap();
    a.view::<Fast>();
}
