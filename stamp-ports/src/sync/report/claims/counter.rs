//! Grote's claims about the counter (sections 5.2.1.1 to 5.2.1.5).
//!
//! Every lane asks for the lock by itself, as in the thesis: the kinds with `/lane`.

use super::Stated;
use super::cases::{Cases, EQUAL, Finding, fastest, less, more};
use crate::report::claims::Verdict;
use crate::sync::report::data::{COUNTER, counts, largest, mean, over, smallest, spread};
use crate::sync::report::shape::At;

pub(super) const TAS: &str = "tas/lane";
pub(super) const TTAS: &str = "ttas/lane";
pub(super) const TICKET: &str = "ticket";
pub(super) const MCS: &str = "mcs/lane";
const LOCKS: [&str; 4] = [TAS, TTAS, TICKET, MCS];

/// The grids by their indices: one block, and the three others.
const ALL: [usize; 4] = [0, 1, 2, 3];
const MANY: [usize; 3] = [1, 2, 3];
/// The largest grid and the largest block.
const LAST: usize = 3;
const WIDE: u32 = 1024;

const NO_FIGURE: &str = "a plot, no figures in the text";

pub(super) const CLAIMS: [Stated; 16] = [
    Stated::new(
        ["G-C1", "5.2.1.1"],
        [
            "One block of TAS stays near a single thread up to 384 threads, then leaves it.",
            NO_FIGURE,
            "T(1 block, b) \u{2264} 1.25 T(1 thread) for all b \u{2264} 384, and more than that at 1,024 threads",
        ],
        c1,
    ),
    Stated::new(
        ["G-C2", "5.2.1.1"],
        [
            "With more blocks TAS leaves the time of a single thread quickly.",
            NO_FIGURE,
            "T(128 threads) > 1.25 T(1 thread) at each of the three larger grids",
        ],
        c2,
    ),
    Stated::new(
        ["G-C3", "5.2.1.2"],
        [
            "TTAS suffers less from contention than TAS.",
            NO_FIGURE,
            "T(TTAS) < 0.95 T(TAS) with the largest grid, at each block size from 128 on",
        ],
        c3,
    ),
    Stated::new(
        ["G-C4", "5.2.1.5"],
        [
            "The gap between TTAS and TAS is large.",
            NO_FIGURE,
            "T(TAS) \u{2265} 2 T(TTAS) with the largest grid of 1,024 threads",
        ],
        c4,
    ),
    Stated::new(
        ["G-C5", "5.2.1.2"],
        [
            "TTAS gets faster from 32 to 64 threads a block.",
            NO_FIGURE,
            "T(64) < 0.95 T(32) at each grid",
        ],
        c5,
    ),
    Stated::new(
        ["G-C6", "5.2.1.3"],
        [
            "The ticket lock with 1 or 8 blocks does not feel the block size.",
            NO_FIGURE,
            "largest over smallest T of all block sizes \u{2264} 1.25 at the two smaller grids",
        ],
        c6,
    ),
    Stated::new(
        ["G-C7", "5.2.1.3"],
        [
            "The ticket lock gains from 8 blocks over 1.",
            NO_FIGURE,
            "T(second grid) < 0.95 T(1 block) at each block size",
        ],
        c7,
    ),
    Stated::new(
        ["G-C8", "5.2.1.3"],
        [
            "The ticket lock with 16 or 32 blocks slows down above 256 threads.",
            NO_FIGURE,
            "T(1,024 threads) > 1.05 T(256) at the two larger grids",
        ],
        c8,
    ),
    Stated::new(
        ["G-C9", "5.2.1.3"],
        [
            "Below 256 threads the ticket lock with 8, 16 and 32 blocks is equal, and ahead of 1 block.",
            NO_FIGURE,
            "at each block size below 256: largest over smallest T of the three larger grids \u{2264} 1.25, and the largest < 0.95 T(1 block)",
        ],
        c9,
    ),
    Stated::new(
        ["G-C10", "5.2.1.4"],
        [
            "Every grid of MCS slows down with the block size.",
            NO_FIGURE,
            "T(1,024) > 1.25 T(32) at each grid",
        ],
        c10,
    ),
    Stated::new(
        ["G-C11", "5.2.1.4"],
        [
            "The grids of MCS scale alike.",
            NO_FIGURE,
            "s = T(1,024) / T(32); largest s over smallest s of the grids \u{2264} 1.5",
        ],
        c11,
    ),
    Stated::new(
        ["G-C12", "5.2.1.4"],
        [
            "Below 256 threads MCS gains from more blocks.",
            NO_FIGURE,
            "the smallest T of the larger grids < 0.95 T(1 block), at each block size below 256",
        ],
        c12,
    ),
    Stated::new(
        ["G-C13", "5.2.1.5, 5.4, 7"],
        [
            "The ticket lock is best on the counter under high contention.",
            NO_FIGURE,
            "T(ticket) \u{2264} T / 0.95 of TAS, TTAS and MCS with the largest grid of 1,024 threads, and in the geometric mean over the three larger grids and all block sizes",
        ],
        c13,
    ),
    Stated::new(
        ["G-C14", "5.2.1.5"],
        [
            "The fewer atomics, the better: ticket, then TTAS, then TAS.",
            NO_FIGURE,
            "T(ticket) < 0.95 T(TTAS) and T(TTAS) < 0.95 T(TAS) with the largest grid of 1,024 threads",
        ],
        c14,
    ),
    Stated::new(
        ["G-C15", "5.2.1.5"],
        [
            "MCS scales well although it polls by an atomic.",
            NO_FIGURE,
            "T(MCS) < 0.95 T(TAS) with the largest grid of 1,024 threads (ours polls by loads)",
        ],
        c15,
    ),
    Stated::new(
        ["G-C16", "5.2.1.5"],
        [
            "MCS that polls by plain loads gets stuck.",
            "its runs did not end",
            "does not hold if our MCS, which polls by acquire loads, has ended with the right count at every point",
        ],
        c16,
    )
    .once(),
];

