//! `stamp bench paper`: what it measures, that it goes on after an interruption,
//! and what it refuses.

mod common;

use common::{Bench, refused, words};
use stamp_ports::paper::document::{Breakdown, Paper};
use stamp_ports::store::Document;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::WORKLOADS;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The variants that are measured.
const VARIANTS: usize = 9;

/// The quick form, in a folder of its own.
fn quick() -> Bench {
    Bench::new("bench paper --quick --out", Paper::FILE_NAME)
}

/// Runs it with options more: the lines on standard error.
#[track_caller]
fn lines(bench: &Bench, status: i32, more: &str) -> Vec<String> {
    let (_, errors) = bench.ended(status, more);
    errors.lines().map(String::from).collect()
}

fn paper(bench: &Bench) -> Paper {
    Paper::parse(&bench.text()).expect("a document")
}

#[test]
#[ignore = "takes half a minute: `cargo xtask ci --all` runs it"]
fn the_quick_run_measures_and_verifies_everything() {
    let bench = quick();
    let lines = lines(&bench, 0, "");
    let paper = paper(&bench);
    assert!(paper.head.complete && paper.head.quick);
    let workloads = WORKLOADS.len();
    assert_eq!(AskedVariant::all().len(), VARIANTS);
    assert_eq!(paper.speedups.len(), workloads * VARIANTS);
    for s in &paper.speedups {
        let launch = (s.blocks, s.threads);
        let searched = paper.search.iter().any(|t| {
            (&t.workload, &t.variant, (t.blocks, t.threads)) == (&s.workload, &s.resolved, launch)
        });
        let right = s.verified && s.error.is_none();
        let counted = s.commits > 0 && s.metadata_bytes > 0 && s.launches > 0 && s.tried > 0;
        let rates = s.tx_per_s_min <= s.tx_per_s && s.tx_per_s <= s.tx_per_s_max;
        let ratio = s.over_cgl.is_some_and(|ratio| ratio > 0.0);
        assert!(searched && right && counted && rates && ratio, "{s:?}");
    }
    let sections = "ra ht bank eigenbench genome/gn1 genome/gn2 kmeans queue";
    for workload in sections.split(' ') {
        let mut all = paper.critical_sections.iter();
        let section = all.find(|s| s.workload == workload).expect(workload);
        assert!(section.counts() && section.tried > 0, "{section:?}");
        let of = paper.speedups.iter().filter(|s| s.workload == workload);
        for s in of {
            let ratio = s.over_critical_section.expect("a ratio");
            assert!((ratio * section.tx_per_s / s.tx_per_s - 1.0).abs() < 1e-9);
        }
    }
    assert!(paper.threads.len() >= workloads * (VARIANTS - 1) * 2);
    assert!(paper.eigenbench.len() >= 8);
    for (workload, reads) in [("ra", 16.0), ("kmeans", 8.0)] {
        let mut all = paper.characteristics.iter();
        let row = all.find(|c| c.workload == workload).expect(workload);
        assert!(
            row.reads_per_tx.is_some_and(|n| (n - reads).abs() < 1e-9),
            "{row:?}"
        );
    }
    let mut names = paper.characteristics.iter().map(|c| &c.workload);
    assert!(
        ["genome/gn1", "genome/gn2"]
            .iter()
            .all(|gn| names.any(|name| name == gn))
    );
    // One line a point, with the time left in all but the last.
    let last = lines.len() - 1;
    assert!(
        (0..=last).all(|i| lines[i].contains(" left") == (i < last)),
        "{lines:?}"
    );
    assert_eq!(fs::read_dir(bench.folder()).expect("a folder").count(), 1);
}

