//! The records of the document: its points with what claims, tables and figures ask of them
//! beside what was measured.
//!
//! | set | holds |
//! | --- | --- |
//! | `speedups` | the results of Figure 2, by workload and variant |
//! | `best` | the same of the kernels of a program apart, which count as workloads, as in the paper |
//! | `winners` | the fastest algorithm of each workload |
//! | `kernels`, `sections` | the kernels of programs, and the critical sections |
//! | `reasons`, `sums` | every result with every reason of aborts, and these over all results |
//! | `threads`, `lines` | the points of Figure 3, and their lines |
//! | `eigenbench` | the points of Figure 4 |
//! | `pairs` | the settings of Figure 4 in which tbv-sorting and hv-sorting ran |
//! | `breakdown` | the profiles of Figure 5 |
//! | `characteristics`, `table_1` | what was measured of Table 1, and with the paper's rows |
//! | `document` | what is so of the whole document |
//!
//! The paper (Xu et al., Software transactional memory for GPU architectures, CGO 2014) gives its
//! Tables 1 and 2 in figures; its Figures 2 to 5 are drawings without numbers. A result that was not
//! verified is shown, marked, and never counts: not as the best, not as the baseline, not in a
//! sentence.

use crate::measure::search::TIME_LIMIT;
use crate::numbers::{count, short, times};
use crate::paper::document::{
    Breakdown, Characteristics, Isolation, KernelPart, LaunchPoint, PHASES, Paper, Speedup,
};
use crate::report::claim::LEVEL;
use crate::report::jq::Sets;
use crate::report::palette;
use crate::report::records::{Record, stated, with};
use crate::variants::AskedVariant;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub(super) fn sets(paper: &Paper) -> Sets {
    let paper = &mut paper.clone();
    paper.relate();
    let apart = apart(paper);
    let mut bars: Vec<&Breakdown> = paper.breakdown.iter().collect();
    bars.sort_by_key(|bar| (order(&bar.workload), palette::rank(&bar.variant)));
    let tried = paper.speedups.iter().map(|run| run.tried);
    let document = json!({
        "device": paper.head.device.name,
        "tried": tried.fold(0, u64::saturating_add),
        "searched": Some(paper.search.len()).filter(|n| *n > 0),
        "stopped": paper.search.iter().filter(|t| t.tx_per_s <= 0.0).count(),
    });
    let sections = paper.critical_sections.iter().map(|section| {
        let is_cgl = |run: &&Speedup| run.variant == "cgl" && run.counts();
        let mut cgl = apart.speedups.iter().filter(is_cgl);
        let cgl = cgl.find(|run| run.workload == section.workload && section.counts());
        let over = cgl.map(|cgl| section.tx_per_s / cgl.tx_per_s);
        named(json!(section), &section.workload, json!({"over_cgl": over}))
    });
    let rows = paper.characteristics.iter().map(|c| row(paper, c));
    let threads = threads(paper);
    Sets::new([
        ("document", vec![document]),
        ("speedups", results(paper)),
        ("best", results(&apart)),
        ("winners", winners(&apart)),
        ("kernels", kernels(paper)),
        ("sections", sections.collect()),
        ("reasons", reasons(paper)),
        ("sums", sums(paper)),
        ("lines", lines(&threads)),
        ("threads", threads),
        ("eigenbench", eigenbench(paper)),
        ("pairs", pairs(paper)),
        ("breakdown", bars.into_iter().map(profile).collect()),
        ("characteristics", rows.collect()),
        ("table_1", table_1(paper)),
    ])
}

/// The record of what is of a workload, with what names that.
fn named(record: Record, workload: &str, more: Value) -> Record {
    let number = |name: &str| record.get(name)?.as_u64();
    let shape = number("blocks").zip(number("threads"));
    let names = json!({
        "label": label(workload), "heading": heading(workload), "plain": plain(workload),
        "launch": shape.map(|(blocks, threads)| format!("{blocks} x {threads}")),
        "total": shape.map(|(blocks, threads)| blocks * threads),
    });
    with(with(record, names), more)
}

fn known(rate: f64) -> Option<f64> {
    Some(rate).filter(|rate| *rate > 0.0)
}

/// The results in the order of the figures. What is not right has no rate that counts.
fn results(paper: &Paper) -> Vec<Record> {
    sorted(paper).into_iter().map(result).collect()
}

