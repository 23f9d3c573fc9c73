//! The whole report, from documents that are made up: what must be in it, and that it makes
//! nothing up.

use super::claims::{self, Source};
use super::data::{Data, PARTS};
use super::{figures, files, page};
use crate::report::PAGE;
use crate::report::claims::Verdict;
use crate::sync::bench::Bench;
use crate::sync::document::Point;
use roxmltree::{Document, Node, ParsingOptions};
use sample::{empty, full};
use std::collections::BTreeMap;

pub(super) mod sample;

fn parse(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The files as an XML parser takes them: HTML's `meta` has no end.
fn xml_files(bench: &Bench, title: Option<&str>) -> Vec<(String, String)> {
    let files = files(bench, title).unwrap().into_iter();
    let files = files.filter(|(name, _)| name != claims::FILE_NAME);
    files
        .map(|(name, text)| {
            let mut parts = text.split("<meta ");
            let first = parts.next().unwrap().to_owned();
            let closed = parts.fold(first, |whole, part| {
                let (attributes, rest) = part.split_once('>').unwrap();
                format!("{whole}<meta {attributes}/>{rest}")
            });
            (name, closed)
        })
        .collect()
}

fn page_of(bench: &Bench) -> String {
    let mut files = xml_files(bench, None).into_iter();
    files.find(|(name, _)| name == PAGE).unwrap().1
}

fn words(node: Node<'_, '_>) -> String {
    let texts = node.descendants().filter(Node::is_text);
    texts.filter_map(|n| n.text()).collect()
}

#[test]
fn a_full_document_makes_a_page_with_every_figure_and_every_claim() {
    let bench = full();
    let files = xml_files(&bench, None);
    let data = Data::new(&bench);
    let drawn = figures::all(&data);
    assert_eq!(files.len(), 1 + drawn.len());
    for (name, text) in &files {
        parse(text);
        assert!(
            !text.contains("NaN") && !text.contains("inf\u{d7}"),
            "{name}"
        );
    }
    let text = page_of(&bench);
    let page = parse(&text);
    let ids: Vec<&str> = page
        .descendants()
        .filter_map(|n| n.attribute("id"))
        .collect();
    for (i, id) in ids.iter().enumerate() {
        assert!(!ids[..i].contains(id), "{id} is there twice");
    }
    for drawn in &drawn {
        assert!(ids.contains(&drawn.figure.id), "{}", drawn.figure.id);
        for panel in &drawn.figure.panels {
            assert!(
                !panel.marks.0.contains("not measured"),
                "{}: {}",
                drawn.figure.id,
                panel.title
            );
        }
    }
    let told = words(page.root());
    for said in [
        "0123abc",
        "2026-01-31",
        "a made-up GPU",
        "ptx-of-the-sample",
        "SAMPLE",
    ] {
        assert!(told.contains(said), "{said}");
    }
    let claims = claims::all(&bench);
    for claim in &claims {
        assert!(ids.contains(&claim.id), "{}", claim.id);
        assert!(
            told.contains(claim.rule) && told.contains(&claim.at_papers_shape),
            "{}",
            claim.id
        );
    }
    assert!(told.contains(page::TITLE));
}

#[test]
fn every_series_of_a_panel_has_a_look_of_its_own() {
    let bench = full();
    for drawn in figures::all(&Data::new(&bench)) {
        let looks = drawn
            .figure
            .legend
            .iter()
            .map(|key| format!("{:?}", key.sample));
        let looks: Vec<String> = looks.collect();
        for (i, look) in looks.iter().enumerate() {
            // Bars have their names beside them.
            let again = looks[..i].contains(look) && !look.starts_with("Fill");
            assert!(
                !again,
                "{}: {}",
                drawn.figure.id, drawn.figure.legend[i].name
            );
        }
        for panel in &drawn.figure.panels {
            let drawn_in = |slot: &usize| {
                let colour = crate::report::palette::line(*slot).0.css();
                panel.marks.0.contains(&format!("stroke=\"{colour}\""))
            };
            let lines = (0..12).filter(drawn_in).count();
            assert!(lines <= 8, "{}: {lines}", drawn.figure.id);
        }
    }
}

#[test]
fn without_points_nothing_is_judged_drawn_or_said() {
    let bench = empty();
    for claim in claims::all(&bench) {
        assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.id);
        assert!(
            claim.verdict_here.is_none_or(|v| v == Verdict::Unknown),
            "{}",
            claim.id
        );
        assert!(
            !claim.at_papers_shape.contains('\u{d7}'),
            "{}",
            claim.at_papers_shape
        );
    }
    let data = Data::new(&bench);
    for target in super::targets::all(&data) {
        assert_eq!(target.verdict, Verdict::Unknown, "{}", target.what);
    }
    for drawn in figures::all(&data) {
        assert!(drawn.figure.legend.is_empty(), "{}", drawn.figure.id);
        assert_eq!(drawn.figure.about, ["Not measured."]);
        for panel in &drawn.figure.panels {
            assert!(
                panel.marks.0.contains("not measured"),
                "{}",
                drawn.figure.id
            );
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
    let data = Data::new(&bench);
    for claim in claims::all(&bench)
        .iter()
        .filter(|claim| claim.id != "A-N1")
    {
        assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.id);
    }
    for drawn in figures::all(&data) {
        assert_eq!(drawn.figure.about, ["Not measured."], "{}", drawn.figure.id);
    }
    let text = page_of(&bench);
    let page = parse(&text);
    let told = words(page.root());
    assert!(told.contains("the count is 5, not 6 <&>") && told.contains("With a wrong result"));
}

#[test]
fn points_without_a_time_say_why() {
    let mut bench = empty();
    let asked = crate::sync::document::Asked {
        part: "barrier".into(),
        implementation: "grid.sync".into(),
        blocks: 132,
        threads: 128,
        parameters: BTreeMap::new(),
    };
    let why = "nvcc was not found".to_owned();
    bench.points.push(Point::without_time(&asked, why.clone()));
    let text = page_of(&bench);
    let told = words(parse(&text).root());
    assert!(told.contains("1 of 1 points have no time"), "{told}");
    assert_eq!(
        told.matches(&why).count(),
        2,
        "in the table and among the peers"
    );
    assert!(told.contains("No peer was measured"));
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
    for claim in claims::all(&bench) {
        assert_eq!(claim.verdict, Verdict::Unknown, "{}", claim.id);
        assert!(claim.at_papers_shape.contains("CPU"), "{}", claim.id);
    }
    assert!(!figures::all(&Data::new(&bench))[0].figure.legend.is_empty());
    assert!(page_of(&bench).contains("Measured on a CPU"));
}

#[test]
fn quick_and_interrupted_runs_say_so() {
    let text = page_of(&full());
    assert!(!text.contains("A quick run") && !text.contains("interrupted"));
    let mut bench = full();
    (bench.head.quick, bench.head.complete, bench.head.commit) = (true, false, None);
    let text = page_of(&bench);
    for said in ["A quick run", "interrupted", "commit not recorded"] {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn hostile_texts_and_numbers_stay_text_and_numbers() {
    let hostile = "</style></svg><script>alert('x')</script>\u{0}\" onload=\"x & y";
    let mut bench = full();
    bench.head.command = hostile.into();
    bench.head.notes = vec![hostile.into()];
    bench.head.settings.insert(hostile.into(), hostile.into());
    for (i, point) in bench.points.iter_mut().enumerate() {
        match i % 9 {
            0 => point.implementation = hostile.into(),
            1 => point.ms = f64::MAX,
            2 => point.ms = f64::MIN_POSITIVE,
            3 => point.ms = -1.0,
            4 => point.per_s = 1e300,
            5 => (point.blocks, point.threads) = (u32::MAX, 0),
            6 => point.note = Some(hostile.into()),
            7 => (point.most, point.fewest) = (Some(u64::MAX), Some(0)),
            _ => {
                point.parameters.insert(hostile.into(), u64::MAX);
            }
        }
    }
    for (name, text) in xml_files(&bench, Some(hostile)) {
        for node in parse(&text).descendants() {
            assert_ne!(node.tag_name().name(), "script", "{name}");
            assert!(node.attribute("onload").is_none(), "{name}");
        }
    }
}

#[test]
fn the_claims_as_json_are_those_of_the_page() {
    let bench = full();
    let files = files(&bench, None).unwrap();
    let (_, text) = files
        .iter()
        .find(|(name, _)| name == claims::FILE_NAME)
        .unwrap();
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    let written = json["claims"].as_array().unwrap();
    let claims = claims::all(&bench);
    assert_eq!(written.len(), claims.len());
    for (written, claim) in written.iter().zip(&claims) {
        assert_eq!(written["id"], claim.id);
        assert_eq!(written["verdict"], claim.verdict.name());
        assert_eq!(written["paper"], claim.paper.name());
    }
    for source in Source::ALL {
        assert!(claims.iter().any(|claim| claim.paper == source));
    }
    assert_eq!(json["commit"], "0123abc");
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
        let error = Bench::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn the_command_reports_on_the_document_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let text = serde_json::to_string(&full()).unwrap();
    std::fs::write(folder.path().join("sync.json"), text).unwrap();
    assert!(crate::report::report(folder.path(), Some("Ours & theirs")).unwrap());
    let page = std::fs::read_to_string(folder.path().join(PAGE)).unwrap();
    assert!(page.contains("<h1>Ours &amp; theirs</h1>"));
    for name in [claims::FILE_NAME, "counter.svg", "sections.svg"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    std::fs::write(folder.path().join("paper.json"), "{}").unwrap();
    let error = crate::report::report(folder.path(), None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("sync.json") && error.contains("paper.json"),
        "{error}"
    );
}

/// The target about what begins with these words.
fn target(bench: &Bench, what: &str) -> super::targets::Target {
    let mut all = super::targets::all(&Data::new(bench)).into_iter();
    all.find(|target| target.what.starts_with(what)).unwrap()
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
    let mutex = target(&bench, "Default mutex");
    assert_eq!(mutex.word(), "reached in part", "{mutex:?}");
    faster(&mut bench, "default", 1.31);
    assert_eq!(target(&bench, "Default mutex").word(), "reached");
    faster(&mut bench, "default", 0.5);
    assert_eq!(target(&bench, "Default mutex").word(), "missed");

    assert_eq!(target(&bench, "Combining").word(), "missed");
    faster(&mut bench, "combining", 10.0);
    assert_eq!(target(&bench, "Combining").word(), "reached");
    assert_eq!(target(&bench, "Hash table").word(), "reached");
    assert!(target(&bench, "Hash table").figures.contains("stm:fast"));

    assert_eq!(target(&bench, "Sorted list").word(), "missed");
    faster(&mut bench, "stm:fast", 5.0);
    assert_eq!(target(&bench, "Sorted list").word(), "reached");

    assert_eq!(target(&bench, "Fairness").word(), "reached");
    let unfair = bench
        .points
        .iter_mut()
        .filter(|p| p.implementation == "default");
    for point in unfair {
        (point.most, point.fewest) = (Some(201), Some(100));
    }
    assert_eq!(target(&bench, "Fairness").word(), "missed");
}

#[test]
fn a_barrier_of_shorter_latency_reaches_its_target() {
    let mut bench = full();
    assert_eq!(target(&bench, "Default barrier").word(), "reached in part");
    faster(&mut bench, "counted", 1.3);
    let barrier = target(&bench, "Default barrier");
    assert_eq!(barrier.word(), "reached");
    assert!(
        barrier.figures.contains("1056 x 128, counted 0.77\u{d7}"),
        "{barrier:?}"
    );
    // A point with the default's name is the default, even if another kind is faster.
    let mut slow: Vec<_> = bench.points.clone();
    slow.retain(|p| p.implementation == "tree");
    for point in &mut slow {
        point.implementation = "default".into();
        point.per_s /= 2.0;
    }
    bench.points.extend(slow);
    assert_eq!(target(&bench, "Default barrier").word(), "missed");
    bench.points.retain(|p| p.implementation != "grid.sync");
    assert_eq!(target(&bench, "Default barrier").word(), "not measured");
}

#[test]
fn points_of_other_launches_are_not_called_missing() {
    let mut bench = empty();
    bench
        .points
        .push(sample::point("counter", "ticket", (2, 2), None, 1.0));
    for drawn in figures::all(&Data::new(&bench)) {
        let [about] = drawn.figure.about.as_slice() else {
            panic!("{:?}", drawn.figure.about);
        };
        let other = about.contains("with these launches");
        assert_eq!(
            other,
            drawn.part == "counter",
            "{}: {about}",
            drawn.figure.id
        );
        assert!(drawn.figure.legend.is_empty());
    }
}
