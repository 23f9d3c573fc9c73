//! Waiting, alternatives and deferred actions on the simulator: recorded and judged under every
//! algorithm and schedule, and with each of their seeded defects, which these kernels catch.

use crate::prelude::*;
use crate::queues::{Queues, World};
use crate::recorded::{self, eight, numbered, recorded, small};
use std::panic::{AssertUnwindSafe, catch_unwind};
use stm_core::Action;
use stm_core::host::Capacity;
use verify::history::InitialMemory;

/// The mutants that this file catches and programs do not show.
pub(crate) const CAUGHT: [Mutant; 4] = [
    Mutant::ActionBeforeCommit,
    Mutant::LostWakeup,
    Mutant::OrElseKeepsWrites,
    Mutant::RetryKeepsTicket,
];

const ITEMS: u64 = 10;
const PLACES: u64 = 2;

type Kernel<A> = fn(&SimLane<'_>, &StmRef<A>, &Queues<A>);

fn in_rounds<A: Algorithm>(lane: &SimLane<'_>, stm: &StmRef<A>, queues: &Queues<A>) {
    queues.rounds(lane, stm, ITEMS, false);
}

struct Outcome {
    opaque: bool,
    waits: u64,
    taken: u64,
    ends: Vec<u32>,
}

fn settings() -> StmConfig {
    let Capacity { reads, writes, .. } = Capacity::DEFAULT;
    let mut settings = small(reads, writes);
    settings.retry_limits.queue_after = 3;
    settings
}

fn run<A: Algorithm>(kernel: Kernel<A>, launch: Launch, config: SimConfig) -> Outcome {
    let sim = Sim::new(config);
    let world = World::new::<A>(&sim, PLACES);
    let queues = world.queues::<A>();
    let initial = InitialMemory::ZERO;
    let run = recorded::<A>(&sim, launch, settings(), initial, |lane, stm| {
        kernel(lane, stm, &queues);
    });
    let statistics = run.statistics;
    let ended = statistics.commits + statistics.aborted();
    assert_eq!(statistics.attempts, ended);
    assert_eq!(statistics.commits, 2 * ITEMS, "{config}");
    Outcome {
        opaque: run.verdict.is_opaque(),
        waits: statistics.waits(),
        taken: world.tally.download().unwrap()[0],
        ends: world.ends.download().unwrap(),
    }
}

fn configs(mutant: Option<Mutant>) -> impl Iterator<Item = SimConfig> {
    let config = |k| numbered(k, "lockstep stack random starve64 pct3x4000", [1, 2, 4, 8]);
    let limited = |config: SimConfig| config.with_limits(5_000_000, 1_000_000);
    (0..).map(move |k| limited(config(k)).with_mutant(mutant))
}

/// Runs the queues with configurations that will do, which must be opaque and lose nothing, and
/// of which some must wait.
fn queues_of<A: Algorithm>(
    kernel: Kernel<A>,
    launch: impl Fn(SimConfig) -> Launch,
    runs: usize,
    will_do: impl Fn(&SimConfig) -> bool,
) {
    let mut waits = 0;
    for config in configs(None).filter(will_do).take(runs) {
        let run = run::<A>(kernel, launch(config), config);
        assert!(run.opaque, "{config}: not opaque");
        assert_eq!(run.taken, ITEMS * (ITEMS + 1) / 2, "{config}");
        assert_eq!(run.ends[0], run.ends[1], "{config}");
        assert_eq!(run.ends[2], run.ends[3], "{config}");
        waits += run.waits;
    }
    assert_ne!(waits, 0);
}

#[test]
fn queues_with_alternatives_are_opaque_and_lose_nothing() {
    under_all!(A => queues_of::<A>(in_rounds, |_| eight::<A>(), 60, |_| true));
    queues_of::<Versioned<Cells, 0>>(in_rounds, |_| eight::<Fast>(), 60, |_| true);
}

#[test]
fn the_same_by_single_transactions_in_step_and_by_teams() {
    under_all!(A => {
        // Lanes of a warp that go their own ways may starve each other if the
        // schedule keeps the warp together, or waits for a lock have no bound.
        let free = |schedule| matches!(schedule, Schedule::Random | Schedule::Its { .. });
        let fair = |c: &SimConfig| c.warp_width == 1 || A::SCHEDULED && free(c.schedule);
        // The paper's algorithms have no queue: a schedule that is not fair
        // may starve single transactions.
        if A::GRANULE != Granule::Lane || !A::VARIANT.is_paper() {
            let alone: Kernel<A> = |lane, stm, queues| queues.alone(lane, stm, ITEMS);
            queues_of::<A>(alone, |_| eight::<A>(), 40, fair);
        }
        if A::SCHEDULED {
            let in_step: Kernel<A> = |lane, stm, queues| queues.rounds(lane, stm, ITEMS, true);
            queues_of::<A>(in_step, |_| eight::<A>(), 60, |_| true);
        }
        if A::TEAMS {
            let teams: Kernel<A> = |lane, stm, queues| queues.teams(lane, stm, ITEMS);
            queues_of::<A>(teams, |config| Launch::new(4, config.warp_width), 60, |_| true);
        }
    });
}

fn ended<A: Algorithm>(kernel: Kernel<A>, launch: Launch, config: SimConfig) -> Result<u64, Error> {
    let sim = Sim::new(config);
    let world = World::new::<A>(&sim, PLACES);
    let queues = world.queues::<A>();
    recorded::ended::<A>(&sim, launch, settings(), |lane, stm| {
        kernel(lane, stm, &queues);
    })?;
    Ok(world.tally.download()?[1])
}

/// Everybody takes from the empty queues; or the first two transactions wait for each other,
/// and the others end.
#[test]
fn a_launch_in_which_everybody_waits_ends_and_says_how_many() {
    under_all!(A => {
        let consumers: Kernel<A> = |lane, stm, queues| {
            stm.for_each(lane, 0..lane.grid_threads(), |tx, _| queues.turn(tx, 1).map(|_| ()));
        };
        let circle: Kernel<A> = |lane, stm, queues| {
            stm.for_each(lane, 0..lane.grid_threads(), |tx, i| {
                if i < 2 {
                    if tx.read(&queues.items, 1 - i)? == 0 {
                        return tx.retry();
                    }
                    tx.write(&queues.items, i, 1)?;
                }
                Ok(())
            });
        };
        let launch = eight::<A>();
        for config in configs(None).take(20) {
            let all = u64::from(launch.blocks * launch.threads);
            let each = if A::GRANULE == Granule::Block { launch.blocks.into() } else { all };
            let waits = |waiting| Some(Error::EverybodyWaits { waiting, outside: all - waiting });
            let error = ended::<A>(consumers, launch, config).err();
            assert_eq!(error, waits(each), "{config}");
            let error = ended::<A>(circle, launch, config).err();
            let Some(Error::EverybodyWaits { waiting, outside }) = error else {
                panic!("{config}: {error:?}");
            };
            // Lanes of a warp without work count as waiting with it.
            assert!(waiting >= 2 && waiting + outside == all, "{config}");
        }
    });
}

/// Runs a check under a mutant until it fails or panics, at most `budget` times,
/// and then as many times ten without it.
fn caught(mutant: Mutant, budget: usize, check: impl Fn(SimConfig) -> bool) {
    let fine = |config| catch_unwind(AssertUnwindSafe(|| check(config))).unwrap_or(false);
    let failed = configs(Some(mutant))
        .take(budget)
        .position(|config| !fine(config));
    let Some(failed) = failed else {
        panic!("{} survives {budget} runs", mutant.name());
    };
    for config in configs(None).take(10 * (failed + 1)) {
        assert!(fine(config), "unmutated: {config}");
    }
}

const SHAPE: Launch = Launch::new(2, 4);

/// The first transaction reads two words and waits for the second, which the other one writes.
#[test]
fn a_lost_wake_up_is_caught() {
    caught(Mutant::LostWakeup, 200, |config| {
        let second: Kernel<Fast> = |lane, stm, queues| {
            stm.for_each(lane, 0..2, |tx, i| {
                if i == 1 {
                    return tx.write(&queues.items, 1, 1);
                }
                match tx.read_many(&queues.items, [0, 1])? {
                    [_, 0] => tx.retry(),
                    [_, second] => tx.write(&queues.items, 2, second),
                }
            });
        };
        ended(second, SHAPE, config).is_ok()
    });
}

#[test]
fn an_alternative_that_keeps_its_writes_is_caught() {
    caught(Mutant::OrElseKeepsWrites, 200, |config| {
        let run = run::<Fast>(in_rounds, SHAPE, config);
        run.opaque && run.taken == ITEMS * (ITEMS + 1) / 2
    });
}

#[test]
fn a_ticket_kept_by_a_transaction_that_waits_is_caught() {
    caught(Mutant::RetryKeepsTicket, 400, |config| {
        let config = config.with_limits(300_000, config.idle_max);
        ended::<Fast>(in_rounds, SHAPE, config).is_ok()
    });
}

/// Transactions that conflict count themselves by an action each. An attempt that aborts has,
/// with the defect, executed the actions of a commit.
#[test]
fn an_action_before_its_commit_is_caught() {
    caught(Mutant::ActionBeforeCommit, 400, |config| {
        let announce: Kernel<Fast> = |lane, stm, queues| {
            stm.for_each(lane, 0..ITEMS, |tx, i| {
                tx.write(&queues.items, 0, i + 1)?;
                tx.write(&queues.ends, 0, i as u32 + 1)?;
                tx.at_commit(Action::add(&queues.tally, 1, 1))
            });
        };
        ended(announce, SHAPE, config) == Ok(ITEMS)
    });
}
