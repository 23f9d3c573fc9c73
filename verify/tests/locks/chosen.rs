//! Locks whose kind is chosen at launch do what their kind does.

use super::common::{assert_is, config, everywhere, increment, word};
use std::cell::{Cell, RefCell};
use stm_core::Lane;
use stm_core::host::{Buffer, Error, Launch};
use stm_sync::chosen::Kind;
use stm_sync::host::{Defaults, Locks};
use stm_sync::{Chosen, LockFault, LockKind, Mutex, Step, TLocks};
use verify::sim::{Schedule, Sim, SimConfig, SimLane};

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

/// Makes sections on the last of two locks.
fn sections(
    lane: &SimLane<'_>,
    view: &TLocks<Chosen>,
    form: Form,
    times: u32,
    section: impl Fn() + Copy,
) -> Result<(), LockFault> {
    if form == Form::Many {
        let mut left = times;
        return view.with_many(lane, 1, 2, || {
            section();
            left -= 1;
            left != 0
        });
    }
    for _ in 0..times {
        match form {
            Form::With => view.with(lane, 1, section)?,
            Form::Try => {
                while view.try_with(lane, 1, section)?.is_none() {
                    lane.pause(1);
                }
            }
            _ => view.walk(lane, 0, |_, at| {
                if at == 0 {
                    return Step::Next(1);
                }
                section();
                Step::Done(())
            })?,
        }
    }
    Ok(())
}

fn excludes(kind: Kind, form: Form, config: SimConfig, launch: &Launch, times: u32) {
    let sim = Sim::new(config);
    let lanes = launch.blocks * launch.threads;
    let locks = Locks::chosen(&sim, kind, 2, lanes.into(), "locks").unwrap();
    let counter = Buffer::<_, u32>::zeroed(&sim, 1, "counter").unwrap();
    let view = locks.view();
    let (inside, overlaps) = (Cell::new(0), Cell::new(0));
    let name = (kind.name(), form);
    sim.run(launch, |lane| {
        let done = sections(lane, &view, form, times, || {
            overlaps.set(overlaps.get() + inside.replace(1));
            increment(lane, word(&counter, 0));
            inside.set(0);
        });
        assert_eq!(done, Ok(()));
    })
    .unwrap_or_else(|error| panic!("{name:?} {config}: {error}"));
    let found = (overlaps.get(), counter.download().unwrap()[0]);
    assert_eq!(found, (0, lanes * times), "{name:?} {config}");
    locks.check().unwrap();
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
fn longest_run(kind: Kind, seed: u64) -> usize {
    let schedule = Schedule::its(16);
    let sim = Sim::new(SimConfig {
        memory: verify::sim::MemoryModel::Sequential,
        ..config(1, schedule, seed)
    });
    let locks = Locks::chosen(&sim, kind, 1, 6, "the lock").unwrap();
    let view = locks.view();
    let order = RefCell::new(Vec::new());
    sim.run(&Launch::new(6, 1), |lane| {
        for _ in 0..30 {
            let done = view.with(lane, 0, || order.borrow_mut().push(lane.grid_thread()));
            assert_eq!(done, Ok(()));
        }
    })
    .unwrap();
    let order = order.into_inner();
    let runs = order[6..90].chunk_by(|a, b| a == b).map(<[u64]>::len);
    runs.max().unwrap()
}

#[test]
fn the_kinds_that_say_so_are_first_come_first_served_and_no_others() {
    for &kind in Kind::ALL {
        let longest = (0..10).map(|seed| longest_run(kind, seed)).max();
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
        let sim = Sim::new(config(width, Schedule::Random, 1));
        let defaults = Defaults::of_device_kind(&sim);
        assert!(defaults.mutex().is_fair());
        let locks: Locks<_, Mutex> = defaults.mutexes(&sim, 1, 40, "mutex").unwrap();
        let counter = Buffer::<_, u32>::zeroed(&sim, 1, "counter").unwrap();
        let view = locks.view();
        sim.run(&Launch::new(2, 20), |lane| {
            let done = view.with(lane, 0, || increment(lane, word(&counter, 0)));
            assert_eq!(done, Ok(()));
        })
        .unwrap();
        assert_eq!(counter.download().unwrap(), [40]);
    }
}
