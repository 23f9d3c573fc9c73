//! Barriers: nobody leaves before all have come, and nothing has to be reset. `kernels.rs` has every algorithm in every
//! shape, and that what was written before is seen after.

use crate::config;
use crate::prelude::*;
use stm_sync::barrier::{Counted, Grouped, Led, Meeting, Tree, TwoStage, XiaoFeng};
use stm_sync::host::GridBarrier;

/// Waits of a launch.
const ROUNDS: u32 = 6;

struct World<B> {
    sim: Sim,
    watchdog: Watchdog<Sim>,
    barrier: GridBarrier<Sim, B>,
    /// The waits of the last launch that ended well.
    waits: Cell<u32>,
}

impl<B: Meeting> World<B> {
    fn new(config: SimConfig, limit: Option<Duration>, (blocks, threads): (u32, u32)) -> Self {
        let sim = Sim::new(config);
        let watchdog = Watchdog::new(&sim, limit).unwrap();
        let shape = Launch::new(blocks, threads);
        Self {
            barrier: GridBarrier::new(&sim, shape, watchdog.stop()).unwrap(),
            waits: Cell::new(0),
            watchdog,
            sim,
        }
    }

    /// Launches rounds with the grid of the barrier, or with another one. Every thread waits again and again, until
    /// it is asked to stop, but for those of the absent block.
    fn launch(&mut self, other: Option<Launch>, absent: Option<u32>) -> Result<(), Error> {
        let (view, waits) = (self.barrier.view(), &self.waits);
        waits.set(0);
        // SAFETY: there are no parameters, and the barrier lives.
        let launches = || unsafe {
            match other {
                None => (self.barrier).launch::<Closure>(&mut self.watchdog, &()),
                Some(shape) => (self.watchdog).launch::<Closure>(&self.sim, &shape, &()),
            }
        };
        let rounds = |lane: &SimLane<'_>| {
            let mut grid = view.enter(lane);
            // SAFETY: every thread of a block makes the same waits.
            let is_over = || Some(lane.block_index()) == absent || unsafe { grid.wait() }.is_err();
            let made = std::iter::repeat_with(is_over).take(ROUNDS as usize);
            let made = made.take_while(|is_over| !is_over).count();
            waits.set(waits.get() + made as u32);
        };
        self.sim.with_closure(rounds, launches).map(|_| ())
    }

    /// Launches rounds, in which all blocks take part.
    fn goes_on(&mut self) {
        self.launch(None, None).unwrap();
        let shape = self.barrier.shape();
        assert_eq!(self.waits.get(), shape.blocks * shape.threads * ROUNDS);
    }
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
            for round in 1..=3 {
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
                let ended = world.launch(None, Some(absent));
                assert_eq!(ended, Err(Error::StillWaiting { limit }), "{config}");
                // It has been reset; and nothing has to be after a launch that ends.
                world.goes_on();
                world.goes_on();
            }
        }
    });
}

#[test]
fn a_launch_of_another_grid_is_refused_by_every_wait() {
    for blocks in [2, 3, 5, 40] {
        let mut world = World::<XiaoFeng>::new(config(0), None, (4, 2));
        world.barrier.check().unwrap();
        let elsewhere = Some(Launch::new(blocks, 2));
        world.launch(elsewhere, None).unwrap();
        assert_eq!(world.waits.get(), 0);
        let (made_for, used_by) = (4, blocks);
        let other = Error::OtherGrid { made_for, used_by };
        assert_eq!(world.barrier.check(), Err(other.clone()));
        // It is reported once, and the barrier is usable.
        world.barrier.check().unwrap();
        world.goes_on();
        // Or the next launch reports it, before it begins, and the one after that runs.
        world.launch(elsewhere, None).unwrap();
        assert_eq!(world.launch(None, None), Err(other));
        world.goes_on();
    }
}
