//! Alignment of two sequences: a transaction for each cell of the matrix, which waits for its
//! neighbours, and the same by tiles.

mod driver;
mod input;
mod tiles;

pub use driver::NwData;
pub use input::Options;
pub use input::{Nw, linear_nucleotides, random_codes};
pub use tiles::cut_of_paper;
