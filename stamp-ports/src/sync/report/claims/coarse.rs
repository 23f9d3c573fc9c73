//! Grote's claims about one lock for each entry point of the list (section 5.3.3).
//!
//! His MCS2 is `mcs` here: one lock is held at a time.

use super::Stated;
use super::cases::{Cases, Finding, less, more};
use crate::sync::report::data::{over, smallest, spread};
use crate::sync::report::shape::At;

const TAS: &str = "coarse:tas/lane";
const TTAS: &str = "coarse:ttas/lane";
const TICKET: &str = "coarse:ticket";
const MCS: &str = "coarse:mcs/lane";
const THREE: [&str; 3] = [TTAS, TICKET, MCS];

pub(super) const CLAIMS: [Stated; 8] = [
    Stated::new(
        ["G-K1", "5.3.3"],
        [
            "The time falls with the block size at first.",
            "a plot",
            "T(128 threads) < 0.95 T(32), at 16 to 128 entry points, each kind that the figure shows",
        ],
        k1,
    ),
    Stated::new(
        ["G-K2", "5.3.3"],
        [
            "TTAS has its optimum at smaller blocks than the others.",
            "a plot",
            "the smallest block size with T \u{2264} 1.05 of the kind's minimum: that of TTAS \u{2264} every other, at 16 to 128 entry points",
        ],
        k2,
    ),
    Stated::new(
        ["G-K3", "5.3.3"],
        [
            "At 128 threads each lock is at its optimum.",
            "a plot",
            "T(128) \u{2264} 1.10 of the kind's minimum over the block sizes",
        ],
        k3,
    ),
    Stated::new(
        ["G-K4", "5.3.3"],
        [
            "Above 256 threads it gets slower again.",
            "a plot",
            "T(1,024) > 1.05 T(256)",
        ],
        k4,
    ),
    Stated::new(
        ["G-K5", "5.3.3"],
        [
            "At 16 and 32 entry points TTAS, MCS2 and ticket scale alike; at 64 and 128 each differs.",
            "a plot",
            "D = largest spread of the three kinds over the block sizes, each scaled by its own minimum: D(16) and D(32) \u{2264} 1.5, D(64) and D(128) > 1.5",
        ],
        k5,
    ),
    Stated::new(
        ["G-K6", "5.3.3"],
        [
            "At 128 to 256 threads TTAS is ahead of MCS2 and ticket.",
            "a plot",
            "T(TTAS) < 0.95 of the smaller of both, at 16 to 128 entry points",
        ],
        k6,
    ),
    Stated::new(
        ["G-K7", "5.3.3"],
        [
            "There even TAS often beats those two.",
            "a plot",
            "T(TAS) < T(rival) in half or more of the 8 cases: 64 and 128 entry points, 128 and 256 threads, both rivals",
        ],
        k7,
    ),
    Stated::new(
        ["G-K8", "5.3.3"],
        [
            "TAS scales poorly at 16 and 32 entry points.",
            "left out of both plots",
            "T(1,024) / T(128) of TAS at least twice that of TTAS",
        ],
        k8,
    ),
];

const ENTRIES: [u64; 4] = [16, 32, 64, 128];

/// The kinds that the thesis shows with so many entry points.
fn shown(entries: u64) -> &'static [&'static str] {
    if entries < 64 {
        &THREE
    } else {
        &[TTAS, TICKET, MCS, TAS]
    }
}

fn plain(kind: &str) -> &str {
    kind.trim_start_matches("coarse:").trim_end_matches("/lane")
}

/// The times of a kind over the block sizes that all shown kinds have.
fn over_sizes(at: &At<'_>, kind: &str, n: u64) -> Vec<(u32, f64)> {
    let sizes = at.list_sizes(shown(n), n).into_iter();
    let time = |b| Some((b, at.list_of(kind, n, b)?));
    sizes.filter_map(time).collect()
}

