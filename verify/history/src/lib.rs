//! What transactions did in a recorded launch, and whether it was right.
//!
//! `verify` has these modules too, under the same names, and is what a user depends on. They are a
//! crate of their own because the program `stamp` judges histories without the simulator.
//!
//! | module | is |
//! | --- | --- |
//! | [`history`] | what transactions did, and files of it |
//! | [`opacity`] | whether every attempt saw a state that existed |
//! | [`named`], [`page`] | findings in the words of the program, and as a page |
//! | [`error`] | why a history could not be recorded, read or judged |

pub mod error;
pub mod history;
pub mod named;
pub mod opacity;
pub mod page;
