//! The command line. Names and numbers are read here as far as they can be without a device; whatever is wrong
//! comes out as one line ([`one_line`](super::help::one_line)).

use super::device::DeviceArgs;
use crate::cli::prelude::*;
use crate::measure::launches;
use crate::measure::run_report::MemorySpec;
use crate::numbers::parse_counts;
use crate::paper::plan::SECTIONS;
use crate::sync::PARTS;
use crate::workloads::{kmeans, labyrinth};
use clap::{Arg, Subcommand};

/// Says how numbers are written.
pub(super) const COUNTS: &str =
    "Counts may be written 1048576, 1_048_576, 1M or 2^20 (K, M, G: powers of 1024).";

#[derive(Parser, Debug)]
#[command(
    name = "stamp",
    version,
    long_version = crate::head::LONG_VERSION,
    about = "Runs transactional-memory workloads on a GPU or the CPU and verifies them",
    after_help = below("stamp"),
    max_term_width = 80
)]
pub(crate) struct Cli {
    /// Trace what is done, on standard error (-vv for more)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a workload and verify its result
    #[command(allow_negative_numbers = true, after_help = format!("{COUNTS}\n\n{}", below("run")))]
    Run(RunArgs),
    /// List workloads, variants and devices
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a device is, its limits, and why a GPU was refused
    Device(DeviceArgs),
    /// Write an input file in STAMP's format
    #[command(subcommand)]
    Generate(Generate),
    /// Find the best launch of each variant, then measure it
    #[command(allow_negative_numbers = true, after_help = below("tune"))]
    Tune(TuneArgs),
    /// Measure what a publication shows
    #[command(subcommand)]
    Bench(Bench),
    /// Align sequences of two FASTA files, from end to end
    #[command(allow_negative_numbers = true, after_help = below("nw"))]
    Nw(Box<super::nw::NwArgs>),
    /// Inject faults, and check what a user sees of them
    #[command(after_help = below("faults"))]
    Faults(crate::faults::FaultsSpec),
    /// Run mixed workloads and faults for long, and check everything
    #[command(allow_negative_numbers = true, after_help = below("soak"))]
    Soak(crate::soak::SoakSpec),
    /// Record a workload on a device, and judge or keep the histories
    #[command(allow_negative_numbers = true, after_help = below("record"))]
    Record(Box<super::record::RecordArgs>),
    /// Judge a recorded run of each result of `bench paper`
    #[command(allow_negative_numbers = true, after_help = below("isolation"))]
    Isolation(super::isolation::IsolationArgs),
    /// Write a page and figures about what was measured
    #[command(after_help = below("report"))]
    Report(ReportArgs),
}

#[derive(Args, Debug, Clone)]
pub(crate) struct ReportArgs {
    /// The folder that `bench all`, `bench paper`, `bench sync` or `bench nw` wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Print the tables of the documents, or put them into these
    #[arg(long, conflicts_with = "title")]
    pub tables: bool,
    /// Only compare the documents with the tables
    #[arg(long, requires = "documents")]
    pub check: bool,
    /// Documents with tables between markers
    #[arg(value_name = "FILE", requires = "tables")]
    pub documents: Vec<PathBuf>,
    /// The folder of the page, made if it is not there [default: DIR/report]
    #[arg(long, value_name = "DIR", conflicts_with = "tables")]
    pub out: Option<PathBuf>,
    /// The page's title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Bench {
    /// Everything that the documents show, by one program on one machine
    #[command(allow_negative_numbers = true, after_help = below("bench all"))]
    All(super::all::AllArgs),
    /// Everything that the GPU-STM paper shows, into one document
    #[command(allow_negative_numbers = true, after_help = described("Parts", &SECTIONS) + "\n" + below("bench paper"))]
    Paper(crate::paper::PaperSpec),
    /// Locks, barriers and semaphores, alone, in workloads, and beside transactions
    #[command(allow_negative_numbers = true, after_help = described("Parts", &PARTS) + "\n" + below("bench sync"))]
    Sync(crate::sync::SyncSpec),
    /// Scores of alignments by dataflow, by launches, by graphs and by transactions
    #[command(allow_negative_numbers = true, after_help = super::bench::nw_help())]
    Nw(crate::nw::NwSpec),
    /// The same accesses without transactions, and what one writes by hand
    #[command(allow_negative_numbers = true, after_help = below("bench floor"))]
    Floor(Box<FloorArgs>),
    /// This program beside another `stamp` of an earlier commit: is it as fast?
    #[command(allow_negative_numbers = true, after_help = super::bench::against_help())]
    Against(super::bench::AgainstArgs),
}

#[derive(Subcommand, Debug, Clone)]
pub(crate) enum Generate {
    /// A grid, and paths to route through it
    #[command(allow_negative_numbers = true, after_help = below("generate labyrinth"))]
    Labyrinth(labyrinth::GenerateOptions),
    /// Points around random centres, a line for each
    #[command(allow_negative_numbers = true, after_help = below("generate kmeans"))]
    Kmeans(kmeans::GenerateOptions),
}