fn result(run: &Speedup) -> Record {
    let workload = &run.workload;
    let gain = run.over_cgl.filter(|_| run.counts());
    let over = |rate: f64| gain.map(|gain| gain * (rate / run.tx_per_s));
    let over_section = run.over_critical_section.filter(|_| run.counts());
    let label_of_bar = match gain {
        Some(gain) => times(gain),
        None if !run.verified => "not verified".into(),
        None => format!("{} tx/s", short(run.tx_per_s)),
    };
    let over_it = over_section.map(|ratio| format!("{} over the critical section", times(ratio)));
    let bar = over_it.as_ref().map(|over| format!(" over cgl, {over}"));
    // Both ratios, as far as there are: `46× (12× over the critical section)`.
    let beside = over_it.map_or_else(String::new, |over| format!(" ({over})"));
    let other = run.resolved != run.variant;
    let aborts = run.aborts.values().map(|&n| n as f64).sum();
    let more = json!({
        "rate": run.counts().then_some(run.tx_per_s),
        "gain": gain, "gain_min": over(run.tx_per_s_min), "gain_max": over(run.tx_per_s_max),
        "over_section": over_section,
        "abort_rate": abort_rate(aborts, run.commits),
        "unstopped": u64::from(run.aborts.get("stopped").is_none_or(|n| *n == 0)),
        "ran": if other { format!(", as {}", run.resolved) } else { String::new() },
        "label_of_bar": label_of_bar, "bar": label_of_bar.clone() + &bar.unwrap_or_default(),
        "gains": gain.map(|gain| times(gain) + &beside),
        "wrong": (!run.verified).then_some("NO"),
        "recorded": run.isolation.as_ref().map(Isolation::summary),
        "jit": known(run.jit_ms),
        "theirs": cells(workload).get(6),
    });
    named(json!(run), workload, more)
}

/// The fastest algorithm of each workload, those that win most often first; `optimized` is one of
/// the others and would win by chance.
fn winners(apart: &Paper) -> Vec<Record> {
    let mut runs = results(apart);
    runs.retain(|run| run["rate"].is_number() && run["variant"] != "optimized");
    let rate = |run: &&Record| run["rate"].as_f64().unwrap_or_default();
    let of_each = runs.chunk_by(|a, b| a["workload"] == b["workload"]);
    let best = of_each.filter_map(|own| own.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))));
    let mut best: Vec<Record> = best.cloned().collect();
    let names: Vec<Value> = best.iter().map(|run| run["variant"].clone()).collect();
    best.sort_by_key(|run| Reverse(names.iter().filter(|name| **name == run["variant"]).count()));
    best
}

fn kernels(paper: &Paper) -> Vec<Record> {
    let all = sorted(paper).into_iter();
    all.flat_map(|run| run.kernels.iter().map(|part| kernel(run, part)))
        .collect()
}

fn kernel(run: &Speedup, part: &KernelPart) -> Record {
    let more = json!({
        "variant": run.variant, "rate": known(part.tx_per_s()),
        "gain": part.over_cgl.filter(|_| run.counts()),
        "over_section": part.over_critical_section.filter(|_| run.counts()),
        "abort_rate": abort_rate(part.aborts as f64, part.commits),
    });
    named(json!(part), &run.workload, more)
}

/// Every result with every reason for which any attempt aborted; without any, every result.
fn reasons(paper: &Paper) -> Vec<Record> {
    let all = paper.speedups.iter().flat_map(|run| &run.aborts);
    let reasons: BTreeSet<&String> = all.filter(|(_, n)| **n > 0).map(|(of, _)| of).collect();
    let results = results(paper);
    if reasons.is_empty() {
        return results;
    }
    let of_each = results.iter().flat_map(|record| {
        let of = |reason: &&String| {
            let n = record["aborts"].get(reason);
            with(record.clone(), json!({"reason": reason, "n": n}))
        };
        reasons.iter().map(of).collect::<Vec<_>>()
    });
    of_each.collect()
}

fn sums(paper: &Paper) -> Vec<Record> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, n) in paper.speedups.iter().flat_map(|run| &run.aborts) {
        let sum = sums.entry(reason).or_default();
        *sum = sum.saturating_add(*n);
    }
    let all = sums.values().fold(0_u64, |all, n| all.saturating_add(*n));
    let record = |(reason, n): (&str, u64)| {
        let share = n as f64 / all as f64;
        json!({"reason": reason.replace('_', " "), "n": n, "share": share})
    };
    sums.into_iter().map(record).collect()
}

