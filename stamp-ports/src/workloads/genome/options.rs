//! The options of genome at the command line.

use super::input::Genome;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `genome`, by STAMP's letters.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Bases of the gene [default: 16K]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    g: Option<u32>,
    /// Bases of a segment [default: 64]
    #[arg(short, value_name = "N", value_parser = parse_count_32)]
    s: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Genome;

    const TAKES: &'static [SharedOption] = &[SharedOption::N];

    fn fill(&self, shared: &SharedOptions, base: Genome) -> Result<Genome> {
        Ok(Genome {
            bases: self.g.unwrap_or(base.bases),
            segment: self.s.unwrap_or(base.segment),
            segments: shared.n.unwrap_or(base.segments),
        })
    }
}
