//! What records, tables and sentences ask of the document: names, orders and ratios; and what the
//! paper (Xu et al., Software transactional memory for GPU architectures, CGO 2014) gives in
//! figures: its Tables 1 and 2, as its Figures 2 to 5 are drawings without numbers.
//!
//! A result that was not verified is shown, marked, and never counts: not as
//! the best, not as the baseline, not in a sentence.

use crate::numbers::{self, count};
use crate::paper::document::{CriticalSection, KernelPart, Paper, Speedup};
use crate::report::formula::Sets;
use crate::report::palette;
use crate::variants::AskedVariant;

/// The workloads in the paper's order, by their names at the command line: the paper's name, what
/// it stands for, and the row of Table 1, as printed, with the launch of Table 2: shared data in
/// words, words that a transaction reads and writes, transactions of a kernel, share of the time
/// in transactions, probability of conflicts, and blocks x threads of a block where its optimized
/// variant is fastest.
#[rustfmt::skip]
const WORKLOADS: [(&str, &str, &str, &[&str]); 9] = [
    ("ra", "RA", "random array", &["8M", "16", "16", "1M", "high", "low", "256 x 256"]),
    ("ht", "HT", "hash table", &["256K", "8", "8", "1M", "high", "medium", "256 x 256"]),
    ("genome", "GN", "genome", &["16K / 1M", "1", "1", "4M / 1M", "medium / high", "low / medium", "256 x 256, 16 x 64"]),
    ("gn1", "GN-1", "genome, segments", &["16K", "1", "1", "4M", "medium", "low", "256 x 256"]),
    ("gn2", "GN-2", "genome, matching", &["1M", "1", "1", "1M", "high", "medium", "16 x 64"]),
    ("labyrinth", "LB", "labyrinth", &["1.75M", "352", "352", "512", "low", "low", "512 x 256"]),
    ("kmeans", "KM", "k-means", &["2K", "32", "32", "64K", "medium", "high", "64 x 4"]),
    ("eigenbench", "EB", "EigenBench", &["1M to 64M", "32", "32", "1M", "high", "high to low"]),
    ("bank", "bank", "transfers and audits", &[]),
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

fn place(workload: &str) -> Option<usize> {
    let plain = plain(workload);
    WORKLOADS.iter().position(|(name, ..)| *name == plain)
}

pub(super) fn label(workload: &str) -> String {
    let known = place(workload).map(|at| WORKLOADS[at].1);
    known.unwrap_or(workload).to_owned()
}

pub(super) fn heading(workload: &str) -> String {
    let known = place(workload).map(|at| format!("{}, {}", WORKLOADS[at].1, WORKLOADS[at].2));
    known.unwrap_or_else(|| workload.to_owned())
}

/// The paper's row for a workload, or for a kernel of it; empty if it has none.
pub(super) fn cells(workload: &str) -> &'static [&'static str] {
    place(workload).map_or(&[], |at| WORKLOADS[at].3)
}

/// What orders workloads: the paper's first, in its order, and others behind by name.
pub(super) fn order(workload: &str) -> (usize, &str) {
    (place(workload).unwrap_or(WORKLOADS.len()), workload)
}

/// A name without what people put between a word and its number: `genome/gn-1` is `gn1`.
pub(super) fn plain(workload: &str) -> String {
    let last = workload.rsplit(['/', ':', ' ']).next().unwrap_or(workload);
    last.replace(['-', '_'], "").to_lowercase()
}

/// The results in the order of the figures: by workload, and in the order of the legends.
pub(super) fn sorted(paper: &Paper) -> Vec<&Speedup> {
    let mut all: Vec<&Speedup> = paper.speedups.iter().collect();
    all.sort_by_key(|run| (order(&run.workload), palette::rank(&run.variant)));
    all
}

pub(super) fn total(blocks: u32, threads: u32) -> u64 {
    u64::from(blocks) * u64::from(threads)
}

/// Aborts over attempts; `None` if nothing was attempted.
pub(super) fn abort_rate(aborts: f64, commits: u64) -> Option<f64> {
    let attempts = aborts + commits as f64;
    (attempts > 0.0).then(|| aborts / attempts)
}

pub(super) fn baseline<'p>(paper: &'p Paper, workload: &str) -> Option<&'p Speedup> {
    let mut all = paper.speedups.iter();
    all.find(|run| run.workload == workload && run.variant == "cgl" && counts(run))
}

pub(super) fn counts(run: &Speedup) -> bool {
    run.verified && run.tx_per_s.is_finite() && run.tx_per_s > 0.0
}

/// The rate over that of the coarse-grained lock, if both count.
pub(super) fn over_cgl(paper: &Paper, run: &Speedup) -> Option<f64> {
    let cgl = baseline(paper, &run.workload).filter(|_| counts(run))?;
    Some(run.tx_per_s / cgl.tx_per_s)
}

/// The critical section of a workload, or of a part of one, if there is one.
pub(super) fn critical_section<'p>(
    paper: &'p Paper,
    workload: &str,
) -> Option<&'p CriticalSection> {
    let mut all = paper.critical_sections.iter();
    all.find(|section| section.workload == workload && section.counts())
}

/// The document with the kernels of a workload, where it has several that run transactions, in the
/// place of the whole: they do unlike work, and the paper shows GN-1 and GN-2 apart.
pub(super) fn apart(paper: &Paper) -> Paper {
    let mut apart = paper.clone();
    apart.speedups = paper.speedups.iter().flat_map(parts).collect();
    apart
}

/// A result's kernels as results of their own; the result itself if it has not several.
fn parts(run: &Speedup) -> Vec<Speedup> {
    let mut kernels: Vec<&KernelPart> = run.kernels.iter().collect();
    kernels.retain(|k| k.commits > 0 && k.time_ms > 0.0);
    if kernels.len() < 2 {
        return vec![run.clone()];
    }
    let part = |kernel: &&KernelPart| {
        let rate = kernel.tx_per_s();
        Speedup {
            workload: format!("{}/{}", run.workload, kernel.work()),
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
pub(super) fn theirs(paper: &Paper) -> Paper {
    let all = AskedVariant::of_paper();
    let known = |name: &str| all.iter().any(|variant| variant.name() == name);
    let mut paper = paper.clone();
    paper.speedups.retain(|run| known(&run.variant));
    paper.threads.retain(|point| known(&point.variant));
    paper.eigenbench.retain(|point| known(&point.variant));
    paper
}
