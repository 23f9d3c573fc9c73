//! The claims of the three papers and the targets, judged by the document.
//!
//! A claim is judged at the papers' grids and once more at this machine's, by the same rule. A
//! CPU is not judged: claims and targets are about GPUs.

use super::data::Data;
use super::shape::{At, Shape};
use super::{stuart, targets};
use crate::report::claim::{Claim, Found, Here, Row, judge, rows};
use crate::sync::bench::Bench;

/// What finds the numbers of a row, part by part, in the document at one shape.
type Ask = fn(&At<'_>, &Row) -> Vec<Found>;

/// A paper: what links call it, its authors and year, its claims, and their numbers.
type Source = (&'static str, &'static str, &'static str, Ask);

/// The papers in the order of the page.
pub(super) const PAPERS: [Source; 3] = [
    (
        "claims-grote",
        "Grote 2020",
        include_str!("grote.json"),
        |at, row| row.numbers(at),
    ),
    (
        "claims-stuart",
        "Stuart and Owens 2011",
        include_str!("stuart.json"),
        |at, row| stuart::numbers(at, row.id),
    ),
    (
        "claims-gattani",
        "Gattani and Anickode 2024",
        include_str!("gattani.json"),
        |at, row| row.numbers(at),
    ),
];

/// Why a document of a CPU is not judged.
pub(crate) const OF_CPU: &str = "measured on a CPU, which this is not about";

/// Judges a row at a shape, unless the document is one of a CPU.
fn judged(row: &Row, ask: Ask, bench: &Bench, shape: Shape) -> Claim {
    let claim = judge(row, ask(&At::new(Data::new(bench), shape), row));
    match bench.head.device.gpu {
        Some(_) => claim,
        None => claim.without_judgement(OF_CPU),
    }
}

/// Judges all claims.
pub fn all(bench: &Bench) -> Vec<Claim> {
    let machine = Shape::machine(Data::new(bench).processors());
    let of = |(_, paper, stated, ask): Source| {
        let of_row = move |row: Row| {
            let here = judged(&row, ask, bench, machine);
            let (verdict, figures) = (here.verdict, here.figures);
            let here = Some(Here { verdict, figures });
            Claim {
                paper,
                here,
                ..judged(&row, ask, bench, Shape::PAPER)
            }
        };
        rows(stated).into_iter().map(of_row)
    };
    PAPERS.into_iter().flat_map(of).collect()
}

/// Judges the targets, which name their sizes.
pub fn all_targets(bench: &Bench) -> Vec<Claim> {
    let rows = rows(include_str!("targets.json")).into_iter();
    rows.map(|row| {
        judged(
            &row,
            |at, row| targets::numbers(at, row.id),
            bench,
            Shape::PAPER,
        )
    })
    .collect()
}
