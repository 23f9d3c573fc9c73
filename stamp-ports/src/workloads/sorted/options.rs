//! The sorted list's options at the command line.

use super::input::Sorted;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `sorted`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Keys that are inserted [default: 262000]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    list_keys: Option<u32>,
    /// Entry points of the list, a power of two: the fewer, the longer is each walk
    /// [default: 4096]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    entry_points: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Sorted;

    const TAKES: &'static [SharedOption] = &[];

    fn fill(&self, _shared: &SharedOptions, base: Sorted) -> Result<Sorted> {
        Ok(Sorted {
            keys: self.list_keys.unwrap_or(base.keys),
            entry_points: self.entry_points.unwrap_or(base.entry_points),
        })
    }
}
