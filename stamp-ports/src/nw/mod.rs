//! `stamp bench nw`: ways of filling the tables of alignments, compared. The alignments themselves
//! are in the crate `stm-align`, and `stamp nw` is `cli::nw`.

pub mod bench;
