//! In which order, and how often, a commit goes for its locks.

/// An acquisition scheme.
pub trait Acquisition: Copy + Send + Sync + 'static {
    /// Whether the lock log is kept sorted and locked in that order.
    const ORDERED: bool;
    /// Whether tries after the first go one lane of the warp at a time.
    const IN_TURN: bool;
    /// Whether a lock found held is waited for with the earlier ones kept.
    const WAITS: bool;
    /// Whether one lane of a block runs all of its transactions.
    const BLOCK: bool;
}

/// Ascending order of stripes, the same for all transactions (section 3.1,
/// "encounter-time lock-sorting"): among transactions that fail, the one that
/// holds the highest contended lock has lost to a transaction that got further,
/// so some transaction always commits.
#[derive(Clone, Copy, Debug)]
pub struct Sorted;

/// The order met; on failure the lanes of the warp try again one after the
/// other (section 4.2, `STM-HV-Backoff`).
#[derive(Clone, Copy, Debug)]
pub struct Backoff;

/// The order met, each lock waited for: the blocking scheme of Cederman et al.
/// 2010, one transaction a block. The wait is bounded, which undoes a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Blocking;

impl Acquisition for Sorted {
    const ORDERED: bool = true;
    const IN_TURN: bool = false;
    const WAITS: bool = false;
    const BLOCK: bool = false;
}

impl Acquisition for Backoff {
    const ORDERED: bool = false;
    const IN_TURN: bool = true;
    const WAITS: bool = false;
    const BLOCK: bool = false;
}

impl Acquisition for Blocking {
    const ORDERED: bool = false;
    const IN_TURN: bool = false;
    const WAITS: bool = true;
    const BLOCK: bool = true;
}
