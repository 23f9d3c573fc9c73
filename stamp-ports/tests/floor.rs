//! `stamp bench floor` from outside: rivals are verified, floors are called
//! unsafe, and the transactional memory stands beside both.

mod common;

use common::{stamp, text};
use serde_json::Value;

/// Runs what must succeed, and returns its document.
fn document(arguments: &[&str]) -> Value {
    let all = [&["bench", "floor", "--device", "cpu", "--json"], arguments].concat();
    let output = stamp(&all);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{all:?}: {errors}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// The contenders of a document: workload, kind, and whether it is verified.
fn kinds(document: &Value) -> Vec<(&str, &str, Option<bool>)> {
    let runs = document["runs"].as_array().expect("runs");
    let of = |run: &'_ Value| -> Option<bool> { run["verified"].as_bool() };
    runs.iter()
        .map(|run| {
            let text = |field: &str| run[field].as_str().expect("text");
            let label = if text("kind") == "floor" {
                "unsafe"
            } else {
                "special-purpose"
            };
            assert_eq!(text("label"), label);
            (text("workload"), text("kind"), of(run))
        })
        .collect()
}

const FLOOR: &str = "floor";
const RIVAL: &str = "special-purpose";

#[test]
fn a_quick_run_has_every_contender_and_verifies_the_rivals() {
    let document = document(&[
        "--quick",
        "--no-stm",
        "--transactions",
        "4K",
        "--words",
        "64K",
        "--buckets",
        "1K",
        "--accounts",
        "16K",
        "--hot-words",
        "64K",
        "-g",
        "1K",
        "--points",
        "500",
    ]);
    assert_eq!(
        kinds(&document),
        [
            ("ra", FLOOR, None),
            ("ra", FLOOR, None),
            ("ra", RIVAL, Some(true)),
            ("ht", FLOOR, None),
            ("ht", RIVAL, Some(true)),
            ("bank", FLOOR, None),
            ("bank", RIVAL, Some(true)),
            ("eigenbench", FLOOR, None),
            ("genome", FLOOR, None),
            ("genome", RIVAL, Some(true)),
            ("kmeans", FLOOR, None),
            ("kmeans", RIVAL, Some(true)),
        ]
    );
}

#[test]
fn rivals_are_right_where_all_threads_want_the_same_words() {
    for (workload, sizes) in [
        ("ra", ["--words", "64"]),
        ("bank", ["--accounts", "64"]),
        ("ht", ["--buckets", "1"]),
    ] {
        let document = document(
            &[
                &[
                    "--no-stm",
                    "--workload",
                    workload,
                    "--repeat",
                    "3",
                    "--transactions",
                    "20K",
                ],
                &sizes[..],
            ]
            .concat(),
        );
        for (of, kind, verified) in kinds(&document) {
            assert_eq!(of, workload);
            assert_eq!(verified, (kind == RIVAL).then_some(true), "{document}");
        }
        // Every shape was tried for every contender.
        let search = document["search"].as_array().expect("search").len();
        let runs = document["runs"].as_array().expect("runs").len();
        assert!(search >= 6 * runs, "{search} launches for {runs} runs");
    }
}

#[test]
fn the_transactional_memory_stands_beside_with_ratios() {
    let document = document(&[
        "--quick",
        "--workload",
        "ra,ht",
        "--words",
        "64K",
        "--transactions",
        "2K",
        "--variant",
        "hv-sorting,tbv-sorting",
    ]);
    let stm = document["stm"].as_array().expect("stm");
    assert_eq!(stm.len(), 4);
    assert!(stm.iter().all(|report| report["verified"] == true));
    let ratios = document["ratios"].as_array().expect("ratios");
    assert_eq!(ratios.len(), 2 * (3 + 2));
    for ratio in ratios {
        let contender = document["runs"]
            .as_array()
            .and_then(|runs| {
                runs.iter()
                    .find(|r| r["workload"] == ratio["workload"] && r["name"] == ratio["to"])
            })
            .expect("the contender ran");
        let rate = |of: &Value| of["tx_per_s"].as_f64().expect("a rate");
        let expected = rate(ratio) / rate(contender);
        let told = ratio["rate"].as_f64().expect("a ratio");
        assert!((told / expected - 1.0).abs() < 1e-6, "{ratio}");
    }
}

#[test]
fn the_table_says_what_is_unsafe() {
    let output = stamp(&[
        "bench",
        "floor",
        "--device",
        "cpu",
        "--quick",
        "--workload",
        "ra",
        "--words",
        "64K",
        "--transactions",
        "2K",
    ]);
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in [
        "not verified (unsafe)",
        "special-purpose",
        "atomic adds",
        "hv-sorting",
        "fast",
    ] {
        assert!(out.contains(part), "{out} lacks {part}");
    }
}

#[test]
fn an_unknown_workload_is_refused_on_one_line() {
    let output = stamp(&["bench", "floor", "--workload", "ra,rx"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("\"rx\"") && errors.trim_end().lines().count() == 1,
        "{errors}"
    );
}
