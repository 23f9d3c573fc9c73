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
    self, abort_rate, apart, baseline, counts, critical_section, heading, label, largest, order,
    over_cgl, over_critical_section, plain, shown, sorted, total,
};
use crate::measure::search::TIME_LIMIT;
use crate::numbers::{count, short, times};
use crate::paper::document::{
    Breakdown, Characteristics, CriticalSection, EigenbenchPoint, Isolation, KernelPart, PHASES,
    Paper, Speedup, ThreadPoint,
};
use crate::report::claim::LEVEL;
use crate::report::formula::{Sets, stated, word};
use crate::report::palette;
use crate::report::records::{Fields, Record};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Returns all records of a document.
pub(super) fn sets(paper: &Paper) -> Sets {
    let apart = apart(paper);
    let pairs = pairs(paper);
    let mut by_threads = pairs.clone();
    by_threads.sort_by_key(|pair| pair["total"].as_u64());
    // Another note says why a launch did not run at all.
    let ran = |p: &&ThreadPoint| p.tx_per_s > 0.0 || p.note.is_none() || is_late(p);
    let threads = lines(paper);
    let search = &paper.search;
    let locks: BTreeSet<u64> = paper.eigenbench.iter().map(|p| p.locks).collect();
    let mut bars: Vec<&Breakdown> = paper.breakdown.iter().collect();
    bars.sort_by_key(|bar| (order(&bar.workload), palette::rank(&bar.variant)));
    let profiles: Vec<Record> = bars.into_iter().map(profile).collect();
    let alone = profiles
        .iter()
        .filter(|bar| bar["alone"].as_f64() == Some(1.0));
    let searched = search.iter().filter(|t| t.tx_per_s <= 0.0).count();
    let tried = paper.speedups.iter().map(|run| run.tried);
    let document = Record::default()
        .with("device", paper.head.device.name.clone())
        .with("tried", tried.fold(0, u64::saturating_add))
        .with("searched", Some(search.len()).filter(|n| *n > 0))
        .with("stopped", searched);
    let mut sets = [
        ("document", vec![document]),
        ("speedups", results(paper)),
        ("best", results(&apart)),
        ("winners", winners(&apart)),
        ("kernels", kernels(paper)),
        ("sections", sections(paper, &apart)),
        ("reasons", reasons(paper)),
        ("sums", sums(paper)),
        ("lines", whole_lines(&threads)),
        ("threads", threads),
        ("variants", variants_of(paper)),
        ("locks", locks.iter().map(|n| json!({"locks": n})).collect()),
        (
            "ran",
            paper
                .threads
                .iter()
                .filter(ran)
                .map(|p| point(paper, p))
                .collect(),
        ),
        ("eigenbench", eigenbench(paper)),
        ("pairs", pairs),
        ("sorted", by_threads),
        ("alone", alone.cloned().collect()),
        ("breakdown", profiles),
        (
            "characteristics",
            paper
                .characteristics
                .iter()
                .map(|c| row(paper, c))
                .collect(),
        ),
        ("table-1", table_1(paper)),
    ];
    for (_, set) in &mut sets {
        for (at, record) in set.iter_mut().enumerate() {
            record["at"] = at.into();
        }
    }
    Sets::new(sets).with(stated(include_str!("calls.json")), shown)
}

/// The record of what names a workload.
fn named(record: Record, workload: &str) -> Record {
    let number = |name: &str| record.get(name)?.as_u64();
    let shape = number("blocks").zip(number("threads"));
    let launch = shape.map(|(blocks, threads)| format!("{blocks} x {threads}"));
    let total = shape.map(|(blocks, threads)| blocks * threads);
    record
        .with("label", label(workload))
        .with("heading", heading(workload))
        .with("plain", plain(workload))
        .with("launch", launch)
        .with("total", total)
}

/// The results in the order of the figures. What is not right has no rate that counts.
fn results(paper: &Paper) -> Vec<Record> {
    sorted(paper)
        .into_iter()
        .map(|run| result(paper, run))
        .collect()
}

