//! The claims of the three papers and the targets, judged by the document.
//!
//! A claim is judged at the papers' grids and once more at this machine's, by the same rule. A
//! CPU is not judged: claims and targets are about GPUs.

use super::data::Data;
use super::shape::{At, Shape};
use crate::report::claim::{Claim, Here, Row, judge, rows};
use crate::report::points;
use crate::sync::bench::Bench;

/// The papers in the order of the page: what links call each, its authors and year, and its
/// claims.
pub(super) const PAPERS: [(&str, &str, &str); 3] = [
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
    points::judged(bench, judge(row, numbers))
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
