//! The command `stamp report`: what it writes, and one line for every folder
//! that it cannot report on.
//!
//! The command `stamp report DIR --tables`: what it prints, writes and compares.

use crate::prelude::*;
use serde_json::{Value, json};
use stamp_ports::paper::document::Paper;
use stamp_ports::store::Document;
use std::fs;
use std::path::{Path, PathBuf};

const SAMPLE: &str = include_str!("../data/paper-sample.json");

/// The command on a folder with a document.
fn report(document: &str) -> Bench {
    let folder = Bench::new("report", Paper::FILE_NAME);
    folder.write(document);
    folder
}

/// The sample, of a commit and a driver.
fn sample() -> Paper {
    let mut paper = Paper::parse(SAMPLE).unwrap();
    let head = &mut paper.head;
    (head.commit, head.ptx) = (Some("aaaa".into()), Some("1111".into()));
    head.driver = Some("1.2".into());
    paper
}

/// Where the page of a folder is.
fn page_of(of: &Bench) -> PathBuf {
    of.folder().join("report/report.html")
}

#[test]
fn the_page_and_the_figures_are_written_and_nothing_else_is_left() {
    let report = report(SAMPLE);
    let elsewhere = report.folder().join("else/where");
    let out = format!("--out {}", elsewhere.display());
    let inside = report.folder().join("report");
    for (title, out, pages) in [
        ("First", "", &inside),
        ("Second", "", &inside),
        ("Third", &*out, &elsewhere),
    ] {
        let answer = right(&report.line(&format!("--title {title} {out}")));
        has(&answer, "report.html, 4 figures and claims.json");
        let made = files(pages);
        let figures = "figure-2.svg figure-3.svg figure-4.svg figure-5.svg";
        let expected = format!("claims.json {figures} report.html");
        assert_eq!(names(&made).join(" "), expected);
        has(&made.last().unwrap().1, &format!("<h1>{title}</h1>"));
    }
    let left = [("paper.json".into(), SAMPLE.into())];
    assert_eq!(files(&report.folder()), left);
}

#[test]
fn documents_of_one_measurement_make_one_page_and_others_none() {
    let report = report(&sample().to_text().unwrap());
    // Documents without points, with the same head but for a field.
    let others = |field: &str, value: &str| {
        let mut head = json!(sample().head);
        *head.pointer_mut(field).unwrap() = value.into();
        for name in ["sync", "nw"] {
            head["format"] = format!("stamp-{name}/1").into();
            head["points"] = json!([]);
            let path = report.folder().join(format!("{name}.json"));
            fs::write(path, head.to_string()).unwrap();
        }
    };
    for (field, value, parts) in [
        (
            "/device/name",
            "another",
            "paper.json is of | sync.json is of another, commit aaaa | on another device",
        ),
        ("/commit", "bbbb", "commit aaaa | commit bbbb"),
        ("/driver", "1.3", "another driver | 1.3 | stamp bench all"),
    ] {
        others(field, value);
        report.refused(&format!("=> {parts}"));
        assert!(!page_of(&report).exists());
    }
    others("/commit", "aaaa");
    right(&report.line(""));
    let text = fs::read_to_string(page_of(&report)).unwrap();
    for part in ["paper", "sync", "nw"] {
        let parts = format!("<a href=\"#{part}\"> | <article id=\"{part}\">");
        has(&text, &parts);
    }
    let said = text.matches("commit aaaa").count();
    assert_eq!(said, 1, "the head says it once");
}

#[test]
fn what_is_no_document_is_refused_on_one_line_and_nothing_is_written() {
    let report = report("");
    let (folder, document) = (report.folder(), report.path());
    for (bytes, part) in [
        (&b""[..], "not JSON"),
        (&SAMPLE.as_bytes()[..SAMPLE.len() / 2], "not JSON"),
        (b"\xff\xfe\x00", "no text"),
        (b"[1, 2]", "no \"format\""),
        (b"{\"format\": \"stamp-paper/9\"}", "stamp-paper/9"),
        (b"{\"format\": \"stamp-paper/1\", \"quick\": 3}", "field"),
    ] {
        fs::write(&document, bytes).unwrap();
        refused(&report.line(""), &format!("paper.json | {part}"));
    }
    let line = |path: &Path| format!("report {}", path.display());
    refused(&line(&document), "is a file | give the folder");
    fs::remove_file(&document).unwrap();
    refused(
        &line(&folder),
        "there is no | paper.json | stamp bench all --out",
    );
    let none = folder.join("none");
    refused(&line(&none), "there is no folder | stamp bench all --out");
    assert!(!folder.join("report").exists() && !none.exists());
}

#[test]
fn pieces_of_two_builds_are_refused_with_both_named() {
    let mut paper: Value = serde_json::from_str(&sample().to_text().unwrap()).unwrap();
    let piece = json!({"started": "", "seconds": 0.0, "command": "", "commit": "aaaa",
        "ptx": "1111", "driver": "1.2", "units": []});
    paper["pieces"] = json!([piece, piece]);
    right(&report(&paper.to_string()).line(""));
    paper["pieces"][1]["ptx"] = "2222".into();
    let report = report(&paper.to_string());
    report.refused("=> PTX | 1111 | 2222 | --fresh");
    assert!(!page_of(&report).exists());
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
/// the table of `docs/evaluation.md` has to be read again. Of the figures, all of which the page
/// has, only the README's is committed by itself.
#[test]
fn the_committed_page_is_what_the_program_makes_of_the_committed_documents() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display();
    right(&format!("report {}/h100 --out {out}", results()));
    let committed = Path::new(&results()).join("../report");
    let (made, committed) = (files(folder.path()), files(&committed));
    let expected = ["claims.json", "contention.svg", "report.html"];
    assert_eq!(names(&committed), expected);
    for (file, committed) in &committed {
        assert!(
            made.contains(&(file.clone(), committed.clone())),
            "docs/report/{file} is not what `stamp report` writes of docs/results/h100"
        );
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
    assert!(printed.contains("<!-- table: speedups -->\n*NVIDIA H100"));
}

#[test]
fn a_document_is_compared_and_put_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.md");
    let write = format!("report {} --tables {}", results(), path.display());
    let check = format!("{write} --check");
    let empty = "# Page\n\n<!-- table: fast-rates -->\n<!-- end -->\n\nMore.\n";
    fs::write(&path, empty).unwrap();
    has(&ended(1, &check).0, "page.md:4: table `fast-rates`");
    assert_eq!(fs::read_to_string(&path).unwrap(), empty);

    right(&write);
    let made = fs::read_to_string(&path).unwrap();
    let row = made.lines().find(|line| line.starts_with("| RA | "));
    let row = row.unwrap_or_else(|| panic!("{made}"));
    assert!(made.starts_with("# Page\n") && made.ends_with("<!-- end -->\n\nMore.\n"));
    assert_eq!(right(&check), "");

    let changed = |from: &str, to: &str| fs::write(&path, made.replace(from, to)).unwrap();
    changed(row, &row.replacen("| RA | ", "| RA | 1", 1));
    ended(1, &check);
    changed(", commit ", ", commit 0");
    ended(1, &check);
    changed("<!-- end -->", "");
    let (_, errors) = ended(2, &check);
    has(
        &errors,
        "page.md:3: table `fast-rates` has no `<!-- end -->`",
    );
}
