//! Claims about Figure 4: `EigenBench` by shared words and version locks.

use super::{Claim, LITTLE, NONE, Verdict, judged, of_each, range};
use crate::numbers::{count, of, short};
use crate::paper::document::{EigenbenchPoint, Paper};
use crate::report::published;
use crate::report::sentences::{LEVEL, Pair, median, pairs};
use crate::report::view::{distinct, percent, times, total};

/// Claims about Figure 4.
pub(super) fn locks(paper: &Paper) -> Vec<Claim> {
    let pairs = pairs(paper);
    vec![
        few_threads(&pairs),
        few_words(&pairs),
        more_locks(&pairs),
        enough_locks(paper, &pairs),
        fewer_aborts(&pairs),
        little_time(&pairs),
    ]
}

fn threads(pair: &Pair<'_>) -> u64 {
    total(pair.hv.blocks, pair.hv.threads)
}

/// Whether the two variants are level.
fn level(pair: &Pair<'_>) -> bool {
    (pair.gain() - 1.0).abs() <= LEVEL
}

/// The ratios of the two variants' rates.
fn gains(some: &[&Pair<'_>]) -> Vec<f64> {
    some.iter().map(|pair| pair.gain()).collect()
}

/// In how many settings a rule is met, and how the two variants compare there.
fn settings(some: &[&Pair<'_>], met: impl Fn(&Pair<'_>) -> bool) -> String {
    let gains = gains(some);
    median(gains.clone()).map_or_else(
        || NONE.into(),
        |middle| {
            format!(
                "In {} of {} settings; hv-sorting has {} of the rate of tbv-sorting, {} in the \
                 median.",
                some.iter().filter(|pair| met(pair)).count(),
                some.len(),
                range(&gains),
                times(middle)
            )
        },
    )
}

fn few_threads(pairs: &[Pair<'_>]) -> Claim {
    let few: Vec<&Pair<'_>> = pairs.iter().filter(|p| threads(p) < 1024).collect();
    let found = match pairs.iter().map(threads).min() {
        Some(least) if few.is_empty() => {
            let smallest: Vec<_> = pairs.iter().filter(|p| threads(p) == least).collect();
            format!(
                "The smallest launch has {}; there hv-sorting has {} of the rate of tbv-sorting.",
                of(least, "thread"),
                range(&gains(&smallest))
            )
        }
        _ => settings(&few, level),
    };
    judged(
        (
            "hv and tbv are level below 1K threads",
            "4.3",
            "their rates differ by at most 5 % in each such setting",
        ),
        Verdict::of_all(few.iter().map(|pair| level(pair))),
        found,
    )
}

fn few_words(pairs: &[Pair<'_>]) -> Claim {
    let small: Vec<_> = pairs.iter().filter(|p| p.hv.hot_words <= 1 << 20).collect();
    judged(
        (
            "hv and tbv are level with 1M words",
            "4.3",
            "their rates differ by at most 5 % in each such setting",
        ),
        Verdict::of_all(small.iter().map(|pair| level(pair))),
        settings(&small, level),
    )
}

/// The rates of points with one number of words and threads, by their locks.
fn by_locks<'p>(points: impl Iterator<Item = &'p EigenbenchPoint>) -> String {
    let mut points: Vec<_> = points.collect();
    points.sort_by_key(|p| p.locks);
    let each = points
        .iter()
        .map(|p| format!("{} with {}", short(p.tx_per_s), count(p.locks)));
    each.collect::<Vec<_>>().join(", ")
}

/// The points of a setting's words with the most threads.
fn largest_launch<'a, 'p>(here: &[&'a Pair<'p>]) -> Vec<&'a Pair<'p>> {
    let most = here.iter().map(|p| threads(p)).max();
    let largest = here.iter().filter(|p| Some(threads(p)) == most);
    largest.copied().collect()
}

/// What tbv-sorting gains from more locks, with the most words.
fn more_locks(pairs: &[Pair<'_>]) -> Claim {
    let words = pairs.iter().map(|p| p.tbv.hot_words).max().unwrap_or(0);
    let here: Vec<_> = pairs.iter().filter(|p| p.tbv.hot_words == words).collect();
    let gains: Vec<(String, f64)> = distinct(here.iter().map(|p| threads(p)))
        .into_iter()
        .filter_map(|launch| {
            let same = || here.iter().filter(|p| threads(p) == launch).map(|p| p.tbv);
            let (few, many) = (
                same().min_by_key(|p| p.locks)?,
                same().max_by_key(|p| p.locks)?,
            );
            let name = of(launch, "thread");
            (few.locks < many.locks).then(|| (name, many.tx_per_s / few.tx_per_s))
        })
        .collect();
    let rule = format!(
        "with {} words, tbv-sorting is at least twice as fast with the most locks as with the \
         fewest at each number of threads",
        count(words)
    );
    let mut claim = of_each(
        (
            "With much data tbv gains much from more locks",
            "4.3",
            &rule,
        ),
        &gains,
        times,
        |gain| gain >= 2.0,
    );
    if !gains.is_empty() {
        let largest = largest_launch(&here);
        claim.found.extend([format!(
            " The rates with the most threads are {} locks.",
            by_locks(largest.iter().map(|p| p.tbv))
        )]);
    }
    claim
}

/// Whether hv-sorting needs more than 4 M locks.
fn enough_locks(paper: &Paper, pairs: &[Pair<'_>]) -> Claim {
    let enough = published::HV_LOCKS_ENOUGH;
    let shares: Vec<f64> = pairs
        .iter()
        .map(|p| p.hv)
        .filter(|p| p.locks == enough && p.hot_words > enough)
        .filter_map(|p| {
            let same = paper.eigenbench.iter().filter(|q| {
                (q.variant.as_str(), q.hot_words, q.blocks, q.threads)
                    == ("hv-sorting", p.hot_words, p.blocks, p.threads)
            });
            let best = same.map(|q| q.tx_per_s).fold(0.0, f64::max);
            (best > 0.0).then(|| p.tx_per_s / best)
        })
        .collect();
    let near = |share: &f64| *share >= 0.9;
    let found = if shares.is_empty() {
        NONE.into()
    } else {
        let words = pairs.iter().map(|p| p.hv.hot_words).max();
        let here: Vec<_> = pairs
            .iter()
            .filter(|p| Some(p.hv.hot_words) == words)
            .collect();
        let low = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let high = shares.iter().copied().fold(0.0, f64::max);
        format!(
            "In {} of {} settings; it reaches {} to {}. The rates with the most words and threads \
             are {} locks.",
            shares.iter().filter(|share| near(share)).count(),
            shares.len(),
            percent(low),
            percent(high),
            by_locks(largest_launch(&here).iter().map(|p| p.hv))
        )
    };
    judged(
        (
            "With more data than that, hv is near its best with 4M locks",
            "4.3",
            "it reaches 90 % of its best rate with any number of locks in each setting with more \
             than 4M words",
        ),
        Verdict::of_all(shares.iter().map(near)),
        found,
    )
}

/// The share of attempts that abort, with few locks.
fn fewer_aborts(pairs: &[Pair<'_>]) -> Claim {
    let fewest = pairs.iter().map(|p| p.hv.locks).min();
    let few: Vec<_> = pairs
        .iter()
        .filter(|p| Some(p.hv.locks) == fewest && p.hv.hot_words > p.hv.locks)
        .collect();
    let half = |p: &Pair<'_>| p.hv.abort_rate <= p.tbv.abort_rate / 2.0;
    let fewer = few.iter().filter(|p| p.hv.abort_rate < p.tbv.abort_rate);
    let found = if few.is_empty() {
        NONE.into()
    } else {
        format!(
            "In {} of {} settings; it aborts a smaller share in {}.",
            few.iter().filter(|p| half(p)).count(),
            few.len(),
            fewer.count()
        )
    };
    judged(
        (
            "hv aborts far less with few locks",
            "4.3",
            "hv-sorting aborts at most half of the share of attempts that tbv-sorting aborts, in \
             each setting with the fewest locks in which words outnumber them",
        ),
        Verdict::of_all(few.iter().map(|p| half(p))),
        found,
    )
}

/// What fewer aborts are worth.
fn little_time(pairs: &[Pair<'_>]) -> Claim {
    let clear: Vec<_> = pairs
        .iter()
        .filter(|p| p.hv.hot_words > p.hv.locks && p.tbv.abort_rate - p.hv.abort_rate >= 0.1)
        .collect();
    let little = |p: &Pair<'_>| p.gain() <= 1.0 + LITTLE;
    judged(
        (
            "Fewer aborts gain little time",
            "4.3",
            "hv-sorting is at most 25 % faster in each setting in which words outnumber locks and \
             it aborts ten points less of the attempts than tbv-sorting",
        ),
        Verdict::of_all(clear.iter().map(|p| little(p))),
        settings(&clear, little),
    )
}
