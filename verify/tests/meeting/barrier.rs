//! Barriers: nobody leaves before all have come, what was written before is seen
//! after, and nothing has to be reset.

use crate::runs::{self, config};
use crate::{of_each, simulator};
use std::cell::Cell;
use std::time::Duration;
use stm_core::algorithm::Fast;
use stm_core::host::{Buffer, Error, Launch, Stm, StmConfig};
use stm_core::internal::host::Watchdog;
use stm_core::internal::observe::Mutant;
use stm_core::{Lane, View};
use stm_sync::Stop;
use stm_sync::barrier::{
    Chosen, Counted, Grouped, Kind, Led, Meeting, TBarrier, Tree, TwoStage, XiaoFeng,
};
use stm_sync::host::GridBarrier;
use verify::sim::{self, Closure, Sim, SimConfig, SimLane};

/// Rounds of a launch, of two waits each.
const ROUNDS: u32 = 3;

/// What the threads of a launch do.
struct Phases<'a, B> {
    barrier: TBarrier<B>,
    /// A word for each thread.
    words: &'a Buffer<Sim, u32>,
    /// The number of the first round.
    first: u32,
    /// A block that ends without waiting, if there is one.
    absent: u32,
    /// The last thread that has found a word of another round.
    wrong: Cell<Option<u64>>,
}

impl<'a, B: Meeting> Phases<'a, B> {
    fn new(barrier: &GridBarrier<Sim, B>, words: &'a Buffer<Sim, u32>) -> Self {
        Self {
            barrier: barrier.view(),
            words,
            first: 1,
            absent: u32::MAX,
            wrong: Cell::new(None),
        }
    }

    /// In each round every thread stores the round's number in its own word, waits, reads
    /// words of others, and waits again. Threads come at different times.
    fn run(&self, lane: &SimLane<'_>) {
        let mut grid = self.barrier.enter(lane);
        let me = lane.grid_thread();
        let len = self.words.len() as u64;
        let word = |i: u64| self.words.as_mut_ptr().wrapping_add(i as usize);
        for round in self.first..self.first + ROUNDS {
            if lane.block_index() == self.absent || me >= len {
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
                    if found != round {
                        self.wrong.set(Some(me));
                    }
                }
                if grid.wait().is_err() {
                    return;
                }
            }
        }
    }

    /// Launches it with the grid of the barrier.
    fn launch(
        &self,
        barrier: &mut GridBarrier<Sim, B>,
        watchdog: &mut Watchdog<Sim>,
        sim: &Sim,
    ) -> Result<Duration, Error> {
        // SAFETY: there are no parameters, and the barrier and the words live.
        let launches = || unsafe { barrier.launch::<Closure>(watchdog, &()) };
        sim.with_closure(|lane| self.run(lane), launches)
    }

    /// Launches it with another grid.
    fn launch_as(&self, shape: Launch, watchdog: &mut Watchdog<Sim>, sim: &Sim) {
        // SAFETY: as above.
        let launches = || unsafe { watchdog.launch::<Closure>(sim, &shape, &()) };
        sim.with_closure(|lane| self.run(lane), launches).unwrap();
    }
}

const SHAPES: [(u32, u32); 7] = [(1, 1), (1, 5), (2, 3), (5, 8), (9, 2), (37, 1), (70, 2)];

/// Runs two launches, and returns what went wrong.
fn run<B: Meeting>(
    config: SimConfig,
    make: impl Fn(&Sim, Launch, Stop) -> Result<GridBarrier<Sim, B>, Error>,
    (blocks, threads): (u32, u32),
) -> Result<(), String> {
    let (sim, mut watchdog) = simulator(config);
    let mut barrier = make(&sim, Launch::new(blocks, threads), watchdog.stop()).unwrap();
    let len = (blocks * threads) as usize;
    let words = Buffer::<_, u32>::zeroed(&sim, len, "words").unwrap();
    for launch in 0..2 {
        let phases = Phases {
            first: 1 + launch * ROUNDS,
            ..Phases::new(&barrier, &words)
        };
        let launched = phases.launch(&mut barrier, &mut watchdog, &sim);
        launched.map_err(|error| error.to_string())?;
        if let Some(thread) = phases.wrong.get() {
            return Err(format!("thread {thread} saw a word of another round"));
        }
    }
    if words.download().unwrap() != vec![2 * ROUNDS; len] {
        return Err("a thread did not come to the end".into());
    }
    Ok(())
}

fn is_right<B: Meeting>(runs: u64) {
    for shape in SHAPES {
        let what = format!("{}: {shape:?}", B::NAME);
        runs::are_right(&what, runs, |k| {
            run::<B>(config(k), GridBarrier::new, shape)
        });
    }
}

/// The runs of each algorithm and shape: all schedules, widths and memories.
const RUNS: u64 = 84;

#[test]
fn every_algorithm_keeps_rounds_apart() {
    of_each!(is_right(RUNS): TwoStage, XiaoFeng, Tree, Counted, Grouped, Led);
}

#[test]
fn a_chosen_algorithm_does_what_its_type_does() {
    for (k, &kind) in (0..).zip(Kind::ALL) {
        for k in [k, k + 7, k + 30] {
            for shape in [(5, 8), (70, 2)] {
                let make = |sim: &_, shape, stop| GridBarrier::chosen(sim, kind, shape, stop);
                if let Err(wrong) = run::<Chosen>(config(k), make, shape) {
                    panic!("{}: {}: {shape:?}: {wrong}", kind.name(), config(k));
                }
            }
        }
    }
}

