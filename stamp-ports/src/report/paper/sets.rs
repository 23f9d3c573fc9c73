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
//! | `variants`, `locks` | the variants in their order, and the numbers of locks |
//! | `ran` | the points of Figure 3 that ran |
//! | `eigenbench` | the points of Figure 4 |
//! | `pairs`, `sorted` | the settings of Figure 4 in which tbv-sorting and hv-sorting ran, in their order and by threads |
//! | `breakdown`, `alone` | the profiles of Figure 5, and those of one thread alone |
//! | `characteristics`, `table-1` | what was measured of Table 1, and with the paper's rows |
//! | `document` | what is so of the whole document |

use super::view::{
    abort_rate, apart, baseline, cells, counts, critical_section, heading, label, order, over_cgl,
    plain, shown, sorted, total,
};
use crate::measure::search::TIME_LIMIT;
use crate::numbers::{count, short, times};
use crate::paper::document::{
    Breakdown, Characteristics, EigenbenchPoint, Isolation, KernelPart, PHASES, Paper, Speedup,
    ThreadPoint,
};
use crate::report::claim::LEVEL;
use crate::report::formula::{Sets, stated, word};
use crate::report::palette;
use crate::report::records::{Record, with};
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn sets(paper: &Paper) -> Sets {
    let apart = apart(paper);
    let pairs = pairs(paper);
    let mut by_threads = pairs.clone();
    by_threads.sort_by_key(|pair| pair["total"].as_u64());
    // Another note says why a launch did not run at all.
    let ran = |p: &&ThreadPoint| p.tx_per_s > 0.0 || p.note.is_none() || is_late(p);
    let ran = paper.threads.iter().filter(ran).map(|p| point(paper, p));
    let threads = lines(paper);
    let locks: BTreeSet<u64> = paper.eigenbench.iter().map(|p| p.locks).collect();
    let mut bars: Vec<&Breakdown> = paper.breakdown.iter().collect();
    bars.sort_by_key(|bar| (order(&bar.workload), palette::rank(&bar.variant)));
    let profiles: Vec<Record> = bars.into_iter().map(profile).collect();
    let alone = profiles.iter().filter(|bar| bar["alone"] == 1).cloned();
    let tried = paper.speedups.iter().map(|run| run.tried);
    let document = json!({
        "device": paper.head.device.name,
        "tried": tried.fold(0, u64::saturating_add),
        "searched": Some(paper.search.len()).filter(|n| *n > 0),
        "stopped": paper.search.iter().filter(|t| t.tx_per_s <= 0.0).count(),
    });
    let sections = paper.critical_sections.iter().map(|section| {
        let cgl = baseline(&apart, &section.workload).filter(|_| section.counts());
        let over = cgl.map(|cgl| section.tx_per_s / cgl.tx_per_s);
        named(json!(section), &section.workload, json!({"over_cgl": over}))
    });
    let rows = paper.characteristics.iter().map(|c| row(paper, c));
    let mut sets = [
        ("document", vec![document]),
        ("speedups", results(paper)),
        ("best", results(&apart)),
        ("winners", winners(&apart)),
        ("kernels", kernels(paper)),
        ("sections", sections.collect()),
        ("reasons", reasons(paper)),
        ("sums", sums(paper)),
        ("lines", whole_lines(&threads)),
        ("threads", threads),
        ("variants", variants_of(paper)),
        ("locks", locks.iter().map(|n| json!({"locks": n})).collect()),
        ("ran", ran.collect()),
        ("eigenbench", eigenbench(paper)),
        ("pairs", pairs),
        ("sorted", by_threads),
        ("alone", alone.collect()),
        ("breakdown", profiles),
        ("characteristics", rows.collect()),
        ("table-1", table_1(paper)),
    ];
    for (_, set) in &mut sets {
        for (at, record) in set.iter_mut().enumerate() {
            record["at"] = at.into();
        }
    }
    Sets::new(sets).with(stated(include_str!("calls.json")), shown)
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
    let all = sorted(paper).into_iter();
    all.map(|run| result(paper, run)).collect()
}

fn result(paper: &Paper, run: &Speedup) -> Record {
    let workload = &run.workload;
    let gain = over_cgl(paper, run);
    let cgl = baseline(paper, workload).filter(|_| gain.is_some());
    let over = |rate: f64| cgl.map(|cgl| rate / cgl.tx_per_s);
    let section = critical_section(paper, workload).filter(|_| counts(run));
    let over_section = section.map(|section| run.tx_per_s / section.tx_per_s);
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
        "rate": counts(run).then_some(run.tx_per_s),
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
    all.flat_map(|run| run.kernels.iter().map(|part| kernel(paper, run, part)))
        .collect()
}

