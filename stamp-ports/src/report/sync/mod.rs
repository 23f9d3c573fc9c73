//! The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and
//! what the library is to reach.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, its time, its rate, its fairness; the papers' grids and this machine's |
//! | `measures` | what the calls in the rows of the papers, of the targets and of the page stand for; the points as records |
//! | `choice` | those about choices and about the library's defaults; what suits a machine by ratios of memory accesses |
//!
//! Figures, tables and what was done otherwise than in the papers are in `page.json`.
//!
//! A claim is judged at the papers' grids and once more at this machine's, by the same rule. A
//! CPU is not judged: claims and targets are about GPUs.

use super::claim::{Claim, Here, Row, judge, rows};
use super::page::Report;
use super::records;
use super::sentence::From;
use super::stated::Page;
use crate::sync::Bench;
use data::{At, Data, Shape};
use measures::Asked;

mod choice;
pub mod data;
mod measures;
#[cfg(test)]
pub(super) mod tests;

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
    let claims = all(bench);
    let of = |(id, paper, _): (&'static str, &str, &str)| {
        let own = claims.iter().filter(|claim| claim.paper == paper);
        (id, own.cloned().collect::<Vec<Claim>>())
    };
    let targets = ("targets", all_targets(bench));
    let judged: Vec<_> = std::iter::once(targets).chain(PAPERS.map(of)).collect();
    let untimed = bench.points.iter().filter(|p| p.repeat == 0).count();
    let untimed = format!(
        "{untimed} of {} points have no time; the tables of their parts say why.",
        bench.points.len()
    );
    let mut warnings = records::warnings(bench);
    warnings.extend(Some(untimed).filter(|_| bench.points.iter().any(|p| p.repeat == 0)));
    page().report(&bench.head, from, &judged, warnings)
}

/// The papers in the order of the page: what links call each, its authors and year, and its
/// claims.
const PAPERS: [(&str, &str, &str); 3] = [
    ("claims-grote", "Grote 2020", include_str!("grote.json")),
    (
        "claims-stuart",
        "Stuart and Owens 2011",
        include_str!("stuart.json"),
    ),
    (
        "claims-gattani",
        "Gattani and Anickode 2024",
        include_str!("gattani.json"),
    ),
];

/// Judges a row at a shape.
fn judged(row: &Row, bench: &Bench, shape: Shape) -> Claim {
    let numbers = row.numbers(&At::new(Data::new(bench), shape));
    records::judged(bench, judge(row, numbers))
}

/// Judges all claims.
pub fn all(bench: &Bench) -> Vec<Claim> {
    let machine = Shape::machine(Data::new(bench).processors());
    let of = |(_, paper, stated)| {
        let of_row = move |row: Row| {
            let here = judged(&row, bench, machine);
            let (verdict, figures) = (here.verdict, here.figures);
            let here = Some(Here { verdict, figures });
            Claim {
                paper,
                here,
                ..judged(&row, bench, Shape::PAPER)
            }
        };
        rows::<At<'_>>(stated).into_iter().map(of_row)
    };
    PAPERS.into_iter().flat_map(of).collect()
}

/// Judges the targets, which name their sizes.
pub fn all_targets(bench: &Bench) -> Vec<Claim> {
    let rows = rows::<At<'_>>(include_str!("targets.json")).into_iter();
    rows.map(|row| judged(&row, bench, Shape::PAPER)).collect()
}