fn result(paper: &Paper, run: &Speedup) -> Record {
    let workload = &run.workload;
    let stopped = run.aborts.get("stopped").is_some_and(|&n| n > 0);
    let (gain, over_section) = (over_cgl(paper, run), over_critical_section(paper, run));
    let cgl = baseline(paper, workload).filter(|_| gain.is_some());
    let over = |rate: f64| cgl.map(|cgl| rate / cgl.tx_per_s);
    let label_of_bar = match gain {
        Some(gain) => times(gain),
        None if !run.verified => "not verified".into(),
        None => format!("{} tx/s", short(run.tx_per_s)),
    };
    let over_it = over_section.map(|ratio| format!("{} over the critical section", times(ratio)));
    let section = over_it.as_ref().map(|over| format!(" over cgl, {over}"));
    // Both ratios, as far as there are: `46× (12× over the critical section)`.
    let beside = over_it.map_or_else(String::new, |over| format!(" ({over})"));
    let other = run.resolved != run.variant;
    let ran = other.then(|| format!(", as {}", run.resolved));
    let ran = ran.unwrap_or_default();
    named(json!(run), workload)
        .with("rate", counts(run).then_some(run.tx_per_s))
        .with("gain", gain)
        .with("over_section", over_section)
        .with("abort_rate", abort_rate(run))
        .with("unstopped", u64::from(!stopped))
        .with("gain_min", over(run.tx_per_s_min))
        .with("gain_max", over(run.tx_per_s_max))
        .with("ran", ran)
        .with("label_of_bar", label_of_bar.clone())
        .with("bar", label_of_bar + &section.unwrap_or_default())
        .with("gains", gain.map(|gain| times(gain) + &beside))
        .with("wrong", (!run.verified).then_some("NO"))
        .with("recorded", run.isolation.as_ref().map(Isolation::summary))
        .with("jit", Some(run.jit_ms).filter(|ms| *ms > 0.0))
        .with(
            "theirs",
            view::of(workload)
                .map(|[.., launch]| launch)
                .filter(|l| !l.is_empty()),
        )
}

/// The fastest algorithm of each workload, those that win most often first; `optimized` is one of
/// the others and would win by chance.
fn winners(apart: &Paper) -> Vec<Record> {
    let mut best: Vec<&Speedup> = Vec::new();
    for run in sorted(apart) {
        if counts(run) && run.variant != "optimized" {
            match best.last_mut() {
                Some(last) if last.workload == run.workload => {
                    *last = if last.tx_per_s > run.tx_per_s {
                        *last
                    } else {
                        run
                    };
                }
                _ => best.push(run),
            }
        }
    }
    let wins = |run: &Speedup| {
        let own = best.iter().filter(|other| other.variant == run.variant);
        std::cmp::Reverse(own.count())
    };
    let mut by_wins = best.clone();
    by_wins.sort_by_key(|run| wins(run));
    by_wins.into_iter().map(|run| result(apart, run)).collect()
}

/// The kernels of workloads with several.
fn kernels(paper: &Paper) -> Vec<Record> {
    sorted(paper)
        .into_iter()
        .flat_map(|run| run.kernels.iter().map(|part| kernel(paper, run, part)))
        .collect()
}

fn kernel(paper: &Paper, run: &Speedup, part: &KernelPart) -> Record {
    let cgl = baseline(paper, &run.workload).and_then(|cgl| {
        let same = cgl.kernels.iter().find(|k| k.work() == part.work())?;
        Some(same.tx_per_s()).filter(|rate| *rate > 0.0)
    });
    let section = critical_section(paper, &format!("{}/{}", run.workload, part.work()));
    let rate = part.tx_per_s();
    let over = |other: Option<f64>| {
        let counts = part.commits > 0 && counts(run);
        other.filter(|_| counts).map(|other| rate / other)
    };
    let attempts = part.commits as f64 + part.aborts as f64;
    named(json!(part), &run.workload)
        .with("variant", run.variant.clone())
        .with("rate", Some(rate).filter(|rate| *rate > 0.0))
        .with("gain", over(cgl))
        .with(
            "over_section",
            over(section.map(|section| section.tx_per_s)),
        )
        .with(
            "abort_rate",
            (attempts > 0.0).then(|| part.aborts as f64 / attempts),
        )
}

/// The critical sections.
fn sections(paper: &Paper, apart: &Paper) -> Vec<Record> {
    let record = |section: &CriticalSection| {
        let cgl = baseline(apart, &section.workload).filter(|_| section.counts());
        named(json!(section), &section.workload)
            .with("over_cgl", cgl.map(|cgl| section.tx_per_s / cgl.tx_per_s))
    };
    paper.critical_sections.iter().map(record).collect()
}

