//! The report of `stamp bench nw`: alignments by dataflow, by launches and by locks, and what
//! it costs to hand a value from warp to warp.
//!
//! `data` has one point and its time; figures and tables are in `page.json`.

pub mod data;
#[cfg(test)]
pub(super) mod tests;

use super::claim::{self, Claim, Row, judge};
use super::page::Report;
use super::points;
use super::stated::{From, Page};
use super::sync::claims::OF_CPU;
use crate::sync::bench::Bench;
use data::Times;

/// The rows of the targets and of the claims.
const TARGETS: &str = include_str!("targets.json");
const CLAIMS: &str = include_str!("claims.json");

/// Judges rows, unless the document is one of a CPU.
fn judged_of(times: &Times<'_>, rows: &'static str) -> Vec<Claim> {
    let of = |row: Row| {
        let claim = judge(&row, row.numbers(times));
        if times.is_of_gpu() {
            claim
        } else {
            claim.without_judgement(OF_CPU)
        }
    };
    claim::rows::<Times<'_>>(rows).into_iter().map(of).collect()
}

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report<'_> {
    let times = &Times::new(bench);
    let sets = times.sets();
    let from = &From {
        sets: &sets,
        source: times,
    };
    let judged = [("targets", TARGETS), ("claims", CLAIMS)];
    let judged = judged.map(|(id, rows)| (id, judged_of(times, rows)));
    let of_cpu = "Measured on a CPU: no target and no claim is judged.".to_owned();
    let of_cpu = Some(of_cpu).filter(|_| !times.is_of_gpu());
    let warnings = of_cpu.into_iter().chain(points::wrong(&bench.points));
    let page = Page::read::<Times<'_>>(include_str!("page.json"));
    page.report(&bench.head, from, &judged, warnings.collect())
}