/// Every missing fence makes a thread see a word of another round; a round that is not
/// counted does that, or keeps a thread waiting. `is_right` has the same runs without.
fn all_are_found<B: Meeting>(mutants: &[Mutant]) {
    for &mutant in mutants {
        let how: &[&str] = match mutant {
            Mutant::BarrierRoundKept => &["another round", "livelock"],
            _ => &["another round"],
        };
        runs::is_found(mutant, B::NAME, how, 400, |k| {
            let shape = [(5, 8), (9, 2), (70, 2)][(k % 3) as usize];
            run::<B>(config(k).with_mutant(Some(mutant)), GridBarrier::new, shape)
        });
    }
}

#[test]
fn a_missing_fence_and_a_round_that_is_not_counted_are_found() {
    use Mutant::{BarrierNoAcquire, BarrierNoRelease, BarrierNotPassedOn, BarrierRoundKept};
    let ends = [BarrierNoRelease, BarrierNoAcquire, BarrierRoundKept];
    all_are_found::<TwoStage>(&ends);
    all_are_found::<Counted>(&ends);
    let with_a_middle = [
        BarrierNoRelease,
        BarrierNoAcquire,
        BarrierNotPassedOn,
        BarrierRoundKept,
    ];
    of_each!(all_are_found(&with_a_middle): XiaoFeng, Tree, Grouped, Led);
}

/// In each round every thread adds 1 to all words by transactions, waits, and finds the
/// sums of all threads there.
#[test]
fn transactions_before_a_wait_are_seen_after_it() {
    for k in 0..42 {
        let sim = Sim::new(config(k));
        let shape = Launch::new(3, 4);
        let mut memory = Stm::new(&sim, shape, StmConfig::default()).unwrap();
        let barrier = GridBarrier::<_, Led>::new(&sim, shape, memory.stop()).unwrap();
        memory.reshape(barrier.shape()).unwrap();
        let words = memory.array("words", &[0u32; 2]).unwrap();
        let (stm, cells, meeting) = (
            memory.handle::<Fast>(),
            words.view::<Fast>(),
            barrier.view(),
        );
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

fn a_block_that_does_not_come_ends_the_launch<B: Meeting>() {
    for k in 0..SCHEDULES_RUN {
        let sim = Sim::new(config(k).with_idle(2_000_000));
        let limit = Duration::from_micros(400);
        let mut watchdog = Watchdog::new(&sim, Some(limit)).unwrap();
        let mut barrier =
            GridBarrier::<_, B>::new(&sim, Launch::new(6, 3), watchdog.stop()).unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 18, "words").unwrap();
        for absent in [0, 3] {
            let without = Phases {
                absent,
                ..Phases::new(&barrier, &words)
            };
            let error = without
                .launch(&mut barrier, &mut watchdog, &sim)
                .unwrap_err();
            assert_eq!(error, Error::StillWaiting { limit }, "{}", config(k));
            // It has been reset.
            let whole = Phases::new(&barrier, &words);
            whole.launch(&mut barrier, &mut watchdog, &sim).unwrap();
            assert_eq!((without.wrong.get(), whole.wrong.get()), (None, None));
        }
    }
}

/// Runs of the test above: each schedule at each width.
const SCHEDULES_RUN: u64 = 21;

#[test]
fn a_wait_for_a_block_that_has_ended_is_asked_to_stop() {
    of_each!(
        a_block_that_does_not_come_ends_the_launch():
        TwoStage, XiaoFeng, Tree, Counted, Grouped, Led
    );
}

#[test]
fn a_launch_of_another_grid_is_refused_by_every_wait() {
    for blocks in [2, 3, 5, 40] {
        let (sim, mut watchdog) = simulator(config(0));
        let mut barrier =
            GridBarrier::<_, XiaoFeng>::new(&sim, Launch::new(4, 2), watchdog.stop()).unwrap();
        barrier.check().unwrap();
        let words = Buffer::<_, u32>::zeroed(&sim, 80, "words").unwrap();
        let of_others = Phases::new(&barrier, &words);
        let elsewhere = Launch::new(blocks, 2);
        of_others.launch_as(elsewhere, &mut watchdog, &sim);
        let other = Error::OtherGrid {
            made_for: 4,
            used_by: blocks,
        };
        assert_eq!(barrier.check(), Err(other.clone()));
        // It is reported once, and the barrier is usable.
        barrier.check().unwrap();
        let own = Buffer::<_, u32>::zeroed(&sim, 8, "words").unwrap();
        let phases = Phases::new(&barrier, &own);
        phases.launch(&mut barrier, &mut watchdog, &sim).unwrap();
        assert_eq!(own.download().unwrap(), [ROUNDS; 8]);
        assert_eq!((of_others.wrong.get(), phases.wrong.get()), (None, None));
        // Or the next launch reports it, before it begins, and the one after that runs.
        phases.launch_as(elsewhere, &mut watchdog, &sim);
        let refused = phases.launch(&mut barrier, &mut watchdog, &sim);
        assert_eq!(refused, Err(other));
        phases.launch(&mut barrier, &mut watchdog, &sim).unwrap();
    }
}

#[test]
fn a_grid_that_is_not_resident_is_refused_with_the_number_of_blocks_that_would_be() {
    let (sim, mut watchdog) = simulator(config(0));
    let words = Buffer::<_, u32>::zeroed(&sim, 1, "words").unwrap();
    let mut barrier =
        GridBarrier::<_, Led>::new(&sim, Launch::new(9, 1024), watchdog.stop()).unwrap();
    let phases = Phases::new(&barrier, &words);
    let refused = phases.launch(&mut barrier, &mut watchdog, &sim);
    let Err(Error::LaunchTooLarge { what, asked, limit }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((what, asked, limit), ("blocks at the same time", 9, 8));
}
