//! Where bits lie: words and their versions, the lock table, the metadata that all
//! transactions share, and the logs of each lane.

pub(crate) mod access;
pub(crate) mod bloom;
pub mod globals;
pub(crate) mod logs;
pub(crate) mod stripe;
pub(crate) mod version;
pub(crate) mod word;

pub use logs::Capacity;
pub use version::Version;
pub use word::{Element, WordAddress};
