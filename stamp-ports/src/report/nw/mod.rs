//! The report of `stamp bench nw`: alignments by dataflow, by launches and by locks, and what
//! it costs to hand a value from warp to warp.
//!
//! `sets` has its points as records; figures and tables are in `page.json`.

mod sets;
#[cfg(test)]
pub(super) mod tests;

use super::claim::{self, Claim, Row, judge};
use super::page::Report;
use super::points;
use super::records::Sets;
use super::sentence::From;
use super::stated::Page;
use crate::sync::bench::Bench;

/// The rows of the targets and of the claims.
const TARGETS: &str = include_str!("targets.json");
const CLAIMS: &str = include_str!("claims.json");

/// Judges rows.
fn judged(bench: &Bench, sets: &Sets, rows: &'static str) -> Vec<Claim> {
    let of = |row: Row| points::judged(bench, judge(&row, row.numbers(sets)));
    claim::rows::<Sets>(rows).into_iter().map(of).collect()
}

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report<'_> {
    let sets = &sets::sets(bench);
    let from = &From { sets, source: sets };
    let judged = [("targets", TARGETS), ("claims", CLAIMS)]
        .map(|(id, rows)| (id, judged(bench, sets, rows)));
    let page = Page::read::<Sets>(include_str!("page.json"));
    page.report(&bench.head, from, &judged, points::warnings(bench))
}
