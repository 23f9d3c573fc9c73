//! Sorted: all threads insert into one sorted list with entry points, by transactions or
//! under locks.

mod driver;
mod input;
mod locked;
mod options;

pub use driver::SortedData;
pub use input::Sorted;
pub use options::Options;
