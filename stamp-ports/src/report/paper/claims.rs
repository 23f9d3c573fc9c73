//! The numbers that decide the claims of Xu et al. 2014: those of the rows in `claims.json`.
//!
//! A rule that applies to several workloads or settings is judged in those that the document
//! has points of. A gain over coarse-grained locking is one over the same transactions as
//! critical sections of a hand-written lock, of the same run, because `cgl` is slower than
//! these; where they were not measured, the verdict is
//! [`Verdict::WithoutLock`](crate::report::claim::Verdict::WithoutLock). Only the paper's
//! variants are judged: the others are not what it makes claims about.

use super::published::{self, plain};
use super::sentences::{Pair, median, pairs, rate};
use super::view::{
    THEIRS, abort_rate, apart, distinct, fastest, label, largest, measured, over_cgl,
    over_critical_section, runs, theirs, total, workloads,
};
use crate::measure::tried::TIME_LIMIT;
use crate::numbers::{count, of};
use crate::paper::document::{Breakdown, EigenbenchPoint, PHASES, Paper, Speedup, ThreadPoint};
use crate::report::claim::{Claim, Found, NO_SECTION, judge, one, rows};

/// What a rule may ask: the document, and the same with the kernels of a program apart, which
/// count as workloads, as in the paper.
struct Asked {
    whole: Paper,
    apart: Paper,
}

/// Judges all claims of the paper.
pub fn all(paper: &Paper) -> Vec<Claim> {
    let whole = theirs(paper);
    let asked = Asked {
        apart: apart(&whole),
        whole,
    };
    let rows = rows(include_str!("claims.json")).into_iter();
    rows.map(|row| judge(&row, numbers(&asked, row.id)))
        .collect()
}

/// The variants that the paper proposes, except `optimized`, which is one of them.
const PROPOSED: [&str; 3] = ["tbv-sorting", "hv-sorting", "hv-backoff"];
const WITH_MANY: [&str; 6] = ["ra", "ht", "genome", "gn1", "gn2", "kmeans"];
const MODEST: [&str; 6] = ["ra", "ht", "genome", "gn1", "gn2", "labyrinth"];

/// A number for each of some workloads, as far as the document has it.
fn each<'p>(paper: &'p Paper, wanted: &[&str], value: impl Fn(&'p str) -> Option<f64>) -> Found {
    let all = measured(paper).into_iter();
    let here = all.filter(|workload| wanted.contains(&plain(workload).as_str()));
    here.filter_map(|workload| Some((label(workload), Some(value(workload)?))))
        .collect()
}

/// The ratio of the rates of two variants.
fn ratio(paper: &Paper, workload: &str, [a, b]: [&str; 2]) -> Option<f64> {
    Some(rate(paper, workload, a)? / rate(paper, workload, b)?)
}

/// The share of the fastest variant's rate that one reaches.
fn share(paper: &Paper, workload: &str, variant: &str) -> Option<f64> {
    Some(rate(paper, workload, variant)? / fastest(paper, workload)?.tx_per_s)
}

/// Some results of each of some workloads, with their speed-ups over cgl, the slowest first.
fn results<'p>(
    paper: &'p Paper,
    wanted: &[&str],
    of: impl Fn(&Speedup) -> bool,
) -> Vec<Vec<(&'p Speedup, f64)>> {
    let here = measured(paper).into_iter();
    let here = here.filter(|workload| wanted.contains(&plain(workload).as_str()));
    let known = here.map(|workload| {
        let own = runs(paper, workload).into_iter().filter(|run| of(run));
        let mut known: Vec<_> = own
            .filter_map(|run| Some((run, over_cgl(paper, run)?)))
            .collect();
        known.sort_by(|a, b| a.1.total_cmp(&b.1));
        known
    });
    known.filter(|known| !known.is_empty()).collect()
}

/// The fastest of some results in each workload.
fn best<'p>(
    paper: &'p Paper,
    wanted: &[&str],
    of: impl Fn(&Speedup) -> bool,
) -> Vec<(&'p Speedup, f64)> {
    results(paper, wanted, of)
        .iter()
        .filter_map(|known| known.last().copied())
        .collect()
}

