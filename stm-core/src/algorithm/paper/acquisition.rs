//! Acquisition schemes: in which order, and how often, a commit tries to lock.

use crate::algorithm::contract::Sealed;

/// An acquisition scheme.
pub trait Acquisition: Sealed + Copy + Send + Sync + 'static {
    /// Says whether the lock log is sorted and the locks are acquired in that order.
    const ORDERED: bool;
    /// Says whether the lanes of a warp take turns after a failure.
    const IN_TURN: bool;
    /// Says whether a commit keeps its earlier locks while it waits for an owned one.
    const WAITS: bool;
    /// Says whether one lane of a block runs all of the block's transactions.
    const BLOCK: bool;
}

/// Locks in ascending order of stripes, the same for all transactions (section
/// 3.1, "encounter-time lock-sorting"). Among transactions that fail, the one
/// that holds the highest contended lock has lost to a transaction that got
/// further, so some transaction always commits.
#[derive(Clone, Copy, Debug)]
pub struct Sorted;

/// Locks in the order of first access; on failure the lanes of the warp retry
/// one after the other (section 4.2, `STM-HV-Backoff`).
#[derive(Clone, Copy, Debug)]
pub struct Backoff;

/// Locks in the order of first access and waits for each one: the blocking scheme of Cederman et
/// al. 2010, one transaction a block. The wait is bounded, which resolves a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Blocking;

impl Sealed for Sorted {}
impl Acquisition for Sorted {
    const ORDERED: bool = true;
    const IN_TURN: bool = false;
    const WAITS: bool = false;
    const BLOCK: bool = false;
}

impl Sealed for Backoff {}
impl Acquisition for Backoff {
    const ORDERED: bool = false;
    const IN_TURN: bool = true;
    const WAITS: bool = false;
    const BLOCK: bool = false;
}

impl Sealed for Blocking {}
impl Acquisition for Blocking {
    const ORDERED: bool = false;
    const IN_TURN: bool = false;
    const WAITS: bool = true;
    const BLOCK: bool = true;
}
