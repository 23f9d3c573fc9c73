//! `stamp bench floor` from outside: what is right is verified, what lacks synchronisation is called
//! unsafe, and the transactional memory stands beside both.

mod common;

use common::{has, json, refused, right};
use serde_json::Value;

/// Runs what must succeed, and returns its document.
fn document(arguments: &str) -> Value {
    json(&format!("bench floor --device cpu --json {arguments}"))
}

/// The contenders of a document: workload, kind, and whether it is verified.
fn kinds(document: &Value) -> Vec<(&str, &str, Option<bool>)> {
    let runs = document["runs"].as_array().expect("runs");
    let of = |run: &'_ Value| -> Option<bool> { run["verified"].as_bool() };
    runs.iter()
        .map(|run| {
            let text = |field: &str| run[field].as_str().expect("text");
            let label = if text("kind") == UNSYNCHRONISED {
                "unsafe"
            } else {
                text("kind")
            };
            assert_eq!(text("label"), label);
            (text("workload"), text("kind"), of(run))
        })
        .collect()
}

const UNSYNCHRONISED: &str = "unsynchronised";
const RIVAL: &str = "special-purpose";
const SECTION: &str = "critical-section";

#[test]
fn a_quick_run_has_every_contender_and_verifies_the_rivals() {
    let document = document(
        "--quick --no-stm --transactions 4K --words 64K --buckets 1K --accounts 16K --hot-words 64K \
         -g 1K --points 500",
    );
    assert_eq!(
        kinds(&document),
        [
            ("ra", UNSYNCHRONISED, None),
            ("ra", UNSYNCHRONISED, None),
            ("ra", RIVAL, Some(true)),
            ("ra", SECTION, Some(true)),
            ("ht", UNSYNCHRONISED, None),
            ("ht", RIVAL, Some(true)),
            ("ht", SECTION, Some(true)),
            ("bank", UNSYNCHRONISED, None),
            ("bank", RIVAL, Some(true)),
            ("bank", SECTION, Some(true)),
            ("eigenbench", UNSYNCHRONISED, None),
            ("eigenbench", SECTION, Some(true)),
            ("genome", UNSYNCHRONISED, None),
            ("genome", RIVAL, Some(true)),
            ("genome", SECTION, Some(true)),
            ("genome", SECTION, Some(true)),
            ("labyrinth", SECTION, Some(true)),
            ("kmeans", UNSYNCHRONISED, None),
            ("kmeans", RIVAL, Some(true)),
            ("kmeans", RIVAL, Some(true)),
            ("kmeans", RIVAL, Some(true)),
            ("kmeans", SECTION, Some(true)),
            ("vacation", SECTION, Some(true)),
            ("queue", SECTION, Some(true)),
            ("map", SECTION, Some(true)),
            ("ordered", SECTION, Some(true)),
            ("list", SECTION, Some(true)),
            ("pool", SECTION, Some(true)),
        ]
    );
}

#[test]
fn rivals_are_right_where_all_threads_want_the_same_words() {
    for (workload, sizes) in [
        ("ra", "--words 64 --transactions 20K"),
        ("bank", "--accounts 64 --transactions 20K"),
        ("ht", "--buckets 1 --transactions 20K"),
        // Nearly every transaction has a word twice.
        ("eigenbench", "--hot-words 64 --transactions 20K"),
        ("queue", "--places 4 --operations 20K"),
        ("kmeans", "--centres 2 --points 2K"),
        ("vacation", "--relations 10 -n 4 --transactions 20K"),
        ("map", "--keys 8 --chains 2 --transactions 20K"),
        ("ordered", "--keys 20 --transactions 20K"),
        ("list", "--keys 8 --transactions 20K"),
        ("pool", "--transactions 20K"),
        ("labyrinth", "-x 12 -y 12 -z 2 -n 20"),
    ] {
        let document = document(&format!(
            "--no-stm --workload {workload} --repeat 3 {sizes}"
        ));
        for (of, kind, verified) in kinds(&document) {
            assert_eq!(of, workload);
            assert_eq!(
                verified,
                (kind != UNSYNCHRONISED).then_some(true),
                "{document}"
            );
        }
        // Several shapes were tried for every contender.
        let search = document["search"].as_array().expect("search").len();
        let runs = document["runs"].as_array().expect("runs").len();
        assert!(search >= 4 * runs, "{search} launches for {runs} runs");
    }
}

#[test]
fn the_transactional_memory_stands_beside_with_ratios() {
    let document = document(
        "--quick --workload ra,ht --words 64K --transactions 2K --variant hv-sorting,tbv-sorting",
    );
    let stm = document["stm"].as_array().expect("stm");
    assert_eq!(stm.len(), 4);
    assert!(stm.iter().all(|report| report["verified"] == true));
    let ratios = document["ratios"].as_array().expect("ratios");
    assert_eq!(ratios.len(), 2 * (4 + 3));
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
    let out = right("bench floor --device cpu --quick --workload ra --words 64K --transactions 2K");
    has(
        &out,
        "not verified (unsafe) | no bound | critical-section | special-purpose | atomic adds | \
         hv-sorting | fast",
    );
}

#[test]
fn an_unknown_workload_is_refused_on_one_line() {
    refused("bench floor --workload ra,rx", "\"rx\"");
}
