//! Waiting, alternatives and deferred actions on the simulator: recorded and
//! judged under every algorithm and schedule, and with each of their seeded
//! defects, which these kernels catch.

use crate::recorded::{self, array, recorded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use stm_core::algorithm::{Algorithm, Cells, Fast, Granule, Variant, Versioned};
use stm_core::host::{Buffer, Error, Launch, StmConfig, TxArray};
use stm_core::observe::Mutant;
use stm_core::{Action, Lane, RetryLimits, StmRef, TArray, Tx, TxResult, with_algorithm};
use verify::history::InitialMemory;
use verify::sim::{Schedule, Sim, SimConfig, SimLane};

/// The mutants that this file catches and programs do not show.
pub(crate) const CAUGHT: [Mutant; 4] = [
    Mutant::ActionBeforeCommit,
    Mutant::LostWakeup,
    Mutant::OrElseKeepsWrites,
    Mutant::RetryKeepsTicket,
];

/// The items that go through the queues.
const ITEMS: u64 = 10;
/// The places of a queue.
const PLACES: u64 = 2;

#[derive(Clone, Copy, PartialEq, Debug)]
enum How {
    /// Even transactions put an item into either of two queues, odd ones take
    /// one out of either.
    Queues,
    /// The same with a loop of `atomically`.
    QueuesAlone,
    /// The same in rounds in which the warps of a block go in step.
    QueuesInStep,
    /// The same by teams.
    QueueTeams,
    /// Everybody takes from the empty queues.
    Consumers,
    /// The first two transactions wait for each other, the others end.
    Circle,
    /// The first transaction reads two words and waits for the second, which
    /// the other one writes.
    Second,
    /// Transactions that conflict count themselves by an action each.
    Announce,
}

/// Queues between the threads of a launch.
struct Queues<A: Algorithm> {
    /// Head and tail of each queue.
    ends: A::Array<u32>,
    items: A::Array<u64>,
    /// The sum of the items taken, and the number of transactions counted.
    told: TArray<u64>,
}

impl<A: Algorithm> Queues<A> {
    fn put<L: Lane>(&self, tx: &mut Tx<'_, L, A>, queue: u64, item: u64) -> TxResult<u64> {
        // An attempt that writes first, so that there is something to undo.
        let tail = tx.read(&self.ends, 2 * queue + 1)?;
        tx.write(&self.items, queue * PLACES + u64::from(tail) % PLACES, item)?;
        tx.write(&self.ends, 2 * queue + 1, tail + 1)?;
        let head = tx.read(&self.ends, 2 * queue)?;
        if u64::from(tail - head) == PLACES {
            return tx.retry();
        }
        Ok(0)
    }

    fn take<L: Lane>(&self, tx: &mut Tx<'_, L, A>, queue: u64) -> TxResult<u64> {
        let head = tx.read(&self.ends, 2 * queue)?;
        tx.write(&self.ends, 2 * queue, head + 1)?;
        if tx.read(&self.ends, 2 * queue + 1)? == head {
            return tx.retry();
        }
        tx.read(&self.items, queue * PLACES + u64::from(head) % PLACES)
    }

    fn either<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<u64> {
        if i.is_multiple_of(2) {
            let item = i / 2 + 1;
            tx.or_else(|tx| self.put(tx, 0, item), |tx| self.put(tx, 1, item))
        } else {
            tx.or_else(|tx| self.take(tx, 0), |tx| self.take(tx, 1))
        }
    }

    fn tell<L: Lane>(&self, lane: &L, at: u64, n: u64) {
        // SAFETY: an element of a live array, which lanes alone access.
        unsafe { lane.add_relaxed_64(self.told.get(at).unwrap(), n) };
    }
}

fn run_lane<A: Algorithm>(lane: &SimLane<'_>, stm: &StmRef<A>, p: &Queues<A>, how: How) {
    let (thread, threads) = (lane.grid_thread(), lane.grid_threads());
    match how {
        How::Queues | How::QueuesInStep => {
            stm.in_step_if(how == How::QueuesInStep).for_each_with(
                lane,
                0..2 * ITEMS,
                |tx, i| p.either(tx, i),
                |_, item| p.tell(lane, 0, item),
                |_, _| {},
            );
        }
        How::QueuesAlone => {
            for i in (thread..2 * ITEMS).step_by(threads as usize) {
                match stm.atomically(lane, |tx| p.either(tx, i)) {
                    Ok(item) => p.tell(lane, 0, item),
                    Err(_) => return,
                }
            }
        }
        How::QueueTeams => stm.for_each_team(lane, 0..2 * ITEMS, |tx, i| {
            let rank = tx.rank();
            // Lane 0 has the head, the last lane the tail.
            let last = tx.size() - 1;
            let item = tx.or_else(
                |tx| team_queue(tx, p, (i, 0), (rank, last)),
                |tx| team_queue(tx, p, (i, 1), (rank, last)),
            )?;
            let told = (rank == 0).then(|| Action::add(&p.told, 0, item));
            tx.at_commit(told)
        }),
        How::Consumers => stm.for_each(lane, 0..threads, |tx, _| {
            p.either(tx, 1)?;
            Ok(())
        }),
        How::Circle => stm.for_each(lane, 0..threads, |tx, i| {
            if i < 2 {
                if tx.read(&p.items, 1 - i)? == 0 {
                    return tx.retry();
                }
                tx.write(&p.items, i, 1)?;
            }
            Ok(())
        }),
        How::Second => stm.for_each(lane, 0..2, |tx, i| {
            if i == 1 {
                return tx.write(&p.items, 1, 1);
            }
            match tx.read_many(&p.items, [0, 1])? {
                [_, 0] => tx.retry(),
                [_, second] => tx.write(&p.items, 2, second),
            }
        }),
        How::Announce => {
            stm.for_each(lane, 0..ITEMS, |tx, i| {
                tx.write(&p.items, 0, i + 1)?;
                tx.write(&p.ends, 0, i as u32 + 1)?;
                tx.at_commit(Action::add(&p.told, 1, 1))
            });
        }
    }
}

/// Puts into one queue or takes from it, by a team: returns the item taken.
fn team_queue<L: Lane, A: Algorithm, C: stm_core::Crew>(
    tx: &mut stm_core::TeamTx<'_, L, A, C>,
    p: &Queues<A>,
    (i, queue): (u64, u64),
    (rank, last): (u32, u32),
) -> TxResult<u64> {
    let (head_at, tail_at) = (2 * queue, 2 * queue + 1);
    let (first, end) = (rank == 0, rank == last);
    let head = tx.read(&p.ends, first.then_some(head_at))?;
    let tail = tx.read(&p.ends, end.then_some(tail_at))?;
    let head = tx.told_by(0, head.unwrap_or(0).into());
    let tail = tx.told_by(last, tail.unwrap_or(0).into());
    if i.is_multiple_of(2) {
        let place = queue * PLACES + tail % PLACES;
        tx.write(&p.items, end.then_some((place, i / 2 + 1)))?;
        tx.write(&p.ends, end.then_some((tail_at, tail as u32 + 1)))?;
        if tail - head == PLACES {
            return tx.retry();
        }
        Ok(0)
    } else {
        tx.write(&p.ends, first.then_some((head_at, head as u32 + 1)))?;
        if tail == head {
            return tx.retry();
        }
        let place = queue * PLACES + head % PLACES;
        let item = tx.read(&p.items, first.then_some(place))?;
        Ok(tx.told_by(0, item.unwrap_or(0)))
    }
}

/// The outcome of a run.
struct Outcome {
    opaque: bool,
    waits: u64,
    taken: u64,
    ends: Vec<u32>,
}

fn settings() -> StmConfig {
    StmConfig {
        locks: 16,
        stripe_bytes: 8,
        retry_limits: RetryLimits {
            read_polls: 8,
            queue_after: 3,
            ..RetryLimits::DEFAULT
        },
        ..StmConfig::default()
    }
}

/// The memory of a launch.
struct World {
    ends: TxArray<Sim, u32>,
    items: TxArray<Sim, u64>,
    told: Buffer<Sim, u64>,
}

impl World {
    fn new<A: Algorithm>(sim: &Sim) -> (Self, Queues<A>) {
        let world = Self {
            ends: array::<A, u32>(sim, &[0; 4], "ends"),
            items: array::<A, u64>(sim, &[0; 2 * PLACES as usize], "items"),
            told: Buffer::zeroed(sim, 2, "told").unwrap(),
        };
        let queues = Queues {
            ends: world.ends.view::<A>(),
            items: world.items.view::<A>(),
            told: world.told.tarray(),
        };
        (world, queues)
    }
}

/// Runs a kernel, recorded, and panics if the launch fails.
fn run<A: Algorithm>(how: How, launch: Launch, config: SimConfig) -> Outcome {
    let sim = Sim::new(config);
    let (world, queues) = World::new::<A>(&sim);
    let run = recorded::<A>(
        &sim,
        launch,
        settings(),
        InitialMemory::ZERO,
        |lane, stm| {
            run_lane(lane, stm, &queues, how);
        },
    );
    let statistics = run.statistics;
    assert_eq!(
        statistics.attempts,
        statistics.commits + statistics.aborted()
    );
    assert_eq!(statistics.commits, 2 * ITEMS, "{config}");
    Outcome {
        opaque: run.verdict.is_opaque(),
        waits: statistics.waits(),
        taken: world.told.download().unwrap()[0],
        ends: world.ends.download().unwrap(),
    }
}

/// Configurations without end, all different.
fn configs(mutant: Option<Mutant>) -> impl Iterator<Item = SimConfig> {
    const SCHEDULES: &str = "lockstep stack random starve64 pct3x4000";
    (0..).map(move |k: u64| SimConfig {
        votes_order: (k / 20).is_multiple_of(2),
        wide_atomics: (k / 40).is_multiple_of(2),
        seed: k,
        steps_max: 5_000_000,
        ..SimConfig::of(
            [1, 2, 4, 8][k as usize / 5 % 4],
            Schedule::named(SCHEDULES)[k as usize % 5],
        )
        .with_stale(30)
        .with_mutant(mutant)
    })
}

/// The launch of a configuration: 8 lanes that run transactions, or 4 blocks or
/// teams.
fn launch<A: Algorithm>(how: How, config: SimConfig) -> Launch {
    match (how, A::GRANULE) {
        (How::QueueTeams, _) => Launch::new(4, config.warp_width),
        (_, Granule::Block) => Launch::new(4, 2),
        _ => Launch::new(2, 4),
    }
}

/// Runs the queues, and returns how many attempts waited.
fn queues<A: Algorithm>(how: How, runs: usize) -> u64 {
    let mut waits = 0;
    // Lanes of a warp that go their own ways may starve each other if the
    // schedule keeps the warp together, or waits for a lock have no bound.
    let alone = how == How::QueuesAlone;
    let free = |schedule| matches!(schedule, Schedule::Random | Schedule::Its { .. });
    let fair = |config: &SimConfig| {
        !alone || config.warp_width == 1 || A::SCHEDULED && free(config.schedule)
    };
    for config in configs(None).filter(fair).take(runs) {
        let run = run::<A>(how, launch::<A>(how, config), config);
        assert!(run.opaque, "{}: {how:?}: {config}: not opaque", A::NAME);
        assert_eq!(run.taken, ITEMS * (ITEMS + 1) / 2, "{}: {config}", A::NAME);
        assert_eq!(run.ends[0], run.ends[1], "{}: {config}", A::NAME);
        assert_eq!(run.ends[2], run.ends[3], "{}: {config}", A::NAME);
        waits += run.waits;
    }
    waits
}

#[test]
fn queues_with_alternatives_are_opaque_and_lose_nothing() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            assert_ne!(queues::<A>(How::Queues, 60), 0, "{}", A::NAME);
        });
    }
    assert_ne!(queues::<Versioned<Cells, 0>>(How::Queues, 60), 0);
}

