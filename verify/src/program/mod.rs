//! Random and directed transaction programs: small enough to be understood when
//! they fail, run on the simulator and judged whole.
//!
//! A [`Program`] is a launch shape, a few shared words with their stripes and locks, and a list of
//! transactions, each a list of [`Op`]s without branches other than alternatives. A [`Case`] adds
//! the variant, a seeded defect if any, and the simulation: it is everything that decides a run,
//! and its text replays it.
//!
//! | file | is |
//! | --- | --- |
//! | `case.rs` | the data, and what the words of a silent program keep to |
//! | `alternatives.rs` | alternatives inside transactions, and whether sets are full |
//! | `line.rs` | a case as one line of text |
//! | `kernel.rs` | the kernel that interprets a program |
//! | `run.rs` | a run on the simulator |
//! | `silent.rs` | invariants that transactions check themselves, in runs without a recorder |
//! | `failure.rs` | what a run can find |
//! | `judge.rs` | the history against the program |
//! | `generate.rs` | random programs and simulations |
//! | `directed.rs` | a program for every known hole |
//! | `shrink.rs` | smaller cases that fail as well |

mod alternatives;
pub mod case;
pub mod directed;
pub mod generate;
mod judge;
mod kernel;
mod line;
pub mod run;
pub mod shrink;
pub mod silent;

pub use crate::failure::{self, Failure, FailureKind};
pub use case::{Case, Invariant, Loop, Op, Program, Value, WORDS_MAX, Widths, Words};
pub use run::{Done, Shown, run, run_shown};
