//! The tables of the page.

use super::palette;
use super::published;
use super::view::{
    abort_rate, label, measured, over_cgl, percent, runs, times, total, variants, workloads,
};
use super::xml::Element;
use crate::numbers::{bytes, count, digits3, short};
use crate::paper::document::{Paper, Speedup};

/// What stands where nothing is known.
const NONE: &str = "\u{2013}";

/// A table that scrolls within itself; its first column stays. The first
/// `left` columns are words, the others numbers. Where several rows begin with
/// the same word, rows that begin with another are set apart.
pub fn table(name: &str, head: &[&str], rows: &[Vec<String>], left: usize) -> Element {
    let class = |i: usize| if i < left { "word" } else { "number" };
    let cells = |row: &[String]| -> Vec<Element> {
        row.iter()
            .enumerate()
            .map(|(i, cell)| {
                let (tag, scope) = if i == 0 {
                    ("th", Some("row"))
                } else {
                    ("td", None)
                };
                let element = Element::new(tag).at("class", class(i));
                let element = match scope {
                    Some(scope) => element.at("scope", scope),
                    None => element,
                };
                element.text(cell.as_str())
            })
            .collect()
    };
    let header = head.iter().enumerate().map(|(i, text)| {
        Element::new("th")
            .at("scope", "col")
            .at("class", class(i))
            .text(*text)
    });
    let word = |i: usize| rows[i][0].split(' ').next().unwrap_or_default();
    let first = |i: usize| i > 0 && word(i) != word(i - 1);
    let groups = (0..rows.len()).filter(|&i| first(i)).count() + 1;
    let body = rows.iter().enumerate().map(|(i, row)| {
        let line = Element::new("tr").all(cells(row.as_slice()));
        if first(i) && groups < rows.len() {
            line.at("class", "first")
        } else {
            line
        }
    });
    Element::new("div")
        .at("class", "scroll")
        .at("role", "region")
        .at("tabindex", "0")
        .at("aria-label", name)
        .with(
            Element::new("table")
                .with(Element::new("caption").text(name))
                .with(Element::new("thead").with(Element::new("tr").all(header)))
                .with(Element::new("tbody").all(body)),
        )
}

/// What a section shows in the place of a table without rows.
fn none() -> Element {
    Element::new("p").at("class", "none").text("Not measured.")
}

fn or_none(name: &str, head: &[&str], rows: &[Vec<String>], left: usize) -> Element {
    if rows.is_empty() {
        none()
    } else {
        table(name, head, rows, left)
    }
}

fn shape(blocks: u32, threads: u32) -> String {
    format!("{blocks} x {threads}")
}

/// All results in the order of the figures.
fn in_order(paper: &Paper) -> impl Iterator<Item = &Speedup> {
    measured(paper)
        .into_iter()
        .flat_map(|workload| runs(paper, workload))
}

fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), text)
}

/// What a row is about.
fn name(workload: &str, variant: &str) -> String {
    format!("{} {variant}", label(workload))
}

/// Figure 2 in numbers.
pub fn speedups(paper: &Paper) -> Element {
    let rows: Vec<Vec<String>> = in_order(paper)
        .map(|run| {
            vec![
                name(&run.workload, &run.variant),
                run.resolved.clone(),
                known(over_cgl(paper, run), times),
                short(run.tx_per_s),
                format!("{} to {}", short(run.tx_per_s_min), short(run.tx_per_s_max)),
                run.repeat.to_string(),
                shape(run.blocks, run.threads),
                count(run.locks),
                if run.transactions == run.transactions_full {
                    count(run.transactions)
                } else {
                    format!(
                        "{} of {}",
                        count(run.transactions),
                        count(run.transactions_full)
                    )
                },
                count(run.commits),
                known(abort_rate(run), percent),
                if run.verified { "yes" } else { "NO" }.into(),
            ]
        })
        .collect();
    let head = [
        "Result",
        "Ran as",
        "Over cgl",
        "tx/s",
        "Range",
        "Runs",
        "Launch",
        "Locks",
        "Transactions",
        "Commits",
        "Aborted",
        "Verified",
    ];
    or_none("Each variant at its best launch", &head, &rows, 2)
}

/// Figure 3 in numbers: a table a workload.
pub fn threads(paper: &Paper) -> Vec<Element> {
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
                        known(point, |p| {
                            if p.tx_per_s > 0.0 {
                                format!("{} ({})", short(p.tx_per_s), percent(p.abort_rate))
                            } else {
                                "did not run".into()
                            }
                        })
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
pub fn locks(paper: &Paper) -> Element {
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
                known(point, |p| {
                    if p.tx_per_s > 0.0 {
                        format!("{} ({})", short(p.tx_per_s), percent(p.abort_rate))
                    } else {
                        "did not run".into()
                    }
                })
            }));
            row
        })
        .collect();
    let mut head = vec!["Threads", "Launch", "Words", "Locks"];
    head.extend(names);
    or_none("EigenBench: tx/s (attempts that aborted)", &head, &rows, 0)
}

/// Figure 5 in numbers.
pub fn phases(paper: &Paper) -> Element {
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
            let mut row = vec![name(workload, &b.variant), shape(b.blocks, b.threads)];
            row.extend(
                palette::PHASES
                    .iter()
                    .map(|hue| known(b.shares.get(hue.name).copied(), percent)),
            );
            row.push(times(b.cost));
            rows.push(row);
        }
    }
    let mut head = vec!["Result", "Launch"];
    head.extend(palette::PHASES.iter().map(|hue| hue.name));
    head.push("Time with the measuring");
    or_none("Share of a thread's time", &head, &rows, 1)
}

/// Table 1: measured, and below each row the paper's.
pub fn characteristics(paper: &Paper) -> Element {
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
        if let Some(row) = published::of(workload) {
            let cells = [
                row.shared,
                row.reads,
                row.writes,
                row.transactions,
                row.time,
                row.conflicts,
            ];
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
pub fn launches(paper: &Paper) -> Element {
    let names = variants(paper.speedups.iter().map(|run| run.variant.as_str()));
    let rows: Vec<Vec<String>> = measured(paper)
        .into_iter()
        .map(|workload| {
            let runs = runs(paper, workload);
            let mut row = vec![
                label(workload),
                published::of(workload)
                    .map(|row| row.launch)
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
pub fn aborts(paper: &Paper) -> Element {
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
pub fn costs(paper: &Paper) -> Element {
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
pub fn kernels(paper: &Paper) -> Option<Element> {
    let mut rows = Vec::new();
    for run in in_order(paper) {
        for part in &run.kernels {
            let attempts = part.commits as f64 + part.aborts as f64;
            let rate = (attempts > 0.0).then(|| part.aborts as f64 / attempts);
            rows.push(vec![
                name(&run.workload, &run.variant),
                part.kernel.clone(),
                part.launches.to_string(),
                format!("{} ms", digits3(part.time_ms)),
                short(part.commits as f64),
                known(rate, percent),
            ]);
        }
    }
    let head = ["Result", "Kernel", "Launches", "Time", "Commits", "Aborted"];
    (!rows.is_empty()).then(|| table("Workloads of several kernels", &head, &rows, 2))
}
