//! Mutual exclusion and progress: of sections, also by two locks at a time, of those that run transactions, under
//! every algorithm, and of locks whose kind is chosen at launch. And the seeded defects of locks are caught.

use super::combining::count;
use super::{Form, World, config, each_kind, everywhere, show};
use crate::prelude::*;
use stm_sync::chosen::Kind;
use stm_sync::host::{Defaults, Locks};
use stm_sync::{
    Anderson, Chosen, Cohort, FetchAdd, LockKind, Mcs, Mcs2, Reserving, Ring, Step, Tas, Ticket,
    TicketHandoff, Ttas,
};

/// Each lane some times, in each shape. Lanes of a warp of 32 are many; they need not come so often.
fn excludes<K: LockKind>(seeds: u64, form: Form, locks: u64, times: [u32; 2]) {
    for (config, launch) in everywhere(seeds) {
        let times = times[usize::from(config.warp_width == 32)];
        World::<K>::new(config, launch, locks).excludes(form, times, K::NAME);
    }
}

#[test]
fn sections_of_one_lock_exclude_each_other_and_all_of_them_run() {
    each_kind!(excludes(12, Form::With, 1, [3, 1]));
    each_kind!(excludes(12, Form::With, 2, [3, 1]));
}

#[test]
fn sections_in_a_row_exclude_those_of_others_and_all_of_them_run() {
    for in_a_row in [0, 1, 2, 16] {
        each_kind!(excludes(2, Form::Many(in_a_row), 1, [5, 2]));
    }
}

/// Under a reconvergence stack, as before Volta, a launch may stand still, but no two sections overlap.
#[test]
fn sections_exclude_each_other_even_under_a_reconvergence_stack() {
    each_kind!(K => {
        for seed in 0..40 {
            let config = config(4, Schedule::Stack, seed);
            let ended = World::<K>::new(config, &Launch::new(2, 6), 2).sections(Form::With, 2);
            let stuck = ended
                .as_ref()
                .is_err_and(|error| error.contains("livelock"));
            assert!(ended.is_ok() || stuck, "{} {config}: {ended:?}", K::NAME);
        }
    });
}

/// Lanes of a warp do not hinder each other under a stack either, where the kind hands its lock on.
#[test]
fn a_warp_that_hands_a_lock_on_needs_no_independent_scheduling() {
    each_kind!(K => {
        if !K::WARP_HANDOFF {
            return;
        }
        for seed in 0..40 {
            let config = config(4, Schedule::Stack, seed);
            World::<K>::new(config, &Launch::new(2, 4), 1).excludes(Form::With, 3, K::NAME);
        }
    });
}

const PLACES: u64 = 5;

/// Walks down a list of locks, each place of which has a counter under its lock and that of the place before.
pub(crate) fn walk<K: LockKind>(
    config: SimConfig,
    launch: &Launch,
    locks: impl FnOnce(&Sim, u64) -> Locks<Sim, K>,
) -> Result<(), String> {
    let lanes = launch.blocks * launch.threads;
    let world = World::of(config, launch, PLACES, |sim| locks(sim, lanes.into()));
    let ran = world.run(|lane, view| {
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
        assert_eq!(end, Ok(PLACES - 1));
    });
    ran.map_err(|error| error.to_string())?;
    let mut expected = vec![2 * lanes; PLACES as usize];
    expected[PLACES as usize - 1] = lanes;
    let counted = world.counted()?;
    (counted == expected)
        .then_some(())
        .ok_or_else(|| format!("{counted:?}"))
}

fn dense<K: LockKind>(sim: &Sim, lanes: u64) -> Locks<Sim, K> {
    Locks::dense(sim, PLACES, lanes, "the list").unwrap()
}

#[test]
fn walks_hand_over_hand_exclude_each_other_at_each_place() {
    of_each!(K: LockKind in Mcs2, Ticket, Tas => {
        for (config, launch) in everywhere(6) {
            assert_eq!(walk::<K>(config, launch, dense), Ok(()), "{} {config}", K::NAME);
        }
    });
}

const TIMES: u32 = 2;

/// In each section a thread adds 1 to a plain word, and by a transaction to words 0 and 1; outside, by another
/// one, to word 1. So in a section word 0 is the number of those before.
fn runs_in_sections<A: Algorithm, K: LockKind>(config: SimConfig) {
    let launch = match (A::GRANULE, config.warp_width) {
        (Granule::Block, _) | (_, 1) => Launch::new(4, 1),
        _ => Launch::new(2, 3),
    };
    let world = World::<K>::new(config, &launch, 1);
    let settings = StmConfig {
        locks: 16,
        ..StmConfig::default()
    };
    let mut memory = Stm::new(&world.sim, launch, settings).unwrap();
    let cells = array::<A, u32, _>(&world.sim, &[0; 2], "cells");
    let (stm, words, lock) = (memory.handle::<A>(), cells.view::<A>(), world.locks.view());
    let what = format!("{} {}: {config}", A::NAME, K::NAME);
    let launched = sim::launch(&mut memory, |lane| {
        for _ in 0..TIMES {
            let done = lock.with(lane, 0, || {
                let found = stm.atomically(lane, |tx| {
                    let [found, sum] = tx.read_many(&words, [0, 1])?;
                    tx.write(&words, 0, found + 1)?;
                    tx.write(&words, 1, sum + 1)?;
                    Ok(found)
                });
                assert_eq!(found, Ok(world.made()), "{what}");
                world.section(lane, &[0]);
            });
            assert_eq!(done, Ok(()));
            let added = stm.atomically(lane, |tx| {
                let sum = tx.read(&words, 1)?;
                tx.write(&words, 1, sum + 1)
            });
            assert_eq!(added, Ok(()));
        }
    });
    let statistics = launched.unwrap_or_else(|error| panic!("{what}: {error}"));
    let all = launch.blocks * launch.threads * TIMES;
    assert_eq!(statistics.commits, u64::from(2 * all), "{what}");
    assert_eq!(world.made(), all, "{what}");
    assert!(world.found().is_ok(), "{what}");
    assert_eq!(cells.download().unwrap(), [all, 2 * all], "{what}");
}

