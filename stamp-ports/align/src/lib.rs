//! Needleman-Wunsch: the best global alignment of two sequences (Needleman and Wunsch
//! 1970), with linear and affine gaps (Gotoh 1982).
//!
//! A [`scorer::Scorer`] fills tables on the cores of the host, or on a device of `stm-machine` by
//! kernels that pass borders on through channels of `stm-sync`, and [`divide`] makes alignments of
//! them. `stamp nw` is the program for it.
//!
//! | module | is |
//! | --- | --- |
//! | `fasta` | sequences, read from FASTA |
//! | `input` | files of text: ends of lines, marks, other formats |
//! | `alphabet` | letters, and the codes that kernels use for them |
//! | `matrix` | scores of pairs of letters: built in, or read from a file |
//! | `scoring` | the scores of an alignment: a matrix and the cost of gaps |
//! | `align` | the alignment on the host, in linear memory (Myers and Miller 1988) |
//! | `scorer` | what fills large tables: a device, or the host |
//! | `bands` | a table filled on all cores of the host |
//! | `dataflow` | tables filled on a device by one launch |
//! | `diagonals` | tables filled on a device by diagonals of tiles |
//! | `divide` | alignments of batches of pairs, of which a scorer fills the tables |
//! | `pairs` | pairs of sequences, read and checked |
//! | `cigar` | an alignment in short, and for people |
//! | `error` | what can go wrong |

pub mod align;
pub mod alphabet;
mod bands;
pub mod cigar;
pub mod dataflow;
pub mod diagonals;
pub mod divide;
pub mod error;
pub mod fasta;
pub mod input;
pub mod matrix;
pub mod pairs;
pub mod pass;
pub mod scorer;
pub mod scoring;
#[cfg(test)]
mod testing;

pub use error::Error;
