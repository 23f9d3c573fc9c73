//! The command line.
//!
//! Names and numbers are read here as far as they can be without a device;
//! whatever is wrong comes out as one line (see [`one_line`]).

use crate::devices::{Choice, parse_choice};
use crate::floor::FloorArgs;
use crate::genome::GenomeArgs;
use crate::kmeans::{GenerateKmeansArgs, KmeansArgs};
use crate::labyrinth::{Claim, GenerateLabyrinthArgs, LabyrinthArgs};
use crate::launches;
use crate::numbers::{parse_count, parse_count_32, parse_counts};
use crate::options::{BankArgs, EigenbenchArgs};
use crate::paper::plan::{Section, parse_sections};
use crate::variants::{Variant, parse_variants, suggestion};
use crate::workload::WORKLOADS;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use stm_core::host::Patience;

/// The whole command line.
#[derive(Parser, Debug)]
#[command(
    name = "stamp",
    version,
    about = "Runs transactional-memory workloads on a GPU or the CPU and verifies them",
    after_help = "\
Without a command, every workload runs with every variant on the best device
found, at a size that takes less than a minute, and one table shows the result.

Examples:
  stamp                               all of it, small
  stamp list                          workloads, variants and devices
  stamp run ra --variant all          random array, every variant, full size
  stamp run ht --device cpu --transactions 100K --blocks 2 --threads 4
  stamp tune ra --out ra.json         find the best launch of every variant
  stamp bench paper --out results     the paper's figures, measured

Exit status: 0 if every result was verified, 1 if one was not or a run failed,
2 if the command line cannot be carried out.",
    max_term_width = 80
)]
pub struct Cli {
    /// Trace what is done, on standard error (-vv for more)
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a workload and verify its result
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Counts may be written 1048576, 1_048_576, 1M or 2^20 (K, M, G: powers of 1024).

Examples:
  stamp run ra
  stamp run ra --variant cgl,hv-sorting --repeat 5
  stamp run ra --words 64K --locks 2^12 --variant all    many conflicts
  stamp run ht --buckets 1M --keys-per-tx 8 --json
  stamp run bank --accounts 64K --zipf 0.99 --audit-share 20 --audit-range 32
  stamp run eigenbench --hot-words 64M --locks 4M --variant tbv-sorting
  stamp run ra --profile --variant all          where the time goes
  stamp run eigenbench --hot-writes 8 --locality 50 --cold-reads-outside 100
  stamp run genome -g 1024 -s 32 -n 65536
  stamp run labyrinth --input random-x32-y32-z3-n96.txt
  stamp run labyrinth -x 128 -y 128 -z 3 -n 128
  stamp run kmeans -m 40 -n 40 -t 0.05 --input random-n2048-d16-c16.txt
  stamp run kmeans --points 1M --dims 16 --centres 32"
    )]
    Run(RunArgs),
    /// List workloads, variants and devices
    List(ListArgs),
    /// Show what a device is, its limits, and why a GPU was refused
    Device(ListArgs),
    /// Write an input file in STAMP's format
    Generate(GenerateArgs),
    /// Find the best launch of each variant, then measure it
    #[command(
        allow_negative_numbers = true,
        after_help = "\
Every launch shape is tried with few transactions, the best with more, and the
best of each variant is measured and verified. Slow variants get fewer
transactions; rates can be compared all the same.

Examples:
  stamp tune all --out results.json
  stamp tune ht --variant cgl,hv-sorting --locks 1M,16M"
    )]
    Tune(TuneArgs),
    /// Measure what a publication shows
    #[command(subcommand)]
    Bench(Bench),
    /// Write a page and figures about what `bench paper` measured
    #[command(after_help = "\
Reads DIR/paper.json and writes DIR/report.html, one page that needs nothing
beside itself, and each of its figures as DIR/figure-N.svg.

Example:
  stamp report results --title \"The evaluation on our machine\"")]
    Report(ReportArgs),
}

