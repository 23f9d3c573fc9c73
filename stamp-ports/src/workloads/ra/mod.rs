//! RA, random array: each transaction reads random words and adds to some of
//! them.

mod check;
mod driver;
mod floor;
mod input;
mod options;

pub use driver::RaData;
pub use input::Ra;
pub use options::Options;
