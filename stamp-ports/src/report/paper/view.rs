//! What figures, tables and sentences ask of the document: names, orders,
//! ratios, the best of each workload.
//!
//! A result that was not verified is shown, marked, and never counts: not as
//! the best, not as the baseline, not in a sentence.
//!
//! What the paper says in figures stands beside what was measured: Xu et al., Software transactional memory for GPU architectures, CGO 2014:
//! Tables 1 and 2 and the sections named. Its Figures 2 to 5 are drawings
//! without numbers, so only what the text says of them can be quoted.

use crate::numbers::{self, count};
use crate::paper::document::{CriticalSection, KernelPart, Paper, Speedup};
use crate::report::formula::Sets;
use crate::report::palette;
use crate::variants::AskedVariant;

/// The workloads in the paper's order, with its names and what they are.
const NAMES: [(&str, &str, &str); 9] = [
    ("ra", "RA", "random array"),
    ("ht", "HT", "hash table"),
    ("genome", "GN", "genome"),
    ("gn1", "GN-1", "genome, segments"),
    ("gn2", "GN-2", "genome, matching"),
    ("labyrinth", "LB", "labyrinth"),
    ("kmeans", "KM", "k-means"),
    ("eigenbench", "EB", "EigenBench"),
    ("bank", "bank", "transfers and audits"),
];

/// Returns how the value of a variable is shown.
pub(super) fn shown(_: &Sets, name: &str, value: &str) -> String {
    match (name, value.parse(), value.split_once(' ')) {
        ("w", ..) => label(value),
        ("bar", _, Some((workload, variant))) => format!("{} {variant}", label(workload)),
        ("threads" | "workloads" | "lock", Ok(n), _) => numbers::of(n, name.trim_end_matches('s')),
        ("size", Ok(n), _) => count(n),
        _ => value.to_owned(),
    }
}

/// A workload's place in the paper's order, if it has one.
fn place(workload: &str) -> Option<usize> {
    let plain = plain(workload);
    NAMES.iter().position(|(name, ..)| *name == plain)
}

/// A short name: the paper's, where it has one.
pub fn label(workload: &str) -> String {
    place(workload)
        .map_or(workload, |at| NAMES[at].1)
        .to_owned()
}

/// The short name and what it stands for.
pub fn heading(workload: &str) -> String {
    let names = place(workload).map(|at| NAMES[at]);
    names.map_or_else(
        || workload.to_owned(),
        |(_, short, long)| format!("{short}, {long}"),
    )
}

/// What orders workloads: the paper's first, in its order, and others behind by name.
pub fn order(workload: &str) -> (usize, &str) {
    (place(workload).unwrap_or(NAMES.len()), workload)
}

/// The results in the order of the figures: by workload, and in the order of the legends.
pub fn sorted(paper: &Paper) -> Vec<&Speedup> {
    let mut all: Vec<&Speedup> = paper.speedups.iter().collect();
    all.sort_by_key(|run| (order(&run.workload), palette::rank(&run.variant)));
    all
}

/// Threads of a launch.
pub fn total(blocks: u32, threads: u32) -> u64 {
    u64::from(blocks) * u64::from(threads)
}

/// Aborts over attempts; `None` if nothing was attempted.
pub fn abort_rate(run: &Speedup) -> Option<f64> {
    let aborts: f64 = run.aborts.values().map(|&n| n as f64).sum();
    let attempts = aborts + run.commits as f64;
    (attempts > 0.0).then(|| aborts / attempts)
}

/// The rate of the coarse-grained lock.
pub fn baseline<'p>(paper: &'p Paper, workload: &str) -> Option<&'p Speedup> {
    paper
        .speedups
        .iter()
        .find(|run| run.workload == workload && run.variant == "cgl" && counts(run))
}

/// Whether a result counts.
pub fn counts(run: &Speedup) -> bool {
    run.verified && run.tx_per_s.is_finite() && run.tx_per_s > 0.0
}

/// The rate over that of the coarse-grained lock, if both count.
pub fn over_cgl(paper: &Paper, run: &Speedup) -> Option<f64> {
    if !counts(run) {
        return None;
    }
    baseline(paper, &run.workload).map(|cgl| run.tx_per_s / cgl.tx_per_s)
}

