//! Operations on a container: keys inserted, removed and looked up, in nodes from a pool.
//!
//! `map`, `ordered` and `list` are this workload with a container each ([`kinds`]).

mod check;
mod data;
mod input;
pub mod kinds;
mod operations;

pub use data::{Container, ContainerData};
pub use kinds::{List, Map, Ordered};
pub use operations::{Kind, Operations};
