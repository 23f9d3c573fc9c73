//! Checks of transactional memories: a simulator that is worse than any GPU,
//! recorded histories, an opacity checker, and programs that put them to work.
//!
//! | module | is |
//! | --- | --- |
//! | [`sim`] | a SIMT machine in one thread, with weak memory |
//! | [`history`], [`opacity`] | what transactions did, and whether it was right |
//! | [`program`] | random and directed transaction programs on the simulator |
//! | [`mutants`] | the gate: every seeded defect is caught |
//! | [`fuzz`] | random programs until the time is over |
//! | [`record`](mod@record) | the workloads recorded on any device |
//! | [`rng`] | the source of chance, whose values stay the same |
//! | [`cli`], [`commands`] | the program `verify` |

pub mod cli;
pub mod commands;
pub mod error;
pub mod fuzz;
pub mod history;
pub mod mutants;
pub mod opacity;
pub mod program;
pub mod record;
pub mod rng;
pub mod sim;
mod table;
