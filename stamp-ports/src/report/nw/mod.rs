//! The report of `stamp bench nw`: alignments by dataflow, by launches and by locks, and what
//! it costs to hand a value from warp to warp.
//!
//! The records are the points of the document, those of single hops, and what the schemes of the
//! reduction cost; figures and tables are in `page.json`.

use super::formula::{Sets, stated};
use super::page::Report;
use super::records::{Fields, Record, counts, judged, record, warnings};
use super::stated::Page;
use crate::nw::plan::HOPS;
use crate::nw::reduction::{cost, names};
use crate::points::Point;
use crate::sync::Bench;
use serde_json::json;

/// The rows of the targets and of the claims.
const TARGETS: &str = include_str!("targets.json");
const CLAIMS: &str = include_str!("claims.json");

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report {
    let sets = &sets(bench);
    let judged = [("nw-targets", TARGETS), ("nw-claims", CLAIMS)]
        .map(|(id, rows)| (id, judged(bench, sets, rows)));
    let page: Page = stated(include_str!("page.json"));
    page.report(&bench.head, sets, &judged, warnings(bench))
}

/// Returns the record of a point, of which each has the side of a tile.
fn of(point: &Point) -> Record {
    let side = point.parameters.get("side").copied().unwrap_or(0);
    record(point).with("side_or_0", side)
}

/// Returns all records of a document.
fn sets(bench: &Bench) -> Sets {
    let points = &bench.points;
    let hops = points.iter().filter(|p| p.part == HOPS && counts(p));
    let costs = names().map(|scheme| {
        let bytes = cost(scheme).map(|(all, each)| format!("{all}, {each} a warp"));
        json!({"scheme": scheme, "bytes": bytes})
    });
    Sets::new([
        ("points", points.iter().map(of).collect()),
        ("hops", hops.map(of).collect()),
        ("costs", costs.collect()),
    ])
}

#[cfg(test)]
pub(super) mod tests {
    //! The report about a document with known times.

    use super::{CLAIMS, TARGETS, judged, report, sets};
    use crate::head::Head;
    use crate::nw::NwBench;
    use crate::nw::plan::{DIAGONALS, GRAPH, HOPS, REDUCTION};
    use crate::points::{Asked, Point};
    use crate::report::claim::Verdict;
    use crate::report::page::files;
    use crate::report::sync::tests::sample::empty;
    use crate::store::Document;
    use crate::sync::Bench;
    use crate::testing::has;
    use std::collections::BTreeMap;

    /// The sizes of the paper's Table 3, and its times in microseconds: with locks of atomics,
    /// data-parallel, and with tiny locks.
    const TABLE3: [(u64, [f64; 3]); 7] = [
        (31, [175.0, 57.0, 49.0]),
        (62, [466.0, 58.0, 49.0]),
        (124, [1050.0, 58.0, 50.0]),
        (248, [2285.0, 59.0, 51.0]),
        (496, [5052.0, 72.0, 79.0]),
        (992, [14757.0, 79.0, 109.0]),
        (1984, [48808.0, 80.0, 165.0]),
    ];

    /// Schemes that only points of this document name.
    const DATAFLOW: &str = "dataflow";
    const LOCKS: &str = "locks";
    const CELLS: &str = "cells";

    /// The schemes of the reduction, and how much faster than the first they are in the paper.
    const SCHEMES: [(&str, f64); 6] = [
        ("atom-lock", 1.0),
        ("shrd-lock", 0.8),
        ("warp-barr", 2.6),
        ("warp-vote", 2.0),
        ("counted-barr", 1.0),
        ("tagged", 4.0),
    ];

    fn point(part: &str, implementation: &str, letters: u64, side: u64, ms: f64) -> Point {
        let parameters = [
            ("letters", letters),
            ("pairs", 1),
            ("affine", 0),
            ("protein", 0),
            ("side", side),
        ];
        let asked = Asked::new(part, implementation, (1, 32), &parameters);
        Point::timed(&asked, letters * letters, &[ms], None)
    }

    /// A point of the reduction with 16 warps.
    fn reduced(scheme: &str, cycles: f64) -> Point {
        let mut point = point(REDUCTION, scheme, 1, 0, 1.0);
        point.asked.parameters = BTreeMap::from([("warps".to_owned(), 16)]);
        point.cycles = Some(cycles as u64);
        point
    }

