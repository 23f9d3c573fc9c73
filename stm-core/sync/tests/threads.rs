//! Channels, named barriers, locks and barriers across blocks on the CPU, with real threads: waits that end early, and
//! what the host refuses. `verify/tests/meeting` and `verify/tests/locks` have the rest, under every schedule. A panic
//! in a section on the CPU ends the launch, and not with the others waiting.

#![cfg(feature = "host")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use stm_core_tests::closure::{self, Closure};
use stm_core_tests::stay;
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Device, Error, Launch, Result, Watchdog};
use stm_machine::lane::cpu::CpuLane;
use stm_sync::barrier::Led;
use stm_sync::channel::{Cluster, RingShape, TRings};
use stm_sync::host::{Channels, GridBarrier, Locks};
use stm_sync::{
    Checked, Cohort, LockFault, LockKind, Mcs, Reserving, Stopped, TLocks, Tas, Ticket, Timeout,
    TryLock, for_each_lock,
};

const THREADS: u32 = 4;

/// Launches a closure, as `Device::launch` does with a kernel.
fn launch(shape: &Launch, kernel: impl Fn(&CpuLane<'_>)) -> Result<Duration> {
    // SAFETY: the closure lives until the launch has ended.
    closure::with(kernel, |given| unsafe {
        Cpu::new().launch::<Closure>(shape, given)
    })
}

fn watched(
    watchdog: &mut Watchdog<Cpu>,
    shape: &Launch,
    kernel: impl Fn(&CpuLane<'_>),
) -> Result<Duration> {
    // SAFETY: as above.
    closure::with(kernel, |given| unsafe {
        watchdog.launch::<Closure>(&Cpu::new(), shape, given)
    })
}

/// All blocks at the same time, on threads of their own.
fn together(blocks: u32, threads: u32, shared_bytes: u64) -> Launch {
    let mut launch = Launch::new(blocks, threads);
    (launch.cooperative, launch.shared_bytes) = (true, shared_bytes as u32);
    launch
}

stay!(
    TLocks<Ticket>,
    stm_sync::TCombiners<1>,
    stm_sync::barrier::TBarrier<stm_sync::barrier::XiaoFeng>,
    stm_sync::semaphore::TSemaphores<stm_sync::semaphore::Spin>,
    stm_sync::channel::TChannels<u32>,
    TRings<u32>,
);

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

/// The blocks of each cluster send round it, through rings in the block that takes.
#[test]
fn blocks_of_a_cluster_do_not_wait_for_one_that_panicked() {
    let mut watchdog = Watchdog::new(&Cpu::new(), Some(Duration::from_mins(1))).unwrap();
    let stop = watchdog.stop();
    let mut launch = Launch::new(9, 2).with_cluster(3);
    launch.shared_bytes = 256;
    let ran = watched(&mut watchdog, &launch, |lane| {
        let (rank, size) = (lane.cluster_rank(), lane.cluster_size());
        let ring = |to| {
            let shape = RingShape::one_to_one(1, 3);
            // SAFETY: every thread of the cluster comes here.
            let rings = unsafe { TRings::<u64, Cluster>::in_cluster(lane, to, 0, shape, stop) };
            rings.unwrap().get(0).unwrap()
        };
        let rings: Vec<_> = (0..size).map(ring).collect();
        let block = lane.block_index();
        assert!(block != 4, "block 4 gives up");
        let is_stopped = if lane.thread_index() == 0 {
            let mut sender = rings[((rank + 1) % size) as usize].sender(lane);
            (0..5_000).any(|n| sender.send(u64::from(block) << 32 | n).is_err())
        } else {
            let mut receiver = rings[rank as usize].receiver(lane, 0).unwrap();
            (0..5_000).any(|_| receiver.take().is_err())
        };
        if !is_stopped {
            // SAFETY: every thread of the cluster comes here.
            unsafe { lane.cluster_barrier() };
        }
    });
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
    assert_eq!(message(ran), "thread 1 gives up");
}

const TIMES: u32 = 2_000;

/// Does a section under a lock, and returns whether it could.
type Take<K> = fn(&TLocks<K>, &CpuLane<'_>, u64, &dyn Fn()) -> bool;

/// Takes one of two locks by `take`, so often in turn.
fn storm_of<K: LockKind>(threads: u32, take: Take<K>) {
    let device = Cpu::new();
    let locks = Locks::<_, K>::new(&device, 2, THREADS.into(), "locks").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&device, 2, "counters").unwrap();
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
                let word = counters.as_mut_ptr().wrapping_add(lock);
                // SAFETY: a live word of 32 bits, which the lock protects.
                unsafe { lane.store_relaxed_32(word, lane.load_relaxed_32(word) + 1) };
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
        let take: Take<K> = |locks, lane, lock, section| locks.with(lane, lock, section).is_ok();
        storm_of::<K>(threads, take);
    }
}

/// Does the same, and then takes only locks that are free at once.
fn storms<K: TryLock>() {
    storm::<K>();
    for threads in [1, 2] {
        storm_of::<K>(threads, |locks, lane, lock, section| {
            locks.try_with(lane, lock, section).unwrap().is_some()
        });
    }
}

#[test]
fn threads_of_the_cpu_exclude_each_other_with_every_kind() {
    for_each_lock!(storm());
    for_each_lock!(tries storms());
    storms::<Reserving<1>>();
    storms::<Reserving<64>>();
    storms::<Checked<Mcs>>();
    storms::<Checked<Ticket>>();
    storms::<Timeout<Tas, { 1 << 36 }>>();
    storm::<Cohort<1>>();
    storm::<Cohort<8>>();
}

#[test]
fn locks_without_locks_or_without_users_are_refused() {
    let device = Cpu::new();
    for (count, users) in [(0, 1), (1, 0), (1, 1 << 29)] {
        let error = Locks::<_, Tas>::new(&device, count, users, "locks").unwrap_err();
        assert!(matches!(error, Error::BadConfig { .. }), "{error}");
    }
}

/// Each thread waits again and again; this one panics in the second round, if there is one of this number.
fn waits(
    barrier: &mut GridBarrier<Cpu, Led>,
    watchdog: &mut Watchdog<Cpu>,
    panics: u64,
) -> Result<Duration> {
    let view = barrier.view();
    let kernel = |lane: &CpuLane<'_>| {
        let mut grid = view.enter(lane);
        let _ = (0..200).try_for_each(|round| {
            let me = lane.grid_thread();
            assert!(round != 1 || me != panics, "thread {me} gives up");
            // SAFETY: every thread of a block makes the same waits.
            unsafe { grid.wait() }
        });
    };
    // SAFETY: the closure lives until the launch has ended.
    closure::with(kernel, |given| unsafe {
        barrier.launch::<Closure>(watchdog, given)
    })
}

