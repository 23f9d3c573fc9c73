//! HT, hash table: each transaction inserts several keys, all or none.

mod check;
mod driver;
mod floor;
mod input;
mod locked;

pub use driver::HtData;
pub use input::Options;
pub use input::{Ht, NodeSource};
