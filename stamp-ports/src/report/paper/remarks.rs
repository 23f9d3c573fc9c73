//! What the tables show, in sentences computed from the document.

use super::view::{counts, label, total};
use crate::numbers::{bytes, count, of};
use crate::paper::document::{Characteristics, Paper, Speedup};
use crate::report::words::percent;

/// About Table 1.
pub fn characteristics(paper: &Paper) -> Vec<String> {
    let by_rate =
        |a: &&Characteristics, b: &&Characteristics| a.abort_rate.total_cmp(&b.abort_rate);
    let rows = || paper.characteristics.iter();
    let (Some(most), Some(least)) = (rows().max_by(by_rate), rows().min_by(by_rate)) else {
        return vec!["Not measured.".into()];
    };
    let mut told = format!(
        "{} has the most conflicts: {} of its attempts abort",
        label(&most.workload),
        percent(most.abort_rate)
    );
    if least.abort_rate < most.abort_rate {
        told = format!(
            "{told}; {} the fewest: {}",
            label(&least.workload),
            percent(least.abort_rate)
        );
    }
    vec![told + "."]
}

/// About Table 2.
pub fn launches(paper: &Paper) -> Vec<String> {
    if paper.speedups.is_empty() {
        return vec!["Not measured.".into()];
    }
    let mut told = Vec::new();
    if paper.search.is_empty() {
        let tried: u64 = paper
            .speedups
            .iter()
            .fold(0, |sum, run| sum.saturating_add(run.tried));
        told.push(format!("{tried} launches were tried."));
    } else {
        let stopped = paper.search.iter().filter(|t| t.tx_per_s <= 0.0).count();
        told.push(format!(
            "{} launches were tried, {stopped} of which did not run; each is in paper.json.",
            paper.search.len()
        ));
    }
    let largest = |run: &&Speedup| total(run.blocks, run.threads);
    let best = || paper.speedups.iter().filter(|run| counts(run));
    if let (Some(low), Some(high)) = (best().min_by_key(largest), best().max_by_key(largest)) {
        told.push(format!(
            "The best launches go from {} ({} in {}) to {} ({} in {}).",
            of(largest(&low), "thread"),
            low.variant,
            label(&low.workload),
            count(largest(&high)),
            high.variant,
            label(&high.workload)
        ));
    }
    told
}

/// About the reasons of aborts.
pub fn aborts(paper: &Paper) -> Vec<String> {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for (reason, &n) in paper.speedups.iter().flat_map(|run| &run.aborts) {
        match sums.iter_mut().find(|s| s.0 == reason) {
            Some(sum) => sum.1 = sum.1.saturating_add(n),
            None => sums.push((reason, n)),
        }
    }
    let all = sums.iter().fold(0u64, |sum, s| sum.saturating_add(s.1));
    if paper.speedups.is_empty() {
        return vec!["Not measured.".into()];
    }
    let Some(most) = sums.iter().max_by_key(|s| s.1).filter(|_| all > 0) else {
        return vec!["Nothing aborted.".into()];
    };
    vec![format!(
        "The most frequent reason, over all results, is {}: {} of the aborts.",
        most.0.replace('_', " "),
        percent(most.1 as f64 / all as f64)
    )]
}

/// About active lanes.
pub fn lanes(paper: &Paper) -> Vec<String> {
    let known = || {
        paper
            .speedups
            .iter()
            .filter_map(|run| Some((run, run.active_lanes?)))
    };
    let by = |a: &(&Speedup, f64), b: &(&Speedup, f64)| a.1.total_cmp(&b.1);
    let (Some(low), Some(high)) = (known().min_by(by), known().max_by(by)) else {
        return vec!["Active lanes a warp: not measured.".into()];
    };
    vec![format!(
        "Of {} lanes of a warp, {:.1} ({} in {}) to {:.1} ({} in {}) run a transaction together.",
        high.0.warp_width,
        low.1,
        low.0.variant,
        label(&low.0.workload),
        high.1,
        high.0.variant,
        label(&high.0.workload)
    )]
}

/// About metadata, compilation and launches.
pub fn costs(paper: &Paper) -> Vec<String> {
    let runs = || paper.speedups.iter();
    let memory = |run: &&Speedup| run.metadata_bytes;
    let (Some(low), Some(high)) = (runs().min_by_key(memory), runs().max_by_key(memory)) else {
        return vec!["Not measured.".into()];
    };
    let mut told = vec![format!(
        "Metadata (locks, sets, statistics) takes {} ({} in {}) to {} ({} in {}).",
        bytes(low.metadata_bytes),
        low.variant,
        label(&low.workload),
        bytes(high.metadata_bytes),
        high.variant,
        label(&high.workload)
    )];
    let slowest = runs()
        .filter(|run| run.jit_ms > 0.0)
        .max_by(|a, b| a.jit_ms.total_cmp(&b.jit_ms));
    told.push(slowest.map_or_else(
        || "Nothing is compiled at run time on this device.".into(),
        |run| {
            format!(
                "The driver compiles the kernels of {} in {} longest: {:.0} ms.",
                run.variant,
                label(&run.workload),
                run.jit_ms
            )
        },
    ));
    told
}
