//! Barriers: nobody leaves before all have come, what was written before is seen
//! after, and nothing has to be reset. `kernels.rs` has those whose kind is chosen at launch.

use crate::prelude::*;
use crate::{are_right, config};
use stm_sync::barrier::{Counted, Grouped, Led, Meeting, TBarrier, Tree, TwoStage, XiaoFeng};
use stm_sync::host::GridBarrier;

/// Rounds of a launch, of two waits each.
const ROUNDS: u32 = 3;

/// In each round every thread stores its number in a word of its own, waits, reads those of others, and waits
/// again. Threads come at different times, and those of the absent block never.
fn phases<B: Meeting>(
    lane: &SimLane<'_>,
    barrier: &TBarrier<B>,
    words: *mut u32,
    (first, absent): (u32, Option<u32>),
) {
    let mut grid = barrier.enter(lane);
    let (me, len) = (lane.grid_thread(), lane.grid_threads());
    let word = |i: u64| words.wrapping_add(i as usize);
    for round in first..first + ROUNDS {
        if Some(lane.block_index()) == absent {
            return;
        }
        if (me + u64::from(round)).is_multiple_of(3) {
            for _ in 0..(me + 5 * u64::from(round)) % 11 {
                lane.pause(1);
            }
        }
        // SAFETY: live; every access to the words is one of these, and every thread
        // of a block makes the same waits.
        unsafe {
            lane.store_relaxed_32(word(me), round);
            if grid.wait().is_err() {
                return;
            }
            for k in 1..6 {
                let found = lane.load_relaxed_32(word((me + k * k * 7) % len));
                assert_eq!(found, round, "a word of another round");
            }
            if grid.wait().is_err() {
                return;
            }
        }
    }
}

struct World<B> {
    sim: Sim,
    watchdog: Watchdog<Sim>,
    barrier: GridBarrier<Sim, B>,
    words: Buffer<Sim, u32>,
}

impl<B: Meeting> World<B> {
    fn new(config: SimConfig, limit: Option<Duration>, (blocks, threads): (u32, u32)) -> Self {
        let sim = Sim::new(config);
        let watchdog = Watchdog::new(&sim, limit).unwrap();
        let shape = Launch::new(blocks, threads);
        Self {
            barrier: GridBarrier::new(&sim, shape, watchdog.stop()).unwrap(),
            words: Buffer::zeroed(&sim, 140, "words").unwrap(),
            watchdog,
            sim,
        }
    }

    /// Launches [`phases`] with the grid of the barrier.
    fn launch(&mut self, what: (u32, Option<u32>)) -> Result<(), Error> {
        let (view, words) = (self.barrier.view(), self.words.as_mut_ptr());
        // SAFETY: there are no parameters, and the barrier and the words live.
        let launches = || unsafe { self.barrier.launch::<Closure>(&mut self.watchdog, &()) };
        let launched = (self.sim).with_closure(|lane| phases(lane, &view, words, what), launches);
        launched.map(|_| ())
    }

    fn launch_as(&mut self, shape: Launch) {
        let (view, words) = (self.barrier.view(), self.words.as_mut_ptr());
        // SAFETY: as above.
        let launches = || unsafe { self.watchdog.launch::<Closure>(&self.sim, &shape, &()) };
        let launched = (self.sim).with_closure(|lane| phases(lane, &view, words, FIRST), launches);
        launched.unwrap();
    }
}

/// The first rounds, in which all blocks take part.
const FIRST: (u32, Option<u32>) = (1, None);

const SHAPES: [(u32, u32); 7] = [(1, 1), (1, 5), (2, 3), (5, 8), (9, 2), (37, 1), (70, 2)];

fn run<B: Meeting>(mut world: World<B>) -> Result<(), String> {
    for launch in 0..2 {
        let launched = world.launch((1 + launch * ROUNDS, None));
        launched.map_err(|error| error.to_string())?;
    }
    let shape = world.barrier.shape();
    let len = (shape.blocks * shape.threads) as usize;
    if world.words.download().unwrap()[..len] != vec![2 * ROUNDS; len] {
        return Err("a thread did not come to the end".into());
    }
    Ok(())
}

#[test]
fn every_algorithm_keeps_rounds_apart() {
    of_each!(B: Meeting in TwoStage, XiaoFeng, Tree, Counted, Grouped, Led => {
        // All schedules, widths and memories.
        for shape in SHAPES {
            let what = format!("{}: {shape:?}", B::NAME);
            are_right(&what, 84, |k| {
                run(World::<B>::new(config(k), None, shape))
            });
        }
    });
}

