//! The simulator, the transactional memory on it, random and directed programs,
//! and seeded defects.

#[path = "../common/asserts.rs"]
mod asserts;
mod captured;
mod directed;
mod errors;
mod foreign;
mod gate;
mod halves;
mod litmus;
mod mutants;
mod plain_accesses;
mod pool;
mod programs;
mod progress;
#[path = "../../../stm-core/tests/kernels/queues.rs"]
mod queues;
#[path = "../common/recorded.rs"]
mod recorded;
mod schedules;
mod step;
mod stm;
#[path = "../../../stm-core/tests/kernels/teams.rs"]
mod team_kernels;
mod teams;
mod updates;
mod waiting;
mod wide_cells;

use asserts::{assert_is, of_each, under_all};

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
