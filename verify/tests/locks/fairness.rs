//! Fairness: how often a thread is overtaken.

use super::common::{FAIR, Served, config, order};
use stm_core::host::Launch;
use stm_core::sync::{Anderson, FetchAdd, LockKind, Mcs, Ring, Tas, Ticket};
use verify::sim::Schedule;

/// Returns the largest number of sections that a section was overtaken by: those
/// that were asked for after it had been waiting for `settled` operations, and
/// ran before it.
///
/// When a thread asks, and when it has its place in the queue, is not the same;
/// `settled` operations later it has one, as a thread is not passed over for so
/// long.
fn overtaken(served: &[Served], settled: u64) -> usize {
    served
        .iter()
        .enumerate()
        .map(|(i, late)| {
            let later = |other: &&Served| other.asked > late.asked + settled;
            served[..i].iter().filter(later).count()
        })
        .max()
        .unwrap_or(0)
}

/// The operations for which a lane may be passed over, and the lanes.
const BOUND: u32 = 16;
const LANES: u32 = 6;

/// A bound on the operations between a lane's clock and its place in the queue,
/// which takes it eight at most.
const SETTLED: u64 = 8 * (BOUND + LANES) as u64;

const ITS: [Schedule; 2] = [
    Schedule::Its {
        bound: BOUND,
        starve: false,
    },
    Schedule::Its {
        bound: BOUND,
        starve: true,
    },
];

fn is_fair<K: LockKind>() {
    for schedule in ITS {
        for seed in 0..20 {
            let config = config(1, schedule, seed);
            let served = order::<K>(config, &Launch::new(LANES, 1), 30);
            assert_eq!(served.len(), 180);
            assert_eq!(overtaken(&served, SETTLED), 0, "{} {config}", K::NAME);
        }
    }
}

#[test]
fn queues_serve_in_the_order_of_arrival() {
    is_fair::<Ticket>();
    is_fair::<FetchAdd>();
    is_fair::<Anderson>();
    is_fair::<Ring>();
    is_fair::<Mcs>();
}

/// The measure finds something where there is something to be found.
#[test]
fn a_test_and_set_lock_lets_threads_be_overtaken() {
    let most = (0..20)
        .map(|seed| {
            let served = order::<Tas>(config(1, ITS[0], seed), &Launch::new(LANES, 1), 30);
            overtaken(&served, SETTLED)
        })
        .max();
    assert!(most > Some(3), "{most:?}");
}

/// In a warp that acquires a lock together, the lanes follow each other.
#[test]
fn a_warp_hands_a_lock_on_in_the_order_of_its_lanes() {
    for seed in 0..10 {
        let config = config(4, Schedule::Lockstep, seed);
        let served = order::<stm_core::sync::TicketHandoff>(config, &Launch::new(3, 4), 5);
        for warp in served.chunks(4) {
            let first = warp[0].lane;
            let lanes: Vec<u64> = warp.iter().map(|one| one.lane).collect();
            assert_eq!(lanes, [first, first + 1, first + 2, first + 3], "{config}");
            assert_eq!(first % 4, 0);
        }
    }
}

/// Every schedule that is fair to lanes lets each of them have its sections, so
/// the counts are equal in the end; here the order is that of the sections.
#[test]
fn sections_are_recorded_in_the_order_in_which_they_ran() {
    for schedule in FAIR {
        let served = order::<Mcs>(config(1, schedule, 1), &Launch::new(4, 1), 5);
        assert!(served.is_sorted_by_key(|one| one.entered));
        assert!(served.iter().all(|one| one.asked < one.entered));
    }
}
