//! The tables of the page.

use super::published;
use super::view::{
    abort_rate, baseline, counts, critical_section, label, measured, over_cgl,
    over_critical_section, runs, total, variants, workloads,
};
use crate::numbers::{bytes, count, digits3, short};
use crate::paper::document::{Paper, Speedup};
use crate::paper::isolation::Isolation;
use crate::report::palette;
use crate::report::table::{NONE, known, or_none, table};
use crate::report::words::{percent, times};
use maud::Markup;

/// A launch.
pub fn shape(blocks: u32, threads: u32) -> String {
    format!("{blocks} x {threads}")
}

/// All results in the order of the figures.
fn in_order(paper: &Paper) -> impl Iterator<Item = &Speedup> {
    measured(paper)
        .into_iter()
        .flat_map(|workload| runs(paper, workload))
}

/// What a row is about.
fn name(workload: &str, variant: &str) -> String {
    format!("{} {variant}", label(workload))
}

/// Figure 2 in numbers.
pub fn speedups(paper: &Paper) -> Markup {
    let rows: Vec<Vec<String>> = in_order(paper)
        .map(|run| {
            vec![
                name(&run.workload, &run.variant),
                run.resolved.clone(),
                known(over_cgl(paper, run), times),
                known(over_critical_section(paper, run), times),
                short(run.tx_per_s),
                format!("{} to {}", short(run.tx_per_s_min), short(run.tx_per_s_max)),
                run.repeat.to_string(),
                shape(run.blocks, run.threads),
                count(run.locks),
                of_full(run.transactions, run.transactions_full),
                count(run.commits),
                known(abort_rate(run), percent),
                match &run.verifies {
                    _ if !run.verified => "NO".into(),
                    Some(verifies) => verifies.clone(),
                    None => "yes".into(),
                },
                known(run.isolation.as_ref(), Isolation::told),
            ]
        })
        .collect();
    let head = [
        "Result",
        "Ran as",
        "Over cgl",
        "Over critical section",
        "tx/s",
        "Range",
        "Runs",
        "Launch",
        "Locks",
        "Transactions",
        "Commits",
        "Aborted",
        "Verified",
        "Recorded run",
    ];
    let (mut head, mut rows) = without_sections(paper, 3, &head, rows);
    if paper.speedups.iter().all(|run| run.isolation.is_none()) {
        head.pop();
        for row in &mut rows {
            row.pop();
        }
    }
    or_none("Each variant at its best launch", &head, &rows, 2)
}

/// Takes the column of ratios to critical sections out of a table about a document that
/// has none.
fn without_sections<'h>(
    paper: &Paper,
    column: usize,
    head: &[&'h str],
    mut rows: Vec<Vec<String>>,
) -> (Vec<&'h str>, Vec<Vec<String>>) {
    let mut head = head.to_vec();
    if paper.critical_sections.is_empty() {
        head.remove(column);
        for row in &mut rows {
            row.remove(column);
        }
    }
    (head, rows)
}

/// A number of transactions, and the full one where it is less.
pub fn of_full(transactions: u64, full: u64) -> String {
    if transactions == full {
        count(transactions)
    } else {
        format!("{} of {}", count(transactions), count(full))
    }
}

/// A rate with the share of attempts that aborted.
fn rate_cell(tx_per_s: f64, abort_rate: f64) -> String {
    if tx_per_s > 0.0 {
        format!("{} ({})", short(tx_per_s), percent(abort_rate))
    } else {
        "did not run".into()
    }
}

/// Figure 3 in numbers: a table a workload.
pub fn threads(paper: &Paper) -> Vec<Markup> {
    let points = &paper.threads;
    workloads(points.iter().map(|p| p.workload.as_str()))
        .into_iter()
        .map(|workload| {
            let here: Vec<_> = points.iter().filter(|p| p.workload == workload).collect();
            let names = variants(here.iter().map(|p| p.variant.as_str()));
            let mut shapes: Vec<(u64, u32, u32)> = here
                .iter()
                .map(|p| (total(p.blocks, p.threads), p.blocks, p.threads))
                .collect();
            shapes.sort_unstable();
            shapes.dedup();
            let rows: Vec<Vec<String>> = shapes
                .into_iter()
                .map(|(sum, blocks, threads)| {
                    let mut row = vec![count(sum), shape(blocks, threads)];
                    row.extend(names.iter().map(|name| {
                        let point = here.iter().find(|p| {
                            p.variant == *name && (p.blocks, p.threads) == (blocks, threads)
                        });
                        known(point, |p| rate_cell(p.tx_per_s, p.abort_rate))
                    }));
                    row
                })
                .collect();
            let mut head = vec!["Threads", "Launch"];
            head.extend(names);
            let name = format!("{}: tx/s (attempts that aborted)", label(workload));
            table(&name, &head, &rows, 0)
        })
        .collect()
}

