//! What the library is to reach on an H200, and whether it does.

use super::claims::cases::{Cases, Finding, blocks};
use super::data::{BARRIER, Cell, Data, LIST, MUTEX, SEMAPHORE, TABLE, over};
use crate::report::claims::Verdict;
use serde::Serialize;
use std::collections::BTreeSet;

/// A target and what was measured of it.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    /// What is compared.
    pub what: &'static str,
    /// What is to be reached.
    pub wanted: &'static str,
    /// Whether it is reached.
    pub verdict: Verdict,
    /// The figures that decide.
    pub figures: String,
}

impl Target {
    /// Returns the verdict in words.
    pub const fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Holds => "reached",
            Verdict::Partly => "reached in part",
            Verdict::Fails => "missed",
            Verdict::Unknown | Verdict::WithoutLock => "not measured",
        }
    }
}

/// A target with what judges it.
type Stated = (&'static str, &'static str, fn(&Data<'_>) -> Finding);

const TARGETS: [Stated; 7] = [
    (
        "Default mutex against cuda::binary_semaphore, one thread a block asks",
        "at least as fast with 1, 8, 32, 132 and 528 blocks, at least 1.3\u{d7} with 132 and more",
        mutex,
    ),
    (
        "Combining against TAS with backoff, one hot lock, 132 blocks",
        "at least 10\u{d7}",
        combining,
    ),
    (
        "Fairness of the default mutex, 132 blocks",
        "most over fewest sections of a block at most 2 (cuda::binary_semaphore stands beside)",
        fairness,
    ),
    (
        "Default barrier against grid.sync()",
        "at most 1.0\u{d7} its latency with 132 and 264 blocks, 0.9\u{d7} with 528, 0.8\u{d7} with 1,056",
        barrier,
    ),
    (
        "Hash table, 16 buckets: combining against MCS",
        "at least 10\u{d7}, and the table by transaction beside both",
        table,
    ),
    (
        "Sorted list by transaction against lock coupling, 16 entry points",
        "at least 5\u{d7}",
        list,
    ),
    (
        "Semaphore of count 10 against cuda::counting_semaphore, 132 blocks",
        "at least as fast",
        semaphore,
    ),
];

/// The name of our default mutex, barrier and semaphore.
const DEFAULT: &str = "default";
const BINARY: &str = "cuda::binary_semaphore";
const COUNTING: &str = "cuda::counting_semaphore";
const GRID: &str = "grid.sync";

/// Judges the targets.
pub fn all(data: &Data<'_>) -> Vec<Target> {
    let of = |(what, wanted, judge): Stated| {
        let finding = if data.bench().head.device.gpu.is_none() {
            Finding::unknown("measured on a CPU, for which there is no target")
        } else {
            judge(data)
        };
        Target {
            what,
            wanted,
            verdict: finding.verdict,
            figures: finding.figures,
        }
    };
    TARGETS.map(of).into()
}

fn mutex(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    for n in [1, 8, 32, 132, 528] {
        let rate = |kind| data.operations(MUTEX, kind, n, None);
        let least = if n >= 132 { 1.3 } else { 1.0 };
        let ratio = over(rate(DEFAULT), rate(BINARY));
        cases.value(blocks(n), ratio, |r| r >= least);
    }
    cases.finding()
}

fn combining(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    let rate = |kind| data.operations(MUTEX, kind, 132, None);
    let ratio = over(rate("combining"), rate("tas-backoff"));
    cases.value("combining / tas-backoff", ratio, |r| r >= 10.0);
    cases.finding()
}

fn fairness(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value(DEFAULT, data.unfairness(DEFAULT, 132), |r| r <= 2.0);
    cases.beside(BINARY, data.unfairness(BINARY, 132));
    cases.finding()
}

/// Returns the name and the value of our default, or, where no point has that name, of the
/// fastest of our kinds, which the host chooses when it has measured them.
fn default_of<'b>(
    data: &Data<'b>,
    part: &str,
    peers: &[&str],
    rate: impl Fn(&str) -> Option<f64>,
) -> Option<(&'b str, f64)> {
    let kinds: BTreeSet<&str> = data
        .points(part)
        .map(|p| p.implementation.as_str())
        .collect();
    let ours = kinds.into_iter().filter(|kind| !peers.contains(kind));
    let rates: Vec<(&str, f64)> = ours.filter_map(|k| Some((k, rate(k)?))).collect();
    let default = rates.iter().find(|(kind, _)| *kind == DEFAULT);
    let fastest = rates.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    default.or(fastest).copied()
}

fn barrier(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    for (blocks, most) in [(132, 1.0), (264, 1.0), (528, 0.9), (1056, 0.8)] {
        let sizes = data.points(BARRIER).filter(|p| p.blocks == blocks);
        let sizes: BTreeSet<u32> = sizes.map(|p| p.threads).collect();
        let before = cases.len();
        for threads in sizes {
            let rate = |kind: &str| {
                data.rate(&Cell {
                    part: BARRIER,
                    kind,
                    blocks,
                    threads: Some(threads),
                    parameter: None,
                })
            };
            let ours = default_of(data, BARRIER, &[GRID], rate);
            if let (Some((name, ours)), Some(theirs)) = (ours, rate(GRID)) {
                // Latencies are to each other as rates the other way round.
                let case = format!("{blocks} x {threads}, {name}");
                cases.value(case, Some(theirs / ours), |r| r <= most);
            }
        }
        if cases.len() == before {
            cases.needs(format!("{blocks} blocks"));
        }
    }
    cases.finding()
}

/// Returns the fastest of some kinds at a place, whose own kind does not matter.
fn shortest<'b>(
    data: &Data<'b>,
    cell: &Cell<'_>,
    of: impl Fn(&str) -> bool,
) -> Option<(&'b str, f64)> {
    let here = data.points(cell.part).map(|p| p.implementation.as_str());
    let kinds: BTreeSet<&str> = here.filter(|kind| of(kind)).collect();
    let times = kinds
        .into_iter()
        .filter_map(|kind| Some((kind, data.time(&Cell { kind, ..*cell })?)));
    times.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The grids of a part with so many threads a block.
fn grids(data: &Data<'_>, part: &str, threads: u32) -> BTreeSet<u32> {
    let here = data.points(part).filter(|p| p.threads == threads);
    here.map(|p| p.blocks).collect()
}

fn table(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    for blocks in grids(data, TABLE, 256) {
        let cell = Cell {
            part: TABLE,
            kind: "",
            blocks,
            threads: Some(256),
            parameter: Some(("buckets", 16)),
        };
        let combining = data.time(&Cell {
            kind: "combining",
            ..cell
        });
        let mcs = shortest(data, &cell, |kind| matches!(kind, "mcs" | "mcs/lane"));
        let shape = format!("{blocks} x 256");
        let (name, mcs) = mcs.map_or(("mcs", None), |(name, time)| (name, Some(time)));
        let ratio = over(mcs, combining);
        cases.value(format!("{shape}, {name} / combining"), ratio, |r| r >= 10.0);
        if let Some((stm, time)) = shortest(data, &cell, |kind| kind.starts_with("stm:")) {
            let ratio = over(mcs, Some(time));
            cases.beside(&format!("{shape}, {name} / {stm}"), ratio);
            let ratio = over(Some(time), combining);
            cases.beside(&format!("{shape}, {stm} / combining"), ratio);
        }
    }
    cases.finding()
}

fn list(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    for blocks in grids(data, LIST, 128) {
        let cell = Cell {
            part: LIST,
            kind: "",
            blocks,
            threads: Some(128),
            parameter: Some(("entry-points", 16)),
        };
        let coupled = shortest(data, &cell, |kind| kind.starts_with("coupled:"));
        let stm = shortest(data, &cell, |kind| kind.starts_with("stm:"));
        let name = match (coupled, stm) {
            (Some((coupled, _)), Some((stm, _))) => format!("{coupled} / {stm}"),
            _ => "coupled and stm".into(),
        };
        let ratio = over(coupled.map(|c| c.1), stm.map(|s| s.1));
        cases.value(format!("{blocks} x 128, {name}"), ratio, |r| r >= 5.0);
    }
    cases.finding()
}

fn semaphore(data: &Data<'_>) -> Finding {
    let mut cases = Cases::new();
    let rate = |kind: &str| data.operations(SEMAPHORE, kind, 132, Some(10));
    let ours = default_of(data, SEMAPHORE, &[COUNTING], rate);
    let name = ours.map_or(DEFAULT, |(name, _)| name);
    let ratio = over(ours.map(|(_, rate)| rate), rate(COUNTING));
    cases.value(format!("{name} / {COUNTING}"), ratio, |r| r >= 1.0);
    cases.finding()
}
