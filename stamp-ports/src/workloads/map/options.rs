//! The map's options at the command line.

use super::input::Map;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `map`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Chains of the hash table [default: as --keys]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    chains: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Map;

    const TAKES: &'static [SharedOption] = &[
        SharedOption::Transactions,
        SharedOption::Keys,
        SharedOption::Lookups,
        SharedOption::Alike,
    ];

    fn fill(&self, shared: &SharedOptions, base: Map) -> Result<Map> {
        Ok(Map {
            keys: shared.keys.unwrap_or(base.keys),
            chains: self.chains.or(shared.keys).unwrap_or(base.chains),
            lookups_percent: shared.lookups.unwrap_or(base.lookups_percent),
            alike: shared.alike.unwrap_or(base.alike),
        })
    }
}
