//! Claims about Figure 4: `EigenBench` by shared words and version locks.

use super::{Claim, NONE, Verdict, of_ratios};
use crate::numbers::{count, of};
use crate::paper::document::Paper;
use crate::report::published;
use crate::report::sentences::{LEVEL, Pair, median, pairs};
use crate::report::view::{percent, times, total};

/// Settings of Figure 4 by the ratio of the two variants.
fn settings(some: &[&Pair<'_>]) -> String {
    let ahead = some.iter().filter(|p| p.gain() > 1.0 + LEVEL).count();
    let behind = some.iter().filter(|p| p.gain() < 1.0 - LEVEL).count();
    let middle = median(some.iter().map(|p| p.gain()).collect());
    middle.map_or_else(
        || NONE.into(),
        |middle| {
            format!(
                "Of {} settings hv-sorting is more than 5 % slower in {behind} and faster in \
                 {ahead}; the median ratio is {}.",
                some.len(),
                times(middle)
            )
        },
    )
}

/// Claims about Figure 4.
pub(super) fn locks(paper: &Paper) -> Vec<Claim> {
    let pairs = pairs(paper);
    let some = |which: &dyn Fn(&Pair<'_>) -> bool| -> Vec<&Pair<'_>> {
        pairs.iter().filter(|p| which(p)).collect()
    };
    let threads = |p: &Pair<'_>| total(p.hv.blocks, p.hv.threads);
    let alike = |p: &&Pair<'_>| (p.gain() - 1.0).abs() <= LEVEL;
    let judge = |text, section, rule: &str, some: &[&Pair<'_>], verdict: Verdict| Claim {
        text,
        section,
        rule: rule.into(),
        verdict: if some.is_empty() {
            Verdict::Unknown
        } else {
            verdict
        },
        found: settings(some),
    };
    let each = |some: &[&Pair<'_>], met: &dyn Fn(&&Pair<'_>) -> bool| {
        Verdict::of_all(&some.iter().map(met).collect::<Vec<_>>())
    };
    let most = |some: &[&Pair<'_>], met: &dyn Fn(&&Pair<'_>) -> bool| {
        Verdict::of(2 * some.iter().filter(|p| met(p)).count() > some.len())
    };
    let own = some(&|p| p.hv.hot_words <= p.hv.locks);
    let shared = some(&|p| p.hv.hot_words > p.hv.locks);
    let few = some(&|p| threads(p) < 1024);
    let small = some(&|p| p.hv.hot_words <= 1 << 20);
    let mut few_claim = judge(
        "hv and tbv are level below 1K threads",
        "4.3",
        "their rates differ by at most 5 % in each such setting",
        &few,
        each(&few, &alike),
    );
    if let (true, Some(least)) = (few.is_empty(), pairs.iter().map(threads).min()) {
        few_claim.found = format!("The smallest launch has {}.", of(least, "thread"));
    }
    let fewer = |p: &&Pair<'_>| p.hv.abort_rate < p.tbv.abort_rate;
    let clear = some(&|p| p.hv.hot_words > p.hv.locks && p.tbv.abort_rate - p.hv.abort_rate >= 0.1);
    let gain = median(clear.iter().map(|p| p.gain()).collect());
    vec![
        judge(
            "hv costs a little where it cannot gain",
            "4.2",
            "hv-sorting is more than 5 % slower than tbv-sorting in most settings in which words \
             do not outnumber locks",
            &own,
            most(&own, &|p| p.gain() < 1.0 - LEVEL),
        ),
        few_claim,
        judge(
            "hv and tbv are level with 1M words",
            "4.3",
            "their rates differ by at most 5 % in each such setting",
            &small,
            each(&small, &alike),
        ),
        more_locks(&pairs),
        enough_locks(paper, &pairs),
        Claim {
            found: match shared.iter().filter(|p| fewer(p)).count() {
                _ if shared.is_empty() => NONE.into(),
                n => format!("In {n} of {} settings.", shared.len()),
            },
            ..judge(
                "hv aborts less with few locks",
                "4.3",
                "hv-sorting aborts a smaller share of attempts than tbv-sorting in most settings \
                 in which words outnumber locks",
                &shared,
                most(&shared, &fewer),
            )
        },
        judge(
            "Fewer aborts gain little time",
            "4.3",
            "where words outnumber locks and hv-sorting aborts ten points less, it is at most \
             10 % faster in the median",
            &clear,
            Verdict::of(gain.is_some_and(|gain| gain <= 1.1)),
        ),
    ]
}

/// What tbv-sorting gains from more locks, with the most words.
fn more_locks(pairs: &[Pair<'_>]) -> Claim {
    let words = pairs.iter().map(|p| p.tbv.hot_words).max().unwrap_or(0);
    let here: Vec<_> = pairs.iter().filter(|p| p.tbv.hot_words == words).collect();
    let launch = |p: &Pair<'_>| total(p.tbv.blocks, p.tbv.threads);
    let mut launches: Vec<u64> = here.iter().map(|p| launch(p)).collect();
    launches.sort_unstable();
    launches.dedup();
    let gains: Vec<(String, f64)> = launches
        .into_iter()
        .filter_map(|threads| {
            let same = || here.iter().filter(|p| launch(p) == threads).map(|p| p.tbv);
            let (few, many) = (
                same().min_by_key(|p| p.locks)?,
                same().max_by_key(|p| p.locks)?,
            );
            let name = format!("{}:", of(threads, "thread"));
            (few.locks < many.locks).then(|| (name, many.tx_per_s / few.tx_per_s))
        })
        .collect();
    of_ratios(
        (
            "With much data tbv gains much from more locks",
            "4.3",
            format!(
                "with {} words, tbv-sorting is at least twice as fast with the most locks as with \
                 the fewest at each number of threads",
                count(words)
            ),
        ),
        &gains,
        times,
        |gain| gain >= 2.0,
    )
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
    let met: Vec<bool> = shares.iter().map(|share| *share >= 1.0 - LEVEL).collect();
    let (low, high) = shares
        .iter()
        .fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), s| {
            (l.min(*s), h.max(*s))
        });
    Claim {
        text: "With more data than that, hv is near its best with 4M locks",
        section: "4.3",
        rule: "it reaches 95 % of its best rate with any number of locks in each setting".into(),
        verdict: Verdict::of_all(&met),
        found: if shares.is_empty() {
            NONE.into()
        } else {
            format!(
                "It reaches {} to {} in {} settings.",
                percent(low),
                percent(high),
                shares.len()
            )
        },
    }
}