fn watchdog() -> Watchdog<Cpu> {
    Watchdog::new(&Cpu::new(), Some(Duration::from_mins(1))).unwrap()
}

#[test]
fn a_panic_in_one_block_ends_the_waits_of_the_others() {
    let mut watchdog = watchdog();
    let shape = Launch::new(4, 2);
    let mut barrier = GridBarrier::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
    let launched = waits(&mut barrier, &mut watchdog, 5);
    assert_eq!(message(launched), "thread 5 gives up");
}

#[test]
fn a_grid_that_gets_too_few_threads_is_refused_with_the_number_of_blocks_that_fit() {
    let mut watchdog = watchdog();
    let shape = Launch::new(5, 1_000);
    let mut barrier = GridBarrier::new(&Cpu::new(), shape, watchdog.stop()).unwrap();
    let resident = |shape: &Launch| Cpu::new().resident_blocks::<Closure>(shape);
    assert_eq!(resident(&barrier.shape()), Ok(4));
    assert_eq!(resident(&Launch::new(1, 64)), Ok(64));
    let (what, asked, limit) = ("blocks at the same time", 5, 4);
    let refused = waits(&mut barrier, &mut watchdog, u64::MAX).unwrap_err();
    assert_eq!(refused, Error::LaunchTooLarge { what, asked, limit });
    for (blocks, threads) in [(0, 1), (1, 0), (1, 1025), (1 << 17, 1)] {
        let shape = Launch::new(blocks, threads);
        assert!(GridBarrier::<_, Led>::new(&Cpu::new(), shape, watchdog.stop()).is_err());
    }
}

fn message(launched: Result<Duration>) -> String {
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
        let said =
            "thread 2 panicked in a section, so that the lock is never given up (lock 0 of locks)";
        assert_eq!(error, said);
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
