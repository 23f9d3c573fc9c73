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
#[path = "../common/recorded.rs"]
mod recorded;
mod schedules;
mod step;
mod stm;
mod teams;
mod updates;
mod waiting;
mod wide_cells;

use asserts::{assert_is, of_each};
