//! The options of vacation at the command line.

use super::input::Vacation;
use crate::error::Result;
use crate::numbers::parse_count_32;
use crate::workloads::shared_options::{
    SharedOption, SharedOptions, WorkloadOptions, parse_percent,
};
use clap::Args;

/// The options of `vacation`, by STAMP's letters; its `-t` is `--transactions`.
#[derive(Args, Debug, Clone, Copy, Default)]
#[group(skip)]
pub struct Options {
    /// Cars, flights, rooms and customers, so many of each [default: 1M]
    #[arg(short, long, value_name = "N", value_parser = parse_count_32)]
    relations: Option<u32>,
    /// Share of them that tasks choose among, in per cent [default: 90]
    #[arg(short = 'q', long, value_name = "PERCENT", value_parser = parse_percent)]
    range_percent: Option<u32>,
    /// Share of tasks that make reservations, in per cent; the others delete
    /// customers and change tables [default: 98]
    #[arg(short = 'u', long, value_name = "PERCENT", value_parser = parse_percent)]
    users_percent: Option<u32>,
}

impl WorkloadOptions for Options {
    type Input = Vacation;

    const TAKES: &'static [SharedOption] = &[SharedOption::N, SharedOption::Transactions];

    fn fill(&self, shared: &SharedOptions, base: Vacation) -> Result<Vacation> {
        Ok(Vacation {
            relations: self.relations.unwrap_or(base.relations),
            queries: shared.n.unwrap_or(base.queries),
            range_percent: self.range_percent.unwrap_or(base.range_percent),
            users_percent: self.users_percent.unwrap_or(base.users_percent),
            transactions_max: shared.transactions.unwrap_or(base.transactions_max),
        })
    }
}
