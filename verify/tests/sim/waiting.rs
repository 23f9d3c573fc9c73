//! Waiting and alternatives on the simulator: bounded queues between transactions that wait, recorded
//! and judged under every algorithm and schedule. Programs catch the seeded defects (`mutants.rs`).

use crate::prelude::*;
use crate::recorded::{eight, ended, numbered, recorded, small};
use stm_core::host::{Capacity, TxArray};
use stm_core::internal::Crew;
use stm_core::{Action, TArray, TeamTx};
use verify::history::InitialMemory;

const ITEMS: u64 = 10;
const PLACES: u64 = 2;

/// The memory of two queues.
struct World {
    ends: TxArray<Sim, u32>,
    items: TxArray<Sim, u64>,
    tally: Buffer<Sim, u64>,
}

impl World {
    fn new<A: Algorithm>(sim: &Sim) -> Self {
        Self {
            ends: array::<A, u32, _>(sim, &[0; 4], "ends"),
            items: array::<A, u64, _>(sim, &[0; 2 * PLACES as usize], "items"),
            tally: Buffer::zeroed(sim, 1, "tally").unwrap(),
        }
    }

    fn queues<A: Algorithm>(&self) -> Queues<A> {
        Queues {
            ends: self.ends.view::<A>(),
            items: self.items.view::<A>(),
            tally: self.tally.tarray(),
        }
    }
}

/// Two queues, either of which will do, between the threads of a launch.
struct Queues<A: Algorithm> {
    /// Head and tail of each queue.
    ends: A::Array<u32>,
    items: A::Array<u64>,
    /// The sum of the items taken.
    tally: TArray<u64>,
}

impl<A: Algorithm> Queues<A> {
    fn put<L: Lane>(&self, tx: &mut Tx<'_, L, A>, queue: u64, item: u64) -> TxResult<u64> {
        // An attempt that writes first, so that there is something to undo.
        let tail = tx.read(&self.ends, 2 * queue + 1)?;
        let place = queue * PLACES + u64::from(tail) % PLACES;
        tx.write(&self.items, place, item)?;
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
        let place = queue * PLACES + u64::from(head) % PLACES;
        tx.read(&self.items, place)
    }

    /// Even transactions put an item into a queue, odd ones take one out.
    fn turn<L: Lane>(&self, tx: &mut Tx<'_, L, A>, i: u64) -> TxResult<u64> {
        let at = |tx: &mut Tx<'_, L, A>, queue| {
            if i.is_multiple_of(2) {
                self.put(tx, queue, i / 2 + 1)
            } else {
                self.take(tx, queue)
            }
        };
        tx.or_else(|tx| at(tx, 0), |tx| at(tx, 1))
    }

    fn tell<L: Lane>(&self, lane: &L, item: u64) {
        // SAFETY: an element of a live array, which lanes alone access.
        unsafe { lane.add_relaxed_64(self.tally.get(0).unwrap(), item) };
    }

    /// Sends the items by transactions in rounds, in which the warps of a block may go in step.
    fn rounds<L: Lane>(&self, lane: &L, stm: &StmRef<A>, in_step: bool) {
        stm.loops(lane)
            .in_step_if(in_step)
            .with(|_, item| self.tell(lane, item), |_, _| {})
            .each(0..2 * ITEMS, |tx, i| self.turn(tx, i));
    }

    fn alone<L: Lane>(&self, lane: &L, stm: &StmRef<A>) {
        let (thread, threads) = (lane.grid_thread(), lane.grid_threads());
        for i in (thread..2 * ITEMS).step_by(threads as usize) {
            match stm.atomically(lane, |tx| self.turn(tx, i)) {
                Ok(item) => self.tell(lane, item),
                Err(_) => return,
            }
        }
    }

    fn teams<L: Lane>(&self, lane: &L, stm: &StmRef<A>) {
        stm.for_each_team(lane, 0..2 * ITEMS, |tx, i| {
            let item = tx.or_else(|tx| self.team(tx, i, 0), |tx| self.team(tx, i, 1))?;
            let leads = tx.rank() == 0;
            tx.at_commit(leads.then(|| Action::add(&self.tally, 0, item)))
        });
    }

    /// Puts into one queue or takes from it, by a team: returns the item taken. Lane 0 has the
    /// head, the last lane the tail.
    fn team<L: Lane, C: Crew>(
        &self,
        tx: &mut TeamTx<'_, L, A, C>,
        i: u64,
        queue: u64,
    ) -> TxResult<u64> {
        let (head_at, tail_at) = (2 * queue, 2 * queue + 1);
        let last = tx.size() - 1;
        let (first, end) = (tx.rank() == 0, tx.rank() == last);
        let head = tx.read(&self.ends, first.then_some(head_at))?;
        let tail = tx.read(&self.ends, end.then_some(tail_at))?;
        let head = tx.told_by(0, head.unwrap_or(0).into());
        let tail = tx.told_by(last, tail.unwrap_or(0).into());
        if i.is_multiple_of(2) {
            let place = queue * PLACES + tail % PLACES;
            tx.write(&self.items, end.then_some((place, i / 2 + 1)))?;
            tx.write(&self.ends, end.then_some((tail_at, tail as u32 + 1)))?;
            if tail - head == PLACES {
                return tx.retry();
            }
            Ok(0)
        } else {
            tx.write(&self.ends, first.then_some((head_at, head as u32 + 1)))?;
            if tail == head {
                return tx.retry();
            }
            let place = queue * PLACES + head % PLACES;
            let item = tx.read(&self.items, first.then_some(place))?;
            Ok(tx.told_by(0, item.unwrap_or(0)))
        }
    }
}

