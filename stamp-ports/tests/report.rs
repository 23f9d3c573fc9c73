//! The command `stamp report`: what it writes, and one line for every folder
//! that it cannot report on.

mod common;

use common::{has, refused, right};
use stamp_ports::paper::document::Paper;
use stamp_ports::paper::pieces::Piece;
use stamp_ports::store::Document;
use std::fs;
use std::path::Path;

const SAMPLE: &str = include_str!("data/paper-sample.json");

fn report(folder: &Path) -> String {
    format!("report {}", folder.display())
}

#[test]
fn the_page_and_the_figures_are_written_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("paper.json"), SAMPLE).unwrap();
    for title in ["First", "Second"] {
        let out = right(&format!("{} --title {title}", report(folder.path())));
        has(&out, "report.html");
        let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
        has(&page, &format!("<h1>{title}</h1>"));
    }
    let expected = [
        "claims.json",
        "figure-2.svg",
        "figure-3.svg",
        "figure-4.svg",
        "figure-5.svg",
        "paper.json",
        "report.html",
    ];
    assert_eq!(names(&files(folder.path())), expected);
    let unchanged = fs::read_to_string(folder.path().join("paper.json")).unwrap();
    assert_eq!(unchanged, SAMPLE);
}

#[test]
fn what_is_no_document_is_refused_on_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("paper.json");
    let refused = |folder: &Path, parts: &str| {
        refused(&report(folder), parts);
        assert!(!folder.join("report.html").exists());
    };
    refused(
        folder.path(),
        "there is no | paper.json | stamp bench paper --out",
    );
    let none = folder.path().join("none");
    refused(&none, "there is no folder | stamp bench paper --out");
    let truncated = &SAMPLE.as_bytes()[..SAMPLE.len() / 2];
    for (bytes, part) in [
        (&b""[..], "not JSON"),
        (truncated, "not JSON"),
        (b"\xff\xfe\x00", "no text"),
        (b"[1, 2]", "no \"format\""),
        (b"{\"format\": \"stamp-paper/9\"}", "stamp-paper/9"),
        (b"{\"format\": \"stamp-paper/1\", \"quick\": 3}", "field"),
    ] {
        fs::write(&document, bytes).unwrap();
        refused(folder.path(), &format!("paper.json | {part}"));
    }
    refused(&document, "is a file | give the folder");
}

#[test]
fn pieces_of_two_builds_are_refused_with_both_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut paper = Paper::parse(SAMPLE).unwrap();
    (paper.head.commit, paper.head.ptx) = (Some("aaaa".into()), Some("1111".into()));
    paper.head.driver = Some("1.2".into());
    paper.pieces.push(Piece::new(&paper.head));
    let write = |paper: &Paper| {
        fs::write(folder.path().join("paper.json"), paper.to_text().unwrap()).unwrap();
    };
    write(&paper);
    right(&report(folder.path()));
    fs::remove_file(folder.path().join("report.html")).unwrap();
    let mut other = paper.clone();
    other.pieces.push(Piece::new(&paper.head));
    other.pieces[1].ptx = "2222".into();
    write(&other);
    refused(&report(folder.path()), "PTX | 1111 | 2222 | --fresh");
    assert!(!folder.path().join("report.html").exists());
}

/// The files of a folder with their texts.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn names(files: &[(String, String)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

/// A new measurement or another rule changes these files; then the prose around
/// the table of `docs/evaluation.md` has to be read again.
#[test]
fn the_committed_reports_are_what_the_program_makes_of_the_committed_documents() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (name, folder_of) in [
        ("paper.json", "report"),
        ("sync.json", "report/sync"),
        ("nw.json", "report/nw"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join(name);
        fs::copy(docs.join("results/h200").join(name), &document).unwrap();
        right(&report(folder.path()));
        fs::remove_file(document).unwrap();
        let (made, committed) = (files(folder.path()), files(&docs.join(folder_of)));
        assert_eq!(names(&made), names(&committed));
        for ((file, made), (_, committed)) in made.iter().zip(&committed) {
            assert!(
                made == committed,
                "docs/{folder_of}/{file} is not what `stamp report` writes of \
                 docs/results/h200/{name}"
            );
        }
    }
}
