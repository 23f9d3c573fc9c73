//! The numbers that decide what the library is to reach on an H200, and what Li et al. 2015
//! claim: those of the rows in `targets.json` and `claims.json`.

use super::data::{Times, over};
use crate::nw::bench::plan::{CELLS, DATAFLOW, DIAGONALS, GRAPH, LOCKS};
use crate::report::claim::{Found, one};

/// 32 K letters.
const LONG: u64 = 32_768;
/// The lengths of the paper's table up to which it is ahead of launches, and the others.
const SHORT: [u64; 4] = [31, 62, 124, 248];
const OTHERS: [u64; 3] = [496, 992, 1984];

/// The cycles of a scheme's rounds over those of another, at the paper's 16 warps.
fn cycles(times: &Times<'_>, scheme: &str, by: &str) -> Found {
    let ratio = over(times.cycles(scheme, 16), times.cycles(by, 16));
    one(format!("{scheme} / {by}"), ratio)
}

/// The time of one implementation, with tiles of this side where one is given, over that of
/// another, at some lengths.
fn ratios(
    times: &Times<'_>,
    (slow, side): (&str, Option<u64>),
    fast: &str,
    letters: &[u64],
) -> Found {
    let of = |n: &u64| {
        let ratio = over(times.ms(slow, *n, side), times.ms(fast, *n, None));
        (format!("{n} letters"), ratio)
    };
    letters.iter().map(of).collect()
}

/// The numbers of a claim, part by part.
pub(super) fn targets(times: &Times<'_>, id: &str) -> Vec<Found> {
    match id {
        "T-1" => vec![cycles(times, "atom-lock", "tagged")],
        "T-2" => vec![cycles(times, "warp-barr", "tagged")],
        "T-3" => vec![ratios(times, (DIAGONALS, Some(32)), DATAFLOW, &SHORT)],
        "T-4" => vec![ratios(times, (DIAGONALS, None), DATAFLOW, &SHORT)],
        "T-5" => vec![ratios(times, (DIAGONALS, Some(32)), DATAFLOW, &[1984])],
        "T-6" => vec![ratios(times, (DIAGONALS, None), DATAFLOW, &[1984])],
        "T-7" => vec![ratios(times, (GRAPH, Some(32)), DATAFLOW, &[LONG])],
        "T-8" => vec![ratios(times, (GRAPH, None), DATAFLOW, &[LONG])],
        _ => Vec::new(),
    }
}

/// The numbers of a claim, part by part.
pub(super) fn claims(times: &Times<'_>, id: &str) -> Vec<Found> {
    match id {
        "L-4" => vec![cycles(times, "atom-lock", "tagged")],
        "L-5" => vec![cycles(times, "warp-barr", "tagged")],
        "L-6" => {
            let lanes = cycles(times, "shrd-lock", "atom-lock");
            vec![[lanes, cycles(times, "warp-vote", "warp-barr")].concat()]
        }
        "L-1" => vec![ratios(times, (LOCKS, None), CELLS, &[1984])],
        "L-2" => vec![ratios(times, (DIAGONALS, None), CELLS, &SHORT)],
        "L-3" => vec![ratios(times, (CELLS, None), DIAGONALS, &OTHERS)],
        _ => Vec::new(),
    }
}
