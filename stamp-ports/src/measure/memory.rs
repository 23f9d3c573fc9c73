//! The options of the transactional memory, and the memory that they describe.

use crate::prelude::*;
use stm_core::host::{Capacity, RetryLimits, StmConfig};

/// The sizes of the transactional memory, except for the number of locks.
#[derive(Parser, Clone, Copy, Debug)]
#[command(next_help_heading = "Transactional memory")]
pub(crate) struct MemorySpec {
    /// Bytes that share a version lock
    ///
    /// Bytes that share a version lock, a power of two
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "4")]
    pub stripe_bytes: u64,
    /// Entries of a read set [default: enough]
    ///
    /// Entries of a transaction's read set [default: what the workload needs]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub read_capacity: Option<u32>,
    /// Entries of a write set [default: enough]
    ///
    /// Entries of a transaction's write set [default: what the workload needs]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub write_capacity: Option<u32>,
    /// Polls of a locked word before a read aborts
    ///
    /// With fast and fast-table, polls of a locked word and extensions for a newer one together
    /// [default: 1 for fast and fast-table, 16 for their teams, else 8]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub read_polls: Option<u32>,
    /// Lanes that attempt at a time [default: 32]
    ///
    /// With fast and fast-table, lanes of a warp that make an attempt at a time, at most, 1 to 32;
    /// fewer where many conflict [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub lanes_max: Option<u32>,
    /// Conflicts before a turn alone [default: 1024]
    ///
    /// With fast and fast-table, conflicts in a row before a transaction waits for a turn alone, at
    /// most; fewer in small launches [default: 1024]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub queue_after: Option<u32>,
    /// Give all threads of a launch transactions
    ///
    /// Give all threads of a launch transactions, where by default only as many get some as are
    /// known to be fastest: with fast, those of ra on a GPU
    #[arg(long, hide_short_help = true)]
    pub all_threads: bool,
}

impl MemorySpec {
    /// Refuses options that none of these variants takes.
    pub(crate) fn check(&self, variants: &[AskedVariant]) -> Result<()> {
        let lanes_max = self.lanes_max.map(|value| ("--lanes-max", value));
        let queue_after = self.queue_after.map(|value| ("--queue-after", value));
        let has_scheduler = |variant: &&AskedVariant| variant.has_scheduler();
        let names = |of: &mut dyn Iterator<Item = &AskedVariant>| {
            let names: Vec<&str> = of.map(|variant| variant.name()).collect();
            names.join(" and ")
        };
        match lanes_max.or(queue_after) {
            Some((option, value)) if !variants.iter().any(|variant| has_scheduler(&variant)) => {
                let of = names(&mut AskedVariant::all().iter().filter(has_scheduler));
                let not = names(&mut variants.iter());
                refuse(format!(
                    "{option} {value} is for {of}, not for {not}: leave it out"
                ))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn config(
        &self,
        locks: u64,
        needed: Capacity,
        time_limit: Option<Duration>,
    ) -> StmConfig {
        let default = RetryLimits::DEFAULT;
        StmConfig {
            locks,
            stripe_bytes: self.stripe_bytes,
            capacity: Capacity {
                reads: self.read_capacity.unwrap_or(needed.reads),
                writes: self.write_capacity.unwrap_or(needed.writes),
                actions: needed.actions,
            },
            retry_limits: RetryLimits {
                read_polls: self.read_polls.unwrap_or(default.read_polls),
                lanes_max: self.lanes_max.unwrap_or(default.lanes_max),
                queue_after: self.queue_after.unwrap_or(default.queue_after),
                // 0 leaves the choice to the workload.
                blocks_max: if self.all_threads { u32::MAX } else { 0 },
                ..default
            },
            time_limit,
        }
    }
}
