//! The gate: words whose versions are of another memory, and the last node of a pool. `lines.txt` has places that are
//! not full warps, and periods that end; what its fences and steps are for, the seeded defects show (`mutants.rs`). And
//! rounds in step: the warps of a block begin their attempts together. Random programs have blocks that leave the step or
//! end by a fault, and `progress.txt` those in which all conflict.

use crate::prelude::*;
use stm_core::host::Pool;

/// Cells that transaction `i` writes without having read them: the `SIDES` next to `i`.
const SIDES: u64 = 9;
const CELLS: u64 = 40;

/// Returns the configuration of a memory whose users draw tickets after so many conflicts.
fn queueing(queue_after: u32) -> StmConfig {
    let mut config = StmConfig::default();
    config.retry_limits.queue_after = queue_after;
    config
}

/// One lane writes each cell by a transaction of its own, in their order; then, in another memory, all write
/// them blindly, and the hot word brings them to the gate.
fn blind(config: SimConfig) -> (Vec<u64>, Statistics) {
    let sim = Sim::new(config);
    let cells = array::<Fast, u64, _>(&sim, &[0; (CELLS * SIDES) as usize], "cells");
    let hot = array::<Fast, u32, _>(&sim, &[0], "hot");
    let (words, hot) = (cells.view::<Fast>(), hot.view::<Fast>());
    let launch = Launch::new(2, 2);
    launched::<Fast>(&sim, launch, queueing(1), |lane, stm| {
        // Transaction i commits as version i + 1 or so.
        let first = lane.grid_thread() == 0;
        for k in (0..CELLS + SIDES).filter(|_| first) {
            let _ = stm.atomically(lane, |tx| {
                for side in 0..SIDES {
                    if let Some(i) = k.checked_sub(side).filter(|&i| i < CELLS) {
                        tx.write(&words, i * SIDES + side, 1)?;
                    }
                }
                Ok(())
            });
        }
    });
    let statistics = launched::<Fast>(&sim, launch, queueing(1), |lane, stm| {
        stm.for_each(lane, 0..CELLS, |tx, i| {
            let count = tx.read(&hot, 0)?;
            tx.write(&hot, 0, count + 1)?;
            for side in 0..SIDES {
                tx.write(&words, i * SIDES + side, 2)?;
            }
            Ok(())
        });
    });
    (cells.download().unwrap(), statistics)
}

/// A commit alone must not take for written a cell that has its very version from another memory.
#[test]
fn a_commit_alone_writes_cells_that_have_its_version_from_another_memory() {
    for wide_atomics in [false, true] {
        let mut turns = 0;
        for seed in 0..20 {
            let config = SimConfig::of(2, Schedule::Random).with_seed(seed);
            let config = config.with_stale(30).with_wide_atomics(wide_atomics);
            let (cells, statistics) = blind(config);
            turns += statistics.turns;
            let lost = cells.iter().filter(|&&v| v != 2).count();
            assert_eq!(lost, 0, "cells that kept their old value: {config}");
        }
        assert!(turns > 50, "{turns} turns");
    }
}

/// Transactions each of which needs a node for as long as it lasts.
const BORROWERS: u64 = 96;

/// All lanes need the only node of a pool, and none is told that it is exhausted, as the node comes back.
#[test]
fn the_lanes_of_a_warp_share_the_last_node_of_a_pool_in_their_turns() {
    for (queue_after, warp_width) in [(1, 8), (3, 8), (2, 4), (4, 32)] {
        for seed in 0..20 {
            let config = SimConfig::of(warp_width, Schedule::Random).with_seed(seed);
            let sim = Sim::new(config);
            let pool = Pool::new(&sim, 1, "pool").unwrap();
            let hot = array::<Fast, u32, _>(&sim, &[0], "hot");
            let (nodes, words) = (pool.view(), hot.view::<Fast>());
            let launch = Launch::new(2, warp_width);
            let done = launched::<Fast>(&sim, launch, queueing(queue_after), |lane, stm| {
                stm.for_each(lane, 0..BORROWERS, |tx, _| {
                    let node = tx.alloc(&nodes)?;
                    let count = tx.read(&words, 0)?;
                    tx.write(&words, 0, count + 1)?;
                    tx.free(&nodes, node)
                });
            });
            assert_eq!(done.commits, BORROWERS);
            assert_eq!(hot.download().unwrap(), [BORROWERS as u32]);
        }
    }
}

const EACH: u64 = 6;
const THREADS: u32 = 8;

/// Returns how many rounds two warps of a block were apart at most, in blocks of so many threads and warps of so
/// many lanes. Each transaction needs one attempt, as it has a word of its own.
fn apart<A: Algorithm>(in_step: bool, (threads, width): (u32, u32), seed: u64) -> u64 {
    let transactions = u64::from(2 * threads) * EACH;
    let first = [0, u64::MAX - transactions][seed as usize % 2];
    let config = SimConfig::of(width, Schedule::Random).with_seed(seed);
    let sim = Sim::new(config.with_memory(MemoryModel::Sequential));
    let words = array::<A, u32, _>(&sim, &vec![0; transactions as usize], "words");
    let view = words.view::<A>();
    // The attempts that each lane has begun, and how far two of a block were apart.
    let begun = vec![Cell::new(0_u64); 2 * threads as usize];
    let most = Cell::new(0);
    let shape = Launch::new(2, threads);
    let done = launched::<A>(&sim, shape, StmConfig::default(), |lane, stm| {
        let block = (lane.block_index() * threads) as usize;
        stm.loops(lane)
            .in_step_if(in_step)
            .then(|_| {
                let all = || begun[block..][..threads as usize].iter().map(Cell::get);
                let apart = all().max().unwrap() - all().min().unwrap();
                most.set(apart.max(most.get()));
            })
            .each(first..first + transactions, |tx, i| {
                let mine = &begun[lane.grid_thread() as usize];
                mine.set(mine.get() + 1);
                let word = tx.read(&view, i - first)?;
                tx.write(&view, i - first, word + 1)
            });
    });
    assert_eq!(done.commits, transactions);
    assert!(words.download().unwrap().iter().all(|&word| word == 1));
    most.get()
}

#[test]
fn warps_in_step_are_never_two_rounds_apart_and_free_ones_are() {
    // The last warp of a block may be short.
    for shape in [(THREADS, 2), (7, 2), (7, 4), (5, 4), (3, 2)] {
        for seed in 0..40 {
            assert!(apart::<Fast>(true, shape, seed) <= 1, "{shape:?}");
            assert!(apart::<FastTable>(true, shape, seed) <= 1, "{shape:?}");
        }
    }
    let free = (0..40).map(|seed| apart::<Fast>(false, (THREADS, 2), seed));
    assert!(free.max() > Some(1), "free warps stay together");
}
