//! What a named barrier of a block knows.

use super::views::NONE;

/// The number of a block's barriers. Barrier 0 is that of the whole block.
pub(super) const BARRIERS: u32 = 16;

/// A named barrier of a block.
#[derive(Clone)]
pub(super) struct Named {
    /// The threads that are to come, as the first one said.
    pub(super) threads: u32,
    pub(super) arrived: u32,
    /// The lanes that wait.
    pub(super) waiting: Vec<u32>,
    /// What those did that have come, for those that wait.
    pub(super) view: u32,
}

impl Named {
    /// A barrier to which nobody has come.
    pub(super) const EMPTY: Self = Self {
        threads: 0,
        arrived: 0,
        waiting: Vec::new(),
        view: NONE,
    };
}
