//! Pool: nodes are allocated and freed, and nothing else.

mod driver;
mod input;
mod section;

pub use driver::PoolData;
pub use input::Pool;
