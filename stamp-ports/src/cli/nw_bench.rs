//! The command `bench nw`.

use super::console::{open, told};
use super::name_list::NameList;
use super::sync::{Found, is_wrong};
use crate::devices::{Choice, parse_choice};
use crate::error::Result;
use crate::numbers::parse_count;
use crate::nw::bench::run::{self, NwSpec, parse_parts};
use crate::workloads::shared_options::SEED;
use clap::Args;
use std::io::stdout;
use std::path::PathBuf;
use std::time::Duration;

/// What `--help` says behind the options.
pub(super) const HELP: &str = "\
Parts: table3 (31 to 1,984 letters, the sizes of Li et al. 2015), sizes (4 K to
100 K letters), tiles (the graph with tiles of 32 to 1,024), affine, protein
(other gaps and letters), and batch (10 K pairs of 300 letters).

Implementations: diagonals (a launch for each diagonal of tiles), graph (the
same launches as a CUDA graph), locks and cells (the same launches, and within a
tile a thread for each cell, which waits), stm:fast (a transaction for each
cell). Operations are cells; each point is verified.

DIR/nw.json is written after every point. After an interruption, or the end of
--for, the same command goes on where it stopped; --only adds to what is there.
`stamp report DIR` writes the page with the figures, the targets and the claims.

Examples:
  stamp bench nw --out results
  stamp bench nw --quick --out quick              small, on the CPU, seconds
  stamp bench nw --only table3,tiles --for 480 --out results";

/// The options of `bench nw`.
#[derive(Args, Debug, Clone)]
pub struct NwBenchArgs {
    /// auto, cpu, cuda or cuda:N; cuda:N,atomics=64 has no 128-bit atomics
    /// [default: auto; with --quick, cpu]
    #[arg(long, value_name = "NAME", value_parser = parse_choice)]
    pub device: Option<Choice>,
    /// Small inputs, few points
    #[arg(long)]
    pub quick: bool,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "PART,...", value_parser = parse_parts, default_value = "all")]
    pub only: NameList,
    /// Begin no further point after so many seconds
    #[arg(long = "for", value_name = "SECONDS", value_parser = parse_count)]
    pub seconds: Option<u64>,
    /// Seed of all sequences
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    pub seed: u64,
    /// The folder of nw.json, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Begin anew, whatever nw.json holds
    #[arg(long)]
    pub fresh: bool,
}

/// Measures; `command` is how it was called. A wrong result makes it `false`.
pub(super) fn nw(args: &NwBenchArgs, command: &str) -> Result<bool> {
    let choice = match args.device {
        Some(device) => device,
        None if args.quick => Choice::Cpu,
        None => Choice::Auto,
    };
    let device = open(choice)?;
    let spec = NwSpec {
        quick: args.quick,
        parts: args.only.clone(),
        time: args.seconds.map(Duration::from_secs),
        seed: args.seed,
        out: args.out.clone(),
        fresh: args.fresh,
    };
    let store = run::bench(&device, &spec, command)?;
    let document = &store.document.0;
    let mut asked = document.points.iter();
    let wrong = asked.any(|p| spec.parts.contains(&p.part.as_str()) && is_wrong(p));
    let found = Found {
        points: &document.points,
        parts: &spec.parts,
        path: store.path(),
        complete: document.complete,
    };
    told(!wrong, found.summary(&mut stdout().lock()))
}