/// Each lane of a warp runs in the end, as on hardware from compute capability 7.0 on.
#[test]
fn a_section_runs_transactions_of_every_algorithm() {
    under_all!(A => for schedule in Schedule::named("its32 starve32 random") {
        for width in [1, 4] {
            for seed in 0..4 {
                let config = config(width, schedule, seed);
                runs_in_sections::<A, TicketHandoff>(config);
                runs_in_sections::<A, Mcs>(config);
                runs_in_sections::<A, Tas>(config);
            }
        }
    });
}

/// `fairness.rs` has sections one by one; here are those in a row, those tried again, and those of a walk.
#[test]
fn every_kind_that_is_chosen_at_launch_excludes_in_every_form() {
    for &kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
        for (config, launch) in everywhere(3) {
            let lanes = u64::from(launch.blocks * launch.threads);
            let chosen = |sim: &_| Locks::chosen(sim, kind, 2, lanes, "locks").unwrap();
            let world = || World::of(config, launch, 2, chosen);
            world().excludes(Form::Many(2), 3, kind.name());
            if config.warp_width == 32 || config.schedule == Schedule::Lockstep {
                continue;
            }
            let world = world();
            world.ends(|lane, view| {
                let section = || world.section(lane, &[1]);
                while view.try_with(lane, 1, section).unwrap().is_none() {
                    lane.pause(1);
                }
            });
            let found = world.found().map(|order| order.len() as u64);
            assert_eq!(found, Ok(lanes), "{} {config}", kind.name());
            let list = |sim: &_, lanes| Locks::chosen(sim, kind, PLACES, lanes, "list").unwrap();
            let walked = walk(config, launch, list);
            assert_eq!(walked, Ok(()), "{} {config}", kind.name());
        }
    }
}

#[test]
fn a_chosen_lock_takes_the_memory_of_its_kind_and_the_default_is_fair() {
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
    // The default of a GPU, as far as the simulator is like one, is fair.
    let defaults = Defaults::of_device_kind(&sim);
    assert!(defaults.mutex().is_fair());
    defaults.mutexes(&sim, 1, 40, "mutex").unwrap();
}

const RANDOM: Schedule = Schedule::Random;

fn shows<K: LockKind>(mutant: Mutant, schedule: Schedule, width: u32, launch: Launch) {
    show(K::NAME, &[mutant], schedule, width, |config| {
        let world = World::<K>::new(config, &launch, 1);
        world.sections(Form::With, 6).is_ok()
    });
}

#[test]
fn a_lock_that_is_granted_without_acquire_or_given_up_without_release_is_caught() {
    for mutant in [Mutant::LockNoAcquire, Mutant::LockNoRelease] {
        of_each!(
            shows(mutant, RANDOM, 1, Launch::new(3, 1)):
            Tas, Ttas, Ticket, FetchAdd, Anderson, Ring, Mcs, Reserving<2>
        );
        // Within a block, and across blocks.
        shows::<Cohort<9>>(mutant, RANDOM, 1, Launch::new(1, 3));
        shows::<Cohort<1>>(mutant, RANDOM, 1, Launch::new(3, 1));
    }
}

#[test]
fn lost_waits_wakeups_entries_and_nodes_are_caught() {
    let (lockstep, starve) = (Schedule::Lockstep, Schedule::starve(64));
    for (width, launch) in [(4, Launch::new(1, 4)), (32, Launch::new(1, 32))] {
        // Lanes of a warp do not wait for each other.
        shows::<TicketHandoff>(Mutant::LockNoHandoff, lockstep, width, launch);
        shows::<Tas>(Mutant::LockNoHandoff, lockstep, width, launch);
    }
    shows::<Mcs>(Mutant::LockWakeupLost, RANDOM, 1, Launch::new(3, 1));
    shows::<Ring>(Mutant::LockRingEntryKept, starve, 1, Launch::new(4, 1));
    // There is one entry more than users, so the front of a round ago is near.
    shows::<Ring>(Mutant::LockRingFrontStale, starve, 1, Launch::new(7, 1));
    show("walks", &[Mutant::LockNodeReused], RANDOM, 1, |config| {
        walk::<Mcs2>(config, &Launch::new(3, 1), dense).is_ok()
    });
}

#[test]
fn a_combiner_that_does_not_say_how_far_it_has_come_or_order_what_it_passes_on_is_caught() {
    // What holders keep goes from one to the next by the lock.
    let of_the_lock = [Mutant::LockNoAcquire, Mutant::LockNoRelease];
    let mutants = [&[Mutant::LockHeadKept], &of_the_lock[..]].concat();
    show("a counter", &mutants, RANDOM, 1, |config| {
        count::<2, false>(config, &Launch::new(3, 1), (1, 4), 0).is_ok()
    });
    let mutants = [Mutant::LockRequestUnordered, Mutant::LockResponseUnordered];
    show("an ordered counter", &mutants, RANDOM, 1, |config| {
        count::<2, true>(config, &Launch::new(3, 1), (1, 4), 0).is_ok()
    });
}
