//! Grote's claims about the hash table (sections 5.2.2.1 and 5.2.2.2).

use super::Stated;
use super::cases::{Cases, EQUAL, Finding, equal, fastest, more};
use super::counter::{self, MCS, TAS, TICKET, TTAS};
use crate::sync::report::data::{largest, over, smallest, spread};
use crate::sync::report::shape::At;

const FREE: &str = "lock-free";
const FIVE: [&str; 5] = [TAS, TTAS, TICKET, MCS, FREE];

pub(super) const CLAIMS: [Stated; 11] = [
    Stated::new(
        ["G-H1", "5.2.2.1"],
        [
            "With 256 buckets no variant stands out.",
            "a plot",
            "largest over smallest T of the four locks and the lock-free insertion \u{2264} 1.25",
        ],
        h1,
    ),
    Stated::new(
        ["G-H2", "abstract, 5.2.2.1, 7"],
        [
            "With 16 buckets MCS is 3.4 times as fast as TAS.",
            "3.4\u{d7}",
            "T(TAS) / T(MCS) \u{2265} 0.8 \u{d7} 3.4",
        ],
        h2,
    ),
    Stated::new(
        ["G-H3", "5.2.2.1, 7"],
        [
            "With 16 buckets MCS beats the lock-free insertion.",
            "a plot",
            "T(lock-free) > 1.05 T(MCS)",
        ],
        h3,
    ),
    Stated::new(
        ["G-H4", "5.2.2.1"],
        [
            "With 32 buckets the ticket lock equals MCS.",
            "a plot",
            "T(ticket) / T(MCS) between 0.8 and 1.25",
        ],
        h4,
    ),
    Stated::new(
        ["G-H5", "5.2.2.1"],
        [
            "With 32 buckets TTAS equals the lock-free insertion.",
            "a plot",
            "T(TTAS) / T(lock-free) between 0.8 and 1.25",
        ],
        h5,
    ),
    Stated::new(
        ["G-H6", "5.2.2.1"],
        [
            "With 32 buckets MCS and ticket are 1.4 times as fast as lock-free and TTAS.",
            "1.4\u{d7}",
            "each of the four ratios \u{2265} 0.8 \u{d7} 1.4",
        ],
        h6,
    ),
    Stated::new(
        ["G-H7", "5.2.2.1"],
        [
            "With 32 buckets MCS and ticket are 3 times as fast as TAS.",
            "3\u{d7}",
            "both ratios \u{2265} 0.8 \u{d7} 3",
        ],
        h7,
    ),
    Stated::new(
        ["G-H8", "5.2.2.1"],
        [
            "With 64 buckets all are equal but TAS, which is slower.",
            "a plot",
            "largest over smallest T of the other four \u{2264} 1.25, and T(TAS) > 1.25 times their largest",
        ],
        h8,
    ),
    Stated::new(
        ["G-H9", "5.2.2.2"],
        [
            "Contention is the bottleneck.",
            "a plot",
            "T(16 buckets) > 1.25 T(256 buckets) for each of the five",
        ],
        h9,
    ),
    Stated::new(
        ["G-H10", "5.2.2.2"],
        [
            "The more contention, the more the choice matters.",
            "a plot",
            "largest over smallest T of the five: at 16 buckets > at 64 > at 256",
        ],
        h10,
    ),
    Stated::new(
        ["G-H11", "5.4, 7"],
        [
            "The counter's winner is not the hash table's, where MCS is best.",
            "ticket on the counter, MCS in the table",
            "MCS is the fastest of the four locks at 16 buckets, and not on the counter with the largest grid of 1,024 threads",
        ],
        h11,
    ),
];

fn of(at: &At<'_>, buckets: u64, kinds: &[&str]) -> Vec<Option<f64>> {
    kinds.iter().map(|kind| at.table(kind, buckets)).collect()
}

fn ratio(at: &At<'_>, buckets: u64, slow: &str, quick: &str) -> Option<f64> {
    over(at.table(slow, buckets), at.table(quick, buckets))
}

fn h1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let all = spread(&of(at, 256, &FIVE));
    cases.value("largest / smallest", all, |r| r <= EQUAL);
    cases.finding()
}

fn h2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.factor("TAS / MCS", ratio(at, 16, TAS, MCS), 3.4);
    cases.finding()
}

fn h3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("lock-free / MCS", ratio(at, 16, FREE, MCS), more);
    cases.finding()
}

fn h4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("ticket / MCS", ratio(at, 32, TICKET, MCS), equal);
    cases.finding()
}

fn h5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("TTAS / lock-free", ratio(at, 32, TTAS, FREE), equal);
    cases.finding()
}

fn h6(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for slow in [FREE, TTAS] {
        for quick in [MCS, TICKET] {
            let found = ratio(at, 32, slow, quick);
            cases.factor(format!("{slow} to {quick}"), found, 1.4);
        }
    }
    cases.finding()
}

fn h7(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for quick in [MCS, TICKET] {
        cases.factor(format!("TAS to {quick}"), ratio(at, 32, TAS, quick), 3.0);
    }
    cases.finding()
}

fn h8(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let others = of(at, 64, &[TTAS, TICKET, MCS, FREE]);
    cases.value("the others", spread(&others), |r| r <= EQUAL);
    let slower = over(at.table(TAS, 64), largest(&others));
    cases.value("TAS over the slowest of them", slower, |r| r > EQUAL);
    cases.finding()
}

fn h9(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for kind in FIVE {
        let found = over(at.table(kind, 16), at.table(kind, 256));
        cases.value(kind, found, |r| r > EQUAL);
    }
    cases.finding()
}

fn h10(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let spread = |buckets| spread(&of(at, buckets, &FIVE));
    for (many, few) in [(16, 64), (64, 256)] {
        let found = over(spread(many), spread(few));
        cases.value(format!("spread at {many} over that at {few}"), found, |r| {
            r > 1.0
        });
    }
    for buckets in [16, 64, 256] {
        cases.beside(&format!("spread at {buckets}"), spread(buckets));
    }
    cases.finding()
}

fn h11(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let others = smallest(&of(at, 16, &[TAS, TTAS, TICKET]));
    let lead = over(others, at.table(MCS, 16));
    cases.value("best of the others / MCS in the table", lead, fastest);
    match counter::winner(at) {
        None => cases.needs("the four locks on the counter"),
        Some(winner) => {
            cases.fact(
                format!("{winner} is the fastest on the counter"),
                winner != MCS,
            );
        }
    }
    cases.finding()
}

/// Returns the fastest of the four locks in the table with 16 buckets.
pub(super) fn winner(at: &At<'_>) -> Option<&'static str> {
    counter::first(&[TAS, TTAS, TICKET, MCS].map(|kind| (kind, at.table(kind, 16))))
}
