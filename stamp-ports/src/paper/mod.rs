//! `stamp bench paper`: everything that the paper shows, measured in one run.

pub mod document;