#[test]
fn a_second_command_adds_to_the_document_and_keeps_what_is_there() {
    let bench = quick();
    let part = "--workload ra --only fig2";
    lines(&bench, 0, part);
    let first = paper(&bench);
    assert_eq!((first.speedups.len(), first.threads.len()), (VARIANTS, 0));
    assert!(!first.head.complete);
    assert_eq!(lines(&bench, 0, part), [""; 0]);
    let answer = lines(&bench, 0, "--workload ra --only fig3");
    let second = paper(&bench);
    assert_eq!(second.speedups, first.speedups);
    assert_eq!(second.search, first.search);
    assert_eq!(second.head.started, first.head.started);
    assert_eq!(second.threads.len(), answer.len());
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
    let bench = quick();
    let part = "--workload ra,ht --only fig2";
    let mut child = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(words(&bench.line(part)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("stamp starts");
    let began = Instant::now();
    let points = || {
        let text = fs::read_to_string(bench.path()).ok()?;
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
    let before = paper(&bench);
    let whole = before.speedups.len() == 2 * VARIANTS && !before.critical_sections.is_empty();
    assert!(!whole, "it was killed too late");
    assert_eq!(units(&before), [(0, "fig2 ra".to_owned())]);
    assert_eq!(lines(&bench, 0, part).len(), VARIANTS + 1);
    let after = paper(&bench);
    let expected = [(0, "fig2 ra".to_owned()), (1, "fig2 ht".to_owned())];
    assert_eq!(units(&after), expected);
    assert_eq!(after.speedups.len(), 2 * VARIANTS);
    assert_eq!(after.speedups[..VARIANTS], before.speedups[..VARIANTS]);
    assert!(after.head.seconds > before.head.seconds);
    // What was lost left nothing behind; each was measured once.
    let measured = after.speedups.iter().map(|s| (&s.workload, &s.variant));
    let searched = after.search.iter().map(|t| (&t.workload, &t.variant));
    for of in measured.clone() {
        assert_eq!(measured.clone().filter(|other| *other == of).count(), 1);
        assert!(searched.clone().filter(|other| *other == of).count() <= 4);
    }
}

#[test]
fn a_piece_ends_after_its_time_and_the_next_goes_on() {
    let bench = quick();
    let part = "--workload ra,ht --only fig5,table1";
    assert_eq!(lines(&bench, 0, &format!("{part} --for 0")), [""; 0]);
    assert_eq!(units(&paper(&bench)), []);
    lines(&bench, 0, &format!("{part} --for 600"));
    let found = paper(&bench);
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
    let bench = quick();
    let part = "--workload ht --only table1";
    lines(&bench, 0, part);
    let whole = paper(&bench);
    let cases: [(Change, &str); 5] = [
        (|p| p.head.ptx = Some("77".into()), "other kernels | 77"),
        (
            |p| p.head.driver = Some("580".into()),
            "another driver: 580, not none",
        ),
        (
            |p| p.head.device.name = "GPU X".into(),
            "another device | GPU X",
        ),
        (
            |p| drop(p.head.settings.insert("program".into(), "5".into())),
            "another build of the program",
        ),
        (|p| p.pieces[0].commit = "77".into(), "the piece of | 77"),
    ];
    for (change, parts) in cases {
        let mut other = whole.clone();
        change(&mut other);
        bench.write(&other.to_text().expect("text"));
        bench.refused(&format!("{part} => {parts} | --fresh"));
    }
    // Other settings are refused by name until a fresh start.
    bench.write(&whole.to_text().expect("text"));
    let other = format!("{part} --seed 2");
    bench.refused(&format!("{other} => --seed | \"1\", not \"2\" | --fresh"));
    lines(&bench, 0, &format!("{other} --fresh"));
    assert_eq!(paper(&bench).head.seed, 2);
}

#[test]
fn a_file_that_is_no_document_is_left_alone() {
    let bench = quick();
    for bad in ["", "{\"format\": \"stamp-paper/9\"}", "\u{1}\u{2}"] {
        bench.write(bad);
        refused(&bench.line(""), &format!("{} | --fresh", Paper::FILE_NAME));
        assert_eq!(bench.text(), bad);
    }
}

#[test]
fn a_failed_measurement_is_made_again_if_that_is_asked_for() {
    let bench = quick();
    let part = "--workload ra --only fig2";
    lines(&bench, 0, part);
    let mut spoilt = paper(&bench);
    spoilt.speedups[3].verified = false;
    spoilt.speedups[3].error = Some("spoilt".into());
    bench.write(&spoilt.to_text().expect("text"));
    // It is a result, until somebody asks for another one.
    assert_eq!(lines(&bench, 1, part), [""; 0]);
    let retried = lines(&bench, 0, &format!("{part} --retry"));
    assert_eq!(retried.len(), VARIANTS + 1, "{retried:?}");
    let mended = paper(&bench);
    assert_eq!(mended.speedups.len(), VARIANTS);
    assert!(mended.speedups.iter().all(|s| s.verified));
}
