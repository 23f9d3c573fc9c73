//! The report of `stamp bench nw`.

use super::source::{PAGE, Source};
use super::stated::Report;
use crate::nw::reduction::SCHEMES;
use crate::sync::Bench;
use serde_json::{Value, json};

const SOURCE: Source = Source {
    shared: include_str!("../points.jq"),
    // Each point has the side of a tile.
    sets: "[$document.points[] | point | . + {side_or_0: (.parameters.side // 0)}]
        | {points: ., hops: [where({part: \"hops\", counts: 1})]}",
    calls: include_str!("calls.jq"),
    page: include_str!("page.jq"),
    view: PAGE,
    judged: &[
        ("nw-targets", "", include_str!("targets.jq")),
        ("nw-claims", "", include_str!("claims.jq")),
    ],
};

pub(crate) fn report(bench: &Bench) -> Report {
    SOURCE.report(&bench.head, &facts(bench))
}

fn facts(bench: &Bench) -> Value {
    let costs = SCHEMES.iter().map(|scheme| {
        let (all, each) = (scheme.cost)();
        json!({"scheme": scheme.name, "bytes": format!("{all}, {each} a warp")})
    });
    json!({"document": bench, "costs": costs.collect::<Vec<_>>()})
}

#[cfg(test)]
pub(super) mod tests {
    //! The report about a document with known times.

    use super::{SOURCE, facts, report};
    use crate::head::Head;
    use crate::nw::NwBench;
    use crate::nw::plan::{DIAGONALS, GRAPH};
    use crate::nw::reduction::{HOPS, REDUCTION};
    use crate::points::{Asked, Point};
    use crate::report::page::files;
    use crate::report::sync::tests::sample::empty;
    use crate::report::tests::{changed, check, judged};
    use crate::store::Document;
    use crate::sync::Bench;
    use crate::testing::has;

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
            ("warps", 16),
        ];
        let asked = Asked::new(part, implementation, (1, 32), &parameters);
        Point::timed(&asked, letters * letters, &[ms], None)
    }

    /// A document of a GPU: the paper's own times, dataflow that takes `share` times the
    /// shortest of them, and a graph at 32 K letters that takes 100 ms, or 40 with its best tile.
    pub(in crate::report) fn document(share: f64) -> NwBench {
        let mut head = Head {
            format: NwBench::FORMAT.into(),
            commit: None,
            complete: false,
            ..empty().head
        };
        head.device.name = "a GPU <of tests>".into();
        let mut bench = NwBench::begin(head);
        let points = &mut bench.0.points;
        for (letters, [locks, launches, tiny]) in TABLE3 {
            for (name, us) in [
                ("locks", locks),
                (DIAGONALS, launches),
                ("cells", tiny),
                ("dataflow", launches * share),
            ] {
                points.push(point("table3", name, letters, 32, us * 1e-3));
            }
        }
        for (scheme, faster) in SCHEMES {
            points.push(Point {
                cycles: Some((10_000.0 / faster) as u64),
                ..point(REDUCTION, scheme, 1, 0, 1.0)
            });
        }
        for (side, ms) in [(32, 100.0), (128, 40.0)] {
            points.push(point("tiles", GRAPH, 32_768, side, ms));
        }
        points.push(point("sizes", "dataflow", 32_768, 0, 100.0 * share));
        bench
    }

    /// The verdicts on claims or targets: `H` holds, `F` does not hold, `?` cannot be judged.
    fn verdicts(bench: &Bench, part: &str) -> String {
        let judged = judged(&SOURCE, &facts(bench), part).into_iter();
        let letters = judged.map(|claim| match &*claim.verdict {
            "holds" => 'H',
            "does not hold" => 'F',
            _ => '?',
        });
        letters.collect()
    }

    #[test]
    fn targets_follow_from_the_times() {
        for (share, changes, expected) in [
            (0.3, ".", "HHHHHHHH"),
            // 40 ms over 32 are less than 1.3.
            (0.32, ".", "HHHHHHHF"),
            (0.4, ".", "HHFFHHFF"),
            (
                0.3,
                r#"change("points"; of({implementation: ["dataflow", "tagged"]}); {verified: false})"#,
                "????????",
            ),
            (0.3, "of_a_cpu", "????????"),
            // A tile that is twice as fast as that of 32 decides where the best one counts.
            (
                0.3,
                r#". + {points: (.points + [.points | where({part: "table3", implementation: "diagonals"})
                    | . + {ms: (.ms / 2), parameters: (.parameters + {side: 64})}])}"#,
                "HHHFHFHH",
            ),
        ] {
            let bench = changed(&document(share), changes).0;
            assert_eq!(
                verdicts(&bench, "nw-targets"),
                expected,
                "{share} {changes}"
            );
        }
    }

    #[test]
    fn the_papers_own_times_meet_its_claims_and_a_factor_holds_in_part_from_half_of_it_on() {
        let paper = document(1.0);
        assert_eq!(verdicts(&paper.0, "nw-claims"), "HHHHHH");
        let equal = r#"change("points"; true; {ms: 1, per_s: 1, cycles: 1})"#;
        let equal = changed(&paper, equal).0;
        assert_eq!(verdicts(&equal, "nw-claims"), "FFFFFF");
        // In the paper locks take 296 times as long.
        let rows = r#"
            change("points"; of({implementation: "locks"}); {ms: (.ms * 0.81)}) => L-1 holds
            change("points"; of({implementation: "locks"}); {ms: (.ms * 0.51)}) => L-1 holds in part
            change("points"; of({implementation: "locks"}); {ms: (.ms * 0.01)}) => L-1 does not hold"#;
        check(&paper, rows, |nw| {
            judged(&SOURCE, &facts(&nw.0), "nw-claims")
        });
    }

    #[test]
    fn the_page_shows_what_there_is() {
        let mut bench = document(0.3).0;
        let page = |bench: &Bench| files(None, &[report(bench)], None).unwrap().remove(0).1;
        let shown = page(&bench);
        has(
            &shown,
            "a GPU &lt;of tests&gt; | 48.8 ms | holds | tiles of 32 | L-2",
        );
        let figures = report(&bench).figures;
        has(&figures[1].about[0], "1984 letters");
        // Nothing was measured with proteins.
        has(&figures[3].about.join(" "), "Not measured:  | Proteins");
        let hops = "A value that goes round threads";
        assert!(!shown.contains(hops));
        bench.points.push(Point {
            cycles: Some(465),
            ..point(HOPS, "global", 1, 0, 1.0)
        });
        has(&page(&bench), hops);
    }
}
