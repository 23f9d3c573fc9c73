//! The options of the transactional memory.

use crate::error::{Error, Result};
use crate::measure::run_report::MemorySpec;
use crate::numbers::{parse_count, parse_count_32};
use crate::variants::AskedVariant;
use clap::Args;
use stm_core::host::RetryLimits;

/// The sizes of the transactional memory, except for the number of locks.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Transactional memory")]
pub(crate) struct MemoryArgs {
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

impl MemoryArgs {
    pub(crate) fn spec(&self, variants: &[AskedVariant]) -> Result<MemorySpec> {
        let lanes_max = self.lanes_max.map(|value| ("--lanes-max", value));
        let queue_after = self.queue_after.map(|value| ("--queue-after", value));
        if let Some((option, value)) = lanes_max.or(queue_after)
            && !variants.iter().any(|variant| variant.has_scheduler())
        {
            let names = |of: &[AskedVariant]| {
                let names: Vec<&str> = of.iter().map(|variant| variant.name()).collect();
                names.join(" and ")
            };
            let mut schedule = AskedVariant::all();
            schedule.retain(|variant| variant.has_scheduler());
            return Err(Error::Usage(format!(
                "{option} {value} is for {}, not for {}: leave it out",
                names(&schedule),
                names(variants)
            )));
        }
        let default = RetryLimits::DEFAULT;
        Ok(MemorySpec {
            stripe_bytes: self.stripe_bytes,
            read_capacity: self.read_capacity,
            write_capacity: self.write_capacity,
            retry_limits: RetryLimits {
                read_polls: self.read_polls.unwrap_or(default.read_polls),
                lanes_max: self.lanes_max.unwrap_or(default.lanes_max),
                queue_after: self.queue_after.unwrap_or(default.queue_after),
                // 0 leaves the choice to the workload.
                blocks_max: if self.all_threads { u32::MAX } else { 0 },
                ..default
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use stm_core::algorithm::Variant;

    #[test]
    fn options_of_the_scheduler_are_refused_without_one() {
        let spec = |lanes_max, queue_after, variants: [Variant; 2]| {
            let args = MemoryArgs {
                lanes_max,
                queue_after,
                ..MemoryArgs::default()
            };
            args.spec(&variants.map(AskedVariant::from))
        };
        let both = spec(Some(4), None, [Variant::HvSorting, Variant::Fast]);
        assert_eq!(both.unwrap().retry_limits.lanes_max, 4);
        let without = [Variant::HvSorting, Variant::Cgl];
        let error = spec(Some(4), None, without).unwrap_err().to_string();
        has(
            &error,
            "--lanes-max 4 | fast and fast-table | hv-sorting and cgl",
        );
        let error = spec(None, Some(9), without).unwrap_err().to_string();
        has(&error, "--queue-after 9");
    }
}
