//! The hash table's options at the command line.

use super::input::{Ht, NodeSource};
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

impl ValueEnum for NodeSource {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Preassigned, Self::Pool]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

/// The options of `ht`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Buckets of the table [default: 256K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    buckets: Option<u32>,
    /// Keys that a transaction inserts [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    keys_per_tx: Option<u32>,
    /// Nodes that belong to the transactions' numbers (preassigned), or that
    /// each transaction allocates (pool) [default: preassigned]
    #[arg(long, value_name = "SOURCE", hide_possible_values = true)]
    nodes: Option<NodeSource>,
}

impl WorkloadOptions for Options {
    type Input = Ht;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions];

    fn fill(&self, _shared: &SharedOptions, base: Ht) -> Result<Ht> {
        Ok(Ht {
            buckets: self.buckets.unwrap_or(base.buckets),
            keys_per_tx: self.keys_per_tx.unwrap_or(base.keys_per_tx),
            nodes: self.nodes.unwrap_or(base.nodes),
        })
    }
}
