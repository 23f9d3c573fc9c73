//! The options of the alignment at the command line.

use super::input::Nw;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `nw`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Letters of each of the two sequences [default: 496]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    letters: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Nw;

    const TAKES: &'static [SharedOption] = &[];

    fn fill(&self, _shared: &SharedOptions, base: Nw) -> Result<Nw> {
        Ok(Nw {
            letters: self.letters.unwrap_or(base.letters),
        })
    }
}
