//! The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and
//! what the library is to reach.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, its time, its rate, its fairness |
//! | `shape` | the papers' grids and this machine's |
//! | `measures` | what the calls in the rows of the papers and of the targets stand for |
//! | `stuart`, `targets` | those about choices and about the library's defaults |
//! | `claims` | both, judged |
//! | `choice` | what suits a machine by ratios of memory accesses, as one claim predicts it |
//! | `sets` | the points as records, and what the calls of the page stand for |
//!
//! Figures, tables and what was done otherwise than in the papers are in `page.json`.

mod choice;
pub mod claims;
pub mod data;
mod measures;
mod sets;
pub mod shape;
mod stuart;
mod targets;
#[cfg(test)]
pub(super) mod tests;

use super::claim::Claim;
use super::page::Report;
use super::points;
use super::sentence::From;
use super::stated::Page;
use crate::sync::bench::Bench;
use sets::Asked;

/// The page as it is stated.
fn page() -> Page {
    Page::read::<Asked<'_>>(include_str!("page.json"))
}

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report<'_> {
    let asked = Asked::new(bench);
    let from = &From {
        sets: &asked.sets,
        source: &asked,
    };
    let claims = claims::all(bench);
    let of = |(id, paper, _): (&'static str, &str, &str)| {
        let own = claims.iter().filter(|claim| claim.paper == paper);
        (id, own.cloned().collect::<Vec<Claim>>())
    };
    let targets = ("targets", claims::all_targets(bench));
    let judged: Vec<_> = std::iter::once(targets)
        .chain(claims::PAPERS.map(of))
        .collect();
    let untimed = bench.points.iter().filter(|p| p.repeat == 0).count();
    let untimed = format!(
        "{untimed} of {} points have no time; the tables of their parts say why.",
        bench.points.len()
    );
    let mut warnings = points::warnings(bench);
    warnings.extend(Some(untimed).filter(|_| bench.points.iter().any(|p| p.repeat == 0)));
    page().report(&bench.head, from, &judged, warnings)
}
