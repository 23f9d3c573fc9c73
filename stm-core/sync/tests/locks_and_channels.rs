//! Channels and named barriers on the CPU, with real threads: `stm-kernels/tests/reduction.rs` has
//! what threads hand over by them and by barriers that count arrivals.
//!
//! Locks on the CPU's threads: a short storm for each kind.

#![cfg(feature = "host")]

mod common;

use common::{Counter, Word, launch, stay, together, watched};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Error, Launch, Watchdog};
use stm_machine::lane::cpu::CpuLane;
use stm_sync::channel::{Cluster, Copies, Receiver, RingShape, Shared, TRings};
use stm_sync::host::{Channels, Combiners, Locks, Rings};
use stm_sync::{
    Anderson, Checked, Cohort, LockFault, LockKind, Mcs, Mcs2, Reserving, Ring, Step, Stopped,
    TLocks, Tas, Ticket, Timeout, TryLock, for_each_lock,
};

stay!(
    TLocks<Ticket>,
    stm_sync::TCombiners<1>,
    stm_sync::barrier::TBarrier<stm_sync::barrier::XiaoFeng>,
    stm_sync::semaphore::TSemaphores<stm_sync::semaphore::Spin>,
    stm_sync::channel::TChannels<u32>,
    TRings<u32>,
);

/// The values that each ring carries.
const VALUES: u32 = 20_000;

/// Value `n`, whose halves tell a torn one.
fn value(n: u32) -> u64 {
    u64::from(n) << 32 | u64::from(!n)
}

/// Thread 0 sends, and all others take all values, through global memory; and at the same
/// time through shared memory, in the other direction for the second thread.
#[test]
fn all_consumers_take_all_values_from_real_threads() {
    let cpu = Cpu::new();
    for copies in [Copies::One, Copies::Each] {
        let limit = Some(Duration::from_mins(1));
        let mut watchdog = Watchdog::new(&cpu, limit).unwrap();
        let shape = RingShape {
            rings: 1,
            depth_log2: 4,
            consumers: 3,
            copies,
        };
        let rings = Rings::<_, u64>::new(&cpu, shape, watchdog.stop()).unwrap();
        assert_eq!(rings.shape(), shape);
        let (view, stop) = (rings.view(), watchdog.stop());
        let launch = Launch {
            shared_bytes: 256,
            ..Launch::new(1, 4)
        };
        // A second launch goes on with the same rings.
        for _ in 0..2 {
            let launched = watched(&mut watchdog, &launch, |lane| {
                let shape = RingShape::one_to_one(1, 2);
                // SAFETY: every thread of the only block comes here.
                let within = unsafe { TRings::<u32, Shared>::in_shared(lane, 0, shape, stop) };
                let (within, ring) = (within.unwrap().get(0).unwrap(), view.get(0).unwrap());
                let me = lane.thread_index();
                if me == 0 {
                    let mut sender = ring.sender(lane);
                    let mut back = within.receiver(lane, 0);
                    for n in 0..VALUES {
                        sender.send(value(n)).unwrap();
                        assert_eq!(back.as_mut().map(Receiver::take), Some(Ok(n)));
                    }
                } else {
                    let mut receiver = ring.receiver(lane, me - 1).unwrap();
                    let mut back = (me == 1).then(|| within.sender(lane));
                    for n in 0..VALUES {
                        assert_eq!(receiver.take(), Ok(value(n)));
                        if let Some(back) = &mut back {
                            back.send(n).unwrap();
                        }
                    }
                }
            });
            launched.unwrap();
        }
    }
}

#[test]
fn a_launch_that_waits_for_what_nobody_puts_ends_with_an_error() {
    let (cpu, limit) = (Cpu::new(), Duration::from_millis(50));
    let mut watchdog = Watchdog::new(&cpu, Some(limit)).unwrap();
    let mut channels = Channels::<_, u32>::new(&cpu, 500, watchdog.stop()).unwrap();
    assert_eq!((channels.len(), channels.is_empty()), (500, false));
    channels.reset().unwrap();
    let view = channels.view();
    let ran = watched(&mut watchdog, &together(6, 1, 0), |lane| {
        if lane.block_index() != 0 {
            assert_eq!(view.get(lane, 7, 1), Err(Stopped));
        }
    });
    assert_eq!(ran, Err(Error::StillWaiting { limit }));
    assert_eq!(channels.download().unwrap(), [(0, 0); 500]);
}

