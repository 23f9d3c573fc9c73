//! Needleman-Wunsch: the best global alignment of two sequences (Needleman and Wunsch 1970), with linear and
//! affine gaps (Gotoh 1982), in linear memory (Myers and Miller 1988).
//!
//! A [`scorer::Scorer`] fills tables on the cores of the host, or on a device of `stm-machine` by kernels
//! that pass borders on through channels of `stm-sync`, in one launch ([`dataflow`]) or by diagonals of tiles
//! ([`diagonals`]); [`divide`] makes alignments of them. `stamp nw` is the program for it.

pub mod align;
pub mod dataflow;
pub mod diagonals;
pub mod divide;
pub mod fasta;
pub mod matrix;
pub mod scorer;

use stm_machine::host;

/// An error of an alignment. Its text is one line that names the value and the fix.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum Error {
    /// What was given cannot be used, explained.
    #[error("{0}")]
    Usage(String),
    /// Tables of alignments that contradict one another.
    #[error("{scorer} filled tables that cannot be right: {what}")]
    WrongTables {
        /// What filled them.
        scorer: String,
        /// What is wrong with them.
        what: String,
    },
    /// The device or a launch.
    #[error(transparent)]
    Host(#[from] host::Error),
}

/// The result of what can go wrong so.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A table to fill: the codes of A, whose letters are the rows, those of B, whose letters are the columns,
/// whether both are read from their ends, and what it costs to open a gap below letters of A that begins with
/// the first row.
pub use stm_kernels::nw::layout::Table as Pass;
