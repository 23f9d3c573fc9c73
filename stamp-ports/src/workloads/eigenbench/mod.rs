//! `EigenBench`: every characteristic of a transaction, each set alone.

mod check;
mod driver;
mod floor;
mod input;

pub use driver::EigenbenchData;
pub use input::{Eigenbench, Options};
