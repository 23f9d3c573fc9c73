//! The options of `EigenBench` at the command line.

use super::input::Eigenbench;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{
    SharedOption, SharedOptions, WorkloadOptions, parse_percent,
};
use clap::Args;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};

/// The options of `eigenbench`, named as in its paper: hot is shared, mild is a lane's own
/// but transactional, cold is a lane's own and plain.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Words of the hot array, which all lanes share (A1) [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    hot_words: Option<u32>,
    /// Hot words that a transaction reads (R1) [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    hot_reads: Option<u32>,
    /// Hot words that it adds to: those read, then further ones (W1) [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    hot_writes: Option<u32>,
    /// Words of each lane's mild array (A2) [default: 256]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    mild_words: Option<u32>,
    /// Mild words that a transaction reads (R2) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    mild_reads: Option<u32>,
    /// Mild words that it adds to: those read, then further ones (W2) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    mild_writes: Option<u32>,
    /// Words of each lane's cold array, accessed plainly (A3) [default: 256]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    cold_words: Option<u32>,
    /// Cold reads inside a transaction (R3i) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    cold_reads: Option<u32>,
    /// Cold writes inside a transaction (W3i) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    cold_writes: Option<u32>,
    /// Cold reads between two transactions (R3o) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    cold_reads_outside: Option<u32>,
    /// Cold writes between two transactions (W3o) [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    cold_writes_outside: Option<u32>,
    /// Steps of arithmetic inside a transaction [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    nops: Option<u32>,
    /// Steps of arithmetic between two transactions [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    nops_outside: Option<u32>,
    /// Accesses that repeat an earlier address of the transaction, in per cent
    /// (lct) [default: 0]
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    locality: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Eigenbench;

    const TAKES: &'static [SharedOption] = &[SharedOption::Transactions];

    fn fill(&self, _shared: &SharedOptions, base: Eigenbench) -> Result<Eigenbench> {
        let base = base.plan;
        let accesses = |reads: Option<u32>, writes: Option<u32>, base: Accesses| Accesses {
            reads: reads.unwrap_or(base.reads),
            writes: writes.unwrap_or(base.writes),
        };
        Ok(Eigenbench {
            plan: EigenbenchPlan {
                seed: base.seed,
                hot_words: self.hot_words.unwrap_or(base.hot_words),
                mild_words: self.mild_words.unwrap_or(base.mild_words),
                cold_words: self.cold_words.unwrap_or(base.cold_words),
                hot: accesses(self.hot_reads, self.hot_writes, base.hot),
                mild: accesses(self.mild_reads, self.mild_writes, base.mild),
                cold_inside: accesses(self.cold_reads, self.cold_writes, base.cold_inside),
                cold_outside: accesses(
                    self.cold_reads_outside,
                    self.cold_writes_outside,
                    base.cold_outside,
                ),
                nops_inside: self.nops.unwrap_or(base.nops_inside),
                nops_outside: self.nops_outside.unwrap_or(base.nops_outside),
                locality_percent: self.locality.unwrap_or(base.locality_percent),
            },
        })
    }
}