/// Of `report`.
#[derive(Args, Debug, Clone)]
pub struct ReportArgs {
    /// The folder that `bench paper --out` wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The page's title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

/// What `bench` measures.
#[derive(Subcommand, Debug)]
pub enum Bench {
    /// Everything that the GPU-STM paper shows, into one document
    #[command(after_help = "\
Figure 2 and Table 2 (fig2): every variant over coarse locking at its best
launch, which is searched; Figure 3 (fig3): throughput by threads; Figure 4
(fig4): EigenBench by shared words and locks; Figure 5 (fig5): where the time
goes; Table 1 (table1): what the workloads' transactions are like.

DIR/paper.json is written after every point. After an interruption, the same
command goes on where it stopped; --only and --workload add to what is there.

Examples:
  stamp bench paper --out results
  stamp bench paper --quick --out quick           small, on the CPU, minutes
  stamp bench paper --only fig2,table1 --workload ra,ht --out results")]
    Paper(PaperArgs),
    /// The same accesses without transactions, and what one writes by hand
    #[command(allow_negative_numbers = true, after_help = crate::floor::HELP)]
    Floor(Box<FloorArgs>),
}

/// Of `bench paper`.
#[derive(Args, Debug, Clone)]
pub struct PaperArgs {
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    /// [default: auto; with --quick, cpu]
    #[arg(long, value_name = "NAME", value_parser = parse_choice)]
    pub device: Option<Choice>,
    /// Small inputs, few points
    #[arg(long)]
    pub quick: bool,
    /// fig2, fig3, fig4, fig5, table1, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_sections, default_value = "all")]
    pub only: SectionList,
    /// A workload, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_workloads, default_value = "all")]
    pub workload: NameList,
    /// Seed of all data
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = launches::SEED)]
    pub seed: u64,
    /// The folder of paper.json, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Begin anew, whatever paper.json holds
    #[arg(long)]
    pub fresh: bool,
}

/// Several sections in one argument.
pub type SectionList = std::vec::Vec<Section>;
/// Several workloads in one argument.
pub type NameList = std::vec::Vec<&'static str>;

/// Reads `all` or workloads separated by commas.
fn parse_workloads(text: &str) -> Result<NameList, String> {
    let all = WORKLOADS.map(|(name, _)| name);
    let mut found = Vec::new();
    for name in text.split(',').map(str::trim) {
        parse_workload(name)?;
        found.extend(all.iter().filter(|known| name == "all" || name == **known));
    }
    Ok(found)
}

/// Of `list` and `device`.
#[derive(Args, Debug, Clone, Copy)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Of `generate`.
#[derive(Args, Debug, Clone)]
pub struct GenerateArgs {
    /// Of which workload.
    #[command(subcommand)]
    pub workload: Generate,
}

/// The workloads that have files.
#[derive(Subcommand, Debug, Clone)]
pub enum Generate {
    /// A grid, and paths to route through it
    #[command(after_help = "\
Examples:
  stamp generate labyrinth -x 64 -y 64 -z 3 -n 48 --out maze.txt
  stamp run labyrinth --input maze.txt")]
    Labyrinth(GenerateLabyrinthArgs),
    /// Points around random centres, a line for each
    #[command(after_help = "\
Examples:
  stamp generate kmeans --points 2K --dims 16 --centres 16 --out points.txt
  stamp run kmeans --input points.txt -m 16")]
    Kmeans(GenerateKmeansArgs),
}

/// The parameters of workloads.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Workload")]
pub struct WorkloadArgs {
    /// ra: words of the array [default: 8M]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub words: Option<u32>,
    /// ra: words that a transaction reads [default: 16]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub reads: Option<u32>,
    /// ra: how many of those it writes [default: 16]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub writes: Option<u32>,
    /// ht: buckets of the table [default: 256K]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub buckets: Option<u32>,
    /// ht: keys that a transaction inserts [default: 4]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub keys_per_tx: Option<u32>,
    /// Of `labyrinth`.
    #[command(flatten)]
    pub labyrinth: LabyrinthArgs,
    /// labyrinth: fast and fast-table claim a path by the first warp of the
    /// router's block (warp) or by all of it (block) [default: warp]
    #[arg(
        long,
        value_name = "WHO",
        help_heading = "Workload labyrinth",
        hide_possible_values = true
    )]
    pub claim: Option<Claim>,
    /// Of `genome`.
    #[command(flatten)]
    pub genome: GenomeArgs,
    /// labyrinth: paths to route [default: 512]; genome: segments drawn
    /// [default: 4M]; kmeans: fewest clusters, each number up to -m is run
    /// [default: as -m]
    #[arg(short, value_name = "N", value_parser = parse_count_32, help_heading = "Workload")]
    pub n: Option<u32>,
    /// labyrinth, kmeans: a file in STAMP's format [default: a generated one]
    #[arg(short, long, value_name = "FILE", help_heading = "Workload")]
    pub input: Option<PathBuf>,
    /// ra, ht, bank, eigenbench: transactions of a launch [default: 1M]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Workload")]
    pub transactions: Option<u64>,
    /// kmeans, bank: points and transfers are added to sums that they do not read;
    /// under fast and fast-table additions do not conflict, audits and additions do
    #[arg(long, help_heading = "Workload")]
    pub adds: bool,
    /// Seed of the data
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = launches::SEED,
          help_heading = "Workload")]
    pub seed: u64,
    /// Of `kmeans`.
    #[command(flatten)]
    pub kmeans: KmeansArgs,
    /// Of `bank`.
    #[command(flatten)]
    pub bank: BankArgs,
    /// Of `eigenbench`.
    #[command(flatten)]
    pub eigenbench: EigenbenchArgs,
}

