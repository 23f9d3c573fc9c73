//! Words of memory.

mod access;
pub mod word;

#[doc(hidden)]
pub use access::Word;
pub use word::{Element, WordAddress};
