//! Fairness: how often a thread is overtaken. And sections in a row: nobody makes more than the bound
//! while another one waits.

use super::{Form, Served, World, config, longest_run, served, show};
use crate::prelude::*;
use stm_sync::chosen::Kind;
use stm_sync::host::Locks;
use stm_sync::{
    Anderson, Cohort, FetchAdd, LockKind, Mcs, Reserving, Ring, Tas, Ticket, TicketHandoff,
};

/// Returns by how many sections one was overtaken at most: those asked for when it had waited for `settled`
/// operations, by which a thread has its place in the queue, and which ran before it.
fn overtaken(served: &[Served], settled: u64) -> usize {
    served
        .iter()
        .enumerate()
        .map(|(i, late)| {
            let later = |other: &&Served| other.1 > late.1 + settled;
            served[..i].iter().filter(later).count()
        })
        .max()
        .unwrap_or(0)
}

/// The operations for which a lane may be passed over, and the lanes.
const BOUND: u32 = 16;
const LANES: u32 = 6;

/// A bound on the operations between a lane's clock and its place in the queue, which takes it eight at most.
const SETTLED: u64 = 8 * (BOUND + LANES) as u64;

const ITS: [Schedule; 2] = [Schedule::its(BOUND), Schedule::starve(BOUND)];

/// And the measure finds something where there is something to be found.
#[test]
fn the_kinds_that_say_so_serve_in_the_order_of_arrival_and_others_let_threads_be_overtaken() {
    for &kind in Kind::ALL {
        let overtaken = |schedule, seed| {
            let (config, launch) = (config(1, schedule, seed), Launch::new(LANES, 1));
            let world = World::of(config, &launch, 1, |sim| {
                Locks::chosen(sim, kind, 1, LANES.into(), "the lock").unwrap()
            });
            let served = served(&world, 30);
            assert_eq!(served.len(), 180);
            overtaken(&served, SETTLED)
        };
        let most = ITS.map(|schedule| (0..20).map(|seed| overtaken(schedule, seed)).max());
        let name = kind.name();
        if kind.is_fair() {
            assert_eq!(most, [Some(0); 2], "{name}");
        } else {
            assert!(most.iter().any(|&most| most > Some(3)), "{name}: {most:?}");
        }
    }
}

const PASSES: u32 = 3;

/// Sections in sequential memory, in which a holder knows at once who queues.
fn reserved_order(mutant: Option<Mutant>, schedule: Schedule, seed: u64) -> Vec<Served> {
    let config = config(1, schedule, seed).with_mutant(mutant);
    let config = config.with_memory(MemoryModel::Sequential);
    let world = World::<Reserving<PASSES>>::new(config, &Launch::new(LANES, 1), 1);
    served(&world, 30)
}

/// Asserts that of one there are often as many sections in a row as the bound, and never more, while all lanes
/// have sections left, so that somebody else always waits.
fn keeps_to(bound: u32, what: &str, order: impl Fn(Schedule, u64) -> Vec<u64>) {
    let mut full = 0;
    for schedule in ITS {
        for seed in 0..20 {
            let order = order(schedule, seed);
            let first = (LANES * bound) as usize;
            let (longest, runs) = longest_run(&order[first..order.len() / 2]);
            assert_eq!(longest, bound as usize, "{what}: {schedule}, seed {seed}");
            full += runs;
        }
    }
    assert!(full > 100, "{full} runs of full length of {what}");
}

#[test]
fn a_holder_comes_back_to_its_reservation_a_bounded_number_of_times() {
    keeps_to(PASSES, "reservations", |schedule, seed| {
        let served = reserved_order(None, schedule, seed).into_iter();
        served.map(|(lane, _)| lane).collect()
    });
}

#[test]
fn reservations_bound_how_often_a_waiter_is_overtaken() {
    let bound = ((LANES - 1) * PASSES) as usize;
    let most = |mutant, schedule| {
        let seeds = (0..20).map(|seed| overtaken(&reserved_order(mutant, schedule, seed), SETTLED));
        seeds.max().unwrap_or(0)
    };
    for schedule in ITS {
        assert!(most(None, schedule) <= bound);
    }
    let broken = most(Some(Mutant::LockReservationBroken), ITS[0]);
    assert!(broken > bound, "{broken}");
}

