//! Claims of Stuart and Owens about semaphores (sections 6 and 7).

use super::Stated;
use super::cases::{Cases, EQUAL, Finding, equal, fastest, less, more};
use crate::report::claims::Verdict;
use crate::sync::report::data::{MUTEX, SEMAPHORE, over, smallest, spread};
use crate::sync::report::shape::{At, Then};

const SPIN: &str = "spin";
const BACKOFF: &str = "spin-backoff";
const SLEEPING: &str = "sleeping";
const THREE: [&str; 3] = [SPIN, BACKOFF, SLEEPING];
/// The initial counts of figure 3.
const COUNTS: [u64; 4] = [1, 2, 10, 120];

pub(super) const CLAIMS: [Stated; 9] = [
    Stated::new(
        ["S-E1", "6, Table 5"],
        [
            "The sleeping semaphore is the fastest at a high count.",
            "a plot; on both devices",
            "R(sleeping) is the largest of the three at count 120 with the most blocks",
        ],
        e1,
    ),
    Stated::new(
        ["S-E2", "6, Table 5"],
        [
            "At a low count the sleeping semaphore is the best (Tesla), or spin with backoff (Fermi).",
            "a plot",
            "at count 1 with the most blocks: one of both is ahead by more than 5 %; the figure says which",
        ],
        e2,
    ),
    Stated::new(
        ["S-E3", "6"],
        [
            "The sleeping semaphore equals the spinning one at count 2 and is faster at 10 and 120 (Fermi).",
            "a plot",
            "R(sleeping) / R(spin) between 0.8 and 1.25 at count 2, > 1.05 at 10 and 120",
        ],
        e3,
    ),
    Stated::new(
        ["S-E4", "6"],
        [
            "The sleeping semaphore gains over spin with backoff at each count (Tesla; the factors are lost in our copy of the text).",
            "not known",
            "R(sleeping) > 1.05 R(spin-backoff) at counts 1, 2, 10 and 120",
        ],
        e4,
    ),
    Stated::new(
        ["S-E5", "6"],
        [
            "Backoff is a drastic gain for semaphores, as on Tesla, and not a loss, as on Fermi.",
            "Tesla more than 10\u{d7}",
            "R(spin-backoff) / R(spin) at count 1: holds (as on Tesla) from 8 on, does not hold (as on Fermi) below 0.95, in part between",
        ],
        e5,
    ),
    Stated::new(
        ["S-E6", "6"],
        [
            "With backoff the rate hardly depends on blocks or count.",
            "a plot",
            "largest over smallest R(spin-backoff) of all numbers of blocks from 8 on and all counts \u{2264} 1.25",
        ],
        e6,
    ),
    Stated::new(
        ["S-E7", "6"],
        [
            "At full load the rate of the sleeping semaphore grows almost linearly with the count.",
            "a plot",
            "R(10) / R(1) \u{2265} 0.8 \u{d7} 10 and R(120) / R(10) \u{2265} 0.8 \u{d7} 12",
        ],
        e7,
    ),
    Stated::new(
        ["S-E8", "6"],
        [
            "A sleeping semaphore beats a spinning one, and yet a spinning mutex beats a sleeping one (Fermi).",
            "a plot",
            "R(sleeping) > 1.05 R(spin) at count 10, and R(tas) > 1.05 R(fetch-add), with the most blocks",
        ],
        e8,
    ),
    Stated::new(
        ["S-E9", "7"],
        [
            "The sleeping semaphore is many times as fast as the spinning one (the factor is lost in our copy of the text).",
            "not known",
            "none: the ratios are printed",
        ],
        e9,
    ),
];

/// The ratio of the rates of two semaphores with the most blocks at a count.
fn ratio(at: &At<'_>, then: Then, [a, b]: [&str; 2], count: u64) -> Option<f64> {
    let full = at.full(then, SEMAPHORE, &[a, b], Some(count));
    let rate = |kind| at.rate(SEMAPHORE, kind, full, Some(count));
    over(rate(a), rate(b))
}

