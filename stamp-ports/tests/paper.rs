//! `stamp bench paper`: what it measures, that it goes on after an interruption,
//! and what it refuses.

use stamp_ports::paper::document::{Breakdown, Paper};
use stamp_ports::store::Document;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::WORKLOADS;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The variants that are measured.
const VARIANTS: usize = 9;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs the quick form in a folder with these options more: its status, and
/// the lines on standard error.
fn quick(folder: &Path, more: &[&str]) -> (Option<i32>, Vec<String>) {
    let out = folder.to_str().expect("a path");
    let output = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["bench", "paper", "--quick", "--out", out])
        .args(more)
        .output()
        .expect("stamp starts");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    let lines = errors.lines().map(String::from).collect();
    (output.status.code(), lines)
}

fn paper(folder: &Path) -> Paper {
    let text = fs::read_to_string(folder.join(Paper::FILE_NAME)).expect("the document");
    Paper::parse(&text).expect("a document")
}

#[test]
#[ignore = "takes half a minute: `cargo xtask ci --all` runs it"]
fn the_quick_run_measures_and_verifies_everything() {
    let folder = folder();
    let (status, lines) = quick(folder.path(), &[]);
    assert_eq!(status, Some(0), "{lines:?}");
    let paper = paper(folder.path());
    assert!(paper.head.complete && paper.head.quick);
    let (workloads, variants) = (WORKLOADS.len(), AskedVariant::all().len());
    assert_eq!(variants, VARIANTS);
    assert_eq!(paper.speedups.len(), workloads * variants);
    for s in &paper.speedups {
        assert!(s.verified && s.error.is_none(), "{s:?}");
        assert!(
            s.commits > 0 && s.metadata_bytes > 0 && s.launches > 0,
            "{s:?}"
        );
        assert!(
            s.tx_per_s_min <= s.tx_per_s && s.tx_per_s <= s.tx_per_s_max,
            "{s:?}"
        );
        assert!(s.over_cgl.is_some_and(|ratio| ratio > 0.0), "{s:?}");
        let searched = paper.search.iter().any(|t| {
            (&t.workload, &t.variant) == (&s.workload, &s.resolved)
                && (t.blocks, t.threads) == (s.blocks, s.threads)
        });
        assert!(searched && s.tried > 0, "{s:?}");
    }
    for workload in [
        "ra",
        "ht",
        "bank",
        "eigenbench",
        "genome/gn1",
        "genome/gn2",
        "kmeans",
        "queue",
    ] {
        let mut all = paper.critical_sections.iter();
        let section = all.find(|s| s.workload == workload).expect(workload);
        assert!(section.counts() && section.tried > 0, "{section:?}");
        let of = paper.speedups.iter().filter(|s| s.workload == workload);
        for s in of {
            let ratio = s.over_critical_section.expect("a ratio");
            assert!((ratio * section.tx_per_s / s.tx_per_s - 1.0).abs() < 1e-9);
        }
    }
    assert!(paper.threads.len() >= workloads * (variants - 1) * 2);
    assert!(paper.eigenbench.len() >= 8);
    let reads = |workload: &str| {
        let row = paper
            .characteristics
            .iter()
            .find(|c| c.workload == workload);
        row.and_then(|c| c.reads_per_tx).expect("a count of reads")
    };
    assert!((reads("ra") - 16.0).abs() < 1e-9);
    assert!((reads("kmeans") - 8.0).abs() < 1e-9);
    let genome: Vec<_> = paper
        .characteristics
        .iter()
        .filter(|c| c.workload.starts_with("genome/gn"))
        .collect();
    assert_eq!(genome.len(), 2, "GN-1 and GN-2");
    // One line a point, with the time left in all but the last.
    let (last, before) = lines.split_last().expect("lines");
    assert!(
        before.iter().all(|line| line.contains(" left")),
        "{before:?}"
    );
    assert!(!last.contains(" left"), "{last}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_second_command_adds_to_the_document_and_keeps_what_is_there() {
    let folder = folder();
    let part = ["--workload", "ra", "--only", "fig2"];
    assert_eq!(quick(folder.path(), &part).0, Some(0));
    let first = paper(folder.path());
    assert_eq!((first.speedups.len(), first.threads.len()), (VARIANTS, 0));
    assert!(!first.head.complete);
    let (status, lines) = quick(folder.path(), &part);
    assert_eq!((status, lines.len()), (Some(0), 0), "{lines:?}");
    let (status, lines) = quick(folder.path(), &["--workload", "ra", "--only", "fig3"]);
    assert_eq!(status, Some(0));
    let second = paper(folder.path());
    assert_eq!(second.speedups, first.speedups);
    assert_eq!(second.search, first.search);
    assert_eq!(second.head.started, first.head.started);
    assert_eq!(second.threads.len(), lines.len());
    assert!(!second.threads.is_empty());
}

/// The units of a document, each with the number of its piece.
fn units(paper: &Paper) -> Vec<(usize, String)> {
    let pieces = paper.pieces.iter().enumerate();
    let units = pieces.flat_map(|(i, piece)| piece.units.iter().map(move |unit| (i, unit.clone())));
    units.collect()
}

#[test]
fn a_killed_run_loses_a_unit_which_is_measured_again_whole() {
    let folder = folder();
    let path = folder.path().join(Paper::FILE_NAME);
    let part = ["--workload", "ra,ht", "--only", "fig2"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["bench", "paper", "--quick", "--out"])
        .arg(folder.path())
        .args(part)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("stamp starts");
    let began = Instant::now();
    let points = || {
        let text = fs::read_to_string(&path).ok()?;
        let paper = Paper::parse(&text).expect("whole at any time");
        Some(paper.speedups.len())
    };
    // Within the unit of ht, after that of ra.
    while points().is_none_or(|n| n < VARIANTS + 2) {
        assert!(began.elapsed() < Duration::from_mins(2), "no point in time");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it ran");
    child.wait().expect("it ended");
    let before = paper(folder.path());
    let whole = before.speedups.len() == 2 * VARIANTS && !before.critical_sections.is_empty();
    assert!(!whole, "it was killed too late");
    assert_eq!(units(&before), [(0, "fig2 ra".to_owned())]);
    let (status, lines) = quick(folder.path(), &part);
    assert_eq!((status, lines.len()), (Some(0), VARIANTS + 1), "{lines:?}");
    let after = paper(folder.path());
    let expected = [(0, "fig2 ra".to_owned()), (1, "fig2 ht".to_owned())];
    assert_eq!(units(&after), expected);
    assert_eq!(after.speedups.len(), 2 * VARIANTS);
    assert_eq!(after.speedups[..VARIANTS], before.speedups[..VARIANTS]);
    assert!(after.head.seconds > before.head.seconds);
    // What was lost left nothing behind; each was measured once.
    for s in &after.speedups {
        let same = |t: &&stamp_ports::paper::document::Speedup| {
            (&t.workload, &t.variant) == (&s.workload, &s.variant)
        };
        assert_eq!(after.speedups.iter().filter(same).count(), 1);
        let searched = |t: &&stamp_ports::measure::tried::Tried| {
            (&t.workload, &t.variant) == (&s.workload, &s.variant)
        };
        assert!(after.search.iter().filter(searched).count() <= 4);
    }
}

#[test]
fn a_piece_ends_after_its_time_and_the_next_goes_on() {
    let folder = folder();
    let part = ["--workload", "ra,ht", "--only", "fig5,table1"];
    let none = [&part[..], &["--for", "0"]].concat();
    let (status, lines) = quick(folder.path(), &none);
    assert_eq!((status, lines.len()), (Some(0), 0), "{lines:?}");
    assert_eq!(units(&paper(folder.path())), []);
    let (status, _) = quick(folder.path(), &[&part[..], &["--for", "600"]].concat());
    assert_eq!(status, Some(0));
    let found = paper(folder.path());
    assert_eq!(found.pieces.len(), 1);
    assert_eq!(found.pieces[0].units.len(), 4, "{:?}", found.pieces);
    assert_eq!(Some(&found.pieces[0].ptx), found.head.ptx.as_ref());
    // A bar of a full launch and one of a thread alone.
    for workload in ["ra", "ht"] {
        let bars = found.breakdown.iter().filter(|b| b.workload == workload);
        let alone: Vec<bool> = bars.map(Breakdown::is_alone).collect();
        assert_eq!(alone.len(), 2, "{workload}");
        assert!(alone.contains(&true), "{workload}");
    }
    assert!(found.breakdown.iter().all(|b| b.transactions > Some(0)));
}

#[test]
fn a_document_of_another_build_or_driver_is_refused_with_the_reason() {
    type Change = fn(&mut Paper);
    let folder = folder();
    let part = ["--workload", "ht", "--only", "table1"];
    assert_eq!(quick(folder.path(), &part).0, Some(0));
    let whole = paper(folder.path());
    let path = folder.path().join(Paper::FILE_NAME);
    let cases: [(Change, &str); 5] = [
        (|p| p.head.ptx = Some("77".into()), "other kernels|77"),
        (
            |p| p.head.driver = Some("580".into()),
            "another driver: 580, not none",
        ),
        (
            |p| p.head.device.name = "GPU X".into(),
            "another device|GPU X",
        ),
        (
            |p| drop(p.head.settings.insert("program".into(), "5".into())),
            "another build of the program",
        ),
        (|p| p.pieces[0].commit = "77".into(), "the piece of|77"),
    ];
    for (change, parts) in cases {
        let mut other = whole.clone();
        change(&mut other);
        let text = other.to_text().expect("text");
        fs::write(&path, &text).expect("the document");
        let (status, lines) = quick(folder.path(), &part);
        assert_eq!((status, lines.len()), (Some(2), 1), "{lines:?}");
        for part in parts.split('|').chain(["--fresh"]) {
            assert!(lines[0].contains(part), "{lines:?} lacks {part}");
        }
        assert_eq!(fs::read_to_string(&path).expect("the document"), text);
    }
}

#[test]
fn other_settings_are_refused_by_name_until_a_fresh_start() {
    let folder = folder();
    let part = ["--workload", "ht", "--only", "table1"];
    assert_eq!(quick(folder.path(), &part).0, Some(0));
    let before = fs::read(folder.path().join(Paper::FILE_NAME)).expect("the document");
    let other = [&part[..], &["--seed", "2"]].concat();
    let (status, lines) = quick(folder.path(), &other);
    assert_eq!((status, lines.len()), (Some(2), 1), "{lines:?}");
    for part in ["--seed", "\"1\", not \"2\"", "--fresh"] {
        assert!(lines[0].contains(part), "{lines:?}");
    }
    let after = fs::read(folder.path().join(Paper::FILE_NAME)).expect("the document");
    assert_eq!(before, after);
    let fresh = [&other[..], &["--fresh"]].concat();
    assert_eq!(quick(folder.path(), &fresh).0, Some(0));
    assert_eq!(paper(folder.path()).head.seed, 2);
}

#[test]
fn a_file_that_is_no_document_is_left_alone() {
    let folder = folder();
    let path = folder.path().join(Paper::FILE_NAME);
    for bad in ["", "{\"format\": \"stamp-paper/9\"}", "\u{1}\u{2}"] {
        fs::write(&path, bad).expect("a file");
        let (status, lines) = quick(folder.path(), &[]);
        assert_eq!((status, lines.len()), (Some(2), 1), "{lines:?}");
        assert!(
            lines[0].contains(Paper::FILE_NAME) && lines[0].contains("--fresh"),
            "{lines:?}"
        );
        assert_eq!(fs::read_to_string(&path).expect("the file"), bad);
    }
}

#[test]
fn a_failed_measurement_is_made_again_if_that_is_asked_for() {
    let folder = folder();
    let part = ["--workload", "ra", "--only", "fig2"];
    assert_eq!(quick(folder.path(), &part).0, Some(0));
    let mut spoilt = paper(folder.path());
    spoilt.speedups[3].verified = false;
    spoilt.speedups[3].error = Some("spoilt".into());
    let path = folder.path().join(Paper::FILE_NAME);
    fs::write(&path, spoilt.to_text().expect("text")).expect("the document");
    // It is a result, until somebody asks for another one.
    let (status, lines) = quick(folder.path(), &part);
    assert_eq!((status, lines.len()), (Some(1), 0), "{lines:?}");
    let retried = [&part[..], &["--retry"]].concat();
    let (status, lines) = quick(folder.path(), &retried);
    assert_eq!((status, lines.len()), (Some(0), VARIANTS + 1), "{lines:?}");
    let mended = paper(folder.path());
    assert_eq!(mended.speedups.len(), VARIANTS);
    assert!(mended.speedups.iter().all(|s| s.verified));
}