fn kernel(paper: &Paper, run: &Speedup, part: &KernelPart) -> Record {
    let cgl = baseline(paper, &run.workload).and_then(|cgl| {
        let same = cgl.kernels.iter().find(|k| k.work() == part.work())?;
        known(same.tx_per_s())
    });
    let section = critical_section(paper, &format!("{}/{}", run.workload, part.work()));
    let rate = part.tx_per_s();
    let over = |other: Option<f64>| {
        let counts = part.commits > 0 && counts(run);
        other.filter(|_| counts).map(|other| rate / other)
    };
    let more = json!({
        "variant": run.variant, "rate": known(rate), "gain": over(cgl),
        "over_section": over(section.map(|section| section.tx_per_s)),
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
fn whole_lines(threads: &[Record]) -> Vec<Record> {
    let mut lines: BTreeMap<[Option<String>; 2], Vec<(&Record, f64)>> = BTreeMap::new();
    for point in threads {
        let name = ["workload", "variant"].map(|field| word(&point[field]));
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

fn is_late(point: &ThreadPoint) -> bool {
    point.note.as_deref() == Some(TIME_LIMIT)
}

fn point(paper: &Paper, point: &ThreadPoint) -> Record {
    let total = total(point.blocks, point.threads) as f64;
    let more = json!({
        "rate": known(point.tx_per_s),
        "tenth": total / 10.0, "per_processor": total / f64::from(paper.head.device.processors),
        "committed": u64::from(point.tx_per_s > 0.0), "late": u64::from(is_late(point)),
    });
    named(json!(point), &point.workload, more)
}

fn lines(paper: &Paper) -> Vec<Record> {
    let mut all: Vec<&ThreadPoint> = paper.threads.iter().collect();
    all.sort_by_key(|p| (order(&p.workload), total(p.blocks, p.threads), p.blocks));
    let place = |p: &ThreadPoint| (p.workload.clone(), p.blocks, p.threads);
    let record = |p: &ThreadPoint| {
        let mut hv = paper.threads.iter().filter(|q| q.variant == "hv-sorting");
        let same = hv.find(|q| place(q) == place(p));
        let reference = same.and_then(|q| known(q.tx_per_s));
        let beside = reference.map(|rate| p.tx_per_s / rate);
        with(point(paper, p), json!({"beside": beside}))
    };
    all.into_iter().map(record).collect()
}

/// The variants in the order of the legends, and in which figures they are.
fn variants_of(paper: &Paper) -> Vec<Record> {
    let threads: Vec<&str> = paper.threads.iter().map(|p| p.variant.as_str()).collect();
    let eigenbench = paper.eigenbench.iter().map(|p| p.variant.as_str());
    let eigenbench: Vec<&str> = eigenbench.collect();
    let all = threads.iter().chain(&eigenbench);
    let all: BTreeSet<(usize, &str)> = all.map(|name| (palette::rank(name), *name)).collect();
    let record = |(_, name): (usize, &str)| {
        let [threads, eigenbench] =
            [&threads, &eigenbench].map(|those| u64::from(those.contains(&name)));
        json!({"variant": name, "threads": threads, "eigenbench": eigenbench})
    };
    all.into_iter().map(record).collect()
}

/// The points of Figure 4, by threads, words and locks.
fn eigenbench(paper: &Paper) -> Vec<Record> {
    let mut all: Vec<&EigenbenchPoint> = paper.eigenbench.iter().collect();
    all.sort_by_key(|p| (total(p.blocks, p.threads), p.blocks, p.hot_words, p.locks));
    let record =
        |p: &EigenbenchPoint| named(json!(p), "eigenbench", json!({"rate": known(p.tx_per_s)}));
    all.into_iter().map(record).collect()
}

/// The settings of Figure 4 in which tbv-sorting and hv-sorting ran.
fn pairs(paper: &Paper) -> Vec<Record> {
    let ran = |variant: &'static str| {
        let all = paper.eigenbench.iter();
        all.filter(move |p| p.tx_per_s > 0.0 && p.variant == variant)
    };
    let setting = |p: &EigenbenchPoint| (p.hot_words, p.locks, p.blocks, p.threads);
    let pair = |tbv: &EigenbenchPoint| {
        let hv = ran("hv-sorting").find(|hv| setting(hv) == setting(tbv))?;
        let threads = total(hv.blocks, hv.threads);
        let [words, locks, n] = [hv.hot_words, hv.locks, threads].map(count);
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
    let gain = own.filter_map(|run| over_cgl(paper, run));
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
