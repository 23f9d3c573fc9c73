//! Programs in jq, which find in measured data what claims, pages and tables of documents say.
//!
//! [`jaq_core`] runs them. Its values are [`Val`]: JSON in which null is what was not measured.
//! It has no elements, arithmetic with it is null, a text with null in it is null, and no comparison
//! with it but `==` and `!=` holds. So a sentence or a number is known if all that it names is.
//!
//! A program asks for the values of a [`Sets`] by their names, `$points`, or for a result file,
//! `file("h200/fast.json")`. What it may call are the few definitions of `jaq_core`, the functions
//! `where`, `distinct`, `sort`, `length`, `tonumber`, `log`, `exp`, `sqrt` and `file`, and what its
//! [`Language`] adds.
//!
//! A crate of its own, as this is where the time of a report goes: it is optimised in every build.

mod natives;
mod sets;
mod val;

pub use natives::number;
pub use sets::{Data, Language, Native, Running, Sets};
pub use val::{Error, Val};

use jaq_core::load::parse;

impl Language {
    /// Reads the definitions.
    ///
    /// # Panics
    /// Panics if they are not in jq.
    pub fn new(prelude: &'static str, natives: impl IntoIterator<Item = Native>) -> Self {
        let prelude = parse(prelude, |p| p.defs());
        Self {
            prelude: prelude.expect("definitions are in jq"),
            natives: natives::natives().into_iter().chain(natives).collect(),
        }
    }
}
