//! List: one sorted list, with nodes from a pool.

mod driver;
mod input;
mod options;

pub use driver::ListData;
pub use input::List;
pub use options::Options;
