//! The layout of memory: where each bit lies.
//!
//! | file | contains |
//! | --- | --- |
//! | `word` | of `stm-machine`: the address of a word, and how a lane loads and stores it |
//! | `version` | versions, lock words and cell words |
//! | `stripe` | the map from an address to an entry of the lock table |
//! | [`globals`] | the clock, the gate's word and the rest of the global metadata |
//! | `logs` | the logs of each lane |
//! | `bloom` | the filter over the words of a set |
//!
//! Invariant: everything here is all zero at the start, except the logs, whose
//! contents never matter before they are stored.

pub(crate) mod bloom;
pub mod globals;
pub(crate) mod logs;
pub(crate) mod stripe;
pub(crate) mod version;

pub use logs::Capacity;
pub(crate) use stm_machine::memory::word;
pub use version::Version;
pub use word::{Element, WordAddress};
