//! The queue's options at the command line.

use super::input::Queue;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;
use stm_kernels::queue::Roles;

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
    /// Operations wait while the queue is full or empty; half of them are
    /// producers, in turn with consumers or after them [default: none waits]
    #[arg(long, value_name = "ROLES", conflicts_with = "producers")]
    wait: Option<Wait>,
}

/// The order of roles where operations wait.
#[derive(clap::ValueEnum, Debug, Clone, Copy)]
enum Wait {
    /// Producers and consumers in turn
    Alternating,
    /// All consumers before the first producer
    ConsumersFirst,
}

impl WorkloadOptions for Options {
    type Input = Queue;

    const TAKES: &'static [SharedOption] = &[];

    fn fill(&self, _shared: &SharedOptions, base: Queue) -> Result<Queue> {
        Ok(Queue {
            places: self.places.unwrap_or(base.places),
            producers_percent: self.producers.unwrap_or(base.producers_percent),
            operations: self.operations.unwrap_or(base.operations),
            roles: match self.wait {
                None => base.roles,
                Some(Wait::Alternating) => Roles::Alternating,
                Some(Wait::ConsumersFirst) => Roles::ConsumersFirst,
            },
        })
    }
}
