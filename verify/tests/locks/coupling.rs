//! Two locks held at a time: walks hand over hand, and nested sections.

use super::common::{World, assert_is, config, everywhere, increment, of_each, word};
use std::cell::Cell;
use stm_core::Lane;
use stm_core::host::{Error, Launch};
use stm_sync::host::Locks;
use stm_sync::{LockFault, LockKind, Mcs2, Step, Tas, Ticket, TicketHandoff};
use verify::sim::{Schedule, SimConfig, SimError};

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
    let lanes = launch.blocks * launch.threads;
    let world = World::<K>::of(config, launch, PLACES, |sim| {
        Locks::dense(sim, PLACES, lanes.into(), "the list").unwrap()
    });
    let lost = Cell::new(0);
    world.run(|lane, view| {
        let end = view.walk(lane, 0, |behind, here| {
            assert_eq!(behind, here.checked_sub(1));
            let held: Vec<u64> = behind.into_iter().chain([here]).collect();
            world.section(lane, &held);
            if here + 1 < PLACES {
                Step::Next(here + 1)
            } else {
                Step::Done(here)
            }
        });
        lost.set(lost.get() + u32::from(end != Ok(PLACES - 1)));
    })?;
    Ok(Walked {
        overlaps: world.overlaps(),
        lost: lost.get(),
        counters: world.counted(),
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
        let world = World::<K>::new(config, launch, 3);
        world.ends(|lane, view| {
            let outer = u64::from(lane.thread_index() % 2);
            let inner = || increment(lane, word(&world.counters, 2));
            let done = view.with(lane, outer, || view.with(lane, 2, inner));
            assert_eq!(done, Ok(Ok(())));
        });
        assert_eq!(world.counted(), [0, 0, lanes], "{} {config}", K::NAME);
    }
}

#[test]
fn sections_inside_of_sections_end() {
    of_each!(nests(): Mcs2, TicketHandoff, Tas);
}

/// A thread that asks for a third MCS2 lock gets an error, and so does the host.
#[test]
fn a_third_lock_is_refused_where_a_thread_has_two_nodes() {
    let config = config(1, Schedule::Random, 1);
    let mut world = World::<Mcs2>::new(config, &Launch::new(2, 1), 3);
    let run = |world: &World<Mcs2>| {
        world.ends(|lane, view| {
            let done = view.with(lane, 0, || view.with(lane, 1, || view.with(lane, 2, || ())));
            assert_eq!(done, Ok(Ok(Err(LockFault::TooManyHeld))));
        });
    };
    run(&world);
    let error = world.locks.check().unwrap_err();
    let what = "locks";
    assert!(matches!(error, Error::LockMisused { lock: 2, what: w, .. } if w == what));
    assert!(
        error.to_string().contains("more locks at a time"),
        "{error}"
    );
    // The two locks were given up, so the same goes on.
    run(&world);
    world.locks.reset().unwrap();
    world.locks.check().unwrap();
}

/// A walk that comes to an index past the end gives up what it holds.
#[test]
fn a_walk_past_the_end_ends_with_an_error_and_holds_nothing() {
    let config = config(1, Schedule::Random, 1);
    let world = World::<Mcs2>::new(config, &Launch::new(3, 1), 2);
    world.ends(|lane, view| {
        let end: Result<(), _> = view.walk(lane, 0, |_, here| Step::Next(here + 1));
        assert_eq!(end, Err(LockFault::OutOfRange));
    });
    let error = world.locks.check().unwrap_err();
    assert_is!(error, Error::LockMisused { lock: 2, .. });
}
