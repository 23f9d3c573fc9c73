//! What a verification says.

use crate::error::Result;

/// What is wrong with what a run left, on one line; `None` if it is right.
pub type Verdict = Result<Option<String>>;

/// What a check returns, of whatever else it says.
pub(super) trait Wrong {
    /// Says what is wrong, on one line.
    fn wrong(what: String) -> Self;
}

impl Wrong for Option<String> {
    fn wrong(what: String) -> Self {
        Some(what)
    }
}

impl<T> Wrong for std::result::Result<T, String> {
    fn wrong(what: String) -> Self {
        Err(what)
    }
}

impl Wrong for Verdict {
    fn wrong(what: String) -> Self {
        Ok(Some(what))
    }
}
