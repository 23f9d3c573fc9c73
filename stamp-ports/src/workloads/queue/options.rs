//! The queue's options at the command line.

use super::input::Queue;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `queue`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Values that the queue holds at most [default: 1K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    places: Option<u32>,
    /// Producers in a hundred operations, the others consume [default: 50]
    #[arg(long, value_name = "PERCENT", value_parser = parse_count_32)]
    producers: Option<u32>,
    /// Operations, each a transaction [default: 64K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    operations: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Queue;

    const TAKES: &'static [SharedOption] = &[];

    fn fill(&self, _shared: &SharedOptions, base: Queue) -> Result<Queue> {
        Ok(Queue {
            places: self.places.unwrap_or(base.places),
            producers_percent: self.producers.unwrap_or(base.producers_percent),
            operations: self.operations.unwrap_or(base.operations),
        })
    }
}
