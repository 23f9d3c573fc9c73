//! Sorted: all threads insert into one sorted list with entry points, by transactions or
//! under locks.

mod driver;
mod input;
mod locked;

pub use driver::SortedData;
pub use input::{Options, Sorted};
