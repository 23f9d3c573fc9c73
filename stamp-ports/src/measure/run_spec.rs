//! What a run is asked to be.

use crate::error::{Error, Result};
use crate::variants::AskedVariant;
use crate::workloads::workload::Sizes;
use std::time::Duration;
use stm_core::Capacity;
use stm_core::algorithm::Variant;
use stm_core::host::{RetryLimits, StmConfig};

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct RunSpec {
    /// The variant, as asked for.
    pub variant: AskedVariant,
    /// The launch's blocks and threads.
    pub shape: (u32, u32),
    /// The transactional memory.
    pub config: StmConfig,
    /// Transactions of a launch.
    pub transactions: u64,
    /// Timed launches, each with the data in its first state. More than one
    /// are preceded by one that is not counted.
    pub repeat: u32,
}

/// The algorithm that a variant stands for: for `optimized`, by how many
/// stripes the shared words fill.
pub fn resolve(
    workload: &dyn Sizes,
    variant: AskedVariant,
    config: &StmConfig,
    transactions: u64,
) -> Variant {
    let bytes = workload.shared_words(transactions).saturating_mul(4);
    variant.resolve(bytes.div_ceil(config.stripe_bytes.max(1)), config.locks)
}

/// Refuses parameters that make no sense, before anything is made for them.
///
/// # Errors
/// Names the parameter and the fix.
pub fn check_input(workload: &dyn Sizes, transactions: u64) -> Result<()> {
    workload.check(transactions)?;
    if transactions == 0 {
        return Err(Error::Usage(
            "--transactions 0 leaves nothing to run: give 1 or more".into(),
        ));
    }
    Ok(())
}

/// The sizes of a transactional memory that do not depend on the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySpec {
    /// Bytes that share a version lock.
    pub stripe_bytes: u64,
    /// Entries of a read set, if other than what the workload needs.
    pub read_capacity: Option<u32>,
    /// Entries of a write set, if other than what the workload needs.
    pub write_capacity: Option<u32>,
    /// Bounds of waits and tries.
    pub retry_limits: RetryLimits,
}

impl Default for MemorySpec {
    fn default() -> Self {
        let config = StmConfig::default();
        Self {
            stripe_bytes: config.stripe_bytes,
            read_capacity: None,
            write_capacity: None,
            retry_limits: config.retry_limits,
        }
    }
}

impl MemorySpec {
    /// The transactional memory for a workload that needs these sets.
    pub fn config(&self, locks: u64, needed: Capacity, time_limit: Option<Duration>) -> StmConfig {
        StmConfig {
            locks,
            stripe_bytes: self.stripe_bytes,
            capacity: Capacity {
                reads: self.read_capacity.unwrap_or(needed.reads),
                writes: self.write_capacity.unwrap_or(needed.writes),
                actions: needed.actions,
            },
            retry_limits: self.retry_limits,
            time_limit,
        }
    }
}
