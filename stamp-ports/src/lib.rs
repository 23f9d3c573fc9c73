//! Host drivers of the workloads, and all of the program `stamp` but a call of [`main_of`].
//!
//! `cli` has the command line and the commands, and nothing depends on it. Most commands have a module of
//! their name; `paper`, `sync`, `nw` and `against` are those of `bench`, and `tables` is `report --tables`.
//! [`measure`] measures the [`workloads`], each a folder, on the [`devices`]. A document of measurements
//! ([`store`]) begins with a `head` and has `points`. The other modules are files for what their names say.

mod against;
mod child;
mod cli;
pub mod devices;
mod error;
mod external_prelude;
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
#[path = "../tests/prelude/testing.rs"]
mod testing;
pub mod variants;
pub mod workloads;

pub use cli::main_of;
pub use error::Error;

/// The kernel in the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
