//! `stamp device --measure` on the CPU: what it prints, and what it keeps.

mod common;

use common::{refused, text};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the program with a cache folder of its own, and returns its standard output.
fn measure(cache: &Path, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .env("XDG_CACHE_HOME", cache)
        .args(["device", "--measure", "--device", "cpu"])
        .args(more)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout)
}

fn json(cache: &Path, more: &[&str]) -> Value {
    let arguments: Vec<&str> = ["--json"].iter().chain(more).copied().collect();
    serde_json::from_str(&measure(cache, &arguments)).expect("JSON")
}

/// Returns the names of the choice's algorithms.
fn chosen(document: &Value) -> Vec<String> {
    let choice = document["choice"].as_object().expect("a choice");
    let is = choice.values().map(|of| {
        assert!(of["reason"].as_str().is_some_and(|why| why.len() > 20));
        of["is"].as_str().expect("a name").to_owned()
    });
    is.collect()
}

#[test]
fn a_measurement_has_all_times_rates_and_choices_and_is_kept() {
    let cache = tempfile::tempdir().expect("a folder");
    let first = json(cache.path(), &[]);
    assert_eq!(first["kept"], false);
    let measurement = &first["measurement"];
    assert_eq!(measurement["device"], "cpu");
    assert!(
        measurement["sizes"]
            .as_str()
            .is_some_and(|s| s.contains("CPU"))
    );

    let times = &measurement["grids"][0]["times_ns"];
    assert!(times["blocks"].as_u64() > Some(0));
    let mut positive = 0;
    for direction in ["reads", "writes"] {
        for access in ["volatile", "atomic", "after_atomic"] {
            for how in ["contended", "uncontended"] {
                let ns = times[direction][access][how].as_f64().expect("a time");
                positive += usize::from(ns > 0.0);
            }
        }
    }
    assert_eq!(positive, 12);
    // An atomic that is one takes longer than a load, on any processor.
    let reads = &first["abstraction"]["reads"]["atomic_to_volatile"];
    assert!(
        reads["uncontended"].as_f64() > Some(1.5),
        "{}",
        first["abstraction"]
    );

    let rates = measurement["rates"].as_array().expect("rates");
    assert_eq!(
        rates.len(),
        3 * 4 * 2,
        "three sizes, four operations, two widths"
    );
    assert!(rates.iter().all(|rate| rate["per_s"].as_f64() > Some(1e5)));
    let barriers = measurement["barriers"].as_array().expect("barriers");
    assert_eq!(barriers.len(), 2 * 6);
    assert!(barriers.iter().all(|b| b["ns"].as_f64() > Some(0.0)));
    let mutexes = measurement["mutexes"].as_array().expect("mutexes");
    assert_eq!(mutexes.len(), 2 * 6, "two numbers of blocks, six kinds");
    assert!(mutexes.iter().all(|m| m["per_s"].as_f64() > Some(1.0)));
    let made = |m: &Value, end: &str| m[end].as_u64().expect("a number of sections");
    assert!((mutexes.iter()).all(|m| made(m, "most") > 0 && made(m, "most") >= made(m, "fewest")));
    let semaphores = measurement["semaphores"].as_array().expect("semaphores");
    assert_eq!(semaphores.len(), 2 * 4, "two counts, four algorithms");
    assert!(semaphores.iter().all(|s| s["per_s"].as_f64() > Some(1.0)));
    assert_eq!(first["fastest_barriers"].as_array().map(Vec::len), Some(2));
    assert_eq!(chosen(&first).len(), 4);

    let second = json(cache.path(), &[]);
    assert_eq!(second["kept"], true);
    assert_eq!(second["measurement"], first["measurement"]);
    assert_eq!(chosen(&second), chosen(&first));

    let shown = measure(cache.path(), &[]);
    for part in [
        "volatile after an atomic, contended",
        "swap of 64 bits",
        "64.0 MiB",
        "two-stage",
        "tickets",
        "most/fewest",
        "anderson",
        "mutex: ",
        "because ",
        "--fresh measures again",
    ] {
        assert!(shown.contains(part), "{shown} lacks {part:?}");
    }

    let fresh = json(cache.path(), &["--fresh"]);
    assert_eq!(fresh["kept"], false);
    assert_ne!(fresh["measurement"], first["measurement"]);
    assert_eq!(json(cache.path(), &[])["measurement"], fresh["measurement"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_said_and_no_error() {
    let cache = tempfile::tempdir().expect("a folder");
    // A file where a folder is to be.
    std::fs::write(cache.path().join("stamp"), "").expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .env("XDG_CACHE_HOME", cache.path())
        .args(["device", "--measure", "--device", "cpu", "--json"])
        .output()
        .expect("the program runs");
    assert!(output.status.success());
    let note = text(&output.stderr);
    assert!(
        note.starts_with("note: ") && note.contains("not kept"),
        "{note}"
    );
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
}

#[test]
fn options_of_a_measurement_are_refused_without_one() {
    refused(&["device", "--device", "cpu"], &["--measure"]);
    refused(&["device", "--fresh"], &["--measure"]);
    refused(&["device", "--measure", "--device", "tpu"], &["tpu"]);
}