/// The lines of Figure 3: how far each rises, and whether it falls again.
fn lines(threads: &[Record]) -> Vec<Record> {
    let mut lines: BTreeMap<[Option<&str>; 2], Vec<(&Record, f64)>> = BTreeMap::new();
    for point in threads {
        let name = ["workload", "variant"].map(|field| point[field].as_str());
        let rate = point["rate"].as_f64();
        rate.inspect(|rate| lines.entry(name).or_default().push((point, *rate)));
    }
    let record = |line: Vec<(&Record, f64)>| {
        let best = line.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let falls = line[line.len() - 1].1 < best * (1.0 - LEVEL);
        let more = json!({"grown": best / line[0].1, "falls": u64::from(falls)});
        with(line[0].0.clone(), more)
    };
    lines.into_values().map(record).collect()
}

/// The points of Figure 3, by threads.
fn threads(paper: &Paper) -> Vec<Record> {
    let mut all: Vec<&LaunchPoint> = paper.threads.iter().collect();
    let threads = |p: &LaunchPoint| (total(p.blocks, p.threads), p.blocks);
    all.sort_by_key(|p| (order(&p.workload), threads(p), palette::rank(&p.variant)));
    let place = |p: &LaunchPoint| (p.workload.clone(), p.blocks, p.threads);
    let record = |p: &&LaunchPoint| {
        let mut hv = all.iter().filter(|q| q.variant == "hv-sorting");
        let same = hv.find(|q| place(q) == place(p));
        let reference = same.and_then(|q| known(q.tx_per_s));
        let total = total(p.blocks, p.threads) as f64;
        let late = p.note.as_deref() == Some(TIME_LIMIT);
        let committed = p.tx_per_s > 0.0;
        let more = json!({
            "rate": known(p.tx_per_s), "beside": reference.map(|rate| p.tx_per_s / rate),
            "tenth": total / 10.0,
            "per_processor": total / f64::from(paper.head.device.processors),
            "committed": u64::from(committed), "late": u64::from(late),
            // Another note says why a launch did not run at all.
            "ran": u64::from(committed || p.note.is_none() || late),
        });
        named(json!(p), &p.workload, more)
    };
    all.iter().map(record).collect()
}

/// The points of Figure 4, by threads, words and locks.
fn eigenbench(paper: &Paper) -> Vec<Record> {
    let mut all: Vec<&LaunchPoint> = paper.eigenbench.iter().collect();
    let threads = |p: &LaunchPoint| (total(p.blocks, p.threads), p.blocks);
    all.sort_by_key(|p| (threads(p), p.hot_words, p.locks, palette::rank(&p.variant)));
    let all = all.into_iter();
    all.map(|p| named(json!(p), "eigenbench", json!({"rate": known(p.tx_per_s)})))
        .collect()
}

/// The settings of Figure 4 in which tbv-sorting and hv-sorting ran.
fn pairs(paper: &Paper) -> Vec<Record> {
    let ran = |variant: &'static str| {
        let all = paper.eigenbench.iter();
        all.filter(move |p| p.tx_per_s > 0.0 && p.variant == variant)
    };
    let setting = |p: &LaunchPoint| (p.hot_words, p.locks, p.blocks, p.threads);
    let pair = |tbv: &LaunchPoint| {
        let hv = ran("hv-sorting").find(|hv| setting(hv) == setting(tbv))?;
        let threads = total(hv.blocks, hv.threads);
        let [words, locks, n] = [hv.hot_words?, hv.locks?, threads].map(count);
        let neither = tbv.abort_rate <= 0.0 && hv.abort_rate <= 0.0;
        let more = json!({
            "setting": format!("{words}/{locks}/{n}"), "total": threads,
            "gain": hv.tx_per_s / tbv.tx_per_s, "tbv_rate": tbv.tx_per_s,
            "tbv_aborts": tbv.abort_rate, "less_aborted": tbv.abort_rate - hv.abort_rate,
            "fewer": if neither { 0.0 } else { hv.abort_rate / tbv.abort_rate },
        });
        Some(with(json!(hv), more))
    };
    ran("tbv-sorting").filter_map(pair).collect()
}

/// A profile with what takes most of its time.
fn profile(bar: &Breakdown) -> Record {
    let share = |name: &str| bar.shares.get(name).copied().unwrap_or(0.0);
    let others = PHASES.into_iter();
    let others = others.filter(|name| !["native", "buffering"].contains(name));
    let largest = others.map(share).fold(0.0, f64::max);
    let overhead = bar.shares.iter().filter(|(phase, _)| *phase != "native");
    let overhead = overhead.max_by(|a, b| a.1.total_cmp(b.1));
    let phases = PHASES.map(|phase| (phase.to_owned(), json!(bar.shares.get(phase))));
    let (how, of) = if bar.is_alone() {
        (", one thread alone", "one thread alone")
    } else {
        (" in full launches", "a full launch")
    };
    let more = json!({
        "bar": format!("{} {}", bar.workload, bar.variant),
        "how": how, "of": of, "alone": u64::from(bar.is_alone()), "own": share("native"),
        "overhead": overhead.map(|(phase, _)| phase),
        "overhead_share": overhead.map(|(_, share)| share),
        "buffering_over": share("buffering") / largest,
    });
    let phases = Value::Object(Map::from_iter(phases));
    named(with(json!(bar), phases), &bar.workload, more)
}

