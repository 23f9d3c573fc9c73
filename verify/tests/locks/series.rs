//! Sections in a row: they exclude those of others, all of them run, and nobody makes
//! more than the bound while another one waits.

use super::common::{Found, World, config, each_kind, everywhere, longest_run, of_each};
use stm_core::host::Launch;
use stm_core::observe::Mutant;
use stm_sync::{Anderson, FetchAdd, LockKind, Mcs, Ring, Tas, Ticket, TicketHandoff};
use verify::sim::{MemoryModel, Schedule, SimConfig, SimError};

/// Runs a launch in which each lane makes `times` sections on one lock, up to `in_a_row`
/// without giving it up.
fn series<K: LockKind>(
    config: SimConfig,
    launch: &Launch,
    times: u32,
    in_a_row: u32,
) -> Result<Found, SimError> {
    let world = World::<K>::new(config, launch, 1);
    world.run(|lane, view| {
        let mut left = times;
        let done = view.with_many(lane, 0, in_a_row, || {
            world.section(lane, &[0]);
            left -= 1;
            left != 0
        });
        assert_eq!((done, left), (Ok(()), 0));
    })?;
    Ok(world.found())
}

fn excludes<K: LockKind>(seeds: u64) {
    for (config, launch) in everywhere(seeds) {
        let times = if config.warp_width == 32 { 2 } else { 5 };
        for in_a_row in [0, 1, 2, 16] {
            let found = series::<K>(config, launch, times, in_a_row)
                .unwrap_or_else(|error| panic!("{} {config}: {error}", K::NAME));
            found.assert_all(launch.blocks * launch.threads * times, (K::NAME, config));
        }
    }
}

#[test]
fn sections_in_a_row_exclude_those_of_others_and_all_of_them_run() {
    each_kind!(excludes(2));
}

/// The lanes of the test of the bound, and the sections of each.
const LANES: u32 = 6;
const TIMES: u32 = 40;

/// Returns how many sections of one lane in a row there were at most, and how many runs
/// were of that length, while all lanes had sections left.
fn longest<K: LockKind>(schedule: Schedule, seed: u64, in_a_row: u32) -> (usize, usize) {
    let config = config(1, schedule, seed).with_memory(MemoryModel::Sequential);
    let found = series::<K>(config, &Launch::new(LANES, 1), TIMES, in_a_row).unwrap();
    longest_run(&found.order[(LANES * in_a_row) as usize..found.order.len() / 2])
}

const ITS: [Schedule; 2] = [Schedule::its(16), Schedule::starve(16)];

/// With a kind that is first come, first served, whoever has made its sections in a row
/// is behind those who wait.
fn keeps_the_bound<K: LockKind>() {
    for in_a_row in [1, 3, 5] {
        let mut full = 0;
        for schedule in ITS {
            for seed in 0..10 {
                let (longest, runs) = longest::<K>(schedule, seed, in_a_row);
                let name = (K::NAME, schedule, seed, in_a_row);
                assert_eq!(longest, in_a_row as usize, "{name:?}");
                full += runs;
            }
        }
        assert!(full > 100, "{full} runs of full length of {}", K::NAME);
    }
}

#[test]
fn nobody_has_more_sections_in_a_row_than_the_bound_while_another_waits() {
    of_each!(keeps_the_bound(): Ticket, FetchAdd, Anderson, Ring, Mcs);
}

/// The measure finds something where there is something to be found: a lock that is not
/// first come, first served.
#[test]
fn a_test_and_set_lock_lets_a_thread_have_more_than_the_bound() {
    let longest = (0..20).map(|seed| longest::<Tas>(ITS[0], seed, 3).0);
    assert!(longest.max() > Some(3));
}

/// Lanes that acquire the lock together share the bound, and each has a section.
#[test]
fn lanes_of_a_warp_share_the_bound() {
    for (in_a_row, each) in [(1, 1), (4, 1), (9, 2), (16, 4)] {
        for seed in 0..10 {
            let config = config(4, Schedule::Lockstep, seed);
            let launch = Launch::new(3, 4);
            let found = series::<TicketHandoff>(config, &launch, 8, in_a_row).unwrap();
            for turn in found.order.chunks(each) {
                assert!(turn.iter().all(|lane| *lane == turn[0]), "{config}");
            }
            for warp in found.order.chunks(4 * each) {
                let lanes: Vec<u64> = warp.iter().step_by(each).copied().collect();
                let first = lanes[0];
                assert_eq!(first % 4, 0, "{config}");
                assert_eq!(lanes, [first, first + 1, first + 2, first + 3], "{config}");
            }
        }
    }
}

/// The last section in a row is before the first of the next holder.
fn shows<K: LockKind>(mutant: Option<Mutant>) -> bool {
    (0..400).any(|seed| {
        let config = config(1, Schedule::Random, seed)
            .with_mutant(mutant)
            .with_idle(5_000);
        let found = series::<K>(config, &Launch::new(3, 1), 4, 2);
        !found.is_ok_and(|found| found.is_right())
    })
}

#[test]
fn a_missing_acquire_or_release_is_caught_around_sections_in_a_row() {
    for mutant in [Mutant::LockNoAcquire, Mutant::LockNoRelease] {
        assert!(shows::<Ticket>(Some(mutant)), "{}", mutant.name());
        assert!(shows::<Mcs>(Some(mutant)), "{}", mutant.name());
    }
    assert!(!shows::<Ticket>(None) && !shows::<Mcs>(None));
}
