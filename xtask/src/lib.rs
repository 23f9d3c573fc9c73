//! What is known about the project's PTX as text.
//!
//! [`split`] cuts the module that the compiler writes into one file an entry
//! point; [`rules`] holds a file to what every shipped file must satisfy;
//! [`statement`] is the reading that both share. The program `xtask` builds and
//! checks with them, and the golden tests of `stm-kernels` use the same
//! [`rules`], so that a rule is stated once.

mod error;
pub mod files;
pub mod rules;
pub mod split;
pub mod statement;

pub use error::Error;
