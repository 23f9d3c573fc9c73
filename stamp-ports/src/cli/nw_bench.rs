//! The command `bench nw`.

use super::console::{open, told};
use super::name_list::{NameList, described};
use super::sync::{Found, is_wrong};
use crate::devices::{Choice, parse_choice};
use crate::error::Result;
use crate::numbers::parse_count;
use crate::nw::bench::plan::{CELLS, DATAFLOW, DIAGONALS, GRAPH, LOCKS, PARTS, STM};
use crate::nw::bench::run::{self, NwSpec, parse_parts};
use crate::workloads::shared_options::SEED;
use clap::Args;
use std::io::stdout;
use std::path::PathBuf;
use std::time::Duration;

/// The implementations of tables, and what each is.
const IMPLEMENTATIONS: [(&str, &str); 6] = [
    (
        DATAFLOW,
        "one launch, in which warps hand values on through channels of tagged words",
    ),
    (DIAGONALS, "a launch for each diagonal of tiles"),
    (GRAPH, "the same launches as a CUDA graph"),
    (
        LOCKS,
        "the same launches; in a tile a thread for each cell, which waits for locks",
    ),
    (CELLS, "the same with tagged words in place of locks"),
    (STM, "a transaction for each cell"),
];

/// The schemes of the reduction, and what each waits for.
const SCHEMES: [(&str, &str); 6] = [
    ("atom-lock", "a spin lock for each lane"),
    ("shrd-lock", "a spin lock for each warp"),
    (
        "warp-barr",
        "a pair of named barriers (bar.sync, bar.arrive)",
    ),
    ("warp-vote", "a tag for each warp, and a vote"),
    ("counted-barr", "an mbarrier"),
    ("tagged", "a tag in the word of the value, as channels do"),
];

/// The memories of the hops.
const MEMORIES: [(&str, &str); 3] = [
    ("shared", "from warp to warp of a block"),
    (
        "cluster",
        "from block to block of a cluster, through their shared memory",
    ),
    ("global", "from block to block"),
];

/// What `--help` says behind the options.
pub(super) fn help() -> String {
    let parts = described("Parts", PARTS);
    let implementations = described("Implementations of tables", IMPLEMENTATIONS);
    let schemes = described("Schemes of the reduction", SCHEMES);
    let memories = described("Memories of the hops", MEMORIES);
    format!("{parts}\n{implementations}\n{schemes}\n{memories}\n{HELP}")
}

/// The end of the help.
const HELP: &str = "\
Operations are cells of tables, hand-overs from warp to warp, and hops; each
point is verified. In table3 `diagonals` and `graph` have tiles of every side
that is not larger than the table needs, in sizes and tiles `graph` has every
side, and in the other parts those of 32 to 256.

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
        complete: document.head.complete,
    };
    told(!wrong, found.summary(&mut stdout().lock()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::AnyDevice;
    use crate::nw::bench::plan::points;
    use std::collections::BTreeSet;

    #[test]
    fn the_help_and_the_documents_name_every_part_and_implementation() {
        let points = points(&AnyDevice::cpu(), false);
        let measured: BTreeSet<&str> = points.iter().map(|p| p.implementation.as_str()).collect();
        let listed = IMPLEMENTATIONS
            .iter()
            .chain(&SCHEMES)
            .chain(&MEMORIES)
            .map(|(name, _)| *name);
        assert_eq!(listed.collect::<BTreeSet<&str>>(), measured);
        let (help, document) = (help(), include_str!("../../../docs/stamp.md"));
        for (name, what) in PARTS {
            let first = what.split(' ').next().unwrap_or_default();
            assert!(help.contains(&format!("  {name}")) && help.contains(first));
        }
        let parts = PARTS.map(|(name, _)| name);
        for name in measured.into_iter().chain(parts) {
            assert!(document.contains(&format!("`{name}`")), "{name}");
        }
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
    }
}
