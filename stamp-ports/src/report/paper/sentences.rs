//! What the figures show, in sentences computed from the document.
//!
//! Every number in them is one of the document's or a ratio of two of them.

use super::critical;
use super::published;
use super::view::{
    apart, both, counts, distinct, fastest, label, largest, measured, over_cgl, runs, theirs,
    total, variants, workloads,
};
use crate::numbers::{count, of, short};
use crate::paper::document::{EigenbenchPoint, Paper};
use crate::report::claim::LEVEL;
use crate::report::words::{and, percent, times};
use std::collections::BTreeMap;

/// `3 of 7 workloads (RA, GN and LB)`.
fn of_workloads(some: &[&str], all: usize) -> String {
    let names: Vec<String> = some.iter().map(|name| label(name)).collect();
    let which = if some.is_empty() {
        String::new()
    } else {
        format!(" ({})", and(&names))
    };
    let plural = if all == 1 { "" } else { "s" };
    format!("{} of {all} workload{plural}{which}", some.len())
}

/// About Figure 2.
pub fn speedups(paper: &Paper) -> Vec<String> {
    if paper.speedups.is_empty() {
        return vec!["Not measured.".into()];
    }
    // GN-1 hardly writes and GN-2 does: each is compared by itself.
    let paper = &apart(paper);
    let all = measured(paper);
    let mut told = Vec::new();
    let mut winners: Vec<(&str, Vec<&str>)> = Vec::new();
    for &workload in &all {
        let Some(best) = fastest(paper, workload) else {
            continue;
        };
        match winners.iter_mut().find(|w| w.0 == best.variant) {
            Some(winner) => winner.1.push(workload),
            None => winners.push((&best.variant, vec![workload])),
        }
    }
    winners.sort_by_key(|winner| std::cmp::Reverse(winner.1.len()));
    let parts: Vec<String> = winners
        .iter()
        .enumerate()
        .map(|(i, (variant, won))| {
            if i == 0 {
                format!("{variant} is fastest in {}", of_workloads(won, all.len()))
            } else {
                let names: Vec<String> = won.iter().map(|name| label(name)).collect();
                format!("{variant} in {}", and(&names))
            }
        })
        .collect();
    if !parts.is_empty() {
        told.push(and(&parts) + ".");
    }
    told.extend(extremes(paper, &all));
    told.extend(optimized(paper, &all));
    told.extend(hierarchical(paper, &all));
    told.push(caution(paper));
    let wrong: Vec<String> = paper
        .speedups
        .iter()
        .filter(|run| !run.verified)
        .map(|run| format!("{} {}", label(&run.workload), run.variant))
        .collect();
    if !wrong.is_empty() {
        told.push(format!(
            "Not verified, and counted nowhere here: {}.",
            and(&wrong)
        ));
    }
    told
}

/// What a ratio to `cgl` is not: one to a hand-written lock.
pub fn caution(paper: &Paper) -> String {
    let by =
        "cgl is this runtime's own variant with one lock and buffers its writes as the others do";
    match critical::over_cgl(paper) {
        Some(told) => format!("{by}. {told}"),
        None => format!(
            "{by}: a hand-written lock may be several times as fast, and none was measured in \
             this run."
        ),
    }
}

