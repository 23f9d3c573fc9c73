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

#[cfg(test)]
pub(super) mod tests {
    //! The whole report, from documents that are made up: what must be in it, and that it makes
    //! nothing up.

    use super::data::PARTS;
    use super::measures::Asked;
    use super::{all, all_targets, page, report};
    use crate::points::Point;
    use crate::report::PAGE;
    use crate::report::claim::{Claim, Verdict};
    use crate::report::figure::Figure;
    use crate::report::sentence::From;
    use crate::report::stated::Part;
    use crate::report::tests::{HOSTILE, file, parse, words};
    use crate::store::Document;
    use crate::sync::Bench;
    use crate::testing::has;
    use sample::{empty, full};

    mod rows;
    pub(in crate::report) mod sample;

    /// The figures of a document with what they show points of.
    fn drawn(bench: &Bench) -> Vec<(Part, Figure)> {
        let asked = Asked::new(bench);
        let from = &From {
            sets: &asked.sets,
            source: &asked,
        };
        let figure = |part: Part| part.drawn(from).map(|figure| (part, figure));
        page().parts.into_iter().filter_map(figure).collect()
    }

    fn page_of(bench: &Bench) -> String {
        file(&report(bench), PAGE)
    }

    #[test]
    fn a_full_document_has_a_point_in_every_panel() {
        for figure in report(&full()).figures {
            for panel in &figure.panels {
                let empty = panel.marks.0.contains("not measured");
                assert!(!empty, "{}: {}", figure.id, panel.title);
            }
        }
    }

    #[test]
    fn every_series_of_a_panel_has_a_look_of_its_own() {
        let bench = full();
        for (_, figure) in drawn(&bench) {
            let looks = figure.legend.iter();
            let looks = looks.map(|key| format!("{:?}", key.sample));
            let looks: Vec<String> = looks.collect();
            for (i, look) in looks.iter().enumerate() {
                // Bars have their names beside them.
                let again = looks[..i].contains(look) && !look.starts_with("Fill");
                assert!(!again, "{}: {}", figure.id, figure.legend[i].name);
            }
            for panel in &figure.panels {
                let drawn_in = |slot: &usize| {
                    let colour = crate::report::palette::line(*slot).0.css();
                    panel.marks.0.contains(&format!("stroke=\"{colour}\""))
                };
                let lines = (0..12).filter(drawn_in).count();
                assert!(lines <= 8, "{}: {lines}", figure.id);
            }
        }
    }

