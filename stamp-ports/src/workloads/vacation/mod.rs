//! Vacation, STAMP's travel agency: the host's side.
//!
//! Every result is checked without a replay, from the note that each transaction
//! stores (`check.rs`): no record has lost or gained a place, the customers' lists
//! and the tables agree, and every reservation that was made is in a list at the end
//! or was cancelled with its customer.

mod books;
mod check;
mod data;
mod driver;
mod input;
#[cfg(test)]
mod model;
mod section;

pub use data::VacationData;
pub use input::{Options, Vacation};
