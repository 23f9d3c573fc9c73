//! Host drivers of the workloads, and all of the program `stamp` but a call of [`main_of`].
//!
//! | module | is |
//! | --- | --- |
//! | `cli` | the command line and the commands; nothing depends on it |
//! | [`paper`] | `bench paper`: everything that the paper shows, in one document |
//! | [`report`] | `report`: the page and the figures about that document |
//! | `tables` | `report --tables`: the tables of the documents, from the result files |
//! | [`measure`] | measurements, the search for the best launch, the same without transactions |
//! | [`workloads`] | the workloads, each in a folder |
//! | `faults` | `faults`: faults injected on a device, and what the user sees |
//! | `nw` | `bench nw`: ways of filling the tables of alignments |
//! | [`record`] | recorded histories of the workloads |
//! | `soak` | `soak`: mixed workloads and faults for long |
//! | `against` | `bench against`: this program beside one of an earlier commit |
//! | `child` | a program in a child process |
//! | `sync` | `bench sync`: locks, barriers and semaphores, and workloads under locks |
//! | `points` | points of a measurement |
//! | `head` | what every document of measurements begins with: where its figures come from |
//! | [`store`] | a document of measurements on disk |
//! | [`variants`] | the variants' names, and from a name to an algorithm |
//! | [`devices`] | the devices found, and the choice of one |
//! | `prelude` | what most modules use |
//! | `output` | tables for people |
//! | `out_file` | files written whole |
//! | `numbers` | numbers as people write them: `8M`, `2^20`, and back |

#![allow(clippy::missing_errors_doc)] // Every error is an `Error`, and the program alone calls this library.

mod against;
mod child;
mod cli;
pub mod devices;
mod error;
mod faults;
mod head;
pub mod measure;
mod numbers;
mod nw;
mod out_file;
mod output;
pub mod paper;
mod points;
mod prelude;
pub mod record;
pub mod report;
mod soak;
pub mod store;
mod sync;
mod tables;
#[cfg(test)]
mod testing;
pub mod variants;
pub mod workloads;

pub use cli::main_of;
pub use error::Error;

/// The kernel in the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