/// Figure 4 in numbers.
pub fn locks(paper: &Paper) -> Markup {
    let points = &paper.eigenbench;
    let names = variants(points.iter().map(|p| p.variant.as_str()));
    let mut settings: Vec<(u64, u32, u32, u64, u64)> = points
        .iter()
        .map(|p| {
            (
                total(p.blocks, p.threads),
                p.blocks,
                p.threads,
                p.hot_words,
                p.locks,
            )
        })
        .collect();
    settings.sort_unstable();
    settings.dedup();
    let rows: Vec<Vec<String>> = settings
        .into_iter()
        .map(|(sum, blocks, threads, words, locks)| {
            let mut row = vec![
                count(sum),
                shape(blocks, threads),
                count(words),
                count(locks),
            ];
            row.extend(names.iter().map(|name| {
                let point = points.iter().find(|p| {
                    p.variant == *name
                        && (p.blocks, p.threads, p.hot_words, p.locks)
                            == (blocks, threads, words, locks)
                });
                known(point, |p| rate_cell(p.tx_per_s, p.abort_rate))
            }));
            row
        })
        .collect();
    let mut head = vec!["Threads", "Launch", "Words", "Locks"];
    head.extend(names);
    or_none("EigenBench: tx/s (attempts that aborted)", &head, &rows, 0)
}

/// Figure 5 in numbers.
pub fn phases(paper: &Paper) -> Markup {
    let names = workloads(paper.breakdown.iter().map(|b| b.workload.as_str()));
    let mut rows = Vec::new();
    for workload in names {
        let mut here: Vec<_> = paper
            .breakdown
            .iter()
            .filter(|b| b.workload == workload)
            .collect();
        here.sort_by_key(|b| palette::rank(&b.variant));
        for b in here {
            let mut row = vec![
                name(workload, &b.variant),
                shape(b.blocks, b.threads),
                known(b.transactions, count),
                known(b.input.as_ref(), Clone::clone),
            ];
            row.extend(
                palette::PHASES
                    .iter()
                    .map(|hue| known(b.shares.get(hue.name).copied(), percent)),
            );
            row.push(times(b.cost));
            rows.push(row);
        }
    }
    let mut head = vec!["Result", "Launch", "Transactions", "Another input"];
    head.extend(palette::PHASES.iter().map(|hue| hue.name));
    head.push("Time with the measuring");
    or_none("Share of a thread's time", &head, &rows, 1)
}

/// Table 1: measured, and below each row the paper's.
pub fn characteristics(paper: &Paper) -> Markup {
    let mut rows = Vec::new();
    let number = |x: f64| {
        if x.fract() == 0.0 {
            format!("{x:.0}")
        } else {
            digits3(x)
        }
    };
    for workload in workloads(paper.characteristics.iter().map(|c| c.workload.as_str())) {
        for c in paper
            .characteristics
            .iter()
            .filter(|c| c.workload == workload)
        {
            rows.push(vec![
                name(workload, &c.variant),
                count(c.shared_words),
                known(c.reads_per_tx, number),
                known(c.writes_per_tx, number),
                count(c.transactions),
                known(c.time_in_tx, percent),
                percent(c.abort_rate),
            ]);
        }
        if let Some([cells @ .., _]) = published::of(workload) {
            let mut paper_row = vec![name(workload, "in the paper")];
            paper_row.extend(cells.map(String::from));
            rows.push(paper_row);
        }
    }
    let head = [
        "Result",
        "Shared words",
        "Reads / tx",
        "Writes / tx",
        "Transactions",
        "Time in tx",
        "Conflicts",
    ];
    or_none("Characteristics of the workloads", &head, &rows, 1)
}

