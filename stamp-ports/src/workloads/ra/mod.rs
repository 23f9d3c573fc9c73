//! RA, random array: each transaction reads random words and adds to some of
//! them.

mod check;
mod driver;
mod floor;
mod input;

pub use driver::RaData;
pub use input::{Options, Ra};