fn is_found<B: Meeting>(mutant: Mutant, how: &[&str]) {
    crate::is_found(mutant, B::NAME, how, 400, |k| {
        let shape = [(5, 8), (9, 2), (70, 2)][(k % 3) as usize];
        let config = config(k).with_mutant(Some(mutant));
        run(World::<B>::new(config, None, shape))
    });
}

/// The first test has the same runs without a defect, and `kernels.rs` those without a fence.
#[test]
fn a_round_that_is_not_counted_and_one_that_is_not_passed_on_are_found() {
    let (kept, not_passed_on) = (Mutant::BarrierRoundKept, Mutant::BarrierNotPassedOn);
    let ends = ["another round", "livelock"];
    of_each!(is_found(kept, &ends): TwoStage, XiaoFeng, Tree, Counted, Grouped, Led);
    of_each!(is_found(not_passed_on, &ends[..1]): XiaoFeng, Tree, Grouped, Led);
}

/// In each round every thread adds 1 to all words by transactions, waits, and finds all sums.
#[test]
fn transactions_before_a_wait_are_seen_after_it() {
    for k in 0..42 {
        let sim = Sim::new(config(k));
        let shape = Launch::new(3, 4);
        let mut memory = Stm::new(&sim, shape, StmConfig::default()).unwrap();
        let barrier = GridBarrier::<_, Led>::new(&sim, shape, memory.stop()).unwrap();
        memory.reshape(barrier.shape()).unwrap();
        let words = memory.array("words", &[0u32; 2]).unwrap();
        let (stm, cells) = (memory.handle::<Fast>(), words.view::<Fast>());
        let meeting = barrier.view();
        let launched = sim::launch(&mut memory, |lane| {
            let mut grid = meeting.enter(lane);
            for round in 1..=ROUNDS {
                let threads = lane.grid_threads();
                stm.for_each(lane, 0..2 * threads, |tx, i| {
                    let found = tx.read(&cells, i % 2)?;
                    tx.write(&cells, i % 2, found + 1)
                });
                // SAFETY: every thread of the grid makes the same waits.
                unsafe {
                    assert_eq!(grid.wait(), Ok(()));
                    for at in 0..2 {
                        assert_eq!(cells.peek(lane, at), Some(round * threads as u32));
                    }
                    assert_eq!(grid.wait(), Ok(()));
                }
            }
        });
        let done = launched.unwrap_or_else(|error| panic!("{}: {error}", config(k)));
        assert_eq!(done.commits, 72);
        assert_eq!(words.download().unwrap(), [36, 36], "{}", config(k));
    }
}

#[test]
fn a_wait_for_a_block_that_has_ended_is_asked_to_stop() {
    of_each!(B: Meeting in TwoStage, XiaoFeng, Tree, Counted, Grouped, Led => {
        for k in 0..21 {
            let limit = Duration::from_micros(400);
            let config = config(k).with_idle(2_000_000);
            let mut world = World::<B>::new(config, Some(limit), (6, 3));
            for absent in [0, 3] {
                let ended = world.launch((1, Some(absent)));
                assert_eq!(ended, Err(Error::StillWaiting { limit }), "{config}");
                // It has been reset.
                world.launch(FIRST).unwrap();
            }
        }
    });
}

#[test]
fn a_launch_of_another_grid_is_refused_by_every_wait() {
    for blocks in [2, 3, 5, 40] {
        let mut world = World::<XiaoFeng>::new(config(0), None, (4, 2));
        world.barrier.check().unwrap();
        let elsewhere = Launch::new(blocks, 2);
        world.launch_as(elsewhere);
        let (made_for, used_by) = (4, blocks);
        let other = Error::OtherGrid { made_for, used_by };
        assert_eq!(world.barrier.check(), Err(other.clone()));
        // It is reported once, and the barrier is usable.
        world.barrier.check().unwrap();
        world.launch(FIRST).unwrap();
        assert_eq!(world.words.download().unwrap()[..8], [ROUNDS; 8]);
        // Or the next launch reports it, before it begins, and the one after that runs.
        world.launch_as(elsewhere);
        assert_eq!(world.launch(FIRST), Err(other));
        world.launch(FIRST).unwrap();
    }
}
