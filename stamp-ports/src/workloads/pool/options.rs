//! The pool's options at the command line.

use super::input::Pool;
use crate::error::Result;
use crate::workloads::shared_options::{SharedOption, SharedOptions, WorkloadOptions};
use clap::Args;

/// The options of `pool`, which are shared ones.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {}

impl WorkloadOptions for Options {
    type Input = Pool;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions];

    fn fill(&self, _shared: &SharedOptions, base: Pool) -> Result<Pool> {
        Ok(base)
    }
}