fn extremes(paper: &Paper, all: &[&str]) -> Option<String> {
    let (run, ratio) = largest(paper, |_| true)?;
    let mut told = format!(
        "The largest speed-up over cgl is {}, of {} in {}",
        both(paper, run, ratio),
        run.variant,
        label(&run.workload)
    );
    let lost: Vec<String> = all
        .iter()
        .filter(|workload| fastest(paper, workload).is_some_and(|best| best.variant == "cgl"))
        .map(|workload| label(workload))
        .collect();
    let least = all
        .iter()
        .filter_map(|workload| {
            let best = fastest(paper, workload)?;
            Some((best, over_cgl(paper, best)?))
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(least, _)| least.workload != run.workload);
    if let Some((least, ratio)) = least {
        let end = if least.variant == "cgl" {
            format!("nothing is faster than cgl in {}", and(&lost))
        } else {
            format!(
                "the least that a workload gains at its best is {}, of {} in {}",
                both(paper, least, ratio),
                least.variant,
                label(&least.workload)
            )
        };
        told = format!("{told}; {end}");
    }
    Some(told + ".")
}

/// The workloads for which two rates exist, and the ratio of the first to the
/// second.
fn ratios<'p>(
    all: &[&'p str],
    pair: impl Fn(&'p str) -> Option<(f64, f64)>,
) -> Vec<(&'p str, f64)> {
    all.iter()
        .filter_map(|workload| pair(workload).map(|(a, b)| (*workload, a / b)))
        .collect()
}

/// The rate of a variant, if it counts.
pub fn rate(paper: &Paper, workload: &str, variant: &str) -> Option<f64> {
    runs(paper, workload)
        .into_iter()
        .find(|run| run.variant == variant && counts(run))
        .map(|run| run.tx_per_s)
}

fn optimized(paper: &Paper, all: &[&str]) -> Option<String> {
    // Beside the paper's other variants, as it is one of them.
    let paper = &theirs(paper);
    let found = ratios(all, |workload| {
        let best = fastest(paper, workload)?.tx_per_s;
        Some((rate(paper, workload, "optimized")?, best))
    });
    if found.is_empty() {
        return None;
    }
    let near: Vec<&str> = found
        .iter()
        .filter(|(_, ratio)| *ratio >= 1.0 - LEVEL)
        .map(|(workload, _)| *workload)
        .collect();
    let far: Vec<String> = found
        .iter()
        .filter(|(_, ratio)| *ratio < 1.0 - LEVEL)
        .map(|(workload, ratio)| format!("{} in {}", percent(*ratio), label(workload)))
        .collect();
    let mut told = format!(
        "optimized is within 5 % of the fastest of the paper's variants, or ahead of it, in {}",
        of_workloads(&near, found.len())
    );
    if !far.is_empty() {
        told = format!("{told}; of the fastest rate it reaches {}", and(&far));
    }
    Some(told + ".")
}

fn hierarchical<'p>(paper: &'p Paper, all: &[&'p str]) -> Option<String> {
    let found = ratios(all, |workload| {
        Some((
            rate(paper, workload, "hv-sorting")?,
            rate(paper, workload, "tbv-sorting")?,
        ))
    });
    if found.is_empty() {
        return None;
    }
    let parts: Vec<String> = found
        .iter()
        .map(|(workload, ratio)| format!("{} {}", label(workload), times(*ratio)))
        .collect();
    Some(format!(
        "hv-sorting's rate over tbv-sorting's: {}.",
        parts.join(", ")
    ))
}

/// Where a workload is fastest, of all variants and launches of Figure 3.
pub fn peak(paper: &Paper, workload: &str) -> Option<String> {
    let best = paper
        .threads
        .iter()
        .filter(|p| p.workload == workload && p.tx_per_s > 0.0)
        .max_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s))?;
    Some(format!(
        "{} peaks at {} tx/s, {} with {}",
        label(workload),
        short(best.tx_per_s),
        best.variant,
        of(total(best.blocks, best.threads), "thread")
    ))
}

