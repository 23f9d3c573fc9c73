//! Pool: nodes are allocated and freed, and nothing else.

mod driver;
mod input;
mod options;
mod section;

pub use driver::PoolData;
pub use input::Pool;
pub use options::Options;