#[derive(Parser, Debug, Clone)]
pub(crate) struct RunArgs {
    /// A workload (`stamp list` names them), several separated by commas, or all
    #[arg(value_name = "WORKLOAD", value_parser = parse_names)]
    pub workload: NameList,
    /// auto, cpu, cuda or cuda:N
    ///
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// Variants, separated by commas, or all
    ///
    /// A variant (`stamp list` names them), several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_variants, default_value = "fast")]
    pub variant: VariantList,
    /// Blocks [default: the best known]
    ///
    /// Blocks of the launch [default: the best known]
    #[arg(long, value_name = "B", value_parser = parse_count_32)]
    pub blocks: Option<u32>,
    /// Threads of a block [default: the best known]
    #[arg(long, value_name = "T", value_parser = parse_count_32)]
    pub threads: Option<u32>,
    /// Timed launches of each variant
    ///
    /// Timed launches of each variant; with more than one, a first is not timed
    #[arg(long, value_name = "R", value_parser = parse_repeat, default_value_t = 1)]
    pub repeat: u32,
    /// Show where the time goes, for the paper's variants
    ///
    /// Run again with clocks, and show where the lanes' time goes: the paper's
    /// variants, which --variant must name (all: those seven)
    #[arg(long)]
    pub profile: bool,
    /// Print one JSON object a run, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Verify no result; the output says so
    #[arg(long, hide_short_help = true)]
    pub no_verify: bool,
    #[command(flatten)]
    pub input: WorkloadArgs,
    /// Transactions of each thread
    ///
    /// Transactions of each thread, instead of --transactions
    #[arg(long, value_name = "N", value_parser = parse_loops, conflicts_with = "transactions",
          help_heading = "Workload")]
    pub loops: Option<u64>,
    /// Version locks
    ///
    /// Version locks, a power of two; fast, cgl and vbv use none
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M",
          help_heading = "Transactional memory")]
    pub locks: u64,
    #[command(flatten)]
    pub memory: MemorySpec,
    /// Seconds of each repeat, or none
    ///
    /// Stop the launches of a run, or of each repeat, after so many seconds, or never: none
    #[arg(long, value_name = "SECONDS", value_parser = parse_time_limit, default_value = "60",
          help_heading = "Transactional memory")]
    pub time_limit: TimeLimit,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct TuneArgs {
    /// A workload (`stamp list` names them), several separated by commas, or all
    #[arg(value_name = "WORKLOAD", value_parser = parse_names)]
    pub workload: NameList,
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// A variant, several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_variants, default_value = "all")]
    pub variant: VariantList,
    #[command(flatten)]
    pub search: SearchArgs,
}

/// What one argument is, and so is no option that may be left out or be given more than once.
type TimeLimit = std::option::Option<Duration>;
type VariantList = std::vec::Vec<AskedVariant>;
type LockList = std::vec::Vec<u64>;

/// What both commands take that search launches.
#[derive(Args, Debug, Clone)]
pub(crate) struct SearchArgs {
    /// Timed launches of the best shapes
    #[arg(long, value_name = "R", value_parser = parse_repeat, default_value_t = launches::TUNE_REPEAT)]
    pub repeat: u32,
    #[command(flatten)]
    pub document: DocumentArgs,
    #[command(flatten)]
    pub input: WorkloadArgs,
    /// Version locks, powers of two; with several, each is tried
    #[arg(long, value_name = "N,...", value_parser = parse_counts, default_value = "1M",
          help_heading = "Transactional memory")]
    pub locks: LockList,
    #[command(flatten)]
    pub memory: MemorySpec,
}

/// The locks of `bench floor`, which are one number.
fn one_number_of_locks(arg: Arg) -> Arg {
    let parse = |text: &str| parse_count(text).map(|locks| vec![locks]);
    arg.help("Version locks, a power of two")
        .value_name("N")
        .value_parser(parse)
}

#[derive(Args, Debug, Clone)]
#[command(mut_arg("locks", one_number_of_locks))]
pub(crate) struct FloorArgs {
    /// A workload, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_names, default_value = "all")]
    pub workload: NameList,
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// What to measure beside: a variant, several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_variants, default_value = "hv-sorting,fast,fast-table")]
    pub variant: VariantList,
    /// Measure no transactional memory beside
    #[arg(long)]
    pub no_stm: bool,
    /// Few launch shapes, 64K transactions and 3 repeats at most
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub search: SearchArgs,
}

/// What is found of each repeat is kept until the last one.
const REPEAT_MAX: u32 = 1 << 20;

fn parse_repeat(text: &str) -> Result<u32, String> {
    match parse_count_32(text)? {
        0 => Err("0 repeats measure nothing: give 1 or more".into()),
        n if n > REPEAT_MAX => Err(format!(
            "{n} repeats are too many: give {REPEAT_MAX} or fewer"
        )),
        n => Ok(n),
    }
}

fn parse_loops(text: &str) -> Result<u64, String> {
    let some = Some(parse_count(text)?).filter(|n| *n > 0);
    some.ok_or_else(|| "0 loops leave nothing to run: give 1 or more".into())
}

fn parse_time_limit(text: &str) -> Result<Option<Duration>, String> {
    match text {
        "none" => Ok(None),
        _ => (parse_seconds(text).map(Some)).map_err(|why| format!("{why}, or none for no limit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_time_limit_unless_the_user_lifts_it() {
        let limit = |line: &str| RunArgs::parse_from(line.split(' ')).time_limit;
        let usual = Some(StmConfig::TIME_LIMIT);
        assert_eq!(limit("run ra"), usual);
        assert_eq!(StmConfig::default().time_limit, usual);
        let half = Duration::from_millis(500);
        assert_eq!(limit("run ra --time-limit 0.5"), Some(half));
        assert_eq!(limit("run ra --time-limit none"), None);
    }
}