/// The slower of tbv-sorting and hv-sorting where conflicts are modest.
fn slower(paper: &Paper) -> Vec<(&Speedup, f64)> {
    let of = |run: &Speedup| PROPOSED[..2].contains(&run.variant.as_str());
    let all = results(paper, &MODEST, of);
    all.iter()
        .filter(|known| known.len() == 2)
        .map(|known| known[0])
        .collect()
}

fn is_proposed(run: &Speedup) -> bool {
    PROPOSED.contains(&run.variant.as_str())
}

/// The fastest variant of k-means.
fn kmeans(paper: &Paper) -> Vec<(&Speedup, f64)> {
    best(paper, &["kmeans"], |run| {
        !["cgl", "optimized"].contains(&run.variant.as_str())
    })
}

/// The gains over critical sections, where these were measured.
fn over_sections(paper: &Paper, gains: &[(&Speedup, f64)]) -> Found {
    let known = gains.iter().filter_map(|(run, _)| {
        Some((
            label(&run.workload),
            Some(over_critical_section(paper, run)?),
        ))
    });
    let known: Found = known.collect();
    if known.is_empty() && !gains.is_empty() {
        one(NO_SECTION, None)
    } else {
        known
    }
}

/// The same over cgl.
fn gains_over_cgl(gains: &[(&Speedup, f64)]) -> Found {
    let name = |run: &Speedup| format!("{} by {} over cgl", label(&run.workload), run.variant);
    gains
        .iter()
        .map(|(run, gain)| (name(run), Some(*gain)))
        .collect()
}

/// The ranks of values, from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|w| *w < v).count();
        let equal = values.iter().filter(|w| w.total_cmp(v).is_eq()).count();
        below as f64 + (equal - 1) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}

/// The rank correlation of two series (Spearman); `None` if one is constant.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let spread = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (spread > 0.0).then(|| sum(&a, &b) / spread)
}

/// The rank correlation of the share of the time in transactions and the gain. A program counts
/// whole, because the shares of its kernels are not known.
fn time_in_transactions(paper: &Paper) -> Found {
    let known = paper.characteristics.iter().filter_map(|c| {
        let gain = largest(paper, |run| run.workload == c.workload)?.1;
        Some((c.time_in_tx?, gain))
    });
    let (shares, gains): (Vec<f64>, Vec<f64>) = known.unzip();
    let enough = shares.len() >= 4;
    let name = format!(
        "the correlation over {}",
        of(shares.len() as u64, "workload")
    );
    one(name, correlation(&shares, &gains).filter(|_| enough))
}

/// The median of the rate of hv-sorting over that of tbv-sorting where words do not outnumber
/// locks, in Figure 4 and in Figure 2.
fn cost_of_hv(paper: &Paper) -> Found {
    let points = pairs(paper)
        .into_iter()
        .filter(|pair| pair.hv.hot_words <= pair.hv.locks);
    let enough = |workload: &str| {
        let words = paper
            .characteristics
            .iter()
            .find(|row| row.workload == workload);
        let mut tbv = runs(paper, workload).into_iter();
        let locks = tbv
            .find(|run| run.variant == "tbv-sorting")
            .map(|run| run.locks);
        words
            .zip(locks)
            .is_some_and(|(row, locks)| row.shared_words <= locks)
    };
    let all = measured(paper)
        .into_iter()
        .filter(|workload| enough(workload));
    let gains = all.filter_map(|w| ratio(paper, w, ["hv-sorting", "tbv-sorting"]));
    let medians = [
        ("Figure 4", median(points.map(|pair| pair.gain()).collect())),
        ("Figure 2", median(gains.collect())),
    ];
    let known = medians.into_iter().filter(|(_, median)| median.is_some());
    known
        .map(|(name, median)| (name.to_owned(), median))
        .collect()
}

/// Threads a processor of the launch that the paper calls full: one block of 256.
const FULL: u64 = 256;

fn full(paper: &Paper) -> u64 {
    FULL * paper.head.device.processors as u64
}

