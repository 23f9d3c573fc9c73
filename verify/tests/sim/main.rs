//! The simulator, the transactional memory on it, random and directed programs, and seeded defects.

use asserts::{assert_is, of_each, shared, under_all};
use stm_core::host::{Buffer, Device, Launch};
use stm_kernels::machine::{
    Accesses, AccessesParams, Operation, RandomAccesses, RandomAccessesParams, Width,
};
use verify::program::{Case, Done, Failure, run};
use verify::sim::{Op, Sim, SimConfig};

#[path = "../../../stm-core/tests/common/asserts.rs"]
mod asserts;
mod errors;
mod gate;
mod litmus;
mod mutants;
mod plain_accesses;
mod pool;
#[path = "../../../stm-core/tests/kernels/pool.rs"]
mod pool_kernels;
mod programs;
#[path = "../../../stm-core/tests/kernels/queues.rs"]
mod queues;
#[path = "../common/recorded.rs"]
mod recorded;
mod schedules;
#[path = "../../../stm-core/tests/kernels/teams.rs"]
mod team_kernels;
mod teams;
mod updates;
mod waiting;
mod wide_cells;

/// Runs the case of a line, which must find nothing.
#[track_caller]
fn passes(line: &str) -> Done {
    let case: Case = line.parse().unwrap();
    run(&case).unwrap_or_else(|failure| panic!("{failure}\n{}", case.command()))
}

/// Returns the first of some cases that fails, and what it finds.
fn first_failure(mut cases: impl Iterator<Item = Case>) -> Option<(Case, Failure)> {
    cases.find_map(|case| run(&case).err().map(|failure| (case, failure)))
}

/// Asserts that the line of a case finds the same as the case. Names of nodes depend on the pools
/// that the process has made before, so this is the kind of the failure.
#[track_caller]
fn assert_replays(case: &Case, failure: &Failure) {
    let replayed: Case = case.to_string().parse().unwrap();
    let kind = run(&replayed).map_err(|failure| failure.kind);
    assert_eq!(kind.err(), Some(failure.kind), "{case}");
}

/// Returns the lines of a part of a text whose parts begin with the name of a test.
fn section(text: &'static str, name: &str) -> std::str::Lines<'static> {
    let mut parts = text.split("\n\n");
    let part = parts.find(|part| part.lines().next() == Some(name));
    part.unwrap_or_else(|| panic!("{name} is not there"))
        .lines()
}

/// Makes a test of each part of a text, by a function that gets its name.
macro_rules! sections {
    ($run:ident: $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                $run(&stringify!($test).replace('_', " "));
            }
        )*
    };
}
use sections;

/// Returns a simulator with accesses of 128 bits.
fn sim() -> Sim {
    let config = SimConfig::default().with_width(4);
    Sim::new(config.with_wide_atomics(true))
}

/// Returns how often the last launch executed an operation.
fn count(sim: &Sim, op: Op) -> u64 {
    sim.last_run().expect("a launch").0.count(op)
}

#[test]
fn the_first_thread_of_each_block_makes_the_accesses_and_nobody_else() {
    let (blocks, accesses) = (3, 40);
    for stride in [0, 64] {
        for (operation, op) in [
            (Operation::Load, Op::LoadRelaxed32),
            (Operation::Store, Op::StoreRelaxed32),
            (Operation::Add, Op::FetchAddRelaxed32),
            (Operation::Swap, Op::CasRelaxed32),
        ] {
            for after_atomic in [false, true] {
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
                let launch = Launch::new(blocks, 5);
                // SAFETY: the buffers live in this simulator.
                unsafe { sim.launch::<Accesses>(&launch, &params) }.unwrap();
                let made = u64::from(blocks * accesses);
                let result = u64::from(op == Op::StoreRelaxed32) * u64::from(blocks);
                let first = op == Op::FetchAddRelaxed32 && after_atomic;
                let first = u64::from(first) * u64::from(blocks);
                assert_eq!(count(&sim, op), made + result + first, "{operation:?}");
                assert_eq!(words.download().unwrap(), vec![0; len]);
            }
        }
    }
}

#[test]
fn random_accesses_of_each_width_stay_inside_and_reach_all_words() {
    use {Operation::Add, Operation::Load, Operation::Store, Operation::Swap};
    for (operation, width, op) in [
        (Load, Width::Bits32, Op::LoadRelaxed32),
        (Load, Width::Bits64, Op::LoadRelaxed64),
        (Load, Width::Bits128, Op::LoadRelaxed128),
        (Store, Width::Bits64, Op::StoreRelaxed64),
        (Store, Width::Bits128, Op::StoreRelaxed128),
        (Add, Width::Bits32, Op::FetchAddRelaxed32),
        (Add, Width::Bits64, Op::FetchAddRelaxed64),
        (Swap, Width::Bits32, Op::CasRelaxed32),
        (Swap, Width::Bits64, Op::CasRelaxed64),
        (Swap, Width::Bits128, Op::CasRelaxed128),
    ] {
        for len in [2, 16] {
            let sim = sim();
            let words = Buffer::<_, u64>::zeroed(&sim, len, "words").unwrap();
            let results = Buffer::<_, u32>::zeroed(&sim, 12, "results").unwrap();
            let mut params = RandomAccessesParams {
                words: words.tarray(),
                results: results.tarray(),
                accesses: 24,
                operation,
                width,
                zero: 0,
            };
            let launch = Launch::new(2, 6);
            // SAFETY: the buffers live in this simulator.
            unsafe { sim.launch::<RandomAccesses>(&launch, &params) }.unwrap();
            assert_eq!(count(&sim, op), 12 * 24, "{operation:?} {width:?}");
            assert_eq!(words.download().unwrap(), vec![0; len]);
            if operation == Store && width == Width::Bits64 {
                params.zero = 1;
                // SAFETY: as above.
                unsafe { sim.launch::<RandomAccesses>(&launch, &params) }.unwrap();
                assert_eq!(words.download().unwrap(), vec![1; len], "all are reached");
            }
        }
    }
}
