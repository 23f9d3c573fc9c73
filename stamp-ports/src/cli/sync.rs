//! The command `bench sync`.

use super::console::{open, told};
use super::name_list::{NameList, described};
use crate::devices::{Choice, parse_choice};
use crate::error::Result;
use crate::numbers::{parse_count, short};
use crate::output::align;
use crate::points::Point;
use crate::sync::run::{self, OPERATIONS, SyncSpec, parse_parts};
use crate::sync::sections::PARTS;
use crate::workloads::shared_options::SEED;
use clap::Args;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `--help` says behind the options.
pub(super) fn help() -> String {
    let parts = described("Parts", OPERATIONS.into_iter().chain(PARTS));
    format!("{parts}\n{HELP}")
}

/// The end of the help.
const HELP: &str = "\
mutex, barrier and semaphore are operations a second over the number of blocks,
beside libcu++ and cooperative groups where nvcc is found; counter, table, list
and sections are workloads under locks, by combining, without locks, and with
transactions.

DIR/sync.json is written after every point. After an interruption, or the end
of --for, the same command goes on where it stopped; --only adds to what is
there. `stamp report DIR` writes the page with the figures and the claims.

Examples:
  stamp bench sync --out results
  stamp bench sync --quick --out quick            small, on the CPU, a minute
  stamp bench sync --only mutex,barrier --out results
  stamp bench sync --for 480 --out results        a piece of 8 minutes";

/// The options of `bench sync`.
#[derive(Args, Debug, Clone)]
pub struct SyncArgs {
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
    /// CUDA's compiler, for the peers [default: NVCC, or nvcc on the path or in
    /// /usr/local/cuda/bin]
    #[arg(long, value_name = "PATH")]
    pub nvcc: Option<PathBuf>,
    /// Seed of all data
    #[arg(long, value_name = "S", value_parser = parse_count, default_value_t = SEED)]
    pub seed: u64,
    /// The folder of sync.json, made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Begin anew, whatever sync.json holds
    #[arg(long)]
    pub fresh: bool,
}

/// Measures; `command` is how it was called. A wrong result makes it `false`.
pub(super) fn sync(args: &SyncArgs, command: &str) -> Result<bool> {
    let choice = match args.device {
        Some(device) => device,
        None if args.quick => Choice::Cpu,
        None => Choice::Auto,
    };
    let device = open(choice)?;
    let spec = SyncSpec {
        quick: args.quick,
        parts: args.only.clone(),
        time: args.seconds.map(Duration::from_secs),
        seed: args.seed,
        out: args.out.clone(),
        fresh: args.fresh,
        nvcc: args.nvcc.clone(),
    };
    let store = run::sync(&device, &spec, command)?;
    let mut asked = store.document.points.iter();
    let wrong = asked.any(|p| spec.parts.contains(&p.part.as_str()) && is_wrong(p));
    let document = &store.document;
    let found = Found {
        points: &document.points,
        parts: &spec.parts,
        path: store.path(),
        complete: document.head.complete,
    };
    told(!wrong, found.summary(&mut stdout().lock()))
}

/// What a command that measures points has found.
pub(super) struct Found<'a> {
    /// All points of the document.
    pub(super) points: &'a [Point],
    /// The parts that were asked for.
    pub(super) parts: &'a [&'static str],
    /// Where the document is.
    pub(super) path: &'a Path,
    /// Whether every point was measured.
    pub(super) complete: bool,
}

/// Whether a point was measured and its result is wrong.
pub(super) fn is_wrong(point: &Point) -> bool {
    point.repeat > 0 && !point.verified
}

impl Found<'_> {
    /// The points of the parts that were asked for as a table, and what there is.
    pub(super) fn summary(&self, out: &mut impl Write) -> Result<()> {
        let points = self.points;
        let head = [
            "part",
            "implementation",
            "launch",
            "parameters",
            "a second",
            "note",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for point in points
            .iter()
            .filter(|p| self.parts.contains(&p.part.as_str()))
        {
            let parameters: Vec<String> = point
                .parameters
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            let rate = match point.repeat {
                0 => "-".into(),
                _ => short(point.per_s),
            };
            let note = match (&point.note, is_wrong(point)) {
                (Some(note), true) => format!("WRONG: {note}"),
                (Some(note), false) => note.clone(),
                (None, _) => String::new(),
            };
            rows.push(vec![
                point.part.clone(),
                point.implementation.clone(),
                format!("{}x{}", point.blocks, point.threads),
                parameters.join(", "),
                rate,
                note,
            ]);
        }
        if rows.len() > 1 {
            for line in align(&rows, 1, false) {
                writeln!(out, "{}", line.trim_end())?;
            }
            writeln!(out)?;
        }
        writeln!(out, "{} points: {}", points.len(), self.path.display())?;
        if !self.complete {
            writeln!(
                out,
                "Not all points are in it yet: the same command goes on, and see --only."
            )?;
        }
        Ok(())
    }
}