fn threads(point: &ThreadPoint) -> u64 {
    total(point.blocks, point.threads)
}

/// The points of a variant in a workload, those that did not run included, by threads.
fn points<'p>(paper: &'p Paper, workload: &str, variant: &str) -> Vec<&'p ThreadPoint> {
    let points = paper.threads.iter();
    let own = points.filter(|p| p.workload == workload && p.variant == variant);
    let mut line: Vec<&ThreadPoint> = own.collect();
    line.sort_by_key(|p| threads(p));
    line
}

/// The points of a variant in a workload that ran, by threads.
fn line<'p>(paper: &'p Paper, workload: &str, variant: &str) -> Vec<&'p ThreadPoint> {
    let mut line = points(paper, workload, variant);
    line.retain(|p| p.tx_per_s > 0.0);
    line
}

fn best_rate<'p>(points: impl IntoIterator<Item = &'p &'p ThreadPoint>) -> f64 {
    points.into_iter().map(|p| p.tx_per_s).fold(0.0, f64::max)
}

/// A number for each workload of Figure 3, as far as the document has it.
fn each_line(paper: &Paper, value: impl Fn(&str) -> Option<f64>) -> Found {
    let all = workloads(paper.threads.iter().map(|p| p.workload.as_str())).into_iter();
    all.filter_map(|workload| Some((label(workload), Some(value(workload)?))))
        .collect()
}

/// How a variant grows from its smallest launch to the full one or the next smaller.
fn growth(paper: &Paper, workload: &str, variant: &str) -> Option<f64> {
    let line = line(paper, workload, variant);
    let first = line.first()?;
    let last = line.iter().rfind(|p| threads(p) <= full(paper))?;
    // A launch of fewer threads could not be ten times as fast.
    (threads(last) >= 10 * threads(first)).then(|| last.tx_per_s / first.tx_per_s)
}

/// The best rate of egpgv beyond the full launch over that up to it.
fn beyond(paper: &Paper, workload: &str) -> Option<f64> {
    let points = points(paper, workload, "egpgv");
    let (within, beyond): (Vec<_>, Vec<_>) = points.iter().partition(|p| threads(p) <= full(paper));
    let before = best_rate(within);
    (before > 0.0 && !beyond.is_empty()).then(|| best_rate(beyond) / before)
}

/// What was stopped, and what committed nothing although it ran.
fn livelocks(paper: &Paper) -> Found {
    let stopped = |run: &&Speedup| run.aborts.get("stopped").is_some_and(|&n| n > 0);
    let late = |p: &&ThreadPoint| p.note.as_deref() == Some(TIME_LIMIT);
    // Another note says why a launch did not run at all.
    let ran = |p: &&ThreadPoint| p.tx_per_s > 0.0 || p.note.is_none() || late(p);
    let ran: Vec<&ThreadPoint> = paper.threads.iter().filter(ran).collect();
    let idle = ran.iter().filter(|p| p.tx_per_s <= 0.0).count();
    let stopped = paper.speedups.iter().filter(stopped).count();
    let (runs, points) = (paper.speedups.len(), ran.len());
    let late = ran.iter().copied().filter(late).count();
    let words = format!(
        "{stopped} of {runs} measurements of Figure 2 had an attempt stopped, {idle} of {points} \
         points of Figure 3 committed nothing, {late} ended at their time limit"
    );
    let none = stopped == 0 && idle == 0;
    one(
        words,
        (!none || (runs > 0 && points > 0)).then(|| f64::from(u8::from(none))),
    )
}