#[test]
fn a_reservation_that_is_not_used_is_taken() {
    for seed in 0..10 {
        let config = config(1, Schedule::Random, seed);
        let world = World::<Reserving<200>>::new(config, &Launch::new(3, 1), 1);
        let served = Cell::new(0);
        world.ends(|lane, view| {
            for _ in 0..4 {
                let done = view.with(lane, 0, || {
                    // Until the others have come, too.
                    (0..100).for_each(|_| lane.pause(1));
                    served.set(served.get() + 1);
                });
                assert!(done.is_ok());
                // Longer than anybody has patience.
                (0..2_000).for_each(|_| lane.pause(1));
            }
        });
        assert_eq!(served.get(), 12);
    }
}

#[test]
fn a_cohort_keeps_the_lock_for_a_bounded_number_of_sections() {
    keeps_to(PASSES, "cohorts", |schedule, seed| {
        let config = config(1, schedule, seed).with_memory(MemoryModel::Sequential);
        let world = World::<Cohort<PASSES>>::new(config, &Launch::new(2, 4), 1);
        served(&world, 20)
            .iter()
            .map(|(lane, _)| lane / 4)
            .collect()
    });
}

const TIMES: u32 = 40;

fn in_a_row<K: LockKind>(schedule: Schedule, seed: u64, most: u32) -> Vec<u64> {
    let config = config(1, schedule, seed).with_memory(MemoryModel::Sequential);
    let world = World::<K>::new(config, &Launch::new(LANES, 1), 1);
    world.sections(Form::Many(most), TIMES).unwrap()
}

/// With first come, first served, whoever has made its sections in a row is behind those who wait.
#[test]
fn nobody_has_more_sections_in_a_row_than_the_bound_while_another_waits() {
    of_each!(K: LockKind in Ticket, FetchAdd, Anderson, Ring, Mcs => {
        for most in [1, 3, 5] {
            keeps_to(most, K::NAME, |schedule, seed| in_a_row::<K>(schedule, seed, most));
        }
    });
    // The measure finds something in a lock that is not first come, first served.
    let longest = (0..20).map(|seed| {
        let order = in_a_row::<Tas>(ITS[0], seed, 3);
        longest_run(&order[..order.len() / 2]).0
    });
    assert!(longest.max() > Some(3));
}

/// Lanes that acquire the lock together share the bound, and each has a section, in their order.
#[test]
fn lanes_of_a_warp_share_the_bound() {
    for (in_a_row, each) in [(1, 1), (4, 1), (9, 2), (16, 4)] {
        for seed in 0..10 {
            let config = config(4, Schedule::Lockstep, seed);
            let world = World::<TicketHandoff>::new(config, &Launch::new(3, 4), 1);
            let found = world.sections(Form::Many(in_a_row), 8).unwrap();
            for turn in found.chunks(each) {
                assert!(turn.iter().all(|lane| *lane == turn[0]), "{config}");
            }
            for warp in found.chunks(4 * each) {
                let lanes: Vec<u64> = warp.iter().step_by(each).copied().collect();
                let first = lanes[0];
                assert_eq!(first % 4, 0, "{config}");
                assert_eq!(lanes, [first, first + 1, first + 2, first + 3], "{config}");
            }
        }
    }
}

/// The last section in a row is before the first of the next holder.
#[test]
fn a_missing_acquire_or_release_is_caught_around_sections_in_a_row() {
    of_each!(K: LockKind in Ticket, Mcs => {
        let mutants = [Mutant::LockNoAcquire, Mutant::LockNoRelease];
        show(K::NAME, &mutants, Schedule::Random, 1, |config| {
            let world = World::<K>::new(config, &Launch::new(3, 1), 1);
            world.sections(Form::Many(2), 4).is_ok()
        });
    });
}
