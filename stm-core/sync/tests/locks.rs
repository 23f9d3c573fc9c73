//! Locks on the CPU's threads: a short storm for each kind.
#![cfg(feature = "host")]

mod common;

use common::{Counter, Word, launch, together};
use std::sync::atomic::{AtomicU32, Ordering};
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Error};
use stm_machine::lane::cpu::CpuLane;
use stm_sync::host::{Combiners, Locks};
use stm_sync::{
    Anderson, Checked, Cohort, LockFault, LockKind, Mcs, Mcs2, Reserving, Ring, Step, TLocks, Tas,
    Ticket, Timeout, TryLock, for_each_lock,
};

/// The threads of a launch, and how often each takes a lock.
const THREADS: u32 = 4;
const TIMES: u32 = 2_000;

/// Takes one of two locks by `take`, so often in turn.
fn storm_of<K: LockKind>(
    threads: u32,
    take: impl Fn(&TLocks<K>, &CpuLane<'_>, u64, &dyn Fn()) -> bool + Sync,
) {
    let device = Cpu::new();
    let locks = Locks::<_, K>::new(&device, 2, THREADS.into(), "locks").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&device, 2, "counters").unwrap();
    let words = [0, 1].map(|i| Word::of(&counters, i));
    // How many threads are in a section of each lock.
    let inside = [AtomicU32::new(0), AtomicU32::new(0)];
    let view = locks.view();
    let shape = together(THREADS / threads, threads, locks.shared_bytes());
    let launched = launch(&shape, |lane| {
        // SAFETY: all threads of the block call it.
        unsafe { view.set_up_block(lane) };
        let mut done = 0;
        while done < TIMES {
            let lock = (done % 2) as usize;
            let section = || {
                let others = inside[lock].fetch_add(1, Ordering::Relaxed);
                assert_eq!(others, 0, "two threads inside");
                words[lock].increment(lane);
                inside[lock].fetch_sub(1, Ordering::Relaxed);
            };
            if take(&view, lane, lock as u64, &section) {
                done += 1;
            } else {
                lane.pause(100);
            }
        }
    });
    launched.unwrap();
    locks.check().unwrap();
    let counted = counters.download().unwrap();
    assert_eq!(counted, [THREADS * TIMES / 2; 2], "{}", K::NAME);
}

/// Waits for the locks, in blocks of one thread and of two.
fn storm<K: LockKind>() {
    for threads in [1, 2] {
        storm_of::<K>(threads, |locks, lane, lock, section| {
            locks.with(lane, lock, section).unwrap();
            true
        });
    }
}

/// Takes only locks that are free at once.
fn tries_in_a_storm<K: TryLock>() {
    for threads in [1, 2] {
        storm_of::<K>(threads, |locks, lane, lock, section| {
            locks.try_with(lane, lock, section).unwrap().is_some()
        });
    }
}

/// Does both.
fn storms<K: TryLock>() {
    storm::<K>();
    tries_in_a_storm::<K>();
}

#[test]
fn threads_of_the_cpu_exclude_each_other_with_every_kind() {
    for_each_lock!(storm());
    for_each_lock!(tries tries_in_a_storm());
    storms::<Reserving<1>>();
    storms::<Reserving<64>>();
    storms::<Checked<Mcs>>();
    storms::<Checked<Ticket>>();
    storms::<Timeout<Tas, { 1 << 36 }>>();
    storm::<Cohort<1>>();
    storm::<Cohort<8>>();
}

/// Lets the last thread ask for a lock, which must answer so.
fn asks<K: LockKind>(users: u64, lock: u64, expected: Result<(), LockFault>) -> Result<(), Error> {
    let locks = Locks::<_, K>::new(&Cpu::new(), 3, users, "locks").unwrap();
    let view = locks.view();
    let launched = launch(&together(THREADS, 1, 0), |lane| {
        if lane.grid_thread() + 1 == lane.grid_threads() {
            assert_eq!(view.with(lane, lock, || ()), expected);
        }
    });
    launched.unwrap();
    locks.check()
}

#[test]
fn a_lock_past_the_end_is_an_error_of_the_kernel_and_of_the_host() {
    asks::<Tas>(4, 2, Ok(())).unwrap();
    let error = asks::<Tas>(4, 3, Err(LockFault::OutOfRange)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread 3 asked for a lock past the end of the array (lock 3 of locks)"
    );
}

#[test]
fn a_thread_without_a_node_is_an_error_of_the_kernel_and_of_the_host() {
    asks::<Mcs>(4, 0, Ok(())).unwrap();
    for error in [
        asks::<Mcs>(3, 0, Err(LockFault::TooManyUsers)).unwrap_err(),
        asks::<Ring>(3, 0, Err(LockFault::TooManyUsers)).unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "thread 3 is not below the number of users that the locks have (lock 0 of locks)"
        );
    }
    // These have no nodes.
    asks::<Ticket>(1, 0, Ok(())).unwrap();
    asks::<Anderson>(1, 0, Ok(())).unwrap();
}

#[test]
fn locks_without_locks_or_without_users_are_refused() {
    let device = Cpu::new();
    for (count, users) in [(0, 1), (1, 0), (1, 1 << 29)] {
        let error = Locks::<_, Tas>::new(&device, count, users, "locks").unwrap_err();
        assert!(matches!(error, Error::BadConfig { .. }), "{error}");
    }
}

/// Each thread walks over a row of locks.
#[test]
fn threads_of_the_cpu_walk_hand_over_hand() {
    let device = Cpu::new();
    let locks = Locks::<_, Mcs2>::dense(&device, 4, THREADS.into(), "a row").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&device, 4, "counters").unwrap();
    let words = [0, 1, 2, 3].map(|i| Word::of(&counters, i));
    let view = locks.view();
    let launched = launch(&together(THREADS, 1, 0), |lane| {
        for _ in 0..TIMES / 4 {
            let end = view.walk(lane, 0, |behind, here| {
                for i in behind.into_iter().chain([here]) {
                    words[i as usize].increment(lane);
                }
                if here < 3 {
                    Step::Next(here + 1)
                } else {
                    Step::Done(())
                }
            });
            end.unwrap();
        }
    });
    launched.unwrap();
    let walks = THREADS * TIMES / 4;
    assert_eq!(
        counters.download().unwrap(),
        [2 * walks, 2 * walks, 2 * walks, walks]
    );
}

/// Counts by requests; each thread notes that its responses grow.
fn counts<const BOUND: u32>() {
    let device = Cpu::new();
    let combiners = Combiners::<_, 1, BOUND>::new(&device, 1, THREADS.into(), "counter").unwrap();
    let sum = Buffer::<_, u32>::zeroed(&device, 1, "sum").unwrap();
    let (view, counter) = (combiners.view(), Counter(Word::of(&sum, 0), u32::MAX));
    let launched = launch(&together(THREADS, 1, 0), |lane| {
        let mut least = 0;
        for _ in 0..TIMES {
            let response = view.apply(lane, 0, &counter, [1]).unwrap();
            assert!(response >= least, "{response} after {least}");
            least = response + 1;
        }
    });
    launched.unwrap();
    combiners.check().unwrap();
    assert_eq!(sum.download().unwrap(), [THREADS * TIMES]);
}

#[test]
fn threads_of_the_cpu_combine_their_requests() {
    counts::<4096>();
    counts::<1>();
}