fn base(at: &At<'_>, kind: &str) -> Option<f64> {
    at.counter(kind, 0, 1)
}

fn grid(at: &At<'_>, index: usize) -> String {
    let blocks = at.shape.counter[index];
    format!("{blocks} block{}", if blocks == 1 { "" } else { "s" })
}

fn at_size(threads: u32) -> String {
    format!("{threads} threads")
}

/// The block sizes of a rule over all of them; a rule needs two at least.
fn sizes(at: &At<'_>, kinds: &[&str], grids: &[usize], cases: &mut Cases) -> Vec<u32> {
    let sizes = at.sizes(kinds, grids);
    if sizes.len() < 2 {
        cases.needs("two block sizes of all kinds and grids");
    }
    sizes
}

fn c1(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let single = base(at, TAS);
    for b in sizes(at, &[TAS], &[0], &mut cases) {
        let ratio = over(at.counter(TAS, 0, b), single);
        match b {
            ..=384 => cases.value(at_size(b), ratio, |r| r <= EQUAL),
            WIDE => {}
            _ => cases.beside(&at_size(b), ratio),
        }
    }
    let last = over(at.counter(TAS, 0, WIDE), single);
    cases.value(at_size(WIDE), last, |r| r > EQUAL);
    cases.finding()
}

fn c2(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for g in MANY {
        let ratio = over(at.counter(TAS, g, 128), base(at, TAS));
        cases.value(grid(at, g), ratio, |r| r > EQUAL);
    }
    cases.finding()
}

fn c3(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for b in sizes(at, &[TAS, TTAS], &[LAST], &mut cases) {
        if b >= 128 {
            let ratio = over(at.counter(TTAS, LAST, b), at.counter(TAS, LAST, b));
            cases.value(at_size(b), ratio, less);
        }
    }
    cases.finding()
}

fn wide(at: &At<'_>, kind: &str) -> Option<f64> {
    at.counter(kind, LAST, WIDE)
}

fn c4(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("TAS / TTAS", over(wide(at, TAS), wide(at, TTAS)), |r| {
        r >= 2.0
    });
    cases.finding()
}

fn c5(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for g in ALL {
        let ratio = over(at.counter(TTAS, g, 64), at.counter(TTAS, g, 32));
        cases.value(grid(at, g), ratio, less);
    }
    cases.finding()
}

fn c6(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for g in [0, 1] {
        let sizes = sizes(at, &[TICKET], &[g], &mut cases);
        let all: Vec<_> = sizes.iter().map(|b| at.counter(TICKET, g, *b)).collect();
        cases.value(grid(at, g), spread(&all), |r| r <= EQUAL);
    }
    cases.finding()
}

