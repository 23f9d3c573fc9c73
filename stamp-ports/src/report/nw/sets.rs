//! The records of the document: its points, those of single hops, and what the schemes of the
//! reduction cost.

use crate::nw::bench::plan::{Case, HOPS};
use crate::nw::bench::reduction::{cost, names};
use crate::points::Point;
use crate::report::points::{counts, record};
use crate::report::records::{Record, Sets};
use crate::sync::bench::Bench;

/// Returns the record of a point with what its case is.
fn of(point: &Point) -> Record {
    let case = Case::of(point);
    let side = point.parameters.get("side").copied().unwrap_or(0);
    record(point)
        .with("is_affine", u64::from(case.affine))
        .with(
            "nucleotides",
            u64::from(case == Case::nucleotides(case.letters)),
        )
        .with("side_or_0", side)
}

/// Returns all records of a document.
pub(super) fn sets(bench: &Bench) -> Sets {
    let points = &bench.points;
    let hops = points.iter().filter(|p| p.part == HOPS && counts(p));
    let costs = names().map(|scheme| {
        let bytes = cost(scheme).map(|(all, each)| format!("{all}, {each} a warp"));
        Record::default()
            .with("scheme", scheme)
            .with("bytes", bytes)
    });
    let sets = [
        ("points", points.iter().map(of).collect()),
        ("hops", hops.map(of).collect()),
        ("costs", costs.collect()),
    ];
    Sets(sets.into())
}
