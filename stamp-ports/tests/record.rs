//! `stamp record`: exit status, one-line errors, histories that are kept and judged.

mod common;

use common::{ended, has, objects};
use std::fs;
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
