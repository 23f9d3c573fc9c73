//! `stamp bench paper`: what it measures, that it goes on after an interruption,
//! and what it refuses.

use stamp_ports::paper::document::{FILE_NAME, Paper};
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::WORKLOADS;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

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
    let text = fs::read_to_string(folder.join(FILE_NAME)).expect("the document");
    Paper::parse(&text).expect("a document")
}

#[test]
fn the_quick_run_measures_and_verifies_everything() {
    let folder = folder();
    let (status, lines) = quick(folder.path(), &[]);
    assert_eq!(status, Some(0), "{lines:?}");
    let paper = paper(folder.path());
    assert!(paper.head.complete && paper.head.quick);
    let (workloads, variants) = (WORKLOADS.len(), AskedVariant::of_paper().len());
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
    assert_eq!((first.speedups.len(), first.threads.len()), (7, 0));
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

#[test]
fn a_killed_run_loses_a_point_at_most() {
    let folder = folder();
    let path = folder.path().join(FILE_NAME);
    let mut child = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["bench", "paper", "--quick", "--workload", "ra,ht", "--out"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("stamp starts");
    let began = Instant::now();
    let points = || {
        let text = fs::read_to_string(&path).ok()?;
        Some(
            Paper::parse(&text)
                .expect("whole at any time")
                .speedups
                .len(),
        )
    };
    while points().is_none_or(|n| n < 2) {
        assert!(began.elapsed() < Duration::from_mins(2), "no point in time");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it ran");
    child.wait().expect("it ended");
    let before = paper(folder.path());
    let (status, _) = quick(folder.path(), &["--workload", "ra,ht"]);
    assert_eq!(status, Some(0));
    let after = paper(folder.path());
    assert_eq!(after.speedups.len(), 14);
    for (a, b) in before.speedups.iter().zip(&after.speedups) {
        assert_eq!((a.tx_per_s, a.commits), (b.tx_per_s, b.commits));
    }
    assert!(after.head.seconds > before.head.seconds);
    // The point that was lost left nothing behind; each was measured once.
    for s in &after.speedups {
        let same = |t: &&stamp_ports::paper::document::Speedup| {
            (&t.workload, &t.variant) == (&s.workload, &s.variant)
        };
        assert_eq!(after.speedups.iter().filter(same).count(), 1);
    }
}

#[test]
fn other_settings_are_refused_by_name_until_a_fresh_start() {
    let folder = folder();
    let part = ["--workload", "ht", "--only", "table1"];
    assert_eq!(quick(folder.path(), &part).0, Some(0));
    let before = fs::read(folder.path().join(FILE_NAME)).expect("the document");
    let other = [&part[..], &["--seed", "2"]].concat();
    let (status, lines) = quick(folder.path(), &other);
    assert_eq!((status, lines.len()), (Some(2), 1), "{lines:?}");
    for part in ["--seed", "\"1\", not \"2\"", "--fresh"] {
        assert!(lines[0].contains(part), "{lines:?}");
    }
    let after = fs::read(folder.path().join(FILE_NAME)).expect("the document");
    assert_eq!(before, after);
    let fresh = [&other[..], &["--fresh"]].concat();
    assert_eq!(quick(folder.path(), &fresh).0, Some(0));
    assert_eq!(paper(folder.path()).head.seed, 2);
}

#[test]
fn a_file_that_is_no_document_is_left_alone() {
    let folder = folder();
    let path = folder.path().join(FILE_NAME);
    for bad in ["", "{\"format\": \"stamp-paper/9\"}", "\u{1}\u{2}"] {
        fs::write(&path, bad).expect("a file");
        let (status, lines) = quick(folder.path(), &[]);
        assert_eq!((status, lines.len()), (Some(2), 1), "{lines:?}");
        assert!(
            lines[0].contains(FILE_NAME) && lines[0].contains("--fresh"),
            "{lines:?}"
        );
        assert_eq!(fs::read_to_string(&path).expect("the file"), bad);
    }
}

#[test]
fn a_failed_measurement_is_made_again() {
    let folder = folder();
    let part = ["--workload", "ra", "--only", "fig2"];
    assert_eq!(quick(folder.path(), &part).0, Some(0));
    let mut spoilt = paper(folder.path());
    spoilt.speedups[3].verified = false;
    spoilt.speedups[3].error = Some("spoilt".into());
    let path = folder.path().join(FILE_NAME);
    fs::write(&path, spoilt.to_text().expect("text")).expect("the document");
    let (status, lines) = quick(folder.path(), &part);
    assert_eq!((status, lines.len()), (Some(0), 1), "{lines:?}");
    let mended = paper(folder.path());
    assert_eq!(mended.speedups.len(), 7);
    assert!(mended.speedups.iter().all(|s| s.verified));
}
