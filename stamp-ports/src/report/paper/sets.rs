//! The records of the document: its points with what claims, tables and figures ask of them
//! beside what was measured.
//!
//! | set | holds |
//! | --- | --- |
//! | `speedups` | the results of Figure 2, by workload and variant |
//! | `best` | the same of the kernels of a program apart, which count as workloads, as in the paper |
//! | `threads`, `eigenbench`, `breakdown`, `characteristics` | those sections |
//! | `pairs`, `sorted` | the settings of Figure 4 in which tbv-sorting and hv-sorting ran, in their order and by threads |
//! | `ran` | the points of Figure 3 that ran |
//! | `alone` | the profiles of one thread alone |

use super::published::plain;
use super::sentences::{Pair, pairs};
use super::view::{
    abort_rate, apart, baseline, counts, label, largest, measured, over_cgl, over_critical_section,
    runs, total, workloads,
};
use crate::measure::tried::TIME_LIMIT;
use crate::numbers::count;
use crate::paper::document::{Breakdown, Characteristics, PHASES, Paper, Speedup, ThreadPoint};
use crate::report::records::{Record, Sets};

/// Returns all records of a document.
pub(super) fn sets(paper: &Paper) -> Sets {
    let apart = apart(paper);
    let pairs = pairs(paper);
    let mut sorted: Vec<Record> = pairs.iter().map(setting).collect();
    sorted.sort_by(|a, b| {
        a.number("total")
            .partial_cmp(&b.number("total"))
            .expect("numbers")
    });
    let alone = paper.breakdown.iter().filter(|bar| bar.is_alone());
    // Another note says why a launch did not run at all.
    let ran = |p: &&ThreadPoint| p.tx_per_s > 0.0 || p.note.is_none() || is_late(p);
    let launch = |p: &crate::paper::document::EigenbenchPoint| {
        Record::of(p).with(
            "launch",
            format!("{}/{}x{}", p.hot_words, p.blocks, p.threads),
        )
    };
    Sets(
        [
            ("speedups", results(paper)),
            ("best", results(&apart)),
            ("threads", lines(paper)),
            (
                "ran",
                paper
                    .threads
                    .iter()
                    .filter(ran)
                    .map(|p| point(paper, p))
                    .collect(),
            ),
            ("eigenbench", paper.eigenbench.iter().map(launch).collect()),
            ("pairs", pairs.iter().map(setting).collect()),
            ("sorted", sorted),
            ("alone", alone.map(profile).collect()),
            ("breakdown", paper.breakdown.iter().map(profile).collect()),
            (
                "characteristics",
                paper
                    .characteristics
                    .iter()
                    .map(|c| row(paper, c))
                    .collect(),
            ),
        ]
        .into(),
    )
}

/// The record of what names a workload.
fn named(record: Record, workload: &str) -> Record {
    record
        .with("label", label(workload))
        .with("plain", plain(workload))
}

/// The results in the order of the figures. What is not right has no rate that counts.
fn results(paper: &Paper) -> Vec<Record> {
    let all = measured(paper).into_iter();
    all.flat_map(|workload| runs(paper, workload))
        .map(|run| result(paper, run))
        .collect()
}

fn result(paper: &Paper, run: &Speedup) -> Record {
    let workload = &run.workload;
    let rate = |variant: &str| {
        let mut all = runs(paper, workload).into_iter();
        all.find(|run| run.variant == variant && counts(run))
            .map(|run| run.tx_per_s)
    };
    let pair = rate("hv-sorting").zip(rate("tbv-sorting"));
    let mut tbv = runs(paper, workload).into_iter();
    let tbv = tbv.find(|run| run.variant == "tbv-sorting");
    let mut shared = paper.characteristics.iter();
    let shared = shared.find(|row| row.workload == *workload);
    let stopped = run.aborts.get("stopped").is_some_and(|&n| n > 0);
    let most = largest(paper, |run| run.workload == *workload);
    named(Record::of(run), workload)
        .with("rate", counts(run).then_some(run.tx_per_s))
        .with("gain", over_cgl(paper, run))
        .with("over_section", over_critical_section(paper, run))
        .with("abort_rate", abort_rate(run))
        .with("most_gain", most.map(|(_, gain)| gain))
        .with("over_tbv", pair.map(|(hv, tbv)| hv / tbv))
        .with("tbv_locks", tbv.map(|run| run.locks))
        .with("shared_words", shared.map(|row| row.shared_words))
        .with("unstopped", u64::from(!stopped))
        .with("cgl", baseline(paper, workload).map(|cgl| cgl.tx_per_s))
}

fn is_late(point: &ThreadPoint) -> bool {
    point.note.as_deref() == Some(TIME_LIMIT)
}

fn point(paper: &Paper, point: &ThreadPoint) -> Record {
    let total = total(point.blocks, point.threads);
    let processors = paper.head.device.processors as f64;
    named(Record::of(point), &point.workload)
        .with("total", total)
        .with("tenth", total as f64 / 10.0)
        .with("per_processor", total as f64 / processors)
        .with("committed", u64::from(point.tx_per_s > 0.0))
        .with("late", u64::from(is_late(point)))
}

/// The points of Figure 3, by workload and threads.
fn lines(paper: &Paper) -> Vec<Record> {
    let all = workloads(paper.threads.iter().map(|p| p.workload.as_str())).into_iter();
    let of = |workload: &str| {
        let own = paper.threads.iter().filter(|p| p.workload == workload);
        let mut own: Vec<&ThreadPoint> = own.collect();
        own.sort_by_key(|p| total(p.blocks, p.threads));
        own
    };
    all.flat_map(of).map(|p| point(paper, p)).collect()
}

fn setting(pair: &Pair<'_>) -> Record {
    let (hv, tbv) = (pair.hv, pair.tbv);
    let threads = total(hv.blocks, hv.threads);
    let (words, locks) = (count(hv.hot_words), count(hv.locks));
    let fewer = match tbv.abort_rate {
        none if none <= 0.0 && hv.abort_rate <= 0.0 => 0.0,
        aborted => hv.abort_rate / aborted,
    };
    Record::of(hv)
        .with("setting", format!("{words}/{locks}/{}", count(threads)))
        .with(
            "launch",
            format!("{}/{}x{}", hv.hot_words, hv.blocks, hv.threads),
        )
        .with("total", threads)
        .with("gain", pair.gain())
        .with("hv_rate", hv.tx_per_s)
        .with("tbv_rate", tbv.tx_per_s)
        .with("less_aborted", tbv.abort_rate - hv.abort_rate)
        .with("fewer", fewer)
}

fn profile(bar: &Breakdown) -> Record {
    let share = |name: &str| bar.shares.get(name).copied().unwrap_or(0.0);
    let others = PHASES.into_iter();
    let others = others.filter(|name| !["native", "buffering"].contains(name));
    let largest = others.map(share).fold(0.0, f64::max);
    let record = PHASES.into_iter().fold(Record::of(bar), |record, phase| {
        record.with(phase, bar.shares.get(phase).copied())
    });
    named(record, &bar.workload)
        .with("bar", format!("{} {}", bar.workload, bar.variant))
        .with("native", share("native"))
        .with("buffering_over", share("buffering") / largest)
}

fn row(paper: &Paper, row: &Characteristics) -> Record {
    let most = largest(paper, |run| run.workload == row.workload);
    named(Record::of(row), &row.workload).with("gain", most.map(|(_, gain)| gain))
}
