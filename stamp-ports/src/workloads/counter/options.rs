//! The counter's options at the command line.

use super::input::Counter;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `counter`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Increments in all [default: 32768]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    items: Option<u32>,
    /// Counters, which the increments name in turn [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    counters: Option<u32>,
    /// Times that a section lowers and raises its counter again, before it adds the
    /// counter to a sum [default: 0, and no sum]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    rounds: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Counter;

    const TAKES: &'static [SharedOption] = &[];

    fn fill(&self, _shared: &SharedOptions, base: Counter) -> Result<Counter> {
        let rounds = self.rounds.unwrap_or(base.rounds);
        Ok(Counter {
            items: self.items.unwrap_or(base.items),
            counters: self.counters.unwrap_or(base.counters),
            rounds,
            sums: rounds > 0,
            ..base
        })
    }
}