type Kernel<A> = fn(&SimLane<'_>, &StmRef<A>, &Queues<A>);

fn in_rounds<A: Algorithm>(lane: &SimLane<'_>, stm: &StmRef<A>, queues: &Queues<A>) {
    queues.rounds(lane, stm, false);
}

fn settings() -> StmConfig {
    let Capacity { reads, writes, .. } = Capacity::DEFAULT;
    let mut settings = small(reads, writes);
    settings.retry_limits.queue_after = 3;
    settings
}

fn configs() -> impl Iterator<Item = SimConfig> {
    let config = |k| numbered(k, "lockstep stack random starve64 pct3x4000", [1, 2, 4, 8]);
    (0..).map(move |k| config(k).with_limits(5_000_000, 1_000_000))
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
    for config in configs().filter(will_do).take(runs) {
        let sim = Sim::new(config);
        let world = World::new::<A>(&sim);
        let queues = world.queues::<A>();
        let (launch, initial) = (launch(config), InitialMemory::ZERO);
        let run = recorded::<A>(&sim, launch, settings(), initial, |lane, stm| {
            kernel(lane, stm, &queues);
        });
        let statistics = run.statistics;
        let attempts = statistics.commits + statistics.aborted();
        assert_eq!(statistics.attempts, attempts, "{config}");
        assert_eq!(statistics.commits, 2 * ITEMS, "{config}");
        assert!(run.verdict.is_opaque(), "{config}: not opaque");
        let taken = world.tally.download().unwrap();
        assert_eq!(taken, [ITEMS * (ITEMS + 1) / 2], "{config}");
        let ends = world.ends.download().unwrap();
        assert_eq!((ends[0], ends[2]), (ends[1], ends[3]), "{config}");
        waits += statistics.waits();
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
            let alone: Kernel<A> = |lane, stm, queues| queues.alone(lane, stm);
            queues_of::<A>(alone, |_| eight::<A>(), 40, fair);
        }
        if A::SCHEDULED {
            let in_step: Kernel<A> = |lane, stm, queues| queues.rounds(lane, stm, true);
            queues_of::<A>(in_step, |_| eight::<A>(), 60, |_| true);
        }
        if A::TEAMS {
            let teams: Kernel<A> = |lane, stm, queues| queues.teams(lane, stm);
            queues_of::<A>(teams, |config| Launch::new(4, config.warp_width), 60, |_| true);
        }
    });
}

/// Returns the error that ends a launch.
fn error<A: Algorithm>(kernel: Kernel<A>, launch: Launch, config: SimConfig) -> Option<Error> {
    let sim = Sim::new(config);
    let world = World::new::<A>(&sim);
    let queues = world.queues::<A>();
    let run = |lane: &SimLane<'_>, stm: &StmRef<A>| kernel(lane, stm, &queues);
    ended::<A>(&sim, launch, settings(), run).err()
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
        for config in configs().take(20) {
            let all = u64::from(launch.blocks * launch.threads);
            let each = if A::GRANULE == Granule::Block { launch.blocks.into() } else { all };
            let waits = |waiting| Some(Error::EverybodyWaits { waiting, outside: all - waiting });
            let all_wait = error::<A>(consumers, launch, config);
            assert_eq!(all_wait, waits(each), "{config}");
            let error = error::<A>(circle, launch, config);
            let Some(Error::EverybodyWaits { waiting, outside }) = error else {
                panic!("{config}: {error:?}");
            };
            // Lanes of a warp without work count as waiting with it.
            assert!(waiting >= 2 && waiting + outside == all, "{config}");
        }
    });
}
