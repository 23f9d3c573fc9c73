//! The whole report, from documents that are made up: what must be in it, and that it makes
//! nothing up.

use super::claims::{self, Source};
use super::data::{Data, PARTS};
use super::{figures, files, page};
use crate::devices::{Description, Gpu};
use crate::measure::machine::document::{GridTimes, Measurement, SCHEMA};
use crate::report::PAGE;
use crate::report::claims::Verdict;
use crate::sync::bench::{Bench, FORMAT};
use crate::sync::document::Point;
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;
use stm_core::host::machine::{Benchmarks, Column, Pair};

/// A point with a time, which is right.
pub(super) fn point(
    part: &str,
    kind: &str,
    (blocks, threads): (u32, u32),
    parameter: Option<(&str, u64)>,
    ms: f64,
) -> Point {
    let parameters = parameter.map(|(name, value)| (name.to_owned(), value));
    Point {
        part: part.into(),
        implementation: kind.into(),
        blocks,
        threads,
        parameters: parameters.into_iter().collect(),
        operations: 32_768,
        repeat: 5,
        ms,
        ms_min: 0.9 * ms,
        ms_max: 1.1 * ms,
        per_s: 32_768.0 / ms * 1e3,
        most: None,
        fewest: None,
        verified: true,
        note: None,
    }
}

/// A document without points, of a GPU with 132 multiprocessors.
pub(super) fn empty() -> Bench {
    Bench {
        format: FORMAT.into(),
        version: "0.1.0".into(),
        commit: Some("0123abc".into()),
        command: "stamp bench sync --out sample".into(),
        quick: false,
        seed: 1,
        started: "2026-01-31T12:00:00Z".into(),
        seconds: 300.0,
        complete: true,
        device: Description {
            id: "cuda:0".into(),
            name: "a made-up GPU".into(),
            processors: 132,
            warp_width: 32,
            threads_max: 1024,
            blocks_max: 1 << 30,
            shared_bytes_max: 1 << 16,
            available_bytes: 1 << 36,
            gpu: Some(Gpu {
                compute_capability: "9.0".into(),
                driver_cuda_version: "13.0".into(),
                memory_bytes: 1 << 37,
                l2_bytes: 50 << 20,
                resident_threads_per_processor: 2048,
            }),
        },
        settings: BTreeMap::from([("ptx".into(), "ptx-of-the-sample".into())]),
        notes: vec!["SAMPLE: made up, none of it was measured.".into()],
        points: Vec::new(),
        machine: None,
    }
}

/// How slow a kind is, made up: its place in this list.
const KINDS: [&str; 16] = [
    "none",
    "added",
    "lock-free",
    "combining",
    "stm:fast",
    "mcs",
    "anderson",
    "ticket",
    "ticket-handoff",
    "fetch-add",
    "cohort",
    "ring",
    "stm:hv-sorting",
    "ttas",
    "tas-backoff",
    "tas",
];

fn slow(kind: &str) -> f64 {
    let plain = super::looks::plain(kind).trim_end_matches('2');
    let found = KINDS.iter().position(|k| *k == plain);
    1.0 + found.unwrap_or(4) as f64 / 4.0
}

/// A document with all points that the report asks for, made up.
pub(super) fn full() -> Bench {
    let mut bench = empty();
    let all = &mut bench.points;
    let sizes = [32, 64, 128, 256, 384, 512, 1024];
    for kind in [
        "tas/lane",
        "ttas/lane",
        "ticket",
        "mcs/lane",
        "combining",
        "added",
        "stm:fast",
        "stm:hv-sorting",
        "tas",
        "mcs",
        "ticket-handoff",
        "cohort",
        "tas-backoff",
        "fetch-add",
        "ring",
    ] {
        all.push(point("counter", kind, (1, 1), None, 2.0));
        for blocks in [1, 8, 16, 32, 66, 132, 264] {
            for threads in sizes {
                let ms = slow(kind) * f64::from(blocks * threads).sqrt() / 10.0;
                all.push(point("counter", kind, (blocks, threads), None, ms));
            }
        }
        for blocks in [30, 132, 1056] {
            for buckets in [16, 32, 64, 256] {
                let ms = slow(kind) * 1e4 / (buckets as f64);
                all.push(point(
                    "table",
                    kind,
                    (blocks, 256),
                    Some(("buckets", buckets)),
                    ms,
                ));
            }
        }
    }
    for blocks in [30, 132, 1056] {
        for buckets in [16, 32, 64, 256] {
            let ms = 2e3 / (buckets as f64);
            all.push(point(
                "table",
                "lock-free",
                (blocks, 256),
                Some(("buckets", buckets)),
                ms,
            ));
        }
    }
    list(all);
    operations(all);
    sections(all);
    bench.machine = Some(machine());
    bench
}

