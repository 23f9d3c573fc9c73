//! Tests of kernels that misuse the API: each ends in a result or in an error
//! that names what was wrong, never in a hang. And
//! configurations and launches that are refused, and the registry of algorithms.
#![cfg(feature = "host")]

mod common;

use common::{assert_ends, assert_full, capacity, config, launch};
use std::time::Duration;
use stm_core::algorithm::{Algorithm, HvSorting, Variant};
use stm_core::host::{Buffer, Capacity, Cpu, Error, Launch, Statistics, Stm, StmConfig};
use stm_core::internal::lane::cpu::CpuLane;
use stm_core::{Abort, Lane, StmRef, TArray, Transact, TxResult, with_algorithm};

type Memory = StmRef<HvSorting>;

/// What each thread does with the memory and eight words.
type Kernel = dyn Fn(&CpuLane<'_>, &Memory, &TArray<u32>);

/// Launches a kernel.
fn launched(
    stm: &mut Stm<Cpu>,
    words: &Buffer<Cpu, u32>,
    kernel: &Kernel,
) -> Result<Statistics, Error> {
    let (handle, view) = (stm.handle(), words.tarray());
    launch(stm, |lane| {
        kernel(lane, &handle, &view);
        // SAFETY: every thread of the block comes here, or panics.
        unsafe { lane.barrier() };
    })
}

fn go(
    capacity: Capacity,
    limit: Option<Duration>,
    kernel: &Kernel,
) -> (Result<Statistics, Error>, Vec<u32>, Stm<Cpu>) {
    let cpu = Cpu::new();
    let words = Buffer::<_, u32>::zeroed(&cpu, 8, "words").unwrap();
    let config = StmConfig {
        capacity,
        time_limit: limit,
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(1, 2), config).unwrap();
    let result = launched(&mut stm, &words, kernel);
    (result, words.download().unwrap(), stm)
}

const LONG: Option<Duration> = Some(Duration::from_mins(2));

/// Reads and writes the same few words again and again, then others.
fn repeat(lane: &CpuLane<'_>, stm: &Memory, words: &TArray<u32>) {
    stm.for_each(lane, 0..20, |tx, _| {
        for _ in 0..10 {
            let v = tx.read(words, 0)?;
            tx.write(words, 1, v)?;
            tx.write(words, 2, v)?;
            tx.write(words, 1, v + 1)?;
        }
        let [_, b, _] = tx.read_many(words, [0, 3, 0])?;
        tx.write(words, 0, b + 1)
    });
}

#[test]
fn repeated_reads_and_writes_take_no_more_room_than_distinct_words() {
    let (result, words, _) = go(capacity(2, 3), None, &repeat);
    assert_eq!(result.unwrap().commits, 20);
    assert_eq!((words[0], words[1], words[2]), (1, 2, 1));
    assert_full(go(capacity(1, 3), None, &repeat).0, "read set", 1);
    assert_full(go(capacity(2, 2), None, &repeat).0, "write set", 2);
}

/// Writes words 0 to 3, then reads 0 to 4 together.
fn own_among_others(lane: &CpuLane<'_>, stm: &Memory, words: &TArray<u32>) {
    stm.for_each(lane, 0..1, |tx, _| {
        for i in 0..4 {
            tx.write(words, i, 10 + i as u32)?;
        }
        let seen = tx.read_many(words, [0, 1, 2, 3, 4])?;
        tx.write(words, 5, seen.iter().sum())
    });
}

#[test]
fn a_written_word_read_among_others_takes_no_room_in_the_read_set() {
    let (result, words, _) = go(capacity(1, 5), None, &own_among_others);
    result.unwrap();
    assert_eq!(words[..6], [10, 11, 12, 13, 0, 46]);
}

#[test]
fn a_nested_transaction_is_a_fault_and_changes_nothing() {
    let (result, words, _) = go(capacity(4, 4), None, &|lane, stm, words| {
        stm.for_each(lane, 0..2, |tx, _| {
            tx.write(words, 0, 1)?;
            stm.atomically(lane, |tx| tx.write(words, 1, 1))?;
            Ok(())
        });
    });
    assert_ends!(result, Err(Error::Nested { .. }));
    assert_eq!(words, [0; 8]);
}

#[test]
fn a_panic_in_one_thread_ends_the_launch_and_closes_the_memory() {
    let (result, _, mut stm) = go(capacity(4, 4), None, &|lane, stm, words| {
        stm.for_each(lane, 0..100, |tx, i| {
            assert!(i != 50, "number fifty");
            tx.write(words, 0, 1)
        });
    });
    assert_ends!(
        result,
        Err(Error::Panicked { entry: "a closure", ref message }) if message.contains("number fifty")
    );
    let words = Buffer::<_, u32>::zeroed(&Cpu::new(), 8, "words").unwrap();
    let again = launched(&mut stm, &words, &repeat);
    assert_ends!(again, Err(Error::Corrupt { .. }));
}

#[test]
fn a_loop_of_single_transactions_stops_at_the_time_limit() {
    let limit = Some(Duration::from_millis(20));
    let (result, ..) = go(capacity(1, 1), limit, &|lane, stm, words| {
        let write = |_: &u32| stm.atomically(lane, |tx| tx.write(words, lane.grid_thread(), 1));
        (0..1 << 30).take_while(|i| write(i).is_ok()).count();
    });
    assert_ends!(result, Err(Error::Timeout { .. }));
}

#[test]
fn a_time_limit_that_is_not_reached_is_no_timeout() {
    go(capacity(4, 5), LONG, &own_among_others).0.unwrap();
}

#[test]
fn a_launch_without_enough_threads_runs_nothing_and_leaves_the_memory_usable() {
    let cpu = Cpu::new().with_os_threads(3);
    let words = Buffer::<_, u32>::zeroed(&cpu, 8, "words").unwrap();
    let config = StmConfig::default();
    let mut few = Stm::new(&cpu, Launch::new(1, 4), config).unwrap();
    for _ in 0..2 {
        let error = launched(&mut few, &words, &repeat).unwrap_err();
        let (started, asked) = (3, 4);
        assert_eq!(error, Error::NoThreads { started, asked });
        assert_eq!(words.download().unwrap(), [0; 8]);
    }
    let mut enough = Stm::new(&cpu, Launch::new(1, 3), config).unwrap();
    let done = launched(&mut enough, &words, &repeat).unwrap();
    assert_eq!(done.commits, 20);
}

/// An attempt answers with the abort that an earlier one has met.
#[test]
fn a_conflict_kept_from_another_attempt_is_a_fault_and_never_a_conflict() {
    let (result, words, _) = go(Capacity::DEFAULT, LONG, &|lane, stm, words| {
        let kept = std::cell::Cell::new(None);
        stm.loops(lane)
            .with(|_, ()| {}, |_, abort| kept.set(Some(abort)))
            .each(0..4, |tx, _| {
                if let Some(abort) = kept.get() {
                    return Err(abort);
                }
                tx.read(words, 1)?;
                // SAFETY: an element of a live array. It makes the attempt fail.
                unsafe { lane.fetch_add_relaxed_32(words.get(1).unwrap(), 1) };
                tx.write(words, 0, 1)
            });
    });
    assert_ends!(result, Err(Error::ForeignAbort { .. }));
    assert_eq!(words[0], 0);
}

/// Adds 1 to a word, and 1 to a second one that depends on the first.
fn add<L: Lane>(at: &mut impl Transact<L, HvSorting>, words: &TArray<u32>) -> TxResult<()> {
    at.atomically(|tx| {
        let v = tx.read(words, 0)?;
        tx.write(words, 0, v + 1)?;
        tx.atomically(|tx| tx.write(words, 1, 2 * (v + 1)))
    })
}

#[test]
fn a_transaction_inside_another_is_a_part_of_it() {
    let (result, words, _) = go(Capacity::DEFAULT, LONG, &|lane, stm, words| {
        let mut end = stm.atomically(lane, |tx| {
            add(tx, words)?;
            tx.atomically(|tx| add(tx, words))
        });
        if end.is_ok() {
            end = add(&mut stm.on(lane), words);
        }
        assert_eq!(end, Ok(()));
        let cancelled = stm.atomically(lane, |tx| {
            tx.write(words, 0, 100)?;
            // The method itself has a lifetime too few.
            #[allow(clippy::redundant_closure_for_method_calls)]
            let swallowed: TxResult<()> = tx.atomically(|tx| tx.cancel());
            assert_ends!(swallowed, Err(Abort::User { .. }));
            Ok(())
        });
        assert_ends!(cancelled, Err(Abort::User { .. }));
    });
    let statistics = result.unwrap();
    // Two threads, two transactions each, of three additions.
    assert_eq!(statistics.commits, 4);
    assert_eq!(statistics.aborted_for("user"), 2);
    assert_eq!(&words[..2], [6, 12]);
}

/// Asserts that the default configuration is refused after a change, with a text
/// that has these parts.
#[track_caller]
fn refused(change: impl FnOnce(&mut StmConfig), parts: &[&str]) {
    let stm = Stm::new(&Cpu::new(), Launch::new(1, 1), config(change));
    let text = stm.unwrap_err().to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn locks_must_be_a_power_of_two() {
    refused(|config| config.locks = 1000, &["1000", "512", "1024"]);
    refused(|config| config.locks = 0, &["is 0", "2^30"]);
    refused(|config| config.locks = 1 << 31, &["2^30"]);
}

#[test]
fn stripes_sets_and_waits_have_limits() {
    refused(|config| config.stripe_bytes = 6, &["stripe"]);
    refused(|config| config.capacity = capacity(0, 1), &["read set"]);
    let limits = |config: &mut StmConfig| {
        config.retry_limits.acquire_tries = 0;
        config.retry_limits.retries_max = 0;
    };
    refused(limits, &["tries"]);
}

#[test]
fn a_launch_of_nothing_and_one_beyond_the_limits_are_refused() {
    let new = |blocks, threads| {
        let shape = Launch::new(blocks, threads);
        Stm::new(&Cpu::new(), shape, StmConfig::default()).map(|_| ())
    };
    assert_ends!(new(0, 1), Err(Error::ZeroLaunch { what: "blocks", .. }));
    assert_ends!(
        new(1, 0),
        Err(Error::ZeroLaunch {
            what: "threads a block",
            ..
        })
    );
    assert_ends!(
        new(1, 4096),
        Err(Error::LaunchTooLarge {
            asked: 4096,
            limit: 1024,
            ..
        })
    );
}

#[test]
fn metadata_too_large_for_memory_names_needed_and_available() {
    let config = config(|c| c.capacity = capacity(1 << 20, 1 << 20));
    let Err(Error::OutOfMemory {
        needed, available, ..
    }) = Stm::new(&Cpu::new(), Launch::new(1 << 20, 1024), config)
    else {
        panic!("petabytes were found");
    };
    assert!(needed > available);
}

#[test]
fn every_line_names_the_type_that_names_it() {
    for &variant in Variant::ALL {
        assert_eq!(with_algorithm!(variant, A => A::VARIANT), variant);
        assert_eq!(Variant::from_name(variant.name()), Some(variant));
        assert_eq!(with_algorithm!(variant, A => A::TEAMS), variant.has_teams());
    }
    assert_eq!(Variant::from_name("vbw"), None);
}