/// A row with the largest speed-up of the workload.
fn row(paper: &Paper, row: &Characteristics) -> Record {
    let own = paper.speedups.iter().filter(|run| {
        run.workload == row.workload && !["optimized", "cgl"].contains(&run.variant.as_str())
    });
    let gain = own.filter_map(|run| run.over_cgl.filter(|_| run.counts()));
    let gain = gain.max_by(f64::total_cmp);
    named(json!(row), &row.workload, json!({"gain": gain}))
}

/// Table 1: the measured rows of each workload, and below them the paper's.
fn table_1(paper: &Paper) -> Vec<Record> {
    let all = paper.characteristics.iter().map(|c| order(&c.workload));
    let all: BTreeSet<(usize, &str)> = all.collect();
    let of = |(_, workload): (usize, &str)| {
        let measured = paper.characteristics.iter();
        let own = measured.filter(|c| c.workload == workload);
        let mut rows: Vec<Record> = own.map(|c| row(paper, c)).collect();
        let theirs = cells(workload).iter().enumerate();
        let theirs = theirs.map(|(i, cell)| (format!("theirs{i}"), json!(cell)));
        let theirs: Map<String, Value> = theirs.collect();
        if !theirs.is_empty() {
            let named = named(json!({"variant": "in the paper"}), workload, theirs.into());
            rows.push(named);
        }
        rows
    };
    all.into_iter().flat_map(of).collect()
}

/// The workloads in the paper's order, by their names at the command line: the paper's name, what
/// it stands for, and the row of Table 1, as printed, with the launch of Table 2: shared data in
/// words, words that a transaction reads and writes, transactions of a kernel, share of the time
/// in transactions, probability of conflicts, and blocks x threads of a block where its optimized
/// variant is fastest.
static WORKLOADS: LazyLock<Vec<Workload>> =
    LazyLock::new(|| stated(include_str!("workloads.json")));

type Workload = (&'static str, &'static str, &'static str, Vec<&'static str>);

fn place(workload: &str) -> Option<usize> {
    let plain = plain(workload);
    WORKLOADS.iter().position(|(name, ..)| *name == plain)
}

pub(in crate::report) fn label(workload: &str) -> String {
    let known = place(workload).map(|at| WORKLOADS[at].1);
    known.unwrap_or(workload).to_owned()
}

fn heading(workload: &str) -> String {
    let known = place(workload).map(|at| format!("{}, {}", WORKLOADS[at].1, WORKLOADS[at].2));
    known.unwrap_or_else(|| workload.to_owned())
}

/// The paper's row for a workload, or for a kernel of it; empty if it has none.
fn cells(workload: &str) -> &'static [&'static str] {
    place(workload).map_or(&[], |at| &WORKLOADS[at].3)
}

/// What orders workloads: the paper's first, in its order, and others behind by name.
fn order(workload: &str) -> (usize, &str) {
    (place(workload).unwrap_or(WORKLOADS.len()), workload)
}

/// A name without what people put between a word and its number: `genome/gn-1` is `gn1`.
fn plain(workload: &str) -> String {
    let last = workload.rsplit(['/', ':', ' ']).next().unwrap_or(workload);
    last.replace(['-', '_'], "").to_lowercase()
}

/// The results in the order of the figures: by workload, and in the order of the legends.
fn sorted(paper: &Paper) -> Vec<&Speedup> {
    let mut all: Vec<&Speedup> = paper.speedups.iter().collect();
    all.sort_by_key(|run| (order(&run.workload), palette::rank(&run.variant)));
    all
}

fn total(blocks: u32, threads: u32) -> u64 {
    u64::from(blocks) * u64::from(threads)
}

/// Aborts over attempts; `None` if nothing was attempted.
fn abort_rate(aborts: f64, commits: u64) -> Option<f64> {
    let attempts = aborts + commits as f64;
    (attempts > 0.0).then(|| aborts / attempts)
}

/// The document with the kernels of a workload, where it has several that run transactions, in the
/// place of the whole: they do unlike work, and the paper shows GN-1 and GN-2 apart.
fn apart(paper: &Paper) -> Paper {
    let mut apart = paper.clone();
    apart.speedups = paper.speedups.iter().flat_map(parts).collect();
    apart.relate();
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
