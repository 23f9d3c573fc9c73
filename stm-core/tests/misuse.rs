//! Tests of kernels that misuse the API: each ends in a result or in an error
//! that names what was wrong, never in a hang.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, capacity, launch};
use std::time::Duration;
use stm_core::algorithm::HvSorting;
use stm_core::host::{Buffer, Capacity, Cpu, Error, Launch, Statistics, Stm, StmConfig};
use stm_core::{Abort, Lane, StmRef, TArray, Transact, TxResult};

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Reads and writes the same few words again and again, then others.
    Repeat,
    /// Writes words 0 to 3, then reads 0 to 4 together.
    OwnAmongOthers,
    /// Begins a transaction inside another.
    Nest,
    /// Runs transactions inside others by `Transact`; one of them cancels.
    Flat,
    /// Panics in one thread while the others wait.
    Panic,
    /// Runs one transaction after the other by `atomically`.
    Loop,
    /// Returns the reason with which an earlier transaction was cancelled, or
    /// had a conflict.
    Keep,
}

struct P {
    stm: StmRef<HvSorting>,
    words: TArray<u32>,
    how: How,
}

/// Adds 1 to a word, and 1 to a second one that depends on the first.
fn add<L: Lane>(at: &mut impl Transact<L, HvSorting>, p: &P, i: u64) -> TxResult<()> {
    at.atomically(|tx| {
        let v = tx.read(&p.words, i)?;
        tx.write(&p.words, i, v + 1)?;
        tx.atomically(|tx| tx.write(&p.words, i + 1, 2 * (v + 1)))
    })
}

/// Transactions inside of a transaction are part of it.
fn flat<L: Lane>(lane: &L, p: &P) {
    let mut end = p.stm.atomically(lane, |tx| {
        add(tx, p, 0)?;
        tx.atomically(|tx| add(tx, p, 0))
    });
    if end.is_ok() {
        end = add(&mut p.stm.on(lane), p, 0);
    }
    assert_eq!(end, Ok(()));
    let cancelled = p.stm.atomically(lane, |tx| {
        tx.write(&p.words, 0, 100)?;
        // The method itself has a lifetime too few.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let swallowed: TxResult<()> = tx.atomically(|tx| tx.cancel());
        assert_ends!(swallowed, Err(Abort::User { .. }));
        Ok(())
    });
    assert_ends!(cancelled, Err(Abort::User { .. }));
}

/// An attempt answers with the abort that an earlier one has met.
fn keep<L: Lane>(lane: &L, p: &P) {
    let kept = std::cell::Cell::new(None);
    p.stm.for_each_with(
        lane,
        0..4,
        |tx, _| {
            if let Some(abort) = kept.get() {
                Err(abort)
            } else {
                tx.read(&p.words, 1)?;
                // SAFETY: an element of a live array. It makes the
                // attempt fail.
                unsafe { lane.fetch_add_relaxed_32(p.words.get(1).unwrap(), 1) };
                tx.write(&p.words, 0, 1)
            }
        },
        |_, ()| {},
        |_, abort| kept.set(Some(abort)),
    );
}

fn run<L: Lane>(lane: &L, p: &P) {
    match p.how {
        How::Repeat => p.stm.for_each(lane, 0..20, |tx, _| {
            for _ in 0..10 {
                let v = tx.read(&p.words, 0)?;
                tx.write(&p.words, 1, v)?;
                tx.write(&p.words, 2, v)?;
                tx.write(&p.words, 1, v + 1)?;
            }
            let [_, b, _] = tx.read_many(&p.words, [0, 3, 0])?;
            tx.write(&p.words, 0, b + 1)
        }),
        How::OwnAmongOthers => p.stm.for_each(lane, 0..1, |tx, _| {
            for i in 0..4 {
                tx.write(&p.words, i, 10 + i as u32)?;
            }
            let seen = tx.read_many(&p.words, [0, 1, 2, 3, 4])?;
            tx.write(&p.words, 5, seen.iter().sum())
        }),
        How::Nest => p.stm.for_each(lane, 0..2, |tx, _| {
            tx.write(&p.words, 0, 1)?;
            p.stm.atomically(lane, |tx| tx.write(&p.words, 1, 1))?;
            Ok(())
        }),
        How::Flat => flat(lane, p),
        How::Panic => p.stm.for_each(lane, 0..100, |tx, i| {
            assert!(i != 50, "number fifty");
            tx.write(&p.words, 0, 1)
        }),
        How::Keep => keep(lane, p),
        How::Loop => {
            for _ in 0..1 << 30 {
                if p.stm
                    .atomically(lane, |tx| tx.write(&p.words, lane.grid_thread(), 1))
                    .is_err()
                {
                    break;
                }
            }
        }
    }
    // SAFETY: every thread of the block comes here, or panics.
    unsafe { lane.barrier() };
}

