//! `stamp record`: histories that are kept and judged, and what of them is a matter of luck. `record.txt`
//! has the rest.

use crate::prelude::*;
use serde_json::Value;
use std::fs;
use stm_core::algorithm::Variant;

#[test]
fn recorded_histories_are_kept_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display();
    let rows = objects(&format!(
        "record ra,ht --variant all --transactions 4K --words 256 --buckets 64 \
         --out {out} --check --json"
    ));
    assert_eq!(rows.len(), 2 * Variant::ALL.len(), "{rows:?}");
    for row in &rows {
        let found = ["transactions", "violations"].map(|field| number(&row[field]));
        assert_eq!(found, [4096, 0], "{row}");
        assert_eq!(row["attempts_checked"], row["attempts"]);
    }
    let files = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), rows.len());
    for file in &files {
        let verdict = stm_history::opacity::check_file(file).unwrap();
        assert!(verdict.is_opaque(), "{}", file.display());
    }
}

/// Records one history, which must be opaque.
fn recorded(arguments: &str) -> Value {
    let row = objects(&format!("record {arguments} --json")).remove(0);
    assert_eq!(row["violations"], 0, "{row}");
    row
}

#[test]
fn a_run_whose_records_do_not_fit_is_made_again_with_more_room() {
    // A lane commits a thousand points, with room for a thousand attempts.
    let of = "kmeans --variant hv-sorting --attempts 1 --centres 2 --transactions 1";
    let repeated = (1..20).any(|seed| {
        let row = recorded(&format!("{of} --seed {seed}"));
        assert_eq!(row["runs"], 1, "{row}");
        number(&row["launches_repeated"]) > 0
    });
    assert!(repeated, "no attempt of any run aborted");
}

#[test]
fn histories_have_turns_alone_where_these_come_after_few_conflicts() {
    let of = "counter --variant fast --rounds 50 --items 4K --transactions 4K --queue-after 1";
    let with_turns = (1..40).any(|seed| {
        let row = recorded(&format!("{of} --blocks 2 --threads 8 --seed {seed}"));
        number(&row["turns"]) > 0
    });
    assert!(with_turns, "no transaction of any run got a turn alone");
}
