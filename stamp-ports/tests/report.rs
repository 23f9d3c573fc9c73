//! The command `stamp report`: what it writes, and one line for every folder
//! that it cannot report on.
//!
//! The command `stamp report DIR --tables`: what it prints, writes and compares.

mod common;

use common::{ended, has, refused, refused_rows, right};
use stamp_ports::paper::document::Paper;
use stamp_ports::paper::plan::Piece;
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
    for (machine, name, folder_of) in [
        ("h200", "paper.json", "report"),
        ("h200", "sync.json", "report/sync"),
        ("h100", "nw.json", "report/nw"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join(name);
        let results = docs.join("results").join(machine);
        fs::copy(results.join(name), &document).unwrap();
        right(&report(folder.path()));
        fs::remove_file(document).unwrap();
        let (made, committed) = (files(folder.path()), files(&docs.join(folder_of)));
        assert_eq!(names(&made), names(&committed));
        for ((file, made), (_, committed)) in made.iter().zip(&committed) {
            assert!(
                made == committed,
                "docs/{folder_of}/{file} is not what `stamp report` writes of \
                 docs/results/{machine}/{name}"
            );
        }
    }
}

/// The results of this repository.
fn results() -> String {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let results = manifest.parent().unwrap().join("docs/results");
    results.to_str().unwrap().to_owned()
}

#[test]
fn the_tables_are_printed_each_between_its_markers() {
    let printed = right(&format!("report {} --tables", results()));
    let opened = printed.matches("<!-- table: ").count();
    assert!(opened > 10, "{printed}");
    assert_eq!(printed.matches("<!-- end -->").count(), opened);
    assert!(printed.contains("<!-- table: speedups -->\n*NVIDIA H200, 2026-11-21, commit "));
}

#[test]
fn a_document_is_compared_and_put_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.md");
    let write = format!("report {} --tables {}", results(), path.display());
    let check = format!("{write} --check");
    let empty = "# Page\n\n<!-- table: jit -->\n<!-- end -->\n\nMore.\n";
    fs::write(&path, empty).unwrap();
    has(&ended(1, &check).0, "page.md:4: table `jit`");
    assert_eq!(fs::read_to_string(&path).unwrap(), empty);

    right(&write);
    let made = fs::read_to_string(&path).unwrap();
    assert!(made.contains("| RA | 212 | 1,309 | 1,063 |"), "{made}");
    assert!(made.starts_with("# Page\n") && made.ends_with("<!-- end -->\n\nMore.\n"));
    assert_eq!(right(&check), "");

    let changed = |from: &str, to: &str| fs::write(&path, made.replace(from, to)).unwrap();
    changed("| 212 |", "| 211 |");
    ended(1, &check);
    changed("commit 2f54e7e", "commit 2f54e7f");
    ended(1, &check);
    changed("<!-- end -->", "");
    let (_, errors) = ended(2, &check);
    has(&errors, "page.md:3: table `jit` has no `<!-- end -->`");
}

#[test]
fn what_cannot_be_done_is_refused_on_one_line() {
    refused_rows(
        "report nowhere --tables => cannot read nowhere/h200/paper.json
         report nowhere README.md => --tables
         report nowhere --tables --check => FILE
         report nowhere --tables --title T => --title",
    );
}
