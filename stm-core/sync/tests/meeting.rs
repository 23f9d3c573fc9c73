//! Barriers across blocks and semaphores on the CPU, with real threads: short stress,
//! and what the host refuses.
//!
//! A panic in a section on the CPU ends the launch, and not with the others waiting.

#![cfg(feature = "host")]

mod common;

use common::{Counter, Word, launch, meeting, resident_blocks, together, watched};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Error, Launch, Watchdog};
use stm_sync::barrier::{Chosen, Counted, Grouped, Kind, Led, Meeting, Tree, TwoStage, XiaoFeng};
use stm_sync::host::{Combiners, GridBarrier, Locks, Semaphores};
use stm_sync::semaphore::{Sleeping, Spin, SpinBackoff, Tickets, Waiting};
use stm_sync::{Checked, LockFault, LockKind, Mcs, Ticket, Timeout, for_each_lock};

const ROUNDS: u32 = 200;

/// Each thread stores the round in a word of its own, waits, and compares the words of
/// all; a second wait keeps the rounds apart. This thread panics in the second round, if
/// there is one of this number.
fn phases<B: Meeting>(
    mut barrier: GridBarrier<Cpu, B>,
    watchdog: &mut Watchdog<Cpu>,
    panics: u64,
) -> Result<(), Error> {
    let shape = barrier.shape();
    let len = (shape.blocks * shape.threads) as usize;
    let buffer = Buffer::<_, u32>::zeroed(&Cpu::new(), len, "words")?;
    let words: Vec<Word> = (0..len).map(|i| Word::of(&buffer, i)).collect();
    let view = barrier.view();
    let wrong = AtomicU32::new(0);
    for _ in 0..2 {
        meeting(&mut barrier, watchdog, |lane| {
            let mut grid = view.enter(lane);
            let me = lane.grid_thread();
            for round in 1..=ROUNDS {
                assert!(round != 2 || me != panics, "thread {me} gives up");
                words[me as usize].store(lane, round);
                // SAFETY: every thread of a block makes the same waits.
                if unsafe { grid.wait() }.is_err() {
                    return;
                }
                let others = words.iter().filter(|word| word.load(lane) != round);
                wrong.fetch_add(others.count() as u32, Ordering::Relaxed);
                // SAFETY: as above.
                if unsafe { grid.wait() }.is_err() {
                    return;
                }
            }
        })?;
        assert_eq!(buffer.download()?, vec![ROUNDS; len], "{}", B::NAME);
        assert_eq!(wrong.load(Ordering::Relaxed), 0, "{}", B::NAME);
    }
    Ok(())
}

fn watchdog() -> Watchdog<Cpu> {
    Watchdog::new(&Cpu::new(), Some(Duration::from_mins(1))).unwrap()
}

fn barrier_is_right<B: Meeting>() {
    for (blocks, threads) in [(1, 3), (4, 2), (9, 1), (66, 1)] {
        let mut watchdog = watchdog();
        let shape = Launch::new(blocks, threads);
        let barrier = GridBarrier::<_, B>::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
        phases(barrier, &mut watchdog, u64::MAX).unwrap();
    }
}

#[test]
fn every_barrier_keeps_the_rounds_of_threads_apart() {
    barrier_is_right::<TwoStage>();
    barrier_is_right::<XiaoFeng>();
    barrier_is_right::<Tree>();
    barrier_is_right::<Counted>();
    barrier_is_right::<Grouped>();
    barrier_is_right::<Led>();
    for &kind in Kind::ALL {
        let mut watchdog = watchdog();
        let shape = Launch::new(5, 2);
        let barrier = GridBarrier::chosen(&Cpu::new(), kind, shape, watchdog.stop()).unwrap();
        phases::<Chosen>(barrier, &mut watchdog, u64::MAX).unwrap();
    }
}