/// A number for each of some settings of Figure 4.
fn settings(
    paper: &Paper,
    wanted: impl Fn(&Pair<'_>) -> bool,
    value: impl Fn(&Pair<'_>) -> f64,
) -> Found {
    let name = |p: &Pair<'_>| {
        let threads = count(total(p.hv.blocks, p.hv.threads));
        format!("{}/{}/{threads}", count(p.hv.hot_words), count(p.hv.locks))
    };
    let all = pairs(paper).into_iter().filter(|pair| wanted(pair));
    all.map(|pair| (name(&pair), Some(value(&pair)))).collect()
}

/// The numbers, or what is missing if there are none.
fn or(found: Found, missing: &str) -> Found {
    if found.is_empty() {
        one(missing, None)
    } else {
        found
    }
}

/// The numbers and their median.
fn with_median(found: Found) -> Vec<Found> {
    let values = found.iter().filter_map(|(_, value)| *value).collect();
    let median = one("the median", median(values));
    vec![found, median]
}

/// The rate of hv-sorting over that of tbv-sorting.
fn gain(pair: &Pair<'_>) -> f64 {
    pair.gain()
}

fn is_small(pair: &Pair<'_>) -> bool {
    pair.hv.hot_words <= 1 << 20
}

/// Whether words outnumber locks and hv-sorting aborts ten points less of the attempts.
fn aborts_less(p: &Pair<'_>) -> bool {
    p.hv.hot_words > p.hv.locks && p.tbv.abort_rate - p.hv.abort_rate >= 0.1
}

/// What tbv-sorting gains from the most locks over the fewest, with the most words.
fn more_locks(paper: &Paper) -> Found {
    let pairs = pairs(paper);
    let points: Vec<&EigenbenchPoint> = pairs.iter().map(|pair| pair.tbv).collect();
    let words = points.iter().map(|p| p.hot_words).max().unwrap_or(0);
    let sum = |p: &EigenbenchPoint| total(p.blocks, p.threads);
    let here = || points.iter().filter(|p| p.hot_words == words);
    let gain = |launch: u64| {
        let same = || here().filter(|p| sum(p) == launch);
        let (few, many) = (
            same().min_by_key(|p| p.locks)?,
            same().max_by_key(|p| p.locks)?,
        );
        let gain = many.tx_per_s / few.tx_per_s;
        (few.locks < many.locks).then(|| (of(launch, "thread"), Some(gain)))
    };
    distinct(here().map(|p| sum(p)))
        .into_iter()
        .filter_map(gain)
        .collect()
}

/// The share of the best rate with any number of locks that hv-sorting has with 4M locks.
fn near_its_best(paper: &Paper) -> Found {
    let enough = published::HV_LOCKS_ENOUGH;
    let wanted = |pair: &Pair<'_>| pair.hv.locks == enough && pair.hv.hot_words > enough;
    settings(paper, wanted, |pair| {
        let setting = |p: &EigenbenchPoint| (p.hot_words, p.blocks, p.threads);
        let hv = paper
            .eigenbench
            .iter()
            .filter(|p| p.variant == "hv-sorting");
        let same = hv.filter(|p| setting(p) == setting(pair.hv));
        pair.hv.tx_per_s / same.map(|p| p.tx_per_s).fold(0.0, f64::max)
    })
}

/// The share of attempts that hv-sorting aborts over that of tbv-sorting, with the fewest locks.
fn fewer_aborts(paper: &Paper) -> Found {
    let fewest = pairs(paper).iter().map(|pair| pair.hv.locks).min();
    let wanted = |p: &Pair<'_>| Some(p.hv.locks) == fewest && p.hv.hot_words > p.hv.locks;
    settings(paper, wanted, |p| match p.tbv.abort_rate {
        none if none <= 0.0 && p.hv.abort_rate <= 0.0 => 0.0,
        tbv => p.hv.abort_rate / tbv,
    })
}

/// A number for each profile of one thread alone of some workloads; the paper profiles no other
/// launch, so no other can decide.
fn alone(paper: &Paper, wanted: &[&str], value: impl Fn(&Breakdown) -> f64) -> Found {
    let bars = paper.breakdown.iter().filter(|bar| bar.is_alone());
    if bars.clone().next().is_none() {
        return one("a profile of one thread alone", None);
    }
    let own = bars.filter(|bar| wanted.contains(&plain(&bar.workload).as_str()));
    own.map(|bar| (label(&bar.workload), Some(value(bar))))
        .collect()
}

fn phase(bar: &Breakdown, phase: &str) -> f64 {
    bar.shares.get(phase).copied().unwrap_or(0.0)
}

/// The share of buffering over that of the largest other phase which is not the program's own.
fn buffering(bar: &Breakdown) -> f64 {
    let others = PHASES
        .into_iter()
        .filter(|name| !["native", "buffering"].contains(name));
    let largest = others.map(|name| phase(bar, name)).fold(0.0, f64::max);
    phase(bar, "buffering") / largest
}

/// The numbers of a claim, part by part.
fn numbers(at: &Asked, id: &str) -> Vec<Found> {
    let found = of_figure_2(&at.apart, id);
    if found.is_empty() {
        of_others(&at.whole, id)
    } else {
        found
    }
}

fn of_figure_2(paper: &Paper, id: &str) -> Vec<Found> {
    let both = |gains: &[_]| vec![over_sections(paper, gains), gains_over_cgl(gains)];
    match id {
        "X-1" => vec![
            over_sections(paper, &best(paper, &["gn2"], is_proposed)),
            gains_over_cgl(&best(paper, &THEIRS, is_proposed)),
        ],
        "X-2" => vec![each(paper, &THEIRS, |w| share(paper, w, "optimized"))],
        "X-3" => {
            let twofold = |w: &str| {
                largest(paper, |run| run.workload == w).is_some_and(|(_, gain)| gain >= 2.0)
            };
            let reached = |w| share(paper, w, "egpgv").filter(|_| twofold(w));
            vec![each(paper, &THEIRS, reached)]
        }
        "X-4" => vec![each(paper, &WITH_MANY, |w| share(paper, w, "vbv"))],
        "X-5" => both(&slower(paper)),
        "X-6" => {
            let mut all = runs(paper, "kmeans").into_iter();
            let optimized = all
                .find(|run| run.variant == "optimized")
                .and_then(abort_rate);
            let mut found = both(&kmeans(paper));
            found.push(one("attempts of optimized that abort", optimized));
            found
        }
        "X-8" => {
            let pair = ["hv-sorting", "hv-backoff"];
            vec![each(paper, &MODEST[..5], |w| ratio(paper, w, pair))]
        }
        "X-9" => {
            let pair = ["hv-sorting", "tbv-sorting"];
            vec![each(paper, &["ra", "labyrinth"], |w| ratio(paper, w, pair))]
        }
        "X-10" => vec![cost_of_hv(paper)],
        _ => Vec::new(),
    }
}

fn of_others(paper: &Paper, id: &str) -> Vec<Found> {
    match id {
        "X-7" => vec![time_in_transactions(paper)],
        "X-11" => vec![each_line(paper, |workload| {
            let line = line(paper, workload, "vbv");
            Some(best_rate(&line) / line.first()?.tx_per_s)
        })],
        "X-12" => vec![each_line(paper, |workload| beyond(paper, workload))],
        "X-13" => vec![each_line(paper, |workload| {
            let of = |variant| growth(paper, workload, variant);
            Some(of("tbv-sorting")?.min(of("hv-sorting")?))
        })],
        "X-14" => vec![each_line(paper, |workload| {
            let line = line(paper, workload, "hv-sorting");
            let [first, .., last] = line[..] else {
                return None;
            };
            Some(last.abort_rate - first.abort_rate)
        })],
        "X-15" => vec![livelocks(paper)],
        "X-16" => {
            let few = |p: &Pair<'_>| total(p.hv.blocks, p.hv.threads) < 1024;
            vec![or(
                settings(paper, few, gain),
                "a setting with fewer than 1K threads",
            )]
        }
        "X-17" => with_median(settings(paper, is_small, gain)),
        "X-18" => vec![more_locks(paper)],
        "X-19" => vec![near_its_best(paper)],
        "X-20" => vec![fewer_aborts(paper)],
        "X-21" => with_median(settings(paper, aborts_less, gain)),
        "X-22" => vec![
            // Where only the whole program was profiled, it stands for its kernels.
            alone(paper, &["genome", "gn2"], |bar| phase(bar, "native")),
            alone(paper, &["labyrinth", "kmeans"], buffering),
        ],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
