//! The simulator, the transactional memory on it, random and directed programs, and seeded defects.

use crate::prelude::*;
use stm_kernels::machine::{
    Accesses, AccessesParams, Operation, RandomAccesses, RandomAccessesParams, Width,
};
use verify::fuzz::on_all_cores;
use verify::program::{Case, Failure, run};
use verify::sim::Op;

mod errors;
mod gate;
mod litmus;
mod mutants;
mod plain_accesses;
#[path = "../common/prelude.rs"]
mod prelude;
mod programs;
mod schedules;
mod teams;
mod waiting;
mod wide_cells;

fn first_failure(mut cases: impl Iterator<Item = Case>) -> Option<(Case, Failure)> {
    cases.find_map(|case| run(&case).err().map(|failure| (case, failure)))
}

/// Asserts that the line of a case finds the same kind: names of nodes depend on pools made before.
#[track_caller]
fn assert_replays(case: &Case, failure: &Failure) {
    let replayed: Case = case.to_string().parse().unwrap();
    let kind = run(&replayed).map_err(|failure| failure.kind);
    assert_eq!(kind.err(), Some(failure.kind), "{case}");
}

/// Runs so many parts of a text on all cores: each has the name of what it shows, and rows.
fn each_part(text: &str, parts: usize, run: impl Fn(&str, Vec<&str>) + Sync) {
    let all = text.split("\n\n").filter(|part| !part.starts_with('#'));
    let all: Vec<_> = all.filter_map(|part| part.split_once('\n')).collect();
    assert_eq!(all.len(), parts);
    on_all_cores(&all, |(name, rows)| run(name, rows.lines().collect()));
}

fn sim() -> Sim {
    let config = SimConfig::default().with_width(4);
    Sim::new(config.with_wide_atomics(true))
}

fn count(sim: &Sim, op: Op) -> u64 {
    sim.last_run().expect("a launch").0.count(op)
}

#[test]
fn the_first_thread_of_each_block_makes_the_accesses_and_nobody_else() {
    let (blocks, accesses) = (3, 40);
    for run in 0..4 {
        let (stride, after_atomic) = ([0, 64][run / 2], run % 2 == 1);
        for (operation, op) in [
            (Operation::Load, Op::LoadRelaxed32),
            (Operation::Store, Op::StoreRelaxed32),
            (Operation::Add, Op::FetchAddRelaxed32),
            (Operation::Swap, Op::CasRelaxed32),
        ] {
            let sim = sim();
            // As short as it may be.
            let len = 2 * stride as usize + 1;
            let words = Buffer::<_, u32>::zeroed(&sim, len, "words").unwrap();
            let results = Buffer::<_, u32>::zeroed(&sim, 3, "results").unwrap();
            let params = AccessesParams {
                words: words.tarray(),
                results: results.tarray(),
                accesses,
                stride,
                operation,
                after_atomic,
                zero: 0,
            };
            // SAFETY: the buffers live in this simulator.
            unsafe { sim.launch::<Accesses>(&Launch::new(blocks, 5), &params) }.unwrap();
            // Each stores its result, and an atomic may come first.
            let more = (op == Op::StoreRelaxed32) || (op == Op::FetchAddRelaxed32 && after_atomic);
            let made = blocks * (accesses + u32::from(more));
            assert_eq!(count(&sim, op), u64::from(made), "{operation:?}");
            assert_eq!(words.download().unwrap(), vec![0; len]);
        }
    }
}

#[test]
fn random_accesses_of_each_width_stay_inside_and_reach_all_words() {
    use Operation::{Add, Load, Store, Swap};
    use Width::{Bits32, Bits64, Bits128};
    for (operation, width, op) in [
        (Load, Bits32, Op::LoadRelaxed32),
        (Load, Bits64, Op::LoadRelaxed64),
        (Load, Bits128, Op::LoadRelaxed128),
        (Store, Bits64, Op::StoreRelaxed64),
        (Store, Bits128, Op::StoreRelaxed128),
        (Add, Bits32, Op::FetchAddRelaxed32),
        (Add, Bits64, Op::FetchAddRelaxed64),
        (Swap, Bits32, Op::CasRelaxed32),
        (Swap, Bits64, Op::CasRelaxed64),
        (Swap, Bits128, Op::CasRelaxed128),
    ] {
        for len in [2, 16] {
            let sim = sim();
            let words = Buffer::<_, u64>::zeroed(&sim, len, "words").unwrap();
            let results = Buffer::<_, u32>::zeroed(&sim, 12, "results").unwrap();
            // Only words of 64 bits that are stored show that all are reached.
            for zero in 0..=u32::from(op == Op::StoreRelaxed64) {
                let params = RandomAccessesParams {
                    words: words.tarray(),
                    results: results.tarray(),
                    accesses: 24,
                    operation,
                    width,
                    zero,
                };
                // SAFETY: the buffers live in this simulator.
                unsafe { sim.launch::<RandomAccesses>(&Launch::new(2, 6), &params) }.unwrap();
                assert_eq!(count(&sim, op), 12 * 24, "{operation:?} {width:?}");
                assert_eq!(words.download().unwrap(), vec![u64::from(zero); len]);
            }
        }
    }
}
