//! The ordered map's options at the command line.

use super::input::Ordered;
use crate::error::Result;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `ordered`, which are shared ones.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {}

impl WorkloadOptions for Options {
    type Input = Ordered;

    const TAKES: &'static [SharedOption] = &[
        SharedOption::Transactions,
        SharedOption::Keys,
        SharedOption::Lookups,
        SharedOption::Alike,
    ];

    fn fill(&self, shared: &SharedOptions, base: Ordered) -> Result<Ordered> {
        Ok(Ordered {
            keys: shared.keys.unwrap_or(base.keys),
            lookups_percent: shared.lookups.unwrap_or(base.lookups_percent),
            alike: shared.alike.unwrap_or(base.alike),
        })
    }
}
