//! Claims of Gattani and Anickode about sections of three lengths, and their ranking of
//! locks.
//!
//! "All" are the spin lock, measured twice as their mutex is the same code, ticket, MCS and
//! Anderson's, and the spin spin lock where it was measured.
//!
//! In the source that the slides seem to come from, the kernel with Anderson's lock prints
//! "MCS" and the other way round, so two claims are judged in both readings.

use super::Stated;
use super::cases::{Cases, Finding, more};
use crate::sync::document::Point;
use crate::sync::report::data::{MUTEX, largest, over, smallest, spread};
use crate::sync::report::shape::{At, Then};

const NONE: &str = "none";
const TAS: &str = "tas";
const AGAIN: &str = "tas-again";
const TWICE: &str = "spin-spin";
const TICKET: &str = "ticket";
const ANDERSON: &str = "anderson";
const MCS: &str = "mcs";
/// Their locks by our names, but for the spin spin lock.
const LOCKS: [&str; 5] = [TAS, TICKET, AGAIN, MCS, ANDERSON];

/// Returns their locks by our names, the spin spin lock among them where it was measured.
fn locks(at: &At<'_>, rounds: u64) -> Vec<&'static str> {
    let twice = at.sections(TWICE, rounds).map(|_| TWICE);
    LOCKS.into_iter().chain(twice).collect()
}

/// The rounds of the section of low complexity, and of high.
const LOW: u64 = 100;
const HIGH: u64 = 100_000;

pub(super) const CLAIMS: [Stated; 15] = [
    Stated::new(
        ["A-B1", "basic"],
        [
            "A spin lock makes counting 10.9 times as slow as atomics.",
            "0.0275 ms and 0.300 ms (+991.40 %)",
            "T(tas) / T(none) \u{2265} 0.8 \u{d7} 10.9",
        ],
        b1,
    ),
    Stated::new(
        ["A-B2", "basic"],
        [
            "A ticket lock makes it 20.6 times as slow, 1.88 times the spin lock.",
            "0.566 ms (+1957.09 %)",
            "T(ticket) / T(none) \u{2265} 0.8 \u{d7} 20.6 and T(ticket) / T(tas) \u{2265} 0.8 \u{d7} 1.88",
        ],
        b2,
    ),
    Stated::new(
        ["A-N1", "low, high"],
        [
            "Without a lock the result is wrong, with each lock it is right.",
            "without a lock 138,999 and 139,700; with one 131,328",
            "the sum of 512 sections is not 131,328 without a lock and is with each, at 100 and at 100,000 rounds (b blocks: b (b + 1) / 2)",
        ],
        n1,
    ),
    Stated::new(
        ["A-N2", "low, high"],
        [
            "Without a lock it is 6.3 and 5.9 times as fast as with a spin lock.",
            "0.194 ms to 1.222 ms, 117.9 ms to 696.5 ms",
            "T(tas) / T(none) \u{2265} 0.8 \u{d7} 6.3 at 100 rounds and \u{2265} 0.8 \u{d7} 5.9 at 100,000",
        ],
        n2,
    ),
    Stated::new(
        ["A-L1", "low"],
        [
            "The ticket lock is 22 % slower than the spin lock.",
            "1.489 ms (+21.88 %)",
            "T(ticket) / T(tas) between 1.05 and 1.39",
        ],
        l1,
    ),
    Stated::new(
        ["A-L2", "low"],
        [
            "Two spin locks in a row cost 12 %.",
            "1.368 ms (+12.00 %)",
            "T(spin-spin) / T(tas) between 1.05 and 1.25",
        ],
        l2,
    ),
    Stated::new(
        ["A-L3", "low"],
        [
            "The mutex written into the kernel equals the spin lock.",
            "1.207 ms (\u{2212}1.23 %)",
            "T(tas, measured again) / T(tas) between 0.95 and 1.05: the same code here, so a test of noise",
        ],
        l3,
    ),
    Stated::new(
        ["A-L4", "low"],
        [
            "MCS is 6 % slower than the spin lock and the best of the locks with an order.",
            "1.291 ms (+5.70 %)",
            "T(mcs) / T(tas) between 1.0 and 1.15, and T(mcs) below that of ticket and anderson",
        ],
        |at| best(at, MCS, ANDERSON),
    ),
    Stated::new(
        ["A-L4x", "low, labels exchanged"],
        [
            "Anderson's lock is 6 % slower than the spin lock and the best of the locks with an order.",
            "1.291 ms (+5.70 %)",
            "T(anderson) / T(tas) between 1.0 and 1.15, and T(anderson) below that of ticket and mcs",
        ],
        |at| best(at, ANDERSON, MCS),
    ),
    Stated::new(
        ["A-L5", "low"],
        [
            "Anderson's lock is 30 % slower than the spin lock, the slowest of all.",
            "1.583 ms (+29.57 %)",
            "T(anderson) / T(tas) \u{2265} 1.05, and it is the largest of all",
        ],
        |at| slowest(at, ANDERSON),
    ),
    Stated::new(
        ["A-L5x", "low, labels exchanged"],
        [
            "MCS is 30 % slower than the spin lock, the slowest of all.",
            "1.583 ms (+29.57 %)",
            "T(mcs) / T(tas) \u{2265} 1.05, and it is the largest of all",
        ],
        |at| slowest(at, MCS),
    ),
    Stated::new(
        ["A-H1", "high"],
        [
            "With long sections the choice of the lock hardly matters.",
            "\u{2212}0.09 % to +1.27 %",
            "largest over smallest T of all at 100,000 rounds \u{2264} 1.05",
        ],
        h1,
    ),
    Stated::new(
        ["A-Q1", "best lock"],
        [
            "Fairness: spin low, ticket high, Anderson medium, MCS high.",
            "no figures",
            "most over fewest sections of a block with 512 blocks: spin > 2, ticket and mcs \u{2264} 1.1, anderson between 1.1 and 2",
        ],
        q1,
    ),
    Stated::new(
        ["A-Q2", "best lock"],
        [
            "Scalability: spin and ticket low, Anderson medium, MCS high.",
            "no figures",
            "q = R(512 blocks) / R(8): q(mcs) > 1.05 q(anderson) > 1.05\u{b2} of the larger of q(tas) and q(ticket)",
        ],
        q2,
    ),
    Stated::new(
        ["A-Q3", "best lock"],
        [
            "Global contention: spin and ticket high, Anderson medium, MCS low.",
            "no figures",
            "none: nothing in this benchmark measures it",
        ],
        |_| Finding::unknown("no measure"),
    )
    .once(),
];

fn ratio(at: &At<'_>, a: &str, b: &str, rounds: u64) -> Option<f64> {
    over(at.sections(a, rounds), at.sections(b, rounds))
}

fn b1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.factor("tas / none", ratio(at, TAS, NONE, 0), 10.9);
    if let Some(ms) = at.sections(NONE, 0) {
        cases.say(format!("none takes {ms:.4} ms, with the launch"));
    }
    cases.finding()
}