/// The smallest time of a kind over the block sizes, of which there must be three.
fn optimum(at: &At<'_>, kind: &str, n: u64) -> Option<f64> {
    let times = over_sizes(at, kind, n);
    let least = times.iter().map(|(_, time)| *time).reduce(f64::min);
    least.filter(|_| times.len() >= 3)
}

/// Adds a case for each kind shown with each number of entry points.
fn each(cases: &mut Cases, ratio: impl Fn(&str, u64) -> Option<f64>, met: fn(f64) -> bool) {
    for n in ENTRIES {
        for kind in shown(n) {
            cases.value(format!("{} at {n}", plain(kind)), ratio(kind, n), met);
        }
    }
}

fn k1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let ratio = |kind: &str, n| over(at.list_of(kind, n, 128), at.list_of(kind, n, 32));
    each(&mut cases, ratio, less);
    cases.finding()
}

fn k2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for n in ENTRIES {
        let best = |kind: &str| {
            let least = optimum(at, kind, n)?;
            let mut times = over_sizes(at, kind, n).into_iter();
            times.find(|(_, time)| *time <= 1.05 * least)
        };
        let all: Option<Vec<_>> = shown(n).iter().map(|kind| best(kind)).collect();
        match all.as_deref() {
            Some([(ttas, _), others @ ..]) => {
                let least = others.iter().map(|(b, _)| *b).min().unwrap_or(*ttas);
                let words = format!("{n} entry points: TTAS {ttas}, the others from {least} on");
                cases.fact(words, *ttas <= least);
            }
            _ => cases.needs(format!("three block sizes at {n} entry points")),
        }
    }
    cases.finding()
}

fn k3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let ratio = |kind: &str, n| over(at.list_of(kind, n, 128), optimum(at, kind, n));
    each(&mut cases, ratio, |r| r <= 1.10);
    cases.finding()
}

fn k4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let ratio = |kind: &str, n| over(at.list_of(kind, n, 1024), at.list_of(kind, n, 256));
    each(&mut cases, ratio, more);
    cases.finding()
}

fn k5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for n in ENTRIES {
        let sizes = at.list_sizes(shown(n), n);
        let scaled = |b: u32| THREE.map(|kind| over(at.list_of(kind, n, b), optimum(at, kind, n)));
        let spreads: Option<Vec<f64>> = sizes.iter().map(|b| spread(&scaled(*b))).collect();
        let largest = spreads.and_then(|all| all.into_iter().reduce(f64::max));
        let alike = n < 64;
        cases.value(format!("D({n})"), largest, |d| (d <= 1.5) == alike);
    }
    cases.finding()
}

fn k6(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for n in ENTRIES {
        for b in [128, 256] {
            let others = smallest(&[TICKET, MCS].map(|kind| at.list_of(kind, n, b)));
            let ratio = over(at.list_of(TTAS, n, b), others);
            cases.value(format!("{n} entry points, {b} threads"), ratio, less);
        }
    }
    cases.finding()
}

fn k7(at: &At<'_>) -> Finding {
    let mut ratios = Vec::new();
    for n in [64, 128] {
        for b in [128, 256] {
            for rival in [TICKET, MCS] {
                ratios.push(over(at.list_of(TAS, n, b), at.list_of(rival, n, b)));
            }
        }
    }
    let mut cases = Cases::new();
    let all: Option<Vec<f64>> = ratios.iter().copied().collect();
    match all {
        None => cases.needs("all eight cases"),
        Some(all) => {
            let ahead = all.iter().filter(|r| **r < 1.0).count();
            let words = format!("TAS is ahead in {ahead} of {}", all.len());
            cases.fact(words, 2 * ahead >= all.len());
        }
    }
    cases.finding()
}

fn k8(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for n in [16, 32] {
        let growth = |kind| over(at.list_of(kind, n, 1024), at.list_of(kind, n, 128));
        let ratio = over(growth(TAS), growth(TTAS));
        cases.value(format!("TAS / TTAS at {n}"), ratio, |r| r >= 2.0);
    }
    cases.finding()
}
