//! A launch that a search tried.

use super::run_report::RunSpec;
use serde::{Deserialize, Serialize};

/// The note of a launch that was stopped and counts what had committed.
pub const TIME_LIMIT: &str = "stopped at the time limit";

/// A launch that a search tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The workload.
    pub workload: String,
    /// The algorithm.
    pub variant: String,
    /// Version locks.
    pub locks: u64,
    /// Blocks of the launch.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Transactions of the launch.
    pub transactions: u64,
    /// Transactions that committed.
    pub commits: u64,
    /// Attempts that did not.
    pub aborts: u64,
    /// The kernel's time.
    pub time_ms: f64,
    /// Transactions a second; 0 for a launch that did not run.
    pub tx_per_s: f64,
    /// Why the figures are not those of a whole launch, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Tried {
    /// Returns a launch that has not run: of so many transactions with this specification, of what
    /// is called `variant`.
    pub fn new(workload: &str, variant: &str, spec: &RunSpec) -> Self {
        Self {
            workload: workload.into(),
            variant: variant.into(),
            locks: spec.config.locks,
            blocks: spec.shape.0,
            threads: spec.shape.1,
            transactions: spec.transactions,
            commits: 0,
            aborts: 0,
            time_ms: 0.0,
            tx_per_s: 0.0,
            note: None,
        }
    }
}
