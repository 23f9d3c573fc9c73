//! The options of `bench floor`.

use crate::cli::{MemoryArgs, VariantList, WorkloadArgs, parse_repeat, parse_workload};
use crate::devices::{Choice, parse_choice};
use crate::launches;
use crate::numbers::parse_count;
use crate::variants::parse_variants;
use clap::Args;
use std::path::PathBuf;

/// What the help ends with.
pub const HELP: &str = "\
A floor is the workload's accesses with nothing that synchronises: updates may
be lost, so it is called unsafe and not verified. What is special-purpose is
written by hand for one workload (atomic additions, a compare-and-swap table);
its result is verified. The transactional memory is measured in the same run.

Examples:
  stamp bench floor --out floor.json
  stamp bench floor --workload ra,bank --variant hv-sorting --audit-share 0
  stamp bench floor --quick --device cpu";

/// Of `bench floor`.
#[derive(Args, Debug, Clone)]
pub struct FloorArgs {
    /// A workload, several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_workload, value_delimiter = ',',
          default_value = "all")]
    pub workload: Vec<String>,
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// What to measure beside: a variant, several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_variants, default_value = "hv-sorting,fast,fast-table")]
    pub variant: VariantList,
    /// Measure no transactional memory beside
    #[arg(long)]
    pub no_stm: bool,
    /// Timed launches of the best shapes
    #[arg(long, value_name = "R", value_parser = parse_repeat, default_value_t = launches::TUNE_REPEAT)]
    pub repeat: u32,
    /// Few launch shapes, 64K transactions and 3 repeats at most
    #[arg(long)]
    pub quick: bool,
    /// Print the JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The workloads' parameters.
    #[command(flatten)]
    pub input: WorkloadArgs,
    /// Version locks, a power of two
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M",
          help_heading = "Transactional memory")]
    pub locks: u64,
    /// The transactional memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
}
