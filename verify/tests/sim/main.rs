//! The simulator, the transactional memory on it, random and directed programs,
//! and seeded defects.

#[path = "../../../stm-core/tests/common/asserts.rs"]
mod asserts;
mod errors;
mod gate;
mod litmus;
mod machine;
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

use asserts::{assert_is, of_each, shared, under_all};
use verify::program::{Case, Done, Failure, run};

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