/// The parameters of the transactional memory, but the number of locks.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Transactional memory")]
pub struct MemoryArgs {
    /// Bytes that share a version lock, a power of two
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "4")]
    pub stripe_bytes: u64,
    /// Entries of a transaction's read set [default: what the workload needs]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub read_capacity: Option<u32>,
    /// Entries of a transaction's write set [default: what the workload needs]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub write_capacity: Option<u32>,
    /// Looks at a locked word before a read aborts; of fast and fast-table,
    /// further looks at a locked or newer one [default: 1 for fast and fast-table,
    /// 16 for their teams, else 8]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub read_polls: Option<u32>,
    /// fast, fast-table: lanes of a warp that make an attempt at a time, at most;
    /// fewer where many conflict; 1 to 32 [default: 32]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub lanes_max: Option<u32>,
    /// fast, fast-table: conflicts in a row before a transaction waits in a queue
    /// to run alone [default: 128]
    #[arg(long, value_name = "N", value_parser = parse_count_32)]
    pub elder_after: Option<u32>,
}

impl MemoryArgs {
    /// How patient transactions are.
    pub fn patience(&self) -> Patience {
        let default = Patience::DEFAULT;
        Patience {
            read_polls: self.read_polls.unwrap_or(default.read_polls),
            width_max: self.lanes_max.unwrap_or(default.width_max),
            elder_after: self.elder_after.unwrap_or(default.elder_after),
            ..default
        }
    }
}

/// Of `run`.
#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// ra, ht, bank, eigenbench, genome, labyrinth, kmeans or all
    #[arg(value_parser = parse_workload)]
    pub workload: String,
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// A variant (`stamp list` names them), several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_variants, default_value = "fast")]
    pub variant: VariantList,
    /// Blocks of the launch [default: the best known]
    #[arg(long, value_name = "B", value_parser = parse_count_32)]
    pub blocks: Option<u32>,
    /// Threads of a block [default: the best known]
    #[arg(long, value_name = "T", value_parser = parse_count_32)]
    pub threads: Option<u32>,
    /// Timed launches of each variant; with more than one, a first is not timed
    #[arg(long, value_name = "R", value_parser = parse_repeat, default_value_t = 1)]
    pub repeat: u32,
    /// Run again with clocks, and show where the lanes' time goes: the paper's
    /// variants, which --variant must name (all: those seven)
    #[arg(long)]
    pub profile: bool,
    /// Print one JSON object a run, and nothing else
    #[arg(long)]
    pub json: bool,
    /// The workload's parameters.
    #[command(flatten)]
    pub input: WorkloadArgs,
    /// Transactions of each thread, instead of --transactions
    #[arg(long, value_name = "N", value_parser = parse_loops, conflicts_with = "transactions",
          help_heading = "Workload")]
    pub loops: Option<u64>,
    /// Version locks, a power of two; fast, cgl and vbv use none
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1M",
          help_heading = "Transactional memory")]
    pub locks: u64,
    /// The transactional memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Stop a launch after so many seconds [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds,
          help_heading = "Transactional memory")]
    pub time_limit: Option<Duration>,
}

/// Of `tune`.
#[derive(Args, Debug, Clone)]
pub struct TuneArgs {
    /// ra, ht, bank, eigenbench, genome, labyrinth, kmeans or all
    #[arg(value_parser = parse_workload)]
    pub workload: String,
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    #[arg(long, value_name = "NAME", value_parser = parse_choice, default_value = "auto")]
    pub device: Choice,
    /// A variant, several separated by commas, or all
    #[arg(long, value_name = "NAME", value_parser = parse_variants, default_value = "all")]
    pub variant: VariantList,
    /// Timed launches of the best shapes
    #[arg(long, value_name = "R", value_parser = parse_repeat, default_value_t = launches::TUNE_REPEAT)]
    pub repeat: u32,
    /// Print the JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The workload's parameters.
    #[command(flatten)]
    pub input: WorkloadArgs,
    /// Version locks, powers of two; with several, each is tried
    #[arg(long, value_name = "N,...", value_parser = parse_counts, default_value = "1M",
          help_heading = "Transactional memory")]
    pub locks: LockList,
    /// The transactional memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// Several variants in one argument.
pub type VariantList = std::vec::Vec<Variant>;
/// Several numbers of locks in one argument.
pub type LockList = std::vec::Vec<u64>;