fn c7(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for b in sizes(at, &[TICKET], &[0, 1], &mut cases) {
        let ratio = over(at.counter(TICKET, 1, b), at.counter(TICKET, 0, b));
        cases.value(at_size(b), ratio, less);
    }
    cases.finding()
}

fn c8(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for g in [2, 3] {
        let ratio = over(at.counter(TICKET, g, WIDE), at.counter(TICKET, g, 256));
        cases.value(grid(at, g), ratio, more);
    }
    cases.finding()
}

fn c9(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for b in sizes(at, &[TICKET], &ALL, &mut cases) {
        if b < 256 {
            let all = MANY.map(|g| at.counter(TICKET, g, b));
            cases.value(format!("larger grids at {b} threads"), spread(&all), |r| {
                r <= EQUAL
            });
            let slowest = largest(&all);
            let ratio = over(slowest, at.counter(TICKET, 0, b));
            cases.value(format!("against 1 block at {b}"), ratio, less);
        }
    }
    cases.finding()
}

fn growth(at: &At<'_>, kind: &str, g: usize) -> Option<f64> {
    over(at.counter(kind, g, WIDE), at.counter(kind, g, 32))
}

fn c10(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for g in ALL {
        cases.value(grid(at, g), growth(at, MCS, g), |r| r > EQUAL);
    }
    cases.finding()
}

fn c11(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let of = |kind| spread(&ALL.map(|g| growth(at, kind, g)));
    cases.value("largest s over smallest", of(MCS), |r| r <= 1.5);
    cases.beside("the same of TAS", of(TAS));
    cases.finding()
}

fn c12(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for b in sizes(at, &[MCS], &ALL, &mut cases) {
        if b < 256 {
            let best = smallest(&MANY.map(|g| at.counter(MCS, g, b)));
            cases.value(at_size(b), over(best, at.counter(MCS, 0, b)), less);
        }
    }
    cases.finding()
}

/// The best rival's time over that of a kind.
fn lead(kind: &str, time: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let rivals = LOCKS.iter().filter(|k| **k != kind);
    let rivals: Vec<_> = rivals.map(|k| time(k)).collect();
    over(smallest(&rivals), time(kind))
}

fn c13(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    let last = lead(TICKET, |kind| wide(at, kind));
    cases.value("best of the others / ticket, largest grid", last, fastest);
    let sizes = sizes(at, &LOCKS, &MANY, &mut cases);
    let all = lead(TICKET, |kind| {
        let times = MANY.iter().flat_map(|g| sizes.iter().map(move |b| (g, b)));
        let times: Vec<_> = times.map(|(g, b)| at.counter(kind, *g, *b)).collect();
        mean(&times)
    });
    cases.value("in the mean", all, fastest);
    cases.finding()
}

/// Returns the fastest of the four locks on the counter under the highest contention.
pub(super) fn winner(at: &At<'_>) -> Option<&'static str> {
    first(&LOCKS.map(|kind| (kind, wide(at, kind))))
}

/// Returns the name with the shortest time, if all have one.
pub(super) fn first(times: &[(&'static str, Option<f64>)]) -> Option<&'static str> {
    let all: Option<Vec<(&str, f64)>> = times.iter().map(|(k, t)| Some((*k, (*t)?))).collect();
    let best = all?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(kind, _)| kind)
}

fn c14(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    for (a, b) in [(TICKET, TTAS), (TTAS, TAS)] {
        cases.value(format!("{a} to {b}"), over(wide(at, a), wide(at, b)), less);
    }
    cases.finding()
}

fn c15(at: &At<'_>) -> Finding {
    let mut cases = Cases::new();
    cases.value("MCS / TAS", over(wide(at, MCS), wide(at, TAS)), less);
    cases.finding()
}

fn c16(at: &At<'_>) -> Finding {
    let points: Vec<_> = at
        .data
        .points(COUNTER)
        .filter(|p| p.implementation == MCS)
        .collect();
    let right = points.iter().filter(|p| counts(p)).count();
    let figures = format!(
        "{right} of {} points ended with the right count",
        points.len()
    );
    Finding {
        verdict: if points.is_empty() || right < points.len() {
            Verdict::Unknown
        } else {
            Verdict::Fails
        },
        figures,
    }
}
