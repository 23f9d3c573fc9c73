//! What a verification says.

use crate::error::Result;

/// What is wrong with what a run left, on one line; `None` if it is right.
pub type Verdict = Result<Option<String>>;
