//! Two locks held at a time: walks hand over hand, and nested sections.

use super::common::{assert_is, config, everywhere, increment, of_each, word};
use std::cell::Cell;
use stm_core::Lane;
use stm_core::host::{Buffer, Error, Launch};
use stm_sync::host::Locks;
use stm_sync::{LockFault, LockKind, Mcs2, Step, Tas, Ticket, TicketHandoff};
use verify::sim::{Schedule, Sim, SimConfig, SimError};

/// The places of the list: each walk goes from the first to the last.
const PLACES: u64 = 5;

/// Each lane walks down the list; at each place it holds this lock and the one
/// before, and increments a counter that both protect.
fn walks<K: LockKind>() {
    for (config, launch) in everywhere(6) {
        let lanes = launch.blocks * launch.threads;
        let walked = walk::<K>(config, launch)
            .unwrap_or_else(|error| panic!("{} {config}: {error}", K::NAME));
        assert!(walked.is_right(lanes), "{} {config}: {walked:?}", K::NAME);
    }
}

/// What a launch of walks found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Visits to a place while another lane had its lock.
    overlaps: u32,
    /// Lanes whose walk did not come to the end.
    lost: u32,
    counters: Vec<u32>,
}

impl Walked {
    /// Returns whether each of so many lanes has visited each place alone.
    pub(crate) fn is_right(&self, lanes: u32) -> bool {
        let mut expected = vec![2 * lanes; PLACES as usize];
        expected[PLACES as usize - 1] = lanes;
        (self.overlaps, self.lost) == (0, 0) && self.counters == expected
    }
}

/// Runs a launch in which each lane walks once.
pub(crate) fn walk<K: LockKind>(config: SimConfig, launch: &Launch) -> Result<Walked, SimError> {
    let sim = Sim::new(config);
    let lanes = launch.blocks * launch.threads;
    let locks = Locks::<_, K>::dense(&sim, PLACES, lanes.into(), "the list").unwrap();
    let counters = Buffer::<_, u32>::zeroed(&sim, PLACES as usize, "counters").unwrap();
    let view = locks.view();
    let inside: [Cell<u32>; PLACES as usize] = Default::default();
    let (overlaps, lost) = (Cell::new(0), Cell::new(0));
    sim.run(launch, |lane| {
        let end = view.walk(lane, 0, |behind, here| {
            assert_eq!(behind, here.checked_sub(1));
            // The oracle: nobody else has this lock or the one behind.
            let held = || behind.into_iter().chain([here]);
            for inside in held().map(|i| &inside[i as usize]) {
                inside.set(inside.get() + 1);
                overlaps.set(overlaps.get() + u32::from(inside.get() != 1));
            }
            for i in held() {
                increment(lane, word(&counters, i as usize));
            }
            for inside in held().map(|i| &inside[i as usize]) {
                inside.set(inside.get() - 1);
            }
            if here + 1 < PLACES {
                Step::Next(here + 1)
            } else {
                Step::Done(here)
            }
        });
        lost.set(lost.get() + u32::from(end != Ok(PLACES - 1)));
    })?;
    Ok(Walked {
        overlaps: overlaps.get(),
        lost: lost.get(),
        counters: counters.download().unwrap(),
    })
}

#[test]
fn walks_hand_over_hand_exclude_each_other_at_each_place() {
    of_each!(walks(): Mcs2, Ticket, Tas);
}

/// A section inside of another one, of two locks in one order.
fn nests<K: LockKind>() {
    for (config, launch) in everywhere(6) {
        let lanes = launch.blocks * launch.threads;
        let sim = Sim::new(config);
        let locks = Locks::<_, K>::new(&sim, 3, lanes.into(), "locks").unwrap();
        let counter = Buffer::<_, u32>::zeroed(&sim, 1, "counter").unwrap();
        let view = locks.view();
        sim.run(launch, |lane| {
            let outer = u64::from(lane.thread_index() % 2);
            let done = view.with(lane, outer, || {
                view.with(lane, 2, || increment(lane, word(&counter, 0)))
            });
            assert_eq!(done, Ok(Ok(())));
        })
        .unwrap_or_else(|error| panic!("{} {config}: {error}", K::NAME));
        assert_eq!(counter.download().unwrap(), [lanes], "{} {config}", K::NAME);
    }
}

#[test]
fn sections_inside_of_sections_end() {
    of_each!(nests(): Mcs2, TicketHandoff, Tas);
}

/// A thread that asks for a third MCS2 lock gets an error, and so does the host.
#[test]
fn a_third_lock_is_refused_where_a_thread_has_two_nodes() {
    let sim = Sim::new(config(1, Schedule::Random, 1));
    let mut locks = Locks::<_, Mcs2>::new(&sim, 3, 2, "locks").unwrap();
    let view = locks.view();
    let run = || -> Result<_, SimError> {
        sim.run(&Launch::new(2, 1), |lane| {
            let done = view.with(lane, 0, || view.with(lane, 1, || view.with(lane, 2, || ())));
            assert_eq!(done, Ok(Ok(Err(LockFault::TooManyHeld))));
        })
    };
    run().unwrap();
    let error = locks.check().unwrap_err();
    assert_is!(
        error,
        Error::LockMisused {
            lock: 2,
            what: "locks",
            ..
        }
    );
    assert!(
        error.to_string().contains("more locks at a time"),
        "{error}"
    );
    // The two locks were given up, so the same goes on.
    run().unwrap();
    locks.reset().unwrap();
    locks.check().unwrap();
}

/// A walk that comes to an index past the end gives up what it holds.
#[test]
fn a_walk_past_the_end_ends_with_an_error_and_holds_nothing() {
    let sim = Sim::new(config(1, Schedule::Random, 1));
    let locks = Locks::<_, Mcs2>::new(&sim, 2, 3, "locks").unwrap();
    let view = locks.view();
    sim.run(&Launch::new(3, 1), |lane| {
        let end: Result<(), _> = view.walk(lane, 0, |_, here| Step::Next(here + 1));
        assert_eq!(end, Err(LockFault::OutOfRange));
    })
    .unwrap();
    let error = locks.check().unwrap_err();
    assert_is!(error, Error::LockMisused { lock: 2, .. });
}