fn b2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.factor("ticket / none", ratio(at, TICKET, NONE, 0), 20.6);
    cases.factor("ticket / tas", ratio(at, TICKET, TAS, 0), 1.88);
    cases.finding()
}

/// Reads the sum that a note gives as `the sum is 138999`.
fn sum_of(point: &Point) -> Option<u64> {
    let (_, rest) = point.note.as_deref()?.split_once("the sum is ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn n1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let blocks = u64::from(at.shape.sections);
    let right = blocks * (blocks + 1) / 2;
    for rounds in [LOW, HIGH] {
        let found = at.data.find(&at.section(NONE, rounds)).and_then(sum_of);
        match found {
            None => cases.needs(format!("the sum without a lock at {rounds} rounds")),
            Some(n) => {
                let words = format!("{n} without a lock at {rounds} rounds");
                cases.fact(words, n != right);
            }
        }
        for kind in locks(at, rounds) {
            let cell = at.section(kind, rounds);
            if at.data.find(&cell).is_some() {
                cases.fact(format!("{kind} right at {rounds}"), true);
            } else if at.data.is_wrong(&cell) {
                cases.fact(format!("{kind} wrong at {rounds}"), false);
            } else {
                cases.needs(format!("{kind} at {rounds}"));
            }
        }
    }
    cases.finding()
}

fn n2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.factor("100 rounds", ratio(at, TAS, NONE, LOW), 6.3);
    cases.factor("100,000 rounds", ratio(at, TAS, NONE, HIGH), 5.9);
    cases.finding()
}

