//! Who has arrived where lanes wait for each other.

use super::op::Op;
use super::views::NONE;

/// Lanes that have arrived at one operation with one mask.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    pub(super) op: Op,
    pub(super) mask: u32,
    pub(super) arrived: u32,
}

/// The meetings of a warp's lanes at warp operations.
#[derive(Default)]
pub(super) struct Warp {
    pub(super) open: Vec<Meeting>,
    pub(super) ended: u32,
}

impl Warp {
    /// Returns the lanes at an operation with a mask.
    pub(super) fn arrived(&self, op: Op, mask: u32) -> u32 {
        self.open
            .iter()
            .find(|m| m.op == op && m.mask == mask)
            .map_or(0, |m| m.arrived)
    }
}

/// A block's barrier.
#[derive(Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) arrived: u32,
    /// The operation at which they are, if some have arrived.
    pub(super) op: Option<Op>,
    /// How many of them have a predicate that holds.
    pub(super) votes: u32,
    /// One more than a lane that has ended, or 0.
    pub(super) ended: u32,
}

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
