//! The numbers that decide the claims of Gattani and Anickode (2024) about sections of three
//! lengths, and their ranking of locks: those of the rows in `gattani.json`.
//!
//! "All" are the spin lock, measured twice as their mutex is the same code, ticket, MCS and
//! Anderson's, and the spin spin lock where it was measured.
//!
//! In the source that the slides seem to come from, the kernel with Anderson's lock prints
//! "MCS" and the other way round, so two claims are judged in both readings.

use super::data::{MUTEX, blocks, largest, over, smallest, spread};
use super::shape::{At, Then};
use crate::report::claim::{Found, one};
use crate::sync::document::Point;

/// Their locks by our names, but for the spin spin lock.
const LOCKS: [&str; 5] = ["tas", "ticket", "tas-again", "mcs", "anderson"];
const RANKED: [&str; 4] = ["tas", "ticket", "anderson", "mcs"];

/// The rounds of the section of low complexity, and of high.
const LOW: u64 = 100;
const HIGH: u64 = 100_000;

/// Their locks by our names, the spin spin lock among them where it was measured.
fn locks(at: &At<'_>, rounds: u64) -> Vec<&'static str> {
    let twice = at.sections("spin-spin", rounds).map(|_| "spin-spin");
    LOCKS.into_iter().chain(twice).collect()
}

fn ratio(at: &At<'_>, a: &str, b: &str, rounds: u64) -> Found {
    one(
        format!("{a} / {b}"),
        over(at.sections(a, rounds), at.sections(b, rounds)),
    )
}

/// The time of a lock over the smallest or the largest of some others.
fn beside(
    at: &At<'_>,
    kind: &str,
    others: &[&str],
    of: fn(&[Option<f64>]) -> Option<f64>,
) -> Found {
    let others = others.iter().filter(|other| **other != kind);
    let others: Vec<_> = others.map(|other| at.sections(other, LOW)).collect();
    one(
        format!("{kind} / the others"),
        over(at.sections(kind, LOW), of(&others)),
    )
}

/// The sum that a note gives as `the sum is 138999`.
fn sum_of(point: &Point) -> Option<u64> {
    let (_, rest) = point.note.as_deref()?.split_once("the sum is ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The sum without a lock over the right one.
fn sums(at: &At<'_>) -> Found {
    let blocks = f64::from(at.shape.sections);
    let right = blocks * (blocks + 1.0) / 2.0;
    let of = |rounds| {
        let sum = at.data.find(&at.section("none", rounds)).and_then(sum_of);
        let wrong = sum.map(|n| f64::from(u8::from((n as f64 - right).abs() > 0.5)));
        let sum = sum.map_or_else(|| "the sum".to_owned(), |n| n.to_string());
        (format!("{sum} without a lock at {rounds} rounds"), wrong)
    };
    [LOW, HIGH].map(of).into()
}

/// Whether the result of each lock is right.
fn right(at: &At<'_>) -> Found {
    let of = |rounds, kind: &str| {
        let cell = at.section(kind, rounds);
        let (word, value) = match at.data.find(&cell) {
            Some(_) => (" right", Some(1.0)),
            None if at.data.is_wrong(&cell) => (" wrong", Some(0.0)),
            None => ("", None),
        };
        (format!("{kind}{word} at {rounds}"), value)
    };
    let all = [LOW, HIGH].into_iter();
    all.flat_map(|n| locks(at, n).into_iter().map(move |kind| of(n, kind)))
        .collect()
}

/// The blocks of the slides, or the most that were measured.
fn most(at: &At<'_>) -> u32 {
    if at.shape.of_paper {
        512
    } else {
        at.full(Then::Fermi, MUTEX, &RANKED, None)
    }
}

fn fairness(at: &At<'_>, kinds: &[&str]) -> Found {
    let n = most(at);
    let of = |kind: &&str| {
        (
            format!("{kind} at {}", blocks(n)),
            at.data.unfairness(kind, n),
        )
    };
    kinds.iter().map(of).collect()
}

/// How a rate grows from 8 blocks to the most.
fn growth(at: &At<'_>, kind: &str) -> Option<f64> {
    let rate = |n| at.rate(MUTEX, kind, n, None);
    over(rate(most(at)), rate(8))
}

fn growths(at: &At<'_>, a: &str, b: &str) -> Found {
    one(
        format!("q({a}) / q({b})"),
        over(growth(at, a), growth(at, b)),
    )
}

/// The numbers of a claim, part by part.
pub(super) fn numbers(at: &At<'_>, id: &str) -> Vec<Found> {
    match id {
        "A-B1" => vec![ratio(at, "tas", "none", 0)],
        "A-B2" => vec![
            ratio(at, "ticket", "none", 0),
            ratio(at, "ticket", "tas", 0),
        ],
        "A-N1" => vec![sums(at), right(at)],
        "A-N2" => vec![
            ratio(at, "tas", "none", LOW),
            ratio(at, "tas", "none", HIGH),
        ],
        "A-L1" => vec![ratio(at, "ticket", "tas", LOW)],
        "A-L2" => vec![ratio(at, "spin-spin", "tas", LOW)],
        "A-L3" => vec![ratio(at, "tas-again", "tas", LOW)],
        "A-L4" => vec![
            ratio(at, "mcs", "tas", LOW),
            beside(at, "mcs", &["ticket", "anderson"], smallest),
        ],
        "A-L4x" => vec![
            ratio(at, "anderson", "tas", LOW),
            beside(at, "anderson", &["ticket", "mcs"], smallest),
        ],
        "A-L5" => vec![
            ratio(at, "anderson", "tas", LOW),
            beside(at, "anderson", &locks(at, LOW), largest),
        ],
        "A-L5x" => vec![
            ratio(at, "mcs", "tas", LOW),
            beside(at, "mcs", &locks(at, LOW), largest),
        ],
        "A-H1" => {
            let all = locks(at, HIGH).into_iter();
            let all: Vec<_> = all.map(|kind| at.sections(kind, HIGH)).collect();
            vec![one("largest / smallest", spread(&all))]
        }
        "A-Q1" => vec![
            fairness(at, &["tas"]),
            fairness(at, &["ticket", "mcs"]),
            fairness(at, &["anderson"]),
        ],
        "A-Q2" => {
            let others = ["tas", "ticket"].map(|other| growths(at, "anderson", other));
            vec![[growths(at, "mcs", "anderson"), others.concat()].concat()]
        }
        _ => Vec::new(),
    }
}
