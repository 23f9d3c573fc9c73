//! Grote's claims about lock coupling, about both forms of locking compared, and about all
//! his benchmarks together (sections 5.3.2, 5.3.4 and 5.4).

use super::Stated;
use super::cases::{Cases, EQUAL, Finding, equal, fastest, less, more};
use super::{counter, table};
use crate::sync::report::data::{largest, over, smallest, spread};
use crate::sync::report::shape::At;

const TAS: &str = "coupled:tas";
const TTAS: &str = "coupled:ttas";
const TICKET: &str = "coupled:ticket";
const MCS2: &str = "coupled:mcs2";
const FOUR: [&str; 4] = [TAS, TTAS, TICKET, MCS2];

/// The two kinds that the comparison is about: coupled, and one lock for an entry point.
const BOTH: [(&str, &str); 2] = [(TAS, "coarse:tas/lane"), (TTAS, "coarse:ttas/lane")];

/// The entry points, from the most contention to the least.
const ENTRIES: [u64; 9] = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

pub(super) const CLAIMS: [Stated; 11] = [
    Stated::new(
        ["G-L1", "5.3.2"],
        [
            "Lock coupling is a step function of the number of entry points.",
            "a plot",
            "T(24) / T(16), T(48) / T(32) and T(96) / T(64) between 0.9 and 1.1, and T(32), T(64) and T(128) below 0.9 of the step before; by construction, as the number of entry points is rounded to a power of two",
        ],
        l1,
    ),
    Stated::new(
        ["G-L2", "5.3.2"],
        [
            "The locks converge as contention falls.",
            "a plot",
            "largest over smallest T of the four kinds: at 4,096 entry points less than at 16, and \u{2264} 1.25",
        ],
        l2,
    ),
    Stated::new(
        ["G-L3", "5.3.2"],
        [
            "TAS and TTAS beat ticket and MCS2 throughout.",
            "a plot",
            "the larger T of TAS and TTAS < 0.95 of the smaller of the two others, at each number of entry points",
        ],
        l3,
    ),
    Stated::new(
        ["G-L4", "5.3.2, 5.4, 7"],
        [
            "TAS is the best for coupling and beats MCS2 in the list.",
            "a plot",
            "TAS is the fastest of the four at half or more of the entry points, and T(TAS) < 0.95 T(MCS2) at each",
        ],
        l4,
    ),
    Stated::new(
        ["G-L5", "5.3.2"],
        [
            "Low contention is what counts.",
            "a plot",
            "T(2n) \u{2264} 1.05 T(n) for each number n of entry points and each kind",
        ],
        l5,
    ),
    Stated::new(
        ["G-M1", "5.3.4"],
        [
            "Below 64 entry points coupling is up to 2.4 times as fast as coarse-grained locking.",
            "up to 2.4\u{d7}",
            "the largest T(coarse) / T(coupled) of TAS and TTAS at 16 and 32 entry points \u{2265} 0.8 \u{d7} 2.4, and all four > 1.05",
        ],
        m1,
    ),
    Stated::new(
        ["G-M2", "5.3.4"],
        [
            "From 64 to below 128 entry points both are equal.",
            "a plot",
            "T(coarse) / T(coupled) at 64 between 0.8 and 1.25, TAS and TTAS",
        ],
        m2,
    ),
    Stated::new(
        ["G-M3", "5.3.4"],
        [
            "From 128 entry points on coarse-grained locking is 2.0 times as fast.",
            "2.0\u{d7}",
            "T(coupled) / T(coarse) \u{2265} 0.8 \u{d7} 2.0 at 128 and 256, TAS and TTAS",
        ],
        m3,
    ),
    Stated::new(
        ["G-M4", "5.3.4"],
        [
            "With still less contention coarse-grained locking stays ahead.",
            "a plot",
            "T(coupled) > 1.05 T(coarse) at 512 to 4,096, TAS and TTAS",
        ],
        m4,
    ),
    Stated::new(
        ["G-M5", "5.4, 7"],
        [
            "Finer locks are not always faster; they pay for long lists under contention.",
            "2.4\u{d7} and 1 / 2.0\u{d7} (the last sentence of chapter 7 says \u{201c}increase the contention\u{201d} where its data need \u{201c}decrease\u{201d})",
            "T(coarse) > 1.05 T(coupled) at 16, and T(coupled) > 1.05 T(coarse) at 256, TAS and TTAS",
        ],
        m5,
    ),
    Stated::new(
        ["G-S1", "abstract"],
        [
            "No lock is best everywhere.",
            "ticket, MCS, TAS",
            "the fastest of TAS, TTAS, ticket and MCS is not the same on the counter (largest grid, 1,024 threads), in the table (16 buckets) and in the coupled list (16 entry points)",
        ],
        s1,
    ),
];