/// Every result with every reason for which any attempt aborted; without any, every result.
fn reasons(paper: &Paper) -> Vec<Record> {
    let all = paper.speedups.iter().flat_map(|run| &run.aborts);
    let mut reasons: Vec<&String> = all
        .filter(|(_, n)| **n > 0)
        .map(|(reason, _)| reason)
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    let results = results(paper).into_iter();
    results
        .flat_map(|record| {
            let with = |reason: &&String| {
                let n = record["aborts"].get(reason.as_str()).cloned();
                record.clone().with("reason", reason.as_str()).with("n", n)
            };
            let all: Vec<Record> = reasons.iter().map(with).collect();
            if all.is_empty() { vec![record] } else { all }
        })
        .collect()
}

/// The reasons of aborts over all results.
fn sums(paper: &Paper) -> Vec<Record> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, n) in paper.speedups.iter().flat_map(|run| &run.aborts) {
        let sum = sums.entry(reason).or_default();
        *sum = sum.saturating_add(*n);
    }
    let all = sums.values().fold(0_u64, |all, n| all.saturating_add(*n));
    let record = |(reason, n): (&str, u64)| {
        Record::default()
            .with("reason", reason.replace('_', " "))
            .with("n", n)
            .with("share", n as f64 / all as f64)
    };
    sums.into_iter().map(record).collect()
}

/// The lines of Figure 3: how far each rises, and whether it falls again.
fn whole_lines(threads: &[Record]) -> Vec<Record> {
    let mut lines: BTreeMap<(String, String), Vec<&Record>> = BTreeMap::new();
    for point in threads
        .iter()
        .filter(|p| p["tx_per_s"].as_f64() > Some(0.0))
    {
        let name = |field: &str| word(&point[field]).unwrap_or_default();
        lines
            .entry((name("workload"), name("variant")))
            .or_default()
            .push(point);
    }
    let record = |line: Vec<&Record>| {
        let rates: Vec<f64> = line.iter().filter_map(|p| p["tx_per_s"].as_f64()).collect();
        let best = rates.iter().copied().fold(0.0, f64::max);
        let falls = rates[rates.len() - 1] < best * (1.0 - LEVEL);
        line[0]
            .clone()
            .with("grown", best / rates[0])
            .with("falls", u64::from(falls))
    };
    lines.into_values().map(record).collect()
}

fn is_late(point: &ThreadPoint) -> bool {
    point.note.as_deref() == Some(TIME_LIMIT)
}

fn point(paper: &Paper, point: &ThreadPoint) -> Record {
    let total = total(point.blocks, point.threads);
    let rate = Some(point.tx_per_s).filter(|rate| *rate > 0.0);
    let processors = paper.head.device.processors as f64;
    named(json!(point), &point.workload)
        .with("rate", rate)
        .with("tenth", total as f64 / 10.0)
        .with("per_processor", total as f64 / processors)
        .with("committed", u64::from(point.tx_per_s > 0.0))
        .with("late", u64::from(is_late(point)))
}

/// The points of Figure 3, by workload and threads.
fn lines(paper: &Paper) -> Vec<Record> {
    let mut all: Vec<&ThreadPoint> = paper.threads.iter().collect();
    all.sort_by_key(|p| (order(&p.workload), total(p.blocks, p.threads), p.blocks));
    all.into_iter()
        .map(|p| {
            let mut same = paper.threads.iter().filter(|q| q.workload == p.workload);
            let same = same.find(|q| {
                q.variant == "hv-sorting" && (q.blocks, q.threads) == (p.blocks, p.threads)
            });
            let reference = same.map(|q| q.tx_per_s).filter(|rate| *rate > 0.0);
            point(paper, p).with("beside", reference.map(|rate| p.tx_per_s / rate))
        })
        .collect()
}

/// The variants in the order of the legends, and in which figures they are.
fn variants_of(paper: &Paper) -> Vec<Record> {
    let threads = || paper.threads.iter().map(|p| p.variant.as_str());
    let eigenbench = || paper.eigenbench.iter().map(|p| p.variant.as_str());
    let record = |(_, name): (usize, &str)| {
        let in_threads = u64::from(threads().any(|other| other == name));
        let in_eigenbench = u64::from(eigenbench().any(|other| other == name));
        json!({"variant": name, "threads": in_threads, "eigenbench": in_eigenbench})
    };
    let all = threads().chain(eigenbench());
    let all: BTreeSet<(usize, &str)> = all.map(|name| (palette::rank(name), name)).collect();
    all.into_iter().map(record).collect()
}

