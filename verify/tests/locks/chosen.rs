//! Locks whose kind is chosen at launch do what their kind does.

use super::common::{World, assert_is, config, everywhere, longest_run};
use stm_core::Lane;
use stm_core::host::{Error, Launch};
use stm_sync::chosen::Kind;
use stm_sync::host::{Defaults, Locks};
use stm_sync::{Chosen, LockFault, LockKind, Mutex, Step, TLocks};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig, SimLane};

/// How a lane makes a section.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    With,
    Many,
    /// By trying again and again.
    Try,
    /// As the last lock of a walk over both.
    Walk,
}

/// Makes sections on a lock.
fn sections(
    lane: &SimLane<'_>,
    view: &TLocks<Chosen>,
    form: Form,
    lock: u64,
    times: u32,
    section: impl Fn() + Copy,
) -> Result<(), LockFault> {
    if form == Form::Many {
        let mut left = times;
        return view.with_many(lane, lock, 2, || {
            section();
            left -= 1;
            left != 0
        });
    }
    for _ in 0..times {
        match form {
            Form::With => view.with(lane, lock, section)?,
            Form::Try => {
                while view.try_with(lane, lock, section)?.is_none() {
                    lane.pause(1);
                }
            }
            _ => view.walk(lane, 0, |_, at| {
                if at != lock {
                    return Step::Next(at + 1);
                }
                section();
                Step::Done(())
            })?,
        }
    }
    Ok(())
}

fn excludes(kind: Kind, form: Form, config: SimConfig, launch: &Launch, times: u32) {
    let lanes = launch.blocks * launch.threads;
    let world = World::of(config, launch, 2, |sim| {
        Locks::chosen(sim, kind, 2, lanes.into(), "locks").unwrap()
    });
    world.ends(|lane, view| {
        let done = sections(lane, view, form, 1, times, || world.section(lane, &[1]));
        assert_eq!(done, Ok(()));
    });
    let what = (kind.name(), form, config);
    world.found().assert_all(lanes * times, what);
}

#[test]
fn every_kind_excludes_in_every_form() {
    for &kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
        for (config, launch) in everywhere(3) {
            excludes(kind, Form::With, config, launch, 2);
            excludes(kind, Form::Many, config, launch, 3);
            if config.warp_width < 32 && config.schedule != Schedule::Lockstep {
                excludes(kind, Form::Try, config, launch, 2);
                excludes(kind, Form::Walk, config, launch, 2);
            }
        }
    }
}

/// Returns the largest number of sections of one lane in a row, while all have some left.
fn longest(kind: Kind, seed: u64) -> usize {
    let config = config(1, Schedule::its(16), seed).with_memory(MemoryModel::Sequential);
    let launch = Launch::new(6, 1);
    let world = World::of(config, &launch, 1, |sim| {
        Locks::chosen(sim, kind, 1, 6, "the lock").unwrap()
    });
    world.ends(|lane, view| {
        let done = sections(lane, view, Form::With, 0, 30, || world.section(lane, &[0]));
        assert_eq!(done, Ok(()));
    });
    longest_run(&world.found().order[6..90]).0
}

#[test]
fn the_kinds_that_say_so_are_first_come_first_served_and_no_others() {
    for &kind in Kind::ALL {
        let longest = (0..10).map(|seed| longest(kind, seed)).max();
        assert_eq!(
            longest == Some(1),
            kind.is_fair(),
            "{}: {longest:?}",
            kind.name()
        );
    }
}

#[test]
fn a_chosen_lock_takes_the_memory_of_its_kind() {
    let sim = Sim::new(config(1, Schedule::Random, 0));
    let bytes = |kind| {
        let locks = Locks::chosen(&sim, kind, 3, 1_000, "locks").unwrap();
        locks.bytes()
    };
    for &kind in Kind::ALL {
        let small = matches!(
            kind,
            Kind::Tas | Kind::TasBackoff | Kind::Ticket | Kind::FetchAdd
        );
        assert_eq!(bytes(kind) < 1_000, small, "{}", kind.name());
        assert!(kind.lock_words(1_000) <= Chosen::lock_words(1_000));
        assert!(kind.user_words() <= Chosen::USER_WORDS);
    }
    let refused = Locks::chosen(&sim, Kind::Tas, 0, 1, "locks").err();
    assert_is!(refused, Some(Error::BadConfig { .. }));
}

/// The default of a GPU, as far as the simulator is like one, is fair.
#[test]
fn the_default_mutex_is_fair_and_excludes() {
    for width in [1, 32] {
        let config = config(width, Schedule::Random, 1);
        let world: World<Mutex> = World::of(config, &Launch::new(2, 20), 1, |sim| {
            let defaults = Defaults::of_device_kind(sim);
            assert!(defaults.mutex().is_fair());
            defaults.mutexes(sim, 1, 40, "mutex").unwrap()
        });
        world.ends(|lane, view| {
            let done = view.with(lane, 0, || world.section(lane, &[0]));
            assert_eq!(done, Ok(()));
        });
        world.found().assert_all(40, width);
    }
}
