//! Tests of kernels that misuse the API: each ends in a result or in an error that names what was wrong, never
//! in a hang. And configurations that are refused, and the registry of algorithms. `stamp faults` has launches and
//! memories that are too large.

use crate::common::prelude::*;

type Memory = World<HvSorting>;

fn memory(capacity: Capacity) -> Memory {
    let limit = Some(Duration::from_mins(2));
    World::new(Launch::new(1, 2), |c| {
        (c.capacity, c.time_limit) = (capacity, limit);
    })
}

/// Reads and writes the same few words again and again, then others.
fn repeat(tx: &mut CpuTx<'_, '_, HvSorting>, v: &Views<HvSorting>, _: u64) -> TxResult<()> {
    for _ in 0..10 {
        let word = tx.read(&v.words, 0)?;
        tx.write(&v.words, 1, word)?;
        tx.write(&v.words, 2, word)?;
        tx.write(&v.words, 1, word + 1)?;
    }
    let [_, b, _] = tx.read_many(&v.words, [0, 3, 0])?;
    tx.write(&v.words, 0, b + 1)
}

/// The random programs of `verify/tests/sim` have sets that are just large enough.
#[test]
fn repeated_reads_and_writes_take_no_more_room_than_distinct_words_and_a_full_set_is_named() {
    let mut enough = memory(capacity(2, 3));
    assert_eq!(enough.each(20, repeat).unwrap().commits, 20);
    assert_eq!(enough.words()[..3], [1, 2, 1]);
    let full = |reads, writes| memory(capacity(reads, writes)).each(20, repeat);
    assert_full(full(1, 3), "read set", 1);
    assert_full(full(2, 2), "write set", 2);
}

#[test]
fn a_nested_transaction_is_a_fault_and_changes_nothing() {
    let mut memory = memory(capacity(4, 4));
    let ended = memory.launch(|lane, v| {
        v.stm.for_each(lane, 0..2, |tx, _| {
            tx.write(&v.words, 0, 1)?;
            v.stm.atomically(lane, |tx| tx.write(&v.words, 1, 1))
        });
    });
    assert_ends!(ended, Err(Error::Nested { .. }));
    assert_eq!(memory.words()[..2], [0, 0]);
}

#[test]
fn a_panic_in_one_thread_ends_the_launch_and_closes_the_memory() {
    let mut memory = memory(capacity(4, 4));
    let ended = memory.launch(|lane, v| {
        v.stm.for_each(lane, 0..100, |tx, i| {
            assert!(i != 50, "number fifty");
            tx.write(&v.words, 0, 1)
        });
        // SAFETY: every thread of the block comes here, or panics.
        unsafe { lane.barrier() };
    });
    assert_ends!(
        ended,
        Err(Error::Panicked { entry: "a closure", ref message }) if message.contains("number fifty")
    );
    assert_ends!(memory.each(20, repeat), Err(Error::Corrupt { .. }));
}

#[test]
fn a_launch_without_enough_threads_runs_nothing_and_leaves_the_memory_usable() {
    let cpu = Cpu::new().with_os_threads(3);
    let mut few = memory(Capacity::DEFAULT);
    few.stm = Stm::new(&cpu, Launch::new(1, 4), StmConfig::default()).unwrap();
    for _ in 0..2 {
        let (started, asked) = (3, 4);
        let refused = few.each(20, repeat).unwrap_err();
        assert_eq!(refused, Error::NoThreads { started, asked });
        assert_eq!(few.words()[..3], [0; 3]);
    }
    few.stm.reshape(Launch::new(1, 3)).unwrap();
    assert_eq!(few.each(20, repeat).unwrap().commits, 20);
}

/// An attempt answers with the abort that an earlier one has met.
#[test]
fn a_conflict_kept_from_another_attempt_is_a_fault_and_never_a_conflict() {
    let mut memory = memory(Capacity::DEFAULT);
    let ended = memory.launch(|lane, v| {
        let kept = std::cell::Cell::new(None);
        let loops = v.stm.loops(lane);
        let loops = loops.with(|_, ()| {}, |_, abort| kept.set(Some(abort)));
        loops.each(0..4, |tx, _| {
            kept.get().map_or(Ok(()), Err)?;
            tx.read(&v.words, 1)?;
            // SAFETY: an element of a live array. It makes the attempt fail.
            unsafe { lane.fetch_add_relaxed_32(v.words.get(1).unwrap(), 1) };
            tx.write(&v.words, 0, 1)
        });
    });
    assert_ends!(ended, Err(Error::ForeignAbort { .. }));
    assert_eq!(memory.words()[0], 0);
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
    let mut memory = memory(Capacity::DEFAULT);
    let ended = memory.launch(|lane, Views { stm, words, .. }| {
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
    let statistics = ended.unwrap();
    // Two threads, two transactions each, of three additions.
    assert_eq!(statistics.commits, 4);
    assert_eq!(statistics.aborted_for("user"), 2);
    assert_eq!(memory.words()[..2], [6, 12]);
}

/// A configuration that is wrong, and the parts of what is said of it.
type Wrong = (fn(&mut StmConfig), &'static [&'static str]);

#[test]
fn locks_stripes_sets_and_waits_have_limits() {
    let wrong: [Wrong; 6] = [
        (|c| c.locks = 1000, &["1000", "512", "1024"]),
        (|c| c.locks = 0, &["is 0", "2^30"]),
        (|c| c.locks = 1 << 31, &["2^30"]),
        (|c| c.stripe_bytes = 6, &["stripe"]),
        (|c| c.capacity = capacity(0, 1), &["read set"]),
        (
            |c| (c.retry_limits.acquire_tries, c.retry_limits.retries_max) = (0, 0),
            &["tries"],
        ),
    ];
    for (change, parts) in wrong {
        let stm = Stm::new(&Cpu::new(), Launch::new(1, 1), config(change));
        assert_says(stm.unwrap_err(), parts);
    }
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
