//! Random and directed transaction programs: small enough to be understood when they fail, run on the
//! simulator and judged whole.
//!
//! A [`Program`] is a launch shape, a few words with their stripes and locks, and a list of transactions,
//! each a list of [`Op`]s without branches other than alternatives. A [`Case`] adds the variant, a seeded
//! defect if any, and the simulation.

pub mod case;
mod check;
pub mod directed;
pub mod generate;
mod judge;
mod kernel;
mod line;
pub mod run;
pub mod shrink;
pub mod silent;

pub use crate::failure::{self, Failure, FailureKind};
pub use case::{Act, Case, Invariant, Loop, Op, Program, Value, WORDS_MAX, Widths, flat};
pub use run::{Ran, ran, run};
