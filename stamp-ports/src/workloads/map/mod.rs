//! Map: keys inserted, removed and looked up, in nodes from a pool.

mod check;
mod data;
mod driver;
mod input;
mod options;
mod section;

pub use check::RESULTS;
pub use data::{Container, ContainerData};
pub use driver::MapData;
pub use input::Map;
pub(super) use input::check_operations;
pub use options::Options;
pub(super) use section::{OfOperations, section};