/// About Figure 3.
pub fn threads(paper: &Paper) -> Vec<String> {
    let all = workloads(paper.threads.iter().map(|p| p.workload.as_str()));
    if all.is_empty() {
        return vec!["Not measured.".into()];
    }
    let peaks: Vec<String> = all.iter().filter_map(|w| peak(paper, w)).collect();
    let mut told: Vec<String> = Vec::new();
    if !peaks.is_empty() {
        told.push(peaks.join("; ") + ".");
    }
    // Of each line: its first rate, its best and its last.
    let (mut lines, mut falls, mut gain) = (0, 0, None::<(f64, &str, &str)>);
    for &workload in &all {
        for variant in variants(
            paper
                .threads
                .iter()
                .filter(|p| p.workload == workload)
                .map(|p| p.variant.as_str()),
        ) {
            let mut line: Vec<(u64, f64)> = paper
                .threads
                .iter()
                .filter(|p| p.workload == workload && p.variant == variant && p.tx_per_s > 0.0)
                .map(|p| (total(p.blocks, p.threads), p.tx_per_s))
                .collect();
            line.sort_by_key(|point| point.0);
            let (Some(first), Some(last)) = (line.first(), line.last()) else {
                continue;
            };
            let best = line.iter().map(|p| p.1).fold(0.0, f64::max);
            lines += 1;
            falls += usize::from(last.1 < best * (1.0 - LEVEL));
            let grown = best / first.1;
            if gain.is_none_or(|g| grown > g.0) {
                gain = Some((grown, variant, workload));
            }
        }
    }
    if let Some((grown, variant, workload)) = gain {
        told.push(format!(
            "The steepest rise from its smallest launch to its best is {}, of {variant} in {}; \
             {falls} of {lines} lines end more than 5 % below their best.",
            times(grown),
            label(workload)
        ));
    }
    let missing = paper.threads.iter().filter(|p| p.tx_per_s <= 0.0).count();
    if missing > 0 {
        told.push(format!(
            "{missing} of {} launches did not run and are left out.",
            paper.threads.len()
        ));
    }
    told
}

/// A point of tbv-sorting and the same of hv-sorting.
pub struct Pair<'p> {
    /// The point of tbv-sorting.
    pub tbv: &'p EigenbenchPoint,
    /// The point of hv-sorting.
    pub hv: &'p EigenbenchPoint,
}

impl Pair<'_> {
    /// The rate of hv-sorting over that of tbv-sorting.
    pub fn gain(&self) -> f64 {
        self.hv.tx_per_s / self.tbv.tx_per_s
    }

    fn setting(&self) -> String {
        format!(
            "{}, {} and {}",
            of(self.hv.hot_words, "word"),
            of(self.hv.locks, "lock"),
            of(total(self.hv.blocks, self.hv.threads), "thread")
        )
    }
}

/// All settings of Figure 4 in which both ran.
pub fn pairs(paper: &Paper) -> Vec<Pair<'_>> {
    let points = || paper.eigenbench.iter().filter(|p| p.tx_per_s > 0.0);
    points()
        .filter(|p| p.variant == "tbv-sorting")
        .filter_map(|tbv| {
            let same = |p: &&EigenbenchPoint| {
                p.variant == "hv-sorting"
                    && (p.hot_words, p.locks, p.blocks, p.threads)
                        == (tbv.hot_words, tbv.locks, tbv.blocks, tbv.threads)
            };
            Some(Pair {
                tbv,
                hv: points().find(same)?,
            })
        })
        .collect()
}

/// About the panel of Figure 4 with so many words and a variant.
pub fn locks_at(paper: &Paper, words: u64, variant: &str) -> String {
    let here =
        |p: &&EigenbenchPoint| p.hot_words == words && p.variant == variant && p.tx_per_s > 0.0;
    let best = paper
        .eigenbench
        .iter()
        .filter(here)
        .max_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s));
    best.map_or_else(
        || "No launch of it ran.".into(),
        |p| {
            format!(
                "The highest rate is {} tx/s, with {} locks and {} threads.",
                short(p.tx_per_s),
                count(p.locks),
                count(total(p.blocks, p.threads))
            )
        },
    )
}

/// The median; of an even number of values, the mean of the middle two.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let lower = values.get(values.len().checked_sub(1)? / 2)?;
    Some(f64::midpoint(*lower, values[values.len() / 2]))
}