/// The rate over that of the same transactions as critical sections of one hand-written
/// lock, if both count; documents of earlier versions have no such.
pub fn over_critical_section(paper: &Paper, run: &Speedup) -> Option<f64> {
    if !counts(run) {
        return None;
    }
    let section = critical_section(paper, &run.workload)?;
    Some(run.tx_per_s / section.tx_per_s)
}

/// The critical sections of a workload, or of a part of one.
pub fn critical_section<'p>(paper: &'p Paper, workload: &str) -> Option<&'p CriticalSection> {
    let mut all = paper.critical_sections.iter();
    all.find(|section| section.workload == workload && section.counts())
}

/// The document with the kernels of a workload, where it has several that run transactions, in the
/// place of the whole: they do unlike work, and the paper shows GN-1 and GN-2 apart.
pub fn apart(paper: &Paper) -> Paper {
    let mut apart = paper.clone();
    apart.speedups = paper.speedups.iter().flat_map(parts).collect();
    apart
}

/// A result's kernels as results of their own; the result itself if it has not several.
fn parts(run: &Speedup) -> Vec<Speedup> {
    let kernels = run.kernels.iter();
    let kernels: Vec<_> = kernels
        .filter(|k| k.commits > 0 && k.time_ms > 0.0)
        .collect();
    if kernels.len() < 2 {
        return vec![run.clone()];
    }
    let part = |kernel: &&KernelPart| {
        let (rate, name) = (kernel.tx_per_s(), kernel.work());
        Speedup {
            workload: format!("{}/{name}", run.workload),
            tx_per_s: rate,
            tx_per_s_min: rate,
            tx_per_s_max: rate,
            over_cgl: None,
            over_critical_section: None,
            kernels: Vec::new(),
            ..run.clone()
        }
    };
    kernels.iter().map(part).collect()
}

/// The document without the variants that are not the paper's.
pub fn theirs(paper: &Paper) -> Paper {
    let known = |name: &str| {
        let all = AskedVariant::of_paper();
        all.iter().any(|variant| variant.name() == name)
    };
    let mut paper = paper.clone();
    paper.speedups.retain(|run| known(&run.variant));
    paper.threads.retain(|point| known(&point.variant));
    paper.eigenbench.retain(|point| known(&point.variant));
    paper
}

/// The largest speed-up over the coarse-grained lock, of these results.
pub fn largest(paper: &Paper, of: impl Fn(&Speedup) -> bool) -> Option<(&Speedup, f64)> {
    paper
        .speedups
        .iter()
        .filter(|run| run.variant != "optimized" && run.variant != "cgl" && of(run))
        .filter_map(|run| Some((run, over_cgl(paper, run)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Table 1, as printed, and the launches of Table 2, by the workload at the command line: shared
/// data in words, words that a transaction reads and writes, transactions of a kernel, share of
/// the time in transactions, probability of conflicts, and blocks x threads of a block where its
/// optimized variant is fastest.
#[rustfmt::skip]
pub const ROWS: [(&str, [&str; 7]); 8] = [
    ("ra", ["8M", "16", "16", "1M", "high", "low", "256 x 256"]),
    ("ht", ["256K", "8", "8", "1M", "high", "medium", "256 x 256"]),
    ("genome", ["16K / 1M", "1", "1", "4M / 1M", "medium / high", "low / medium", "256 x 256, 16 x 64"]),
    ("gn1", ["16K", "1", "1", "4M", "medium", "low", "256 x 256"]),
    ("gn2", ["1M", "1", "1", "1M", "high", "medium", "16 x 64"]),
    ("labyrinth", ["1.75M", "352", "352", "512", "low", "low", "512 x 256"]),
    ("kmeans", ["2K", "32", "32", "64K", "medium", "high", "64 x 4"]),
    ("eigenbench", ["1M to 64M", "32", "32", "1M", "high", "high to low", ""]),
];

/// The paper's row for a workload, or for a kernel of it.
pub fn of(workload: &str) -> Option<[&'static str; 7]> {
    let plain = plain(workload);
    let row = ROWS.iter().find(|(name, _)| *name == plain);
    row.map(|(_, cells)| *cells)
}

/// A name without what people put between a word and its number: `genome/gn-1` is `gn1`.
pub fn plain(workload: &str) -> String {
    let last = workload.rsplit(['/', ':', ' ']).next().unwrap_or(workload);
    last.chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .collect::<String>()
        .to_lowercase()
}
