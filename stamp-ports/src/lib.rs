//! Host drivers of the workloads: make the input, launch, verify the result,
//! measure, report. The program `stamp` is [`main_of`] around its arguments.
//!
//! | module | is |
//! | --- | --- |
//! | [`cli`] | the command line |
//! | [`numbers`] | numbers as people write them: `8M`, `2^20`, and back |
//! | [`devices`] | the devices found, and the choice of one |
//! | [`variants`] | the variants' names, and from a name to an algorithm's type |
//! | [`workload`] | what a workload is |
//! | [`ra`], [`ht`], [`bank`], [`eigenbench`], [`genome`], [`labyrinth`], [`kmeans`] | the workloads |
//! | [`workloads`] | any of them, by name |
//! | [`options`] | the parameters of workloads with many |
//! | [`alias`] | tables for draws that are not uniform |
//! | [`launches`] | default launches and sizes, all in one file |
//! | [`runner`] | one measurement: reset, launch, verify, repeat |
//! | [`timed`] | one run: its launches, their times and statistics summed |
//! | [`commands`] | `run`, `list`, `device`, and no arguments at all |
//! | [`tune`] | the search for the best launch |
//! | [`floor`] | the same without transactions, measured beside |
//! | [`out_file`] | the file that the search writes |
//! | [`paper`] | `bench paper`: everything that the paper shows, in one document |
//! | [`report`] | `report`: the page and the figures about that document |
//! | [`output`] | tables for people, JSON for programs |
//! | [`profile`] | where the lanes' time goes, and what it costs to ask |
//! | [`progress`] | a spinner on standard error, when somebody may be watching |

pub mod alias;
pub mod bank;
pub mod cli;
pub mod commands;
pub mod devices;
pub mod eigenbench;
pub mod error;
pub mod floor;
pub mod genome;
pub mod ht;
pub mod kmeans;
pub mod labyrinth;
pub mod launches;
pub mod numbers;
pub mod options;
pub mod out_file;
pub mod output;
pub mod paper;
pub mod profile;
pub mod progress;
pub mod ra;
pub mod report;
pub mod runner;
pub mod timed;
pub mod tune;
pub mod variants;
pub mod workload;
pub mod workloads;

pub use commands::main_of;
pub use error::Error;

/// The kernel in the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