fn points(n: u64) -> String {
    format!("{n} entry points")
}

fn four(at: &At<'_>, n: u64) -> [Option<f64>; 4] {
    FOUR.map(|kind| at.list(kind, n))
}

fn l1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for kind in FOUR {
        for (step, next) in [(16, 24), (32, 48), (64, 96)] {
            let flat = over(at.list(kind, next), at.list(kind, step));
            let name = format!("{kind} T({next}) / T({step})");
            cases.value(name, flat, |r| (0.9..=1.1).contains(&r));
            let fall = over(at.list(kind, 2 * step), at.list(kind, step));
            cases.value(format!("{kind} T({}) / T({step})", 2 * step), fall, |r| {
                r < 0.9
            });
        }
    }
    cases.finding()
}

fn l2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let (high, low) = (spread(&four(at, 16)), spread(&four(at, 4096)));
    cases.value("spread at 4,096", low, |r| r <= EQUAL);
    cases.value("over that at 16", over(low, high), |r| r < 1.0);
    cases.finding()
}

fn l3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for n in ENTRIES {
        let [tas, ttas, ticket, mcs] = four(at, n);
        let ratio = over(largest(&[tas, ttas]), smallest(&[ticket, mcs]));
        cases.value(points(n), ratio, less);
    }
    cases.finding()
}

fn l4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let mut first = 0;
    for n in ENTRIES {
        let [tas, others @ ..] = four(at, n);
        first += usize::from(over(smallest(&others), tas).is_some_and(fastest));
        let [.., mcs] = others;
        cases.value(format!("TAS / MCS2 at {n}"), over(tas, mcs), less);
    }
    let all = ENTRIES.len();
    cases.fact(
        format!("TAS is the fastest at {first} of {all}"),
        2 * first >= all,
    );
    cases.finding()
}

fn l5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for kind in FOUR {
        for n in &ENTRIES[..ENTRIES.len() - 1] {
            let ratio = over(at.list(kind, 2 * n), at.list(kind, *n));
            cases.value(format!("{kind} {} / {n}", 2 * n), ratio, |r| r <= 1.05);
        }
    }
    cases.finding()
}

/// The ratio of the coarse-grained time to the coupled one, for both kinds and each of some
/// numbers of entry points.
fn compared(at: &At<'_>, entries: &[u64]) -> Vec<(String, Option<f64>)> {
    let pairs = entries.iter().flat_map(|n| BOTH.map(|kinds| (*n, kinds)));
    let ratio = |(n, (coupled, coarse)): (u64, (&str, &str))| {
        let name = coupled.trim_start_matches("coupled:");
        let ratio = over(at.list(coarse, n), at.list(coupled, n));
        (format!("{name} at {n}"), ratio)
    };
    pairs.map(ratio).collect()
}

/// The same, coupled to coarse-grained.
fn turned(at: &At<'_>, entries: &[u64]) -> Vec<(String, Option<f64>)> {
    let all = compared(at, entries).into_iter();
    all.map(|(name, r)| (name, r.map(|r| 1.0 / r))).collect()
}

fn m1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let all = compared(at, &[16, 32]);
    let ratios: Vec<_> = all.iter().map(|(_, ratio)| *ratio).collect();
    for (name, ratio) in all {
        cases.value(name, ratio, more);
    }
    cases.factor("the largest", largest(&ratios), 2.4);
    cases.finding()
}

fn m2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for (name, ratio) in compared(at, &[64]) {
        cases.value(name, ratio, equal);
    }
    cases.finding()
}

fn m3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for (name, ratio) in turned(at, &[128, 256]) {
        cases.factor(name, ratio, 2.0);
    }
    cases.finding()
}

fn m4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for (name, ratio) in turned(at, &[512, 1024, 2048, 4096]) {
        cases.value(name, ratio, more);
    }
    cases.finding()
}

fn m5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for (name, ratio) in compared(at, &[16]) {
        cases.value(format!("coarse / coupled, {name}"), ratio, more);
    }
    for (name, ratio) in turned(at, &[256]) {
        cases.value(format!("coupled / coarse, {name}"), ratio, more);
    }
    cases.finding()
}

fn s1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let list = counter::first(&FOUR.map(|kind| (kind, at.list(kind, 16))));
    match (counter::winner(at), table::winner(at), list) {
        (Some(counter), Some(table), Some(list)) => {
            let plain = |name: &'static str| {
                let name = name.trim_start_matches("coupled:");
                name.trim_end_matches("/lane").trim_end_matches('2')
            };
            let words = format!("counter {counter}, table {table}, list {list}");
            let same = plain(counter) == plain(table) && plain(table) == plain(list);
            cases.fact(words, !same);
        }
        _ => cases.needs("the four locks in all three"),
    }
    cases.finding()
}