#[test]
fn the_same_by_single_transactions() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            // The paper's algorithms have no queue: a schedule that is not fair
            // may starve single transactions.
            if A::GRANULE == Granule::Lane && variant.is_paper() {
                continue;
            }
            assert_ne!(queues::<A>(How::QueuesAlone, 40), 0, "{}", A::NAME);
        });
    }
}

#[test]
fn the_same_in_step() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            if A::SCHEDULED {
                assert_ne!(queues::<A>(How::QueuesInStep, 60), 0, "{}", A::NAME);
            }
        });
    }
}

#[test]
fn the_same_by_teams() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            if A::TEAMS {
                assert_ne!(queues::<A>(How::QueueTeams, 60), 0, "{}", A::NAME);
            }
        });
    }
}

/// Returns how a launch ended, not recorded.
fn ended<A: Algorithm>(how: How, launch: Launch, config: SimConfig) -> Result<u64, Error> {
    let sim = Sim::new(config);
    let (world, queues) = World::new::<A>(&sim);
    recorded::ended::<A>(&sim, launch, settings(), |lane, stm| {
        run_lane(lane, stm, &queues, how);
    })?;
    Ok(world.told.download()?[1])
}

#[test]
fn a_launch_in_which_everybody_waits_ends_and_says_how_many() {
    for &variant in Variant::ALL {
        with_algorithm!(variant, A => {
            for config in configs(None).take(20) {
                let launch = launch::<A>(How::Consumers, config);
                let all = u64::from(launch.blocks * launch.threads);
                let each = if A::GRANULE == Granule::Block { launch.blocks.into() } else { all };
                let waits = |waiting| Some(Error::EverybodyWaits { waiting, outside: all - waiting });
                let error = ended::<A>(How::Consumers, launch, config).err();
                assert_eq!(error, waits(each), "{}: {config}", A::NAME);
                let error = ended::<A>(How::Circle, launch, config).err();
                let Some(Error::EverybodyWaits { waiting, outside }) = error else {
                    panic!("{}: {config}: {error:?}", A::NAME);
                };
                // Lanes of a warp without work count as waiting with it.
                assert!(waiting >= 2 && waiting + outside == all, "{}: {config}", A::NAME);
            }
        });
    }
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

#[test]
fn a_lost_wake_up_is_caught() {
    caught(Mutant::LostWakeup, 200, |config| {
        ended::<Fast>(How::Second, Launch::new(2, 4), config).is_ok()
    });
}

#[test]
fn an_alternative_that_keeps_its_writes_is_caught() {
    caught(Mutant::OrElseKeepsWrites, 200, |config| {
        let run = run::<Fast>(How::Queues, Launch::new(2, 4), config);
        run.opaque && run.taken == ITEMS * (ITEMS + 1) / 2
    });
}

#[test]
fn a_ticket_kept_by_a_transaction_that_waits_is_caught() {
    caught(Mutant::RetryKeepsTicket, 400, |config| {
        let config = SimConfig {
            steps_max: 300_000,
            ..config
        };
        ended::<Fast>(How::Queues, Launch::new(2, 4), config).is_ok()
    });
}

#[test]
fn an_action_before_its_commit_is_caught() {
    caught(Mutant::ActionBeforeCommit, 400, |config| {
        // An attempt that aborts has then executed the actions of a commit.
        ended::<Fast>(How::Announce, Launch::new(2, 4), config) == Ok(ITEMS)
    });
}
