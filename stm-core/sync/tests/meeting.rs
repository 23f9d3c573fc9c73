//! Barriers across blocks on the CPU, with real threads: waits that end early, and what the host
//! refuses. `stm-kernels/tests/reduction.rs` has the stress of every kind, of semaphores too.
//!
//! A panic in a section on the CPU ends the launch, and not with the others waiting.

#![cfg(feature = "host")]

mod common;

use common::{launch, meeting, resident_blocks, together};
use std::time::Duration;
use stm_machine::Lane;
use stm_machine::host::{Cpu, Error, Launch, Watchdog};
use stm_sync::barrier::Led;
use stm_sync::host::{GridBarrier, Locks};
use stm_sync::{Checked, LockFault, LockKind, Mcs, Ticket, Timeout, for_each_lock};

/// Each thread waits again and again; this one panics in the second round, if there is one of
/// this number.
fn waits(
    barrier: &mut GridBarrier<Cpu, Led>,
    watchdog: &mut Watchdog<Cpu>,
    panics: u64,
) -> Result<Duration, Error> {
    let view = barrier.view();
    meeting(barrier, watchdog, |lane| {
        let mut grid = view.enter(lane);
        for round in 0..200 {
            let me = lane.grid_thread();
            assert!(round != 1 || me != panics, "thread {me} gives up");
            // SAFETY: every thread of a block makes the same waits.
            if unsafe { grid.wait() }.is_err() {
                return;
            }
        }
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
    assert_eq!(resident_blocks(&barrier.shape()), Ok(4));
    assert_eq!(resident_blocks(&Launch::new(1, 64)), Ok(64));
    let (what, asked, limit) = ("blocks at the same time", 5, 4);
    let refused = waits(&mut barrier, &mut watchdog, u64::MAX).unwrap_err();
    assert_eq!(refused, Error::LaunchTooLarge { what, asked, limit });
    for (blocks, threads) in [(0, 1), (1, 0), (1, 1025), (1 << 17, 1)] {
        let shape = Launch::new(blocks, threads);
        assert!(GridBarrier::<_, Led>::new(&Cpu::new(), shape, watchdog.stop()).is_err());
    }
}

const THREADS: u32 = 4;

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