/// Launches a kernel that does so.
fn launched(stm: &mut Stm<Cpu>, words: &Buffer<Cpu, u32>, how: How) -> Result<Statistics, Error> {
    let p = P {
        stm: stm.handle(),
        words: words.tarray(),
        how,
    };
    launch(stm, |lane| run(lane, &p))
}

fn go(
    how: How,
    capacity: Capacity,
    limit: Option<Duration>,
) -> (Result<Statistics, Error>, Vec<u32>, Stm<Cpu>) {
    let cpu = Cpu::new();
    let words = Buffer::<_, u32>::zeroed(&cpu, 8, "words").unwrap();
    let config = StmConfig {
        capacity,
        time_limit: limit,
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(1, 2), config).unwrap();
    let result = launched(&mut stm, &words, how);
    (result, words.download().unwrap(), stm)
}

#[test]
fn repeated_reads_and_writes_take_no_more_room_than_distinct_words() {
    let (result, words, _) = go(How::Repeat, capacity(2, 3), None);
    assert_eq!(result.unwrap().commits, 20);
    assert_eq!((words[0], words[1], words[2]), (1, 2, 1));
    for (room, full, most) in [
        (capacity(1, 3), "read set", 1),
        (capacity(2, 2), "write set", 2),
    ] {
        let (result, ..) = go(How::Repeat, room, None);
        assert_ends!(result, Err(Error::CapacityExceeded { set, limit, .. }) if (set, limit) == (full, most));
    }
}

#[test]
fn a_written_word_read_among_others_takes_no_room_in_the_read_set() {
    let (result, words, _) = go(How::OwnAmongOthers, capacity(1, 5), None);
    result.unwrap();
    assert_eq!(words[..6], [10, 11, 12, 13, 0, 46]);
}

#[test]
fn a_nested_transaction_is_a_fault_and_changes_nothing() {
    let (result, words, _) = go(How::Nest, capacity(4, 4), None);
    assert_ends!(result, Err(Error::Nested { .. }));
    assert_eq!(words, [0; 8]);
}

#[test]
fn a_panic_in_one_thread_ends_the_launch_and_closes_the_memory() {
    let (result, _, mut stm) = go(How::Panic, capacity(4, 4), None);
    let Err(Error::Panicked {
        entry: "a closure",
        message,
    }) = result
    else {
        panic!("{result:?}")
    };
    assert!(message.contains("number fifty"));
    let cpu = Cpu::new();
    let words = Buffer::<_, u32>::zeroed(&cpu, 8, "words").unwrap();
    let again = launched(&mut stm, &words, How::Repeat);
    assert_ends!(again, Err(Error::Corrupt { .. }));
}

#[test]
fn a_loop_of_single_transactions_stops_at_the_time_limit() {
    let (result, ..) = go(How::Loop, capacity(1, 1), Some(Duration::from_millis(20)));
    assert_ends!(result, Err(Error::Timeout { .. }));
}

#[test]
fn a_time_limit_that_is_not_reached_is_no_timeout() {
    let (result, ..) = go(
        How::OwnAmongOthers,
        capacity(4, 5),
        Some(Duration::from_mins(1)),
    );
    result.unwrap();
}

#[test]
fn a_launch_without_enough_threads_runs_nothing_and_leaves_the_memory_usable() {
    let cpu = Cpu::new().with_os_threads(3);
    let words = Buffer::<_, u32>::zeroed(&cpu, 8, "words").unwrap();
    let config = StmConfig::default();
    let mut few = Stm::new(&cpu, Launch::new(1, 4), config).unwrap();
    for _ in 0..2 {
        let error = launched(&mut few, &words, How::Repeat).unwrap_err();
        assert_eq!(
            error,
            Error::NoThreads {
                started: 3,
                asked: 4
            }
        );
        assert_eq!(words.download().unwrap(), [0; 8]);
    }
    let mut enough = Stm::new(&cpu, Launch::new(1, 3), config).unwrap();
    let done = launched(&mut enough, &words, How::Repeat).unwrap();
    assert_eq!(done.commits, 20);
}

#[test]
fn a_conflict_kept_from_another_attempt_is_a_fault_and_never_a_conflict() {
    let (result, words, _) = go(How::Keep, Capacity::DEFAULT, Some(Duration::from_mins(2)));
    assert_ends!(result, Err(Error::ForeignAbort { .. }));
    assert_eq!(words[0], 0);
}

#[test]
fn a_transaction_inside_another_is_a_part_of_it() {
    let (result, words, _) = go(How::Flat, Capacity::DEFAULT, Some(Duration::from_mins(2)));
    let statistics = result.unwrap();
    // Two threads, two transactions each, of three additions.
    assert_eq!(statistics.commits, 4);
    assert_eq!(statistics.aborted_for("user"), 2);
    assert_eq!(&words[..2], [6, 12]);
}
