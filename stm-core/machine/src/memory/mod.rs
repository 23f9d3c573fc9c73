//! Words of memory.

pub mod word;

pub use word::{Element, WordAddress};
