//! Needleman-Wunsch: the best global alignment of two sequences (Needleman and Wunsch
//! 1970), with linear and affine gaps (Gotoh 1982).
//!
//! A [`scorer::Scorer`] fills tables on the cores of the host, or on a device of `stm-machine` by
//! kernels that pass borders on through channels of `stm-sync`, and [`divide`] makes alignments of
//! them. `stamp nw` is the program for it.
//!
//! | module | is |
//! | --- | --- |
//! | `fasta` | sequences, read from FASTA, and files of text: ends of lines, marks, other formats |
//! | `matrix` | letters, and the codes that kernels use for them; scores of pairs of letters, built in or read from a file; the cost of gaps |
//! | `align` | the alignment on the host, in linear memory (Myers and Miller 1988), in short, and for people |
//! | `scorer` | what fills large tables: a device, or all cores of the host |
//! | `dataflow` | tables filled on a device by one launch |
//! | `diagonals` | tables filled on a device by diagonals of tiles |
//! | `divide` | pairs of sequences, read and checked; alignments of batches of them, of which a scorer fills the tables |

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

/// A table to fill: the codes of A, whose letters are the rows, those of B, whose letters are the
/// columns, whether both are read from their ends, and what it costs to open a gap below letters of A
/// that begins with the first row.
pub use stm_kernels::nw::layout::Table as Pass;