    /// A document of a GPU: the paper's own times, dataflow that takes `share` times the
    /// shortest of them, and a graph at 32 K letters that takes 100 ms, or 40 with its best tile.
    pub(in crate::report) fn document(gpu: bool, share: f64) -> Bench {
        let mut head = Head {
            format: NwBench::FORMAT.into(),
            commit: None,
            complete: false,
            ..empty().head
        };
        head.device.name = "a GPU <of tests>".into();
        head.device.gpu = head.device.gpu.filter(|_| gpu);
        let mut bench = NwBench::begin(head).0;
        for (letters, [locks, launches, tiny]) in TABLE3 {
            for (name, us) in [
                (LOCKS, locks),
                (DIAGONALS, launches),
                (CELLS, tiny),
                (DATAFLOW, launches * share),
            ] {
                bench
                    .points
                    .push(point("table3", name, letters, 32, us * 1e-3));
            }
        }
        for (scheme, faster) in SCHEMES {
            bench.points.push(reduced(scheme, 10_000.0 / faster));
        }
        for (side, ms) in [(32, 100.0), (128, 40.0)] {
            bench.points.push(point("tiles", GRAPH, 32_768, side, ms));
        }
        bench
            .points
            .push(point("sizes", DATAFLOW, 32_768, 0, 100.0 * share));
        bench
    }

    fn verdicts(bench: &Bench) -> Vec<Verdict> {
        let targets = judged(bench, &sets(bench), TARGETS);
        targets.into_iter().map(|target| target.verdict).collect()
    }

    #[test]
    fn targets_follow_from_the_times() {
        use Verdict::{Fails, Holds, Unknown};
        assert_eq!(verdicts(&document(true, 0.3)), [Holds; 8]);
        // 40 ms over 32 are less than 1.3.
        assert_eq!(
            verdicts(&document(true, 0.32)),
            [Holds, Holds, Holds, Holds, Holds, Holds, Holds, Fails]
        );
        assert_eq!(
            verdicts(&document(true, 0.4)),
            [Holds, Holds, Fails, Fails, Holds, Holds, Fails, Fails]
        );
        // A tile that is twice as fast as that of 32 decides where the best one counts.
        let mut better = document(true, 0.3);
        for (letters, [_, launches, _]) in TABLE3 {
            let half = launches * 0.5e-3;
            let point = point("table3", DIAGONALS, letters, 64, half);
            better.points.push(point);
        }
        assert_eq!(
            verdicts(&better),
            [Holds, Holds, Holds, Fails, Holds, Fails, Holds, Holds]
        );
        assert_eq!(verdicts(&document(false, 0.3)), [Unknown; 8]);
        let mut wrong = document(true, 0.3);
        for point in &mut wrong.points {
            point.verified = point.implementation != DATAFLOW && point.implementation != "tagged";
        }
        assert_eq!(verdicts(&wrong), [Unknown; 8]);
    }

    #[test]
    fn the_papers_own_times_meet_its_claims() {
        let claims = |bench: &Bench| -> Vec<Verdict> {
            let claims = judged(bench, &sets(bench), CLAIMS);
            claims.into_iter().map(|claim| claim.verdict).collect()
        };
        assert_eq!(claims(&document(true, 1.0)), [Verdict::Holds; 6]);
        let mut equal = document(true, 1.0);
        for point in &mut equal.points {
            (point.ms, point.per_s) = (1.0, 1.0);
            point.cycles = point.cycles.map(|_| 1);
        }
        assert_eq!(claims(&equal), [Verdict::Fails; 6]);
    }

    #[test]
    fn a_factor_holds_in_part_from_half_of_it_on() {
        let verdict = |over: f64| {
            let mut bench = document(true, 1.0);
            for point in &mut bench.points {
                if point.implementation == LOCKS {
                    point.ms = 0.165 * over;
                }
            }
            let claims = judged(&bench, &sets(&bench), CLAIMS);
            let of_locks = claims.into_iter().find(|claim| claim.id == "L-1");
            of_locks.map(|claim| claim.verdict)
        };
        assert_eq!(verdict(0.81 * 296.0), Some(Verdict::Holds));
        assert_eq!(verdict(0.51 * 296.0), Some(Verdict::Partly));
        assert_eq!(verdict(3.0), Some(Verdict::Fails));
    }

    #[test]
    fn the_page_shows_what_there_is() {
        let bench = document(true, 0.3);
        let page = &files(None, &[report(&bench)], None).unwrap()[0].1;
        for shown in [
            "a GPU &lt;of tests&gt;",
            "48.8 ms",
            "holds",
            "tiles of 32",
            "L-2",
        ] {
            assert!(page.contains(shown), "{shown}");
        }
        let figures = report(&bench).figures;
        assert!(
            figures[1].about[0].contains("1984 letters"),
            "{:?}",
            figures[1].about
        );
        // Nothing was measured with proteins.
        let about = figures[3].about.join(" ");
        has(&about, "Not measured: ");
        has(&about, "Proteins");
    }

    #[test]
    fn hops_are_on_the_page_if_they_were_measured() {
        let shown = |bench: &Bench| {
            let page = &files(None, &[report(bench)], None).unwrap()[0].1;
            page.contains("A value that goes round threads")
        };
        let mut bench = document(true, 0.3);
        assert!(!shown(&bench));
        let mut hop = point(HOPS, "global", 1, 0, 1.0);
        hop.cycles = Some(465);
        bench.points.push(hop);
        assert!(shown(&bench));
    }
}
