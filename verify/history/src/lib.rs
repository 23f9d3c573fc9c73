//! What transactions did in a recorded launch, and whether it was right.
//!
//! `verify` has these modules too, under the same names, but for [`out_file`], and is what a user depends on. They
//! are a crate of their own because the program `stamp` judges histories without the simulator.

pub mod error;
pub mod history;
pub mod named;
pub mod opacity;
pub mod out_file;
pub mod page;