fn list(all: &mut Vec<Point>) {
    let coarse = [
        "coarse:tas/lane",
        "coarse:ttas/lane",
        "coarse:ticket",
        "coarse:mcs/lane",
    ];
    for blocks in [30, 132] {
        for entries in [16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096] {
            let parameter = Some(("entry-points", entries));
            let ms = 1e4 / (entries as f64);
            for kind in [
                "coupled:tas",
                "coupled:ttas",
                "coupled:ticket",
                "coupled:mcs2",
                "stm:fast",
                "stm:hv-sorting",
                "coarse:ttas",
            ] {
                let ms = slow(kind) * ms;
                all.push(point("list", kind, (blocks, 128), parameter, ms));
            }
            for kind in coarse {
                let widths = if entries <= 128 {
                    &[32, 64, 128, 256, 512, 1024][..]
                } else {
                    &[128]
                };
                for threads in widths {
                    let ms = slow(kind) * ms * (1.0 + 32.0 / f64::from(*threads));
                    all.push(point("list", kind, (blocks, *threads), parameter, ms));
                }
            }
        }
    }
}

fn operations(all: &mut Vec<Point>) {
    let blocks = [1, 8, 32, 64, 128, 132, 240, 264, 512, 528, 1056, 2112];
    for n in blocks {
        for kind in [
            "two-stage",
            "xiao-feng",
            "tree",
            "counted",
            "counted-8",
            "led",
            "grid.sync",
        ] {
            all.push(point(
                "barrier",
                kind,
                (n, 128),
                None,
                1.0 + slow(kind) * f64::from(n),
            ));
        }
        for kind in [
            "tas",
            "tas-backoff",
            "fetch-add",
            "ring",
            "ticket",
            "mcs",
            "anderson",
            "reserving-16",
            "combining",
            "default",
            "cuda::binary_semaphore",
        ] {
            let mut point = point("mutex", kind, (n, 128), None, slow(kind));
            (point.most, point.fewest) = (Some(200), Some(if kind == "tas" { 50 } else { 199 }));
            all.push(point);
        }
        for count in [1, 2, 10, 120] {
            for kind in [
                "spin",
                "spin-backoff",
                "sleeping",
                "tickets",
                "cuda::counting_semaphore",
            ] {
                let ms = slow(kind) * f64::from(n) / (count as f64);
                all.push(point(
                    "semaphore",
                    kind,
                    (n, 128),
                    Some(("count", count)),
                    ms,
                ));
            }
        }
    }
}

fn sections(all: &mut Vec<Point>) {
    for n in [512, 132] {
        for rounds in [0, 100, 100_000] {
            for kind in [
                "none",
                "tas",
                "tas-again",
                "spin-spin",
                "ticket",
                "anderson",
                "mcs",
                "combining",
                "stm:fast",
            ] {
                let ms = slow(kind) * (1.0 + rounds as f64);
                let mut point = point("sections", kind, (n, 1024), Some(("rounds", rounds)), ms);
                if kind == "none" {
                    point.note = Some("n = 138999, where sections in order make 131328".into());
                }
                all.push(point);
            }
        }
    }
}

/// Fermi's times of Table 1, as if they were ours.
fn machine() -> Measurement {
    let pair = |contended, uncontended| Pair {
        contended,
        uncontended,
    };
    let grid = |blocks| GridTimes {
        why: "made up".into(),
        threads: 32,
        accesses: 1000,
        times_ns: Benchmarks {
            blocks,
            reads: Column {
                volatile: pair(0.494, 0.043),
                atomic: pair(1.479, 0.437),
                after_atomic: pair(1.473, 0.125),
            },
            writes: Column {
                volatile: pair(0.175, 0.029),
                atomic: pair(1.470, 0.312),
                after_atomic: pair(0.824, 0.050),
            },
        },
    };
    Measurement {
        schema: SCHEMA,
        version: "0.1.0".into(),
        device: "cuda:0".into(),
        name: "a made-up GPU".into(),
        driver: "13.0".into(),
        unix_time: 0,
        seconds: 1.0,
        sizes: "made up".into(),
        grids: vec![grid(128), grid(1056)],
        rates: Vec::new(),
        barriers: Vec::new(),
        semaphores: Vec::new(),
        mutexes: Vec::new(),
    }
}

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
            let again = looks[..i].contains(look) && drawn.figure.id != "sections";
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
    bench.device.gpu = None;
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
    (bench.quick, bench.complete, bench.commit) = (true, false, None);
    let text = page_of(&bench);
    for said in ["A quick run", "interrupted", "commit not recorded"] {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn hostile_texts_and_numbers_stay_text_and_numbers() {
    let hostile = "</style></svg><script>alert('x')</script>\u{0}\" onload=\"x & y";
    let mut bench = full();
    bench.command = hostile.into();
    bench.notes = vec![hostile.into()];
    bench.settings.insert(hostile.into(), hostile.into());
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
        ("{}", "format is none"),
        (r#"{"format":"stamp-paper/1"}"#, "stamp-paper/1"),
        (r#"{"format":"stamp-sync/1"}"#, "field"),
    ] {
        let error = Bench::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