    #[test]
    fn without_points_nothing_is_judged_drawn_or_said() {
        let bench = empty();
        for claim in all(&bench) {
            assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.id);
            let here = claim.here.as_ref().unwrap();
            assert_eq!(here.verdict, Verdict::Unknown, "{}", claim.id);
            assert!(!claim.figures.contains("\u{d7}"), "{}", claim.figures);
        }
        for target in all_targets(&bench) {
            assert_eq!(target.verdict, Verdict::Unknown, "{}", target.text);
        }
        for (_, figure) in drawn(&bench) {
            assert!(figure.legend.is_empty(), "{}", figure.id);
            assert_eq!(figure.about, ["Not measured."]);
            for panel in &figure.panels {
                assert!(panel.marks.0.contains("not measured"), "{}", figure.id);
            }
        }
        parse(&page_of(&bench));
    }

    #[test]
    fn points_with_a_wrong_result_count_no_more_than_missing_ones() {
        let mut bench = full();
        for point in &mut bench.points {
            point.verified = false;
            point.note = Some("the count is 5, not 6 <&>".into());
        }
        bench.machine = None;
        for claim in all(&bench).iter().filter(|claim| claim.id != "A-N1") {
            assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.id);
        }
        for (_, figure) in drawn(&bench) {
            assert_eq!(figure.about, ["Not measured."], "{}", figure.id);
        }
        let text = page_of(&bench);
        let page = parse(&text);
        let told = words(page.root());
        has(&told, "the count is 5, not 6 <&> | With a wrong result");
    }

    #[test]
    fn points_without_a_time_say_why() {
        let mut bench = empty();
        let asked = crate::points::Asked::new("barrier", "grid.sync", (132, 128), &[]);
        let why = "nvcc was not found".to_owned();
        bench.points.push(Point::without_time(&asked, why.clone()));
        let text = page_of(&bench);
        let told = words(parse(&text).root());
        has(&told, "1 of 1 points have no time");
        assert_eq!(
            told.matches(&why).count(),
            2,
            "in the table and among the peers"
        );
        has(&told, "No peer was measured");
    }

    #[test]
    fn all_points_stand_in_the_tables() {
        let bench = full();
        let text = page_of(&bench);
        let page = parse(&text);
        for part in PARTS {
            let caption = format!("All points of the part {part}");
            let mut tables = page.descendants().filter(|n| n.has_tag_name("table"));
            let table = tables
                .find(|t| {
                    t.children()
                        .any(|c| c.has_tag_name("caption") && words(c) == caption)
                })
                .unwrap_or_else(|| panic!("{caption}"));
            let rows = table.descendants().filter(|n| n.has_tag_name("tr")).count();
            let points = bench.points.iter().filter(|p| p.part == part).count();
            assert_eq!(rows, points + 1, "{part}");
        }
    }

    #[test]
    fn a_cpu_is_drawn_and_not_judged() {
        let mut bench = full();
        bench.head.device.gpu = None;
        for claim in all(&bench) {
            assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.id);
            assert!(claim.figures.contains("CPU"), "{}", claim.id);
        }
        assert!(!drawn(&bench)[0].1.legend.is_empty());
        has(&page_of(&bench), "Measured on a CPU");
    }

    /// The sample with texts and numbers that could break a page.
    pub(in crate::report) fn hostile() -> Bench {
        let hostile = HOSTILE;
        let mut bench = full();
        bench.head.command = hostile.into();
        bench.head.notes = vec![hostile.into()];
        bench.head.settings.insert(hostile.into(), hostile.into());
        for (i, point) in bench.points.iter_mut().enumerate() {
            match i % 9 {
                0 => point.asked.implementation = hostile.into(),
                1 => point.ms = f64::MAX,
                2 => point.ms = f64::MIN_POSITIVE,
                3 => point.ms = -1.0,
                4 => point.per_s = 1e300,
                5 => (point.asked.blocks, point.asked.threads) = (u32::MAX, 0),
                6 => point.note = Some(hostile.into()),
                7 => (point.most, point.fewest) = (Some(u64::MAX), Some(0)),
                _ => {
                    point.asked.parameters.insert(hostile.into(), u64::MAX);
                }
            }
        }
        bench
    }

    #[test]
    fn a_document_survives_being_written_and_read() {
        let bench = full();
        let text = serde_json::to_string(&bench).unwrap();
        assert_eq!(Bench::parse(&text).unwrap(), bench);
        for (text, said) in [
            ("{", "not JSON"),
            ("{}", "no \"format\""),
            (r#"{"format":"stamp-paper/1"}"#, "stamp-paper/1"),
            (r#"{"format":"stamp-sync/1"}"#, "field"),
        ] {
            has(&Bench::parse(text).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn the_command_reports_on_the_document_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let text = serde_json::to_string(&full()).unwrap();
        std::fs::write(folder.path().join("sync.json"), text).unwrap();
        assert!(crate::report::report(folder.path(), Some("Ours & theirs")).unwrap());
        let page = std::fs::read_to_string(folder.path().join(PAGE)).unwrap();
        has(&page, "<h1>Ours &amp; theirs</h1>");
        for name in ["claims-sync.json", "counter.svg", "sections.svg"] {
            assert!(folder.path().join(name).is_file(), "{name}");
        }
        std::fs::write(folder.path().join("paper.json"), "{}").unwrap();
        let error = crate::report::report(folder.path(), None)
            .unwrap_err()
            .to_string();
        has(&error, "sync.json | paper.json");
    }

    /// The target about what begins with these words.
    fn target(bench: &Bench, what: &str) -> Claim {
        let mut all = all_targets(bench).into_iter();
        all.find(|target| target.text.starts_with(what)).unwrap()
    }

    /// Makes the points of an implementation so many times as fast.
    fn faster(bench: &mut Bench, kind: &str, by: f64) {
        for point in bench.points.iter_mut().filter(|p| p.implementation == kind) {
            point.ms /= by;
            point.per_s *= by;
        }
    }

    #[test]
    fn targets_are_reached_in_part_or_missed_by_the_ratios() {
        let mut bench = full();
        // As made up, the default is as fast as its peer: not 1.3 times from 132 blocks on.
        let mutex = target(&bench, "The default mutex");
        assert_eq!(mutex.verdict, Verdict::Partly, "{mutex:?}");
        faster(&mut bench, "default", 1.31);
        assert_eq!(target(&bench, "The default mutex").verdict, Verdict::Holds);
        faster(&mut bench, "default", 0.5);
        assert_eq!(target(&bench, "The default mutex").verdict, Verdict::Fails);

        assert_eq!(target(&bench, "Combining").verdict, Verdict::Fails);
        faster(&mut bench, "combining", 10.0);
        assert_eq!(target(&bench, "Combining").verdict, Verdict::Holds);
        assert_eq!(target(&bench, "Hash table").verdict, Verdict::Holds);
        has(&target(&bench, "Hash table").figures, "stm:fast");

        assert_eq!(target(&bench, "Sorted list").verdict, Verdict::Fails);
        faster(&mut bench, "stm:fast", 5.0);
        assert_eq!(target(&bench, "Sorted list").verdict, Verdict::Holds);

        assert_eq!(target(&bench, "Fairness").verdict, Verdict::Holds);
        let unfair = bench
            .points
            .iter_mut()
            .filter(|p| p.implementation == "default");
        for point in unfair {
            (point.most, point.fewest) = (Some(201), Some(100));
        }
        assert_eq!(target(&bench, "Fairness").verdict, Verdict::Fails);
    }

    #[test]
    fn a_barrier_of_shorter_latency_reaches_its_target() {
        let mut bench = full();
        assert_eq!(
            target(&bench, "The default barrier").verdict,
            Verdict::Partly
        );
        faster(&mut bench, "counted", 1.3);
        let barrier = target(&bench, "The default barrier");
        assert_eq!(barrier.verdict, Verdict::Holds);
        assert!(
            barrier.figures.contains("1056 x 128, counted 0.77\u{d7}"),
            "{barrier:?}"
        );
        // A point with the default's name is the default, even if another kind is faster.
        let mut slow: Vec<_> = bench.points.clone();
        slow.retain(|p| p.implementation == "tree");
        for point in &mut slow {
            point.asked.implementation = "default".into();
            point.per_s /= 2.0;
        }
        bench.points.extend(slow);
        assert_eq!(
            target(&bench, "The default barrier").verdict,
            Verdict::Fails
        );
        bench.points.retain(|p| p.implementation != "grid.sync");
        assert_eq!(
            target(&bench, "The default barrier").verdict,
            Verdict::Unknown
        );
    }

    #[test]
    fn points_of_other_launches_are_not_called_missing() {
        let mut bench = empty();
        bench
            .points
            .push(sample::point("counter", "ticket", (2, 2), None, 1.0));
        for (part, figure) in drawn(&bench) {
            let [about] = figure.about.as_slice() else {
                panic!("{:?}", figure.about);
            };
            let other = about.contains("with these launches");
            assert_eq!(other, part.parts == ["counter"], "{}: {about}", figure.id);
            assert!(figure.legend.is_empty());
        }
    }
}
