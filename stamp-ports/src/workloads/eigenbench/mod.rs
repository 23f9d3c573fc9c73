//! `EigenBench`: every characteristic of a transaction, each set alone.

mod check;
mod driver;
mod floor;
mod input;
mod options;

pub use driver::EigenbenchData;
pub use input::Eigenbench;
pub use options::Options;