/// The points of Figure 4, by threads, words and locks.
fn eigenbench(paper: &Paper) -> Vec<Record> {
    let place = |p: &EigenbenchPoint| (total(p.blocks, p.threads), p.blocks, p.hot_words, p.locks);
    let mut all: Vec<&EigenbenchPoint> = paper.eigenbench.iter().collect();
    all.sort_by_key(|p| place(p));
    let record = |p: &EigenbenchPoint| {
        named(json!(p), "eigenbench").with("rate", Some(p.tx_per_s).filter(|rate| *rate > 0.0))
    };
    all.into_iter().map(record).collect()
}

/// The settings of Figure 4 in which tbv-sorting and hv-sorting ran.
fn pairs(paper: &Paper) -> Vec<Record> {
    let points = || paper.eigenbench.iter().filter(|p| p.tx_per_s > 0.0);
    let setting = |p: &EigenbenchPoint| (p.hot_words, p.locks, p.blocks, p.threads);
    let tbv = points().filter(|p| p.variant == "tbv-sorting");
    tbv.filter_map(|tbv| {
        let mut hv = points().filter(|p| p.variant == "hv-sorting");
        Some(pair(tbv, hv.find(|hv| setting(hv) == setting(tbv))?))
    })
    .collect()
}

fn pair(tbv: &EigenbenchPoint, hv: &EigenbenchPoint) -> Record {
    let threads = total(hv.blocks, hv.threads);
    let (words, locks) = (count(hv.hot_words), count(hv.locks));
    let fewer = match tbv.abort_rate {
        none if none <= 0.0 && hv.abort_rate <= 0.0 => 0.0,
        aborted => hv.abort_rate / aborted,
    };
    json!(hv)
        .with("setting", format!("{words}/{locks}/{}", count(threads)))
        .with("total", threads)
        .with("gain", hv.tx_per_s / tbv.tx_per_s)
        .with("tbv_rate", tbv.tx_per_s)
        .with("tbv_aborts", tbv.abort_rate)
        .with("less_aborted", tbv.abort_rate - hv.abort_rate)
        .with("fewer", fewer)
}

/// A profile with what takes most of its time.
fn profile(bar: &Breakdown) -> Record {
    let share = |name: &str| bar.shares.get(name).copied().unwrap_or(0.0);
    let others = PHASES.into_iter();
    let others = others.filter(|name| !["native", "buffering"].contains(name));
    let largest = others.map(share).fold(0.0, f64::max);
    let overhead = bar.shares.iter().filter(|(phase, _)| *phase != "native");
    let overhead = overhead.max_by(|a, b| a.1.total_cmp(b.1));
    let how = [" in full launches", ", one thread alone"][usize::from(bar.is_alone())];
    let record = PHASES.into_iter().fold(json!(bar), |record, phase| {
        record.with(phase, bar.shares.get(phase).copied())
    });
    named(record, &bar.workload)
        .with("bar", format!("{} {}", bar.workload, bar.variant))
        .with("how", how)
        .with(
            "of",
            ["a full launch", "one thread alone"][usize::from(bar.is_alone())],
        )
        .with("alone", u64::from(bar.is_alone()))
        .with("own", share("native"))
        .with("overhead", overhead.map(|(phase, _)| phase.clone()))
        .with("overhead_share", overhead.map(|(_, share)| *share))
        .with("buffering_over", share("buffering") / largest)
}

fn row(paper: &Paper, row: &Characteristics) -> Record {
    let most = largest(paper, |run| run.workload == row.workload);
    named(json!(row), &row.workload).with("gain", most.map(|(_, gain)| gain))
}

/// Table 1: the measured rows of each workload, and below them the paper's.
fn table_1(paper: &Paper) -> Vec<Record> {
    let all = paper.characteristics.iter().map(|c| order(&c.workload));
    let all: BTreeSet<(usize, &str)> = all.collect();
    let of = |(_, workload): (usize, &str)| {
        let own = paper
            .characteristics
            .iter()
            .filter(|c| c.workload == workload);
        let own = own.map(|c| row(paper, c)).collect::<Vec<_>>();
        let theirs = view::of(workload).map(|cells| {
            let record = named(Record::default(), workload).with("variant", "in the paper");
            let cells = cells.iter().enumerate();
            cells.fold(record, |record, (i, cell)| {
                record.with(&format!("theirs{i}"), *cell)
            })
        });
        own.into_iter().chain(theirs).collect::<Vec<_>>()
    };
    all.into_iter().flat_map(of).collect()
}
