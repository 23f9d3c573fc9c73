//! Words of memory.
//!
//! | file | contains |
//! | --- | --- |
//! | `word`, `access` | the address of a word, and how a lane loads and stores it |

mod access;
pub mod word;

pub use word::{Element, WordAddress};