/// The blocks of each cluster send round it, through rings in the block that takes. Returns
/// the sum of what each block has taken.
fn round(panics: bool) -> (Result<Duration, Error>, [u64; 9]) {
    let mut watchdog = Watchdog::new(&Cpu::new(), Some(Duration::from_mins(1))).unwrap();
    let stop = watchdog.stop();
    let sums = [const { AtomicU64::new(0) }; 9];
    let launch = Launch {
        shared_bytes: 256,
        ..Launch::new(9, 2).with_cluster(3)
    };
    let ran = watched(&mut watchdog, &launch, |lane| {
        let (rank, size) = (lane.cluster_rank(), lane.cluster_size());
        let rings: Vec<_> = (0..size)
            .map(|to| {
                let shape = RingShape::one_to_one(1, 3);
                // SAFETY: every thread of the cluster comes here.
                let rings = unsafe { TRings::<u64, Cluster>::in_cluster(lane, to, 0, shape, stop) };
                rings.unwrap().get(0).unwrap()
            })
            .collect();
        let block = lane.block_index();
        assert!(!panics || block != 4, "block 4 gives up");
        if lane.thread_index() == 0 {
            let mut sender = rings[((rank + 1) % size) as usize].sender(lane);
            for n in 0..5_000 {
                if sender.send(u64::from(block) << 32 | n).is_err() {
                    return;
                }
            }
        } else {
            let mut receiver = rings[rank as usize].receiver(lane, 0).unwrap();
            for _ in 0..5_000 {
                let Ok(value) = receiver.take() else { return };
                sums[block as usize].fetch_add(value, Ordering::Relaxed);
            }
        }
        // SAFETY: every thread of the cluster comes here.
        unsafe { lane.cluster_barrier() };
    });
    (ran, sums.map(AtomicU64::into_inner))
}

#[test]
fn blocks_of_clusters_reach_each_others_shared_memory() {
    let (ran, sums) = round(false);
    ran.unwrap();
    let from = [2, 0, 1, 5, 3, 4, 8, 6, 7u64];
    let numbers: u64 = (0..5_000).sum();
    assert_eq!(sums, from.map(|block| 5_000 * (block << 32) + numbers));
}

#[test]
fn blocks_of_a_cluster_do_not_wait_for_one_that_panicked() {
    let (ran, _) = round(true);
    assert!(matches!(ran, Err(Error::Panicked { .. })), "{ran:?}");
}

#[test]
fn threads_at_a_named_barrier_do_not_wait_for_one_that_panicked() {
    let ran = launch(&Launch::new(1, 4), |lane| {
        let (me, threads) = (lane.thread_index(), lane.block_dim());
        for round in 0..200 {
            assert!(round != 100 || me != 1, "thread 1 gives up");
            // SAFETY: a warp here is a thread, and all make the same calls.
            unsafe {
                if me != 0 {
                    lane.barrier_named_sync(me, 2);
                }
                if me + 1 != threads {
                    lane.barrier_named_arrive(me + 1, 2);
                }
                lane.barrier();
            }
        }
    });
    let Err(Error::Panicked { message, .. }) = ran else {
        panic!("{ran:?}")
    };
    assert!(message.contains("thread 1 gives up"), "{message}");
}

/// The threads of a launch, and how often each takes a lock.
const THREADS: u32 = 4;
const TIMES: u32 = 2_000;

/// Takes one of two locks by `take`, so often in turn.
fn storm_of<K: LockKind>(
    threads: u32,
    take: impl Fn(&TLocks<K>, &CpuLane<'_>, u64, &dyn Fn()) -> bool,
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
fn a_thread_that_enters_a_ring_again_is_an_error_of_the_kernel_and_of_the_host() {
    let locks = Locks::<_, Ring>::new(&Cpu::new(), 1, THREADS.into(), "ring").unwrap();
    let view = locks.view();
    let launched = launch(&together(THREADS, 1, 0), |lane| {
        let again = || assert_eq!(view.with(lane, 0, || ()), Err(LockFault::HeldAlready));
        let section = || (lane.grid_thread() == 1).then(again);
        while view.with(lane, 0, section).is_ok() {}
    });
    launched.unwrap();
    let text = locks.check().unwrap_err().to_string();
    let expected = "thread 1 asked for a lock that it held already (lock 0 of ring)";
    assert_eq!(text, expected);
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
