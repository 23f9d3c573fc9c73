//! `stamp record`: exit status, one-line errors, histories that are kept and judged.
//!
//! `stamp isolation`: verdicts in a document of `stamp bench paper`, and what is refused.

mod common;

use common::{Bench, ended, has, objects};
use stamp_ports::devices::AnyDevice;
use stamp_ports::paper::document::Paper;
use stamp_ports::paper::plan::Section;
use stamp_ports::paper::run::{PaperSpec, paper};
use stamp_ports::store::{BenchSpec, Document};
use std::fs;
use std::path::Path;
use stm_core::algorithm::Variant;

#[test]
fn bad_input_gives_one_line_and_status_2() {
    // Some print a table before they fail.
    let rows = r#"
        record ra --transactions 0 => --transactions
        record ra --reads 4 --writes 16 => --writes 16
        record ra --locks 3 => 3 locks
        record ra --buffer-bytes 64 => needs
        record bank --words 4 => --words 4
        record all -n 9 => -n 9
        record kmeans -m 9 --points 4 => -m 9
        record labyrinth -i no-such-maze => no-such-maze
        record genome --buffer-bytes 100 => needs
        // Room for a few of the points of a pass, and never for all.
        record kmeans --buffer-bytes 100K => is full
        record rx => "rx": did you mean ra?
        record ra, => ""
        record ra --device gpu => "gpu"
        record ra --variant optimized => optimized is
        record ra --mutant no-e9 => "no-e9"
        record ra --mutant all => --device cuda
    "#;
    let rows = rows.lines().map(str::trim);
    for (arguments, part) in rows.filter_map(|row| row.split_once(" => ")) {
        let (_, error) = ended(2, arguments);
        has(&error, part);
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn recorded_histories_are_kept_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display();
    for workload in ["ra", "ht"] {
        let rows = objects(&format!(
            "record {workload} --variant all --transactions 4K --words 256 --buckets 64 \
             --out {out} --check --json"
        ));
        assert_eq!(rows.len(), Variant::ALL.len(), "{rows:?}");
        for row in rows {
            assert_eq!(row["transactions"], 4096, "{row}");
            assert_eq!(row["violations"], 0, "{row}");
            assert_eq!(row["attempts_checked"], row["attempts"], "{row}");
        }
    }
    let files: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(files.len(), 16);
    for file in &files {
        let verdict = verify::opacity::check_file(file.as_ref()).unwrap();
        assert!(verdict.is_opaque(), "{file}");
    }
}

#[test]
fn every_workload_is_opaque_and_verified_with_every_variant() {
    let rows = objects("record --json all --transactions 200");
    let expected = stamp_ports::workloads::WORKLOADS.len() * Variant::ALL.len();
    assert_eq!(rows.len(), expected);
    for row in rows {
        assert!(row["transactions"].as_u64() >= Some(200), "{row}");
        assert_eq!(row["violations"], 0, "{row}");
        assert_eq!(row["wrong_state"], serde_json::Value::Null, "{row}");
        assert_eq!(row["attempts_checked"], row["attempts"], "{row}");
        // Each pass of k-means is a history.
        let histories = row["launches"].as_u64().unwrap();
        let runs = row["runs"].as_u64().unwrap();
        assert_eq!(row["workload"] == "kmeans", histories > runs, "{row}");
    }
}

#[test]
fn a_run_whose_records_do_not_fit_is_made_again_with_more_room() {
    // A lane commits a thousand points, with room for a thousand attempts.
    let repeated = (1..20).any(|seed| {
        let rows = objects(&format!(
            "record kmeans --variant hv-sorting --attempts 1 --centres 2 --seed {seed} \
             --transactions 1 --json"
        ));
        assert_eq!(rows[0]["violations"], 0, "{rows:?}");
        assert_eq!(rows[0]["runs"], 1, "{rows:?}");
        rows[0]["launches_repeated"].as_u64() > Some(0)
    });
    assert!(repeated, "no attempt of any run aborted");
}

fn read(bench: &Bench) -> Paper {
    Paper::parse(&bench.text()).expect("a document")
}

/// Figure 2 of two workloads, small.
fn spec(folder: &Path) -> PaperSpec {
    PaperSpec {
        bench: BenchSpec {
            device: None,
            quick: true,
            seconds: None,
            seed: 1,
            out: folder.into(),
            fresh: false,
        },
        only: vec![Section::Fig2],
        workload: vec!["ra", "kmeans"],
        retry: false,
    }
}

#[test]
fn each_result_gets_the_verdict_on_a_recorded_run_and_other_builds_are_refused() {
    let bench = Bench::new("isolation", Paper::FILE_NAME);
    let spec = spec(&bench.folder());
    paper(&AnyDevice::cpu(), &spec, "stamp bench paper").expect("it is measured");
    let before = bench.text();
    bench.ended(0, "--for 0.000000001");
    assert_eq!(before, bench.text());

    // One workload, and then the rest.
    bench.ended(0, "--workload ra");
    for result in &read(&bench).speedups {
        let is_ra = result.workload == "ra";
        assert_eq!(result.isolation.is_some(), is_ra, "{result:?}");
    }
    bench.ended(0, "");
    let whole = read(&bench);
    for result in &whole.speedups {
        let verdict = result.isolation.as_ref().expect("a verdict");
        assert_eq!(verdict.opaque, Some(true), "{result:?}");
        assert!(verdict.transactions > 0 && verdict.attempts >= verdict.transactions);
    }
    let units: Vec<&String> = whole.pieces.iter().flat_map(|piece| &piece.units).collect();
    let expected = ["fig2 ra", "fig2 kmeans", "isolation ra", "isolation kmeans"];
    assert_eq!(units, expected);

    // A buffer for less than all.
    let mut less = whole.clone();
    less.speedups
        .retain(|s| s.workload == "ra" && s.variant == "fast");
    less.speedups[0].isolation = None;
    bench.write(&less.to_text().expect("text"));
    bench.ended(0, "--buffer-bytes 1M");
    let fewer = read(&bench).speedups[0].isolation.clone();
    let made = fewer.expect("a verdict").transactions;
    assert!(0 < made && made < 16 << 10, "{made}");

    let mut other = less.clone();
    other.head.ptx = Some("77".into());
    bench.write(&other.to_text().expect("text"));
    bench.refused("=> other kernels | 77");
    bench.write("{");
    bench.refused("=> not JSON");
}