fn within(at: &At<'_>, kind: &str, low: f64, high: f64) -> Finding {
    let mut cases = Cases::new();
    let found = ratio(at, kind, TAS, LOW);
    cases.value(format!("{kind} / tas"), found, |r| {
        (low..=high).contains(&r)
    });
    cases.finding()
}

fn l1(at: &At<'_>) -> Finding {
    within(at, TICKET, 1.05, 1.39)
}

fn l2(at: &At<'_>) -> Finding {
    within(at, TWICE, 1.05, 1.25)
}

fn l3(at: &At<'_>) -> Finding {
    within(at, AGAIN, 0.95, 1.05)
}

/// Judges that a lock is hardly slower than spinning, and the best of those with an order.
fn best(at: &At<'_>, kind: &str, other: &str) -> Finding {
    let mut cases = Cases::new();
    let near = |r| (1.0..=1.15).contains(&r);
    cases.value(format!("{kind} / tas"), ratio(at, kind, TAS, LOW), near);
    let rivals = [TICKET, other].map(|rival| at.sections(rival, LOW));
    let lead = over(at.sections(kind, LOW), smallest(&rivals));
    let name = format!("{kind} / the faster of ticket and {other}");
    cases.value(name, lead, |r| r < 1.0);
    cases.finding()
}

/// Judges that a lock is slower than spinning, and the slowest.
fn slowest(at: &At<'_>, kind: &str) -> Finding {
    let mut cases = Cases::new();
    let spin = ratio(at, kind, TAS, LOW);
    cases.value(format!("{kind} / tas"), spin, |r| r >= 1.05);
    let others = locks(at, LOW).into_iter().filter(|other| *other != kind);
    let others: Vec<_> = others.map(|other| at.sections(other, LOW)).collect();
    let lag = over(at.sections(kind, LOW), largest(&others));
    let name = format!("{kind} / the slowest of the others");
    cases.value(name, lag, |r| r >= 1.0);
    cases.finding()
}

fn h1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let all: Vec<_> = locks(at, HIGH)
        .into_iter()
        .map(|kind| at.sections(kind, HIGH))
        .collect();
    cases.value("largest / smallest", spread(&all), |r| r <= 1.05);
    cases.finding()
}

const RANKED: [&str; 4] = [TAS, TICKET, ANDERSON, MCS];

/// The blocks of the slides, or the most that were measured.
fn most(at: &At<'_>) -> u32 {
    if at.shape.of_paper {
        return 512;
    }
    at.full(Then::Fermi, MUTEX, &RANKED, None)
}

fn q1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let blocks = most(at);
    let of = |kind| at.data.unfairness(kind, blocks);
    cases.value(TAS, of(TAS), |r| r > 2.0);
    for kind in [TICKET, MCS] {
        cases.value(kind, of(kind), |r| r <= 1.1);
    }
    cases.value(ANDERSON, of(ANDERSON), |r| r > 1.1 && r <= 2.0);
    cases.say_blocks(blocks);
    cases.finding()
}

fn q2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let blocks = most(at);
    let rate = |kind, blocks| at.rate(MUTEX, kind, blocks, None);
    let q = |kind| over(rate(kind, blocks), rate(kind, 8));
    cases.value("q(mcs) / q(anderson)", over(q(MCS), q(ANDERSON)), more);
    for low in [TAS, TICKET] {
        let found = over(q(ANDERSON), q(low));
        cases.value(format!("q(anderson) / q({low})"), found, more);
    }
    cases.say_blocks(blocks);
    cases.finding()
}
