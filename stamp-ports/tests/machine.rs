//! `stamp device --measure` on the CPU: what it finds, and what it refuses.

mod common;

use common::{json, refused_rows};
use serde_json::Value;

#[test]
fn a_measurement_has_all_times_and_rates() {
    let found = json("device --measure --device cpu --json");
    let measurement = &found["measurement"];
    assert_eq!(measurement["device"], "cpu");
    let sizes = measurement["sizes"].as_str();
    assert!(sizes.is_some_and(|sizes| sizes.contains("CPU")));

    let times = &measurement["grids"][0]["times_ns"];
    assert!(times["blocks"].as_u64() > Some(0));
    for direction in ["reads", "writes"] {
        for access in ["volatile", "atomic", "after_atomic"] {
            for how in ["contended", "uncontended"] {
                let ns = times[direction][access][how].as_f64();
                assert!(ns > Some(0.0), "{direction} {access} {how}: {times}");
            }
        }
    }
    // An atomic that is one takes longer than a load, on any processor.
    let reads = &found["abstraction"]["reads"]["atomic_to_volatile"];
    assert!(
        reads["uncontended"].as_f64() > Some(1.5),
        "{}",
        found["abstraction"]
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
    assert_eq!(found["fastest_barriers"].as_array().map(Vec::len), Some(2));
}

#[test]
fn options_of_a_measurement_are_refused_without_one_and_nothing_is_kept() {
    refused_rows(
        "
        device --device cpu => --measure
        device --measure --device tpu => tpu
        device --measure --fresh => --fresh | no longer kept
        device --fresh => --fresh | no longer kept
        ",
    );
}