#[test]
fn a_panic_in_one_block_ends_the_waits_of_the_others() {
    let mut watchdog = watchdog();
    let shape = Launch::new(4, 2);
    let barrier = GridBarrier::<_, Led>::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
    let error = phases(barrier, &mut watchdog, 5).unwrap_err();
    let Error::Panicked { message, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(message, "thread 5 gives up");
}

#[test]
fn a_grid_that_gets_too_few_threads_is_refused_with_the_number_of_blocks_that_fit() {
    let mut watchdog = watchdog();
    let shape = Launch::new(5, 1_000);
    let barrier = GridBarrier::<_, XiaoFeng>::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
    assert_eq!(resident_blocks(&barrier.shape()), Ok(4));
    let error = phases(barrier, &mut watchdog, u64::MAX).unwrap_err();
    assert_eq!(
        error,
        Error::LaunchTooLarge {
            what: "blocks at the same time",
            asked: 5,
            limit: 4
        }
    );
    for (blocks, threads) in [(0, 1), (1, 0), (1, 1025), (1 << 17, 1)] {
        let shape = Launch::new(blocks, threads);
        assert!(GridBarrier::<_, Led>::new(&Cpu::new(), shape, watchdog.stop()).is_err());
    }
}

/// A semaphore with the threads inside, how often more were inside than may be, and a word.
struct Guarded(AtomicU32, AtomicU32, Word);

/// Each thread adds to a word inside of a semaphore by a load and a store, and counts who
/// is inside.
fn semaphore_is_right<S: Waiting>() {
    let cpu = Cpu::new();
    let mut watchdog = watchdog();
    let times = 400_u32;
    for count in [1, 2, 10] {
        for closure in [false, true] {
            let semaphores = Semaphores::<_, S>::new(&cpu, 2, count, watchdog.stop()).unwrap();
            let words = Buffer::<_, u32>::zeroed(&cpu, 2, "words").unwrap();
            let guarded =
                [0, 1].map(|i| Guarded(AtomicU32::new(0), AtomicU32::new(0), Word::of(&words, i)));
            let view = semaphores.view();
            let launched = watched(&mut watchdog, &together(4, 3, 0), |lane| {
                for i in 0..times {
                    let semaphore = view.get(u64::from(i) % 2).unwrap();
                    let Guarded(inside, excess, word) = &guarded[i as usize % 2];
                    let section = || {
                        if inside.fetch_add(1, Ordering::Relaxed) >= semaphore.count() {
                            excess.fetch_add(1, Ordering::Relaxed);
                        }
                        let found = word.load(lane);
                        if i.is_multiple_of(16) {
                            lane.pause(0);
                        }
                        word.store(lane, found + 1);
                        inside.fetch_sub(1, Ordering::Relaxed);
                    };
                    if closure {
                        semaphore.with(lane, section).unwrap();
                    } else {
                        semaphore.wait(lane).unwrap();
                        section();
                        semaphore.post(lane);
                    }
                }
            });
            launched.unwrap();
            for (Guarded(inside, excess, _), word) in guarded.iter().zip(words.download().unwrap())
            {
                let left = [inside, excess].map(|count| count.load(Ordering::Relaxed));
                assert_eq!(left, [0, 0], "{} with {count}", S::NAME);
                assert!(count != 1 || word == times / 2 * 12, "{}: {word}", S::NAME);
            }
        }
    }
}

#[test]
fn every_semaphore_lets_in_its_count_and_everybody() {
    semaphore_is_right::<Spin>();
    semaphore_is_right::<SpinBackoff>();
    semaphore_is_right::<Sleeping>();
    semaphore_is_right::<Tickets>();
}

#[test]
fn a_wait_for_a_post_that_does_not_come_ends_at_the_time_limit() {
    let cpu = Cpu::new();
    let limit = Duration::from_millis(30);
    let mut watchdog = Watchdog::new(&cpu, Some(limit)).unwrap();
    let mut semaphores = Semaphores::<_, Sleeping>::new(&cpu, 1, 3, watchdog.stop()).unwrap();
    let handle = semaphores.view();
    // Each waits once and never posts.
    let mut launch = |blocks| {
        watched(&mut watchdog, &together(blocks, 1, 0), |lane| {
            let _inside = handle.get(0).map(|semaphore| semaphore.wait(lane));
        })
    };
    assert_eq!(launch(4).unwrap_err(), Error::StillWaiting { limit });
    semaphores.reset().unwrap();
    launch(3).unwrap();
    assert_eq!(resident_blocks(&Launch::new(1, 64)), Ok(64));
}

const THREADS: u32 = 4;

/// Returns what the launch said, if it was the panic.
fn message(launched: Result<std::time::Duration, Error>) -> String {
    match launched {
        Err(Error::Panicked { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

/// Thread 2 panics in its tenth section; the others make sections until they are refused.
fn ends<K: LockKind>() {
    let mut locks = Locks::<_, K>::new(&Cpu::new(), 1, THREADS.into(), "locks").unwrap();
    for _ in 0..3 {
        let view = locks.view();
        let launched = launch(&together(THREADS / 2, 2, locks.shared_bytes()), |lane| {
            // SAFETY: all threads of the block call it.
            unsafe { view.set_up_block(lane) };
            if lane.grid_thread() == 2 {
                let mut left = 10;
                let done = view.with_many(lane, 0, 3, || {
                    left -= 1;
                    assert!(left != 0, "a section fails");
                    true
                });
                unreachable!("{done:?}");
            }
            let refused = loop {
                if let Err(fault) = view.with(lane, 0, || ()) {
                    break fault;
                }
            };
            assert_eq!(refused, LockFault::HolderFailed);
        });
        assert_eq!(message(launched), "a section fails", "{}", K::NAME);
        let error = locks.check().unwrap_err().to_string();
        assert_eq!(
            error,
            "thread 2 panicked in a section, so that the lock is never given up (lock 0 of locks)"
        );
        locks.reset().unwrap();
        locks.check().unwrap();
    }
}

#[test]
fn a_panic_in_a_section_ends_the_waits_of_the_others_with_every_kind() {
    for_each_lock!(ends());
    ends::<Checked<Mcs>>();
    ends::<Timeout<Ticket, { 1 << 38 }>>();
}

/// Each thread asks until it is refused. Whoever holds the combiner panics.
#[test]
fn a_panic_in_a_combined_operation_ends_the_waits_of_the_others() {
    let combiners = Combiners::<_, 1>::new(&Cpu::new(), 1, THREADS.into(), "combiner").unwrap();
    let sum = Buffer::<_, u32>::zeroed(&Cpu::new(), 1, "sum").unwrap();
    let (view, counter) = (combiners.view(), Counter(Word::of(&sum, 0), 30));
    let launched = launch(&together(THREADS / 2, 2, 0), |lane| {
        let refused = loop {
            if let Err(fault) = view.apply(lane, 0, &counter, [1]) {
                break fault;
            }
        };
        assert_eq!(refused, LockFault::HolderFailed);
    });
    assert_eq!(message(launched), "an operation fails");
    let error = combiners.check().unwrap_err().to_string();
    assert!(error.contains("panicked in a section"), "{error}");
}
