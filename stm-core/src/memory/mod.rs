//! The layout of memory: where each bit lies.
//!
//! | file | contains |
//! | --- | --- |
//! | `version` | versions, lock words and cell words |
//! | `stripe` | the map from an address to an entry of the lock table |
//! | [`globals`] | the clock, the gate's word and the rest of the global metadata |
//! | `logs` | the logs of each lane |
//! | `bloom` | the filter over the words of a set |
//!
//! Words and their addresses are those of `stm-machine`. Invariant: everything here is all zero at the start,
//! except the logs, whose contents never matter before they are stored.

pub(crate) mod bloom;
pub mod globals;
pub(crate) mod logs;
pub(crate) mod stripe;
pub(crate) mod version;

pub use logs::Capacity;
pub use stm_machine::{Element, WordAddress};
pub use version::Version;
