//! What transactions did in a recorded launch, and whether it was right.
//!
//! `verify` has these modules too, under the same names, and is what a user depends on. They are a
//! crate of their own because the program `stamp` judges histories without the simulator.

pub mod error;
pub mod history;
pub mod named;
pub mod opacity;
pub mod page;