/// About Figure 4.
pub fn locks(paper: &Paper) -> Vec<String> {
    if paper.eigenbench.is_empty() {
        return vec!["Not measured.".into()];
    }
    let pairs = pairs(paper);
    let Some(most) = pairs.iter().max_by(|a, b| a.gain().total_cmp(&b.gain())) else {
        return vec!["No setting has both tbv-sorting and hv-sorting.".into()];
    };
    let ahead = pairs.iter().filter(|p| p.gain() > 1.0 + LEVEL).count();
    let behind = pairs.iter().filter(|p| p.gain() < 1.0 - LEVEL).count();
    let fewer = pairs
        .iter()
        .filter(|p| p.hv.abort_rate < p.tbv.abort_rate)
        .count();
    let mut told = vec![
        format!(
            "Of {} settings, hv-sorting is more than 5 % faster than tbv-sorting in {ahead} and \
             more than 5 % slower in {behind}; it aborts less often in {fewer}.",
            pairs.len()
        ),
        format!(
            "At most it has {} the rate of tbv-sorting: with {}, where {} of its attempts abort \
             and {} of those of tbv-sorting.",
            times(most.gain()),
            most.setting(),
            percent(most.hv.abort_rate),
            percent(most.tbv.abort_rate)
        ),
    ];
    let gains = |shared: bool| {
        let some = pairs
            .iter()
            .filter(|p| (p.hv.hot_words > p.hv.locks) == shared);
        median(some.map(Pair::gain).collect())
    };
    if let (Some(shared), Some(own)) = (gains(true), gains(false)) {
        told.push(format!(
            "The median of its rate over that of tbv-sorting is {} where words outnumber locks, \
             {} where they do not.",
            times(shared),
            times(own)
        ));
    }
    told.extend(enough_locks(paper));
    told
}

/// hv-sorting with 4 M locks against its best with any number, at the most
/// words and threads.
fn enough_locks(paper: &Paper) -> Option<String> {
    let points = || {
        paper
            .eigenbench
            .iter()
            .filter(|p| p.variant == "hv-sorting" && p.tx_per_s > 0.0)
    };
    let words = points().map(|p| p.hot_words).max()?;
    let threads = distinct(
        points()
            .filter(|p| p.hot_words == words)
            .map(|p| total(p.blocks, p.threads)),
    );
    let threads = *threads.last()?;
    let here =
        || points().filter(move |p| p.hot_words == words && total(p.blocks, p.threads) == threads);
    let enough = here().find(|p| p.locks == published::HV_LOCKS_ENOUGH)?;
    let best = here().max_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s))?;
    Some(format!(
        "With {} words and {} threads, hv-sorting reaches {} of its best rate with {} locks \
         (its best: {} locks).",
        count(words),
        count(threads),
        percent(enough.tx_per_s / best.tx_per_s),
        count(enough.locks),
        count(best.locks)
    ))
}

/// About a variant's panel of Figure 5, of one thread alone or of full launches.
pub fn phases_of(paper: &Paper, variant: &str, alone: bool) -> String {
    let parts: Vec<String> = paper
        .breakdown
        .iter()
        .filter(|b| b.variant == variant && b.is_alone() == alone)
        .filter_map(|b| {
            let (phase, share) = largest_overhead(&b.shares)?;
            let native = b.shares.get("native").copied().unwrap_or(0.0);
            Some(format!(
                "{}: {} native, most of the rest {phase} ({})",
                label(&b.workload),
                percent(native),
                percent(share)
            ))
        })
        .collect();
    if parts.is_empty() {
        "Not measured.".into()
    } else {
        parts.join("; ") + "."
    }
}

fn largest_overhead(shares: &BTreeMap<String, f64>) -> Option<(&str, f64)> {
    shares
        .iter()
        .filter(|(phase, _)| *phase != "native")
        .map(|(phase, share)| (phase.as_str(), *share))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// About Figure 5.
pub fn phases(paper: &Paper) -> Vec<String> {
    let variants = variants(paper.breakdown.iter().map(|b| b.variant.as_str()));
    if variants.is_empty() {
        return vec!["Not measured.".into()];
    }
    let mut told = Vec::new();
    for variant in variants {
        for (alone, what) in [(true, ", one thread alone"), (false, " in full launches")] {
            if paper.breakdown.iter().any(|b| b.is_alone() == alone) {
                let parts = phases_of(paper, variant, alone);
                told.push(format!("The time of {variant}{what}: {parts}"));
            }
        }
    }
    let costs = paper.breakdown.iter().map(|b| b.cost);
    let (low, high) = costs.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), cost| {
        (low.min(cost), high.max(cost))
    });
    told.push(if times(low) == times(high) {
        format!("Measuring made the kernels take {} their time.", times(low))
    } else {
        format!(
            "Measuring made the kernels take {} to {} their time.",
            times(low),
            times(high)
        )
    });
    told
}