/// Table 2: the best launch of each variant, beside the paper's.
pub fn launches(paper: &Paper) -> Markup {
    let names = variants(paper.speedups.iter().map(|run| run.variant.as_str()));
    let rows: Vec<Vec<String>> = measured(paper)
        .into_iter()
        .map(|workload| {
            let runs = runs(paper, workload);
            let mut row = vec![
                label(workload),
                published::of(workload)
                    .map(|[.., launch]| launch)
                    .filter(|launch| !launch.is_empty())
                    .unwrap_or(NONE)
                    .into(),
            ];
            row.extend(names.iter().map(|name| {
                let run = runs.iter().find(|run| run.variant == *name);
                known(run, |run| {
                    format!("{} ({})", shape(run.blocks, run.threads), run.tried)
                })
            }));
            row
        })
        .collect();
    let mut head = vec!["Workload", "Paper, optimized"];
    head.extend(names);
    or_none(
        "Best launches, blocks x threads (launches tried)",
        &head,
        &rows,
        1,
    )
}

/// The reasons of aborts, and the active lanes.
pub fn aborts(paper: &Paper) -> Markup {
    let mut reasons: Vec<&str> = Vec::new();
    for (reason, &n) in in_order(paper).flat_map(|run| &run.aborts) {
        if n > 0 && !reasons.contains(&reason.as_str()) {
            reasons.push(reason);
        }
    }
    reasons.sort_unstable();
    let rows: Vec<Vec<String>> = in_order(paper)
        .map(|run| {
            let mut row = vec![
                name(&run.workload, &run.variant),
                known(run.active_lanes, |lanes| {
                    format!("{lanes:.1} of {}", run.warp_width)
                }),
                short(run.commits as f64),
                known(abort_rate(run), percent),
            ];
            row.extend(reasons.iter().map(|reason| {
                let n = run.aborts.get(*reason).copied();
                known(n, |n| short(n as f64))
            }));
            row
        })
        .collect();
    let words: Vec<String> = reasons.iter().map(|r| r.replace('_', " ")).collect();
    let mut head = vec!["Result", "Active lanes", "Commits", "Aborted"];
    head.extend(words.iter().map(String::as_str));
    or_none("Aborts by reason, and active lanes a warp", &head, &rows, 1)
}

/// What a variant costs beside its time.
pub fn costs(paper: &Paper) -> Markup {
    let rows: Vec<Vec<String>> = in_order(paper)
        .map(|run| {
            vec![
                name(&run.workload, &run.variant),
                bytes(run.metadata_bytes),
                if run.jit_ms > 0.0 {
                    format!("{:.0} ms", run.jit_ms)
                } else {
                    "none".into()
                },
                run.launches.to_string(),
                known(run.registers, |n| n.to_string()),
            ]
        })
        .collect();
    let head = ["Result", "Metadata", "JIT", "Kernel launches", "Registers"];
    or_none("Memory, compilation and launches", &head, &rows, 1)
}

/// The kernels of workloads with several.
pub fn kernels(paper: &Paper) -> Option<Markup> {
    let mut rows = Vec::new();
    for run in in_order(paper) {
        for part in &run.kernels {
            let cgl = baseline(paper, &run.workload).and_then(|cgl| {
                let same = cgl.kernels.iter().find(|k| k.work() == part.work())?;
                Some(same.tx_per_s()).filter(|rate| *rate > 0.0)
            });
            let ratio = cgl.filter(|_| part.commits > 0 && counts(run));
            let section = critical_section(paper, &format!("{}/{}", run.workload, part.work()))
                .filter(|_| part.commits > 0 && counts(run));
            let attempts = part.commits as f64 + part.aborts as f64;
            let rate = (attempts > 0.0).then(|| part.aborts as f64 / attempts);
            rows.push(vec![
                name(&run.workload, &run.variant),
                part.kernel.clone(),
                part.launches.to_string(),
                format!("{} ms", digits3(part.time_ms)),
                known(Some(part.tx_per_s()).filter(|r| *r > 0.0), short),
                known(ratio, |cgl| times(part.tx_per_s() / cgl)),
                known(section, |section| times(part.tx_per_s() / section.tx_per_s)),
                short(part.commits as f64),
                known(rate, percent),
            ]);
        }
    }
    let head = [
        "Result",
        "Kernel",
        "Launches",
        "Time",
        "tx/s",
        "Over cgl",
        "Over critical section",
        "Commits",
        "Aborted",
    ];
    let (head, rows) = without_sections(paper, 6, &head, rows);
    (!rows.is_empty()).then(|| table("Workloads of several kernels", &head, &rows, 2))
}