pub(crate) fn parse_workload(text: &str) -> Result<String, String> {
    let names = WORKLOADS.map(|(name, _)| name);
    if text == "all" || names.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "unknown workload {text:?}: {}; `stamp list` describes them",
        suggestion(text, &names)
    ))
}

pub(crate) fn parse_repeat(text: &str) -> Result<u32, String> {
    match parse_count_32(text)? {
        0 => Err("0 repeats measure nothing: give 1 or more".into()),
        n => Ok(n),
    }
}

fn parse_loops(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("0 loops leave nothing to run: give 1 or more".into()),
        n => Ok(n),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|&seconds| seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("{text:?} is no time: give seconds above 0, such as 2.5"))
}

/// Clap's error about these arguments as one line: its first paragraph and its
/// tips.
pub fn one_line(error: &clap::Error, arguments: &[OsString]) -> String {
    let text = error.render().to_string();
    let mut parts = Vec::new();
    // An error of a value comes without its command's usage. The options
    // before a command take no values, so the first words are its names.
    let mut found = Cli::command();
    let mut of_command = String::from("stamp");
    for word in arguments.iter().skip(1) {
        let word = word.to_string_lossy();
        match found.find_subcommand(word.as_ref()).cloned() {
            Some(next) => {
                of_command = format!("{of_command} {}", next.get_name());
                found = next;
            }
            None if word.starts_with('-') => {}
            None => break,
        }
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let names: Vec<&str> = found
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        return format!(
            "`{of_command}` needs one more word: {} (try `{of_command} --help`)",
            names.join(" or ")
        );
    }
    let mut command = of_command.as_str();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            command = usage.split(" <").next().unwrap_or(usage);
            command = command.split(" [").next().unwrap_or(command);
            command = command.split(" -").next().unwrap_or(command);
            continue;
        }
        // No word here may begin with a dash, after `--` neither.
        if !line.starts_with("For more information") && !line.contains("as a value, use '--") {
            parts.push(line.trim_start_matches("error: "));
        }
    }
    // A value's own error repeats the value, and says more than clap's frame.
    let text = parts.join(" ");
    let text = text
        .split_once(">': ")
        .filter(|_| text.starts_with("invalid value"))
        .map_or_else(
            || text.clone(),
            |(frame, why)| {
                let option = frame.split(" for '").nth(1).unwrap_or_default();
                let option = option.split(" <").next().unwrap_or_default();
                if option.starts_with("--") && !why.contains(option) {
                    format!("{option}: {why}")
                } else {
                    why.to_owned()
                }
            },
        );
    format!("{text} (try `{command} --help`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn errors_of_the_parser_are_one_line_that_names_the_value() {
        for (arguments, parts) in [
            (&["run", "rx"][..], &["\"rx\"", "did you mean ra?"][..]),
            (&["run"], &["WORKLOAD", "stamp run --help"]),
            (&["rum", "ra"], &["'rum'", "'run'"]),
            (&["run", "ra", "--lokcs", "4"], &["'--lokcs'", "'--locks'"]),
            (
                &["run", "ra", "--locks", "4x"],
                &["--locks", "\"4x\"", "2^20"],
            ),
            (
                &["-v", "tune", "ra", "--locks", "4x"],
                &["`stamp tune --help`"],
            ),
            (&["run", "ra", "--time-limit", "-1"], &["\"-1\"", "above 0"]),
            (
                &["run", "ra", "--seed", "-1"],
                &["--seed", "\"-1\"", "`stamp run --help`"],
            ),
            (
                &["run", "ra", "--seed", "-1M"],
                &["'-1'", "`stamp run --help`"],
            ),
            (&["run", "ra", "--time-limit", "0"], &["\"0\"", "above 0"]),
            (&["bench"], &["`stamp bench`", "paper"]),
            (
                &["bench", "paper"],
                &["--out", "(try `stamp bench paper --help`)"],
            ),
            (
                &["bench", "paper", "--only", "fig9", "--out", "x"],
                &["\"fig9\"", "fig2", "`stamp bench paper --help`"],
            ),
            (
                &["bench", "paper", "--workload", "ra,rb", "--out", "x"],
                &["\"rb\"", "did you mean ra?"],
            ),
        ] {
            let arguments: Vec<OsString> = [&["stamp"], arguments]
                .concat()
                .into_iter()
                .map(OsString::from)
                .collect();
            let error = Cli::try_parse_from(&arguments).unwrap_err();
            let line = one_line(&error, &arguments);
            assert!(!line.contains("'--' "), "{line}");
            assert!(!line.contains('\n'), "{line}");
            for part in parts {
                assert!(line.contains(part), "{line} lacks {part}");
            }
        }
    }
}
