//! Claims about throughput by threads: Figure 3.

use super::{Claim, NONE, Verdict, judged, of_each};
use crate::measure::tried::TIME_LIMIT;
use crate::numbers::count;
use crate::paper::document::{Paper, Speedup, ThreadPoint};
use crate::report::sentences::LEVEL;
use crate::report::view::{and, label, times, total, workloads};

/// Threads a processor of the launch that the paper calls full: one block of 256.
const FULL: u64 = 256;

/// Claims about Figure 3.
pub(super) fn scaling(paper: &Paper) -> Vec<Claim> {
    let full = FULL * paper.head.device.processors as u64;
    vec![
        vbv(paper),
        egpgv(paper, full),
        tbv_and_hv(paper, full),
        conflicts(paper),
        livelock(paper),
    ]
}

fn threads(point: &ThreadPoint) -> u64 {
    total(point.blocks, point.threads)
}

/// The points of a variant in a workload, those that did not run included, by
/// threads.
fn points<'p>(paper: &'p Paper, workload: &str, variant: &str) -> Vec<&'p ThreadPoint> {
    let points = paper.threads.iter();
    let mut line: Vec<&ThreadPoint> = points
        .filter(|p| p.workload == workload && p.variant == variant)
        .collect();
    line.sort_by_key(|p| threads(p));
    line
}

/// The points of a variant in a workload that ran, by threads.
fn line<'p>(paper: &'p Paper, workload: &str, variant: &str) -> Vec<&'p ThreadPoint> {
    let mut line = points(paper, workload, variant);
    line.retain(|p| p.tx_per_s > 0.0);
    line
}

fn best<'p>(points: impl IntoIterator<Item = &'p &'p ThreadPoint>) -> f64 {
    let rates = points.into_iter().map(|p| p.tx_per_s);
    rates.fold(0.0, f64::max)
}

/// A value for each workload of Figure 3, as far as the document has it.
fn each(paper: &Paper, value: impl Fn(&str) -> Option<f64>) -> Vec<(String, f64)> {
    workloads(paper.threads.iter().map(|p| p.workload.as_str()))
        .into_iter()
        .filter_map(|workload| Some((label(workload), value(workload)?)))
        .collect()
}

fn vbv(paper: &Paper) -> Claim {
    let cases = each(paper, |workload| {
        let line = line(paper, workload, "vbv");
        Some(best(&line) / line.first()?.tx_per_s)
    });
    of_each(
        (
            "vbv does not scale",
            "Figure 3",
            "its best rate is less than twice that of its smallest launch in each workload",
        ),
        &cases,
        times,
        |ratio| ratio < 2.0,
    )
}

fn egpgv(paper: &Paper, full: u64) -> Claim {
    let cases = each(paper, |workload| {
        let points = points(paper, workload, "egpgv");
        let (within, beyond): (Vec<_>, Vec<_>) = points.iter().partition(|p| threads(p) <= full);
        let before = best(within);
        (before > 0.0 && !beyond.is_empty()).then(|| best(beyond) / before)
    });
    let rule = format!(
        "launches of more than {} threads, which is 256 a processor, do not run or are at most \
         5 % faster than the best smaller one, in each workload",
        count(full)
    );
    let mut claim = of_each(
        (
            "egpgv ends early: beyond few threads it crashes",
            "Figure 3",
            &rule,
        ),
        &cases,
        times,
        |ratio| ratio <= 1.0 + LEVEL,
    );
    if !cases.is_empty() {
        let beyond = paper.threads.iter();
        let beyond = beyond.filter(|p| p.variant == "egpgv" && threads(p) > full);
        let (ran, not): (Vec<_>, Vec<_>) = beyond.partition(|p| p.tx_per_s > 0.0);
        let sentence = format!(
            " Of {} such launches {} ran.",
            ran.len() + not.len(),
            ran.len()
        );
        claim.found.push_str(&sentence);
    }
    claim
}

fn tbv_and_hv(paper: &Paper, full: u64) -> Claim {
    let growth = |workload: &str, variant: &str| {
        let line = line(paper, workload, variant);
        let first = line.first()?;
        let last = line.iter().rfind(|p| threads(p) <= full)?;
        // A launch of fewer threads could not be ten times as fast.
        (threads(last) >= 10 * threads(first)).then(|| last.tx_per_s / first.tx_per_s)
    };
    let cases = each(paper, |workload| {
        let (tbv, hv) = (
            growth(workload, "tbv-sorting")?,
            growth(workload, "hv-sorting")?,
        );
        Some(tbv.min(hv))
    });
    let rule = format!(
        "with {} threads, which is 256 a processor, or the next smaller launch, tbv-sorting and \
         hv-sorting both have 10 times the rate of their smallest launch or more in each workload",
        count(full)
    );
    of_each(
        ("tbv and hv scale", "Figure 3", &rule),
        &cases,
        times,
        |growth| growth >= 10.0,
    )
}

fn conflicts(paper: &Paper) -> Claim {
    let more: Vec<(String, bool)> = workloads(paper.threads.iter().map(|p| p.workload.as_str()))
        .into_iter()
        .filter_map(|workload| match line(paper, workload, "hv-sorting")[..] {
            [first, .., last] => Some((label(workload), last.abort_rate > first.abort_rate)),
            _ => None,
        })
        .collect();
    let yes: Vec<String> = more.iter().filter(|m| m.1).map(|m| m.0.clone()).collect();
    judged(
        (
            "More threads bring more conflicts",
            "4.2",
            "hv-sorting aborts a larger share of attempts at its largest launch than at its \
             smallest in each workload",
        ),
        Verdict::of_all(more.iter().map(|m| m.1)),
        match (more.len(), yes.len()) {
            (0, _) => NONE.into(),
            (n, 0) => format!("In none of {n} workloads."),
            (n, k) => format!("In {k} of {n} workloads: {}.", and(&yes)),
        },
    )
}

fn livelock(paper: &Paper) -> Claim {
    let given_up = |run: &&Speedup| run.aborts.get("stopped").is_some_and(|&n| n > 0);
    let stopped = paper.speedups.iter().filter(given_up).count();
    let late = |p: &&ThreadPoint| p.note.as_deref() == Some(TIME_LIMIT);
    // Another note says why a launch did not run at all.
    let ran = |p: &&ThreadPoint| p.tx_per_s > 0.0 || p.note.is_none() || late(p);
    let ran: Vec<&ThreadPoint> = paper.threads.iter().filter(ran).collect();
    let idle = ran.iter().filter(|p| p.tx_per_s <= 0.0).count();
    let measured = !paper.speedups.is_empty() && !ran.is_empty();
    judged(
        (
            "There is no livelock",
            "3.2.2",
            "no attempt of Figure 2 was stopped, and at every point of Figure 3 that ran \
             transactions committed",
        ),
        if stopped > 0 || idle > 0 {
            Verdict::Fails
        } else if measured {
            Verdict::Holds
        } else {
            Verdict::Unknown
        },
        if paper.speedups.is_empty() && ran.is_empty() {
            NONE.into()
        } else {
            format!(
                "{stopped} of {} measurements of Figure 2 had an attempt stopped; {idle} of {} \
                 points of Figure 3 committed nothing, {} ended at their time limit.",
                paper.speedups.len(),
                ran.len(),
                ran.iter().copied().filter(late).count()
            )
        },
    )
}