/// Says with how many blocks a verdict was found.
fn say_full(at: &At<'_>, then: Then, kinds: &[&str], count: u64, cases: &mut Cases) {
    let full = at.full(then, SEMAPHORE, kinds, Some(count));
    cases.say_blocks(full);
}

fn e1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = at.full(Then::Fermi, SEMAPHORE, &THREE, Some(120));
    let rate = |kind| at.rate(SEMAPHORE, kind, full, Some(120));
    let lead = [SPIN, BACKOFF].map(|other| over(rate(SLEEPING), rate(other)));
    cases.value(
        "sleeping / the faster of the others",
        smallest(&lead),
        fastest,
    );
    cases.say_blocks(full);
    cases.finding()
}

fn e2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    match ratio(at, Then::Fermi, [SLEEPING, BACKOFF], 1) {
        None => cases.needs("both at count 1"),
        Some(r) => {
            let (whose, one) = match r {
                r if more(r) => ("sleeping is ahead, as on Tesla", true),
                r if more(1.0 / r) => ("spin-backoff is ahead, as on Fermi", true),
                _ => ("neither is ahead", false),
            };
            cases.fact(whose, one);
            cases.beside("sleeping / spin-backoff", Some(r));
        }
    }
    say_full(at, Then::Fermi, &[SLEEPING, BACKOFF], 1, &mut cases);
    cases.finding()
}

fn e3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for count in [2, 10, 120] {
        let met = if count == 2 { equal } else { more };
        let found = ratio(at, Then::Fermi, [SLEEPING, SPIN], count);
        cases.value(format!("count {count}"), found, met);
    }
    cases.finding()
}

fn e4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for count in COUNTS {
        let found = ratio(at, Then::Tesla, [SLEEPING, BACKOFF], count);
        cases.value(format!("count {count}"), found, more);
    }
    cases.finding()
}

fn e5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let found = ratio(at, Then::Fermi, [BACKOFF, SPIN], 1);
    cases.graded("spin-backoff / spin", found, |r| match r {
        8.0.. => Verdict::Holds,
        r if less(r) => Verdict::Fails,
        _ => Verdict::Partly,
    });
    say_full(at, Then::Fermi, &[BACKOFF, SPIN], 1, &mut cases);
    cases.finding()
}

fn e6(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let mut rates = Vec::new();
    for count in COUNTS {
        let all = at.data.blocks_of_all(SEMAPHORE, &[BACKOFF], Some(count));
        let axis = all
            .into_iter()
            .filter(|b| *b >= 8 && (!at.shape.of_paper || *b <= 240));
        let before = rates.len();
        rates.extend(axis.map(|b| at.rate(SEMAPHORE, BACKOFF, b, Some(count))));
        if rates.len() < before + 2 {
            cases.needs(format!("two numbers of blocks at count {count}"));
        }
    }
    cases.value("largest / smallest", spread(&rates), |r| r <= EQUAL);
    cases.finding()
}

fn e7(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let full = at.full(Then::Fermi, SEMAPHORE, &[SLEEPING], Some(1));
    let rate = |count| at.rate(SEMAPHORE, SLEEPING, full, Some(count));
    cases.factor("R(10) / R(1)", over(rate(10), rate(1)), 10.0);
    cases.factor("R(120) / R(10)", over(rate(120), rate(10)), 12.0);
    cases.say_blocks(full);
    cases.finding()
}

fn e8(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let found = ratio(at, Then::Fermi, [SLEEPING, SPIN], 10);
    cases.value("semaphore, sleeping / spin", found, more);
    let full = at.full(Then::Fermi, MUTEX, &["tas", "fetch-add"], None);
    let rate = |kind| at.rate(MUTEX, kind, full, None);
    let found = over(rate("tas"), rate("fetch-add"));
    cases.value("mutex, tas / fetch-add", found, more);
    cases.finding()
}

fn e9(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for count in COUNTS {
        let found = ratio(at, Then::Fermi, [SLEEPING, SPIN], count);
        cases.beside(&format!("count {count}"), found);
    }
    cases.finding()
}
