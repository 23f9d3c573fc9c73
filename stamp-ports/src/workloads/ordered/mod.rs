//! Ordered: an ordered map, with nodes from pools.

mod driver;
mod input;
mod options;

pub use driver::OrderedData;
pub use input::Ordered;
pub use options::Options;
