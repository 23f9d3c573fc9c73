//! A panic in a section on the CPU ends the launch, and not with the others waiting.
#![cfg(feature = "host")]

mod common;

use common::{launch, together};
use stm_machine::Lane;
use stm_machine::host::{Cpu, Error};
use stm_sync::host::{Combiners, Locks};
use stm_sync::{Checked, Combined, LockFault, LockKind, Mcs, Ticket, Timeout, for_each_lock};

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

/// Adds, until a sum that it does not like.
#[derive(Clone, Copy)]
struct Until(u32);

impl Combined<1> for Until {
    type State = u32;
    const ORDERED: bool = false;

    fn begin<L: Lane>(&self, _lane: &L) -> u32 {
        0
    }

    fn apply<L: Lane>(&self, _lane: &L, sum: &mut u32, [number]: [u32; 1]) -> u32 {
        *sum += number;
        assert!(*sum < self.0, "an operation fails");
        *sum
    }

    fn end<L: Lane>(&self, _lane: &L, _sum: u32) {}
}

/// Each thread asks until it is refused. Whoever holds the combiner panics.
#[test]
fn a_panic_in_a_combined_operation_ends_the_waits_of_the_others() {
    let combiners = Combiners::<_, 1>::new(&Cpu::new(), 1, THREADS.into(), "combiner").unwrap();
    let view = combiners.view();
    let launched = launch(&together(THREADS / 2, 2, 0), |lane| {
        let refused = loop {
            if let Err(fault) = view.apply(lane, 0, &Until(3), [1]) {
                break fault;
            }
        };
        assert_eq!(refused, LockFault::HolderFailed);
    });
    assert_eq!(message(launched), "an operation fails");
    let error = combiners.check().unwrap_err().to_string();
    assert!(error.contains("panicked in a section"), "{error}");
}
