//! Rounds in step: the warps of a block begin their attempts together.

use crate::assert_is;
use crate::recorded::{array, ended, launched};
use std::cell::Cell;
use stm_core::Lane;
use stm_core::algorithm::{Algorithm, Fast, FastTable};
use stm_core::host::{Error, Launch, StmConfig};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Transactions of a lane.
const EACH: u64 = 6;
const THREADS: u32 = 8;

/// Returns how many rounds two warps of a block were apart at most.
fn apart<A: Algorithm>(in_step: bool, transactions: u64, seed: u64) -> u64 {
    paces::<A>(in_step, (THREADS, 2), transactions, seed)
}

/// The same with blocks of so many threads in warps of so many lanes. The transactions are on
/// words of their own, so that each needs one attempt.
fn paces<A: Algorithm>(
    in_step: bool,
    (threads, width): (u32, u32),
    transactions: u64,
    seed: u64,
) -> u64 {
    let sim = Sim::new(SimConfig {
        memory: MemoryModel::Sequential,
        seed,
        ..SimConfig::of(width, Schedule::Random)
    });
    let words = array::<A, u32>(&sim, &vec![0; transactions as usize], "words");
    let view = words.view::<A>();
    // The attempts that each lane has begun, and how far two of a block were apart.
    let begun = vec![Cell::new(0_u64); 2 * threads as usize];
    let most = Cell::new(0);
    let shape = Launch::new(2, threads);
    let done = launched::<A>(&sim, shape, StmConfig::default(), |lane, stm| {
        let stm = stm.in_step_if(in_step);
        let block = (lane.block_index() * threads) as usize;
        stm.for_each_then(
            lane,
            0..transactions,
            |tx, i| {
                let mine = &begun[lane.grid_thread() as usize];
                mine.set(mine.get() + 1);
                let word = tx.read(&view, i)?;
                tx.write(&view, i, word + 1)
            },
            |_| {
                let all = || begun[block..][..threads as usize].iter().map(Cell::get);
                let apart = all().max().unwrap() - all().min().unwrap();
                most.set(apart.max(most.get()));
            },
        );
    });
    assert_eq!(done.commits, transactions);
    assert!(words.download().unwrap().iter().all(|&word| word == 1));
    most.get()
}

#[test]
fn warps_in_step_are_never_two_rounds_apart_and_free_ones_are() {
    let all = u64::from(2 * THREADS) * EACH;
    for seed in 0..40 {
        assert!(apart::<Fast>(true, all, seed) <= 1, "seed {seed}");
        assert!(apart::<FastTable>(true, all, seed) <= 1, "seed {seed}");
    }
    let free = (0..40).map(|seed| apart::<Fast>(false, all, seed)).max();
    assert!(free > Some(1), "the schedules keep free warps together");
}

#[test]
fn a_block_leaves_the_step_where_the_transactions_do_not_suffice() {
    // Blocks without a transaction for each lane, and ranges that end inside of a
    // warp, of a block and of a round.
    for transactions in [1, 2, 7, 9, 15, 16, 17, 23, 24, 31, 33, 47, 49] {
        for seed in 0..10 {
            apart::<Fast>(true, transactions, seed);
            apart::<FastTable>(true, transactions, seed);
        }
    }
}

#[test]
fn blocks_whose_last_warp_is_short_go_in_step() {
    for shape in [(7, 2), (7, 4), (5, 4), (3, 2)] {
        let all = u64::from(2 * shape.0) * EACH;
        for seed in 0..20 {
            assert!(paces::<Fast>(true, shape, all, seed) <= 1, "{shape:?}");
            paces::<Fast>(true, shape, all + 1, seed);
        }
    }
}

/// Makes a launch of transactions in step on one word, of which one reads past the end if there
/// is to be a fault, and returns its commits and the word.
fn crowd<A: Algorithm>(
    fault: bool,
    (from, to): (u64, u64),
    seed: u64,
) -> Result<(u64, u32), Error> {
    let schedule = [Schedule::Random, Schedule::Lockstep][seed as usize / 2 % 2];
    let sim = Sim::new(SimConfig::of([2, 4][seed as usize % 2], schedule).with_seed(seed));
    let words = array::<A, u32>(&sim, &[0], "the word");
    // Tickets are drawn all the time.
    let mut config = StmConfig::default();
    config.retry_limits.queue_after = 1;
    let view = words.view::<A>();
    let done = ended::<A>(&sim, Launch::new(2, THREADS), config, |lane, stm| {
        let stm = stm.in_step();
        stm.for_each(lane, from..to, |tx, i| {
            let past = fault && i == from + 20;
            let word = tx.read(&view, u64::from(past))?;
            tx.write(&view, 0, word + 1)
        });
    })?;
    Ok((done.commits, words.download()?[0]))
}

#[test]
fn transactions_in_step_that_all_conflict_end_through_the_queue() {
    for seed in 0..40 {
        let done = crowd::<Fast>(false, (0, 48), seed).unwrap();
        assert_eq!(done, (48, 48), "seed {seed}");
        let done = crowd::<FastTable>(false, (0, 48), seed).unwrap();
        assert_eq!(done, (48, 48), "seed {seed}");
    }
}

#[test]
fn a_fault_in_one_warp_ends_the_launch_of_blocks_in_step() {
    for seed in 0..40 {
        let error = crowd::<Fast>(true, (0, 48), seed).unwrap_err();
        assert_is!(error, Error::OutOfRange { .. });
    }
}

#[test]
fn a_range_that_ends_at_the_last_number_is_not_too_long_for_its_block() {
    for seed in 0..20 {
        let done = crowd::<Fast>(false, (u64::MAX - 5, u64::MAX), seed).unwrap();
        assert_eq!(done, (5, 5), "seed {seed}");
    }
}
