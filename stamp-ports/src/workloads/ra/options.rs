//! The random array's options at the command line.

use super::input::Ra;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::form::Form;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `ra`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Words of the array [default: 8M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    words: Option<u32>,
    /// Words that a transaction reads [default: 16]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    reads: Option<u32>,
    /// How many of those it writes [default: 16]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    writes: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Ra;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions, SharedOption::Static];

    fn fill(&self, shared: &SharedOptions, base: Ra) -> Result<Ra> {
        let reads = self.reads.unwrap_or(base.reads);
        Ok(Ra {
            words: self.words.unwrap_or(base.words),
            reads,
            // A transaction writes words that it has read.
            writes: self.writes.unwrap_or(base.writes.min(reads)),
            form: Form::of(shared.is_static),
        })
    }
}
