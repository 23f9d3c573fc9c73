//! Counter: all threads increment counters, by transactions, under locks or neither.

mod driver;
mod input;
mod locked;

pub use driver::CounterData;
pub use input::{Counter, Options};
