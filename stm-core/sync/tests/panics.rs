//! A panic in a section on the CPU ends the launch, and not with the others waiting.
#![cfg(feature = "host")]

mod common;

use common::{Counter, Word, launch, together};
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Error};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{Checked, LockFault, LockKind, Mcs, Ticket, Timeout, for_each_lock};

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
