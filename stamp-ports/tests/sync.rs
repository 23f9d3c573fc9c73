//! The command `bench sync`: what it measures, how it goes on, and what it refuses.
//!
//! `stamp device --measure` on the CPU: what it finds, and what it refuses.

mod common;

use common::{Bench, has, json, refused_rows, right};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use stm_sync::barrier::Kind as BarrierKind;
use stm_sync::host::Defaults;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// `bench sync` on the CPU, in a folder of its own.
fn sync() -> Bench {
    Bench::new("bench sync --quick --out", "sync.json")
}

fn points(document: &Value) -> &Vec<Value> {
    document["points"].as_array().expect("points")
}

#[test]
fn the_same_command_goes_on_and_other_parts_are_added() {
    let sync = sync();
    // No time for any point.
    assert!(points(&sync.done("--only sections --for 0")).is_empty());
    let (told, _) = sync.ended(0, "--only sections");
    has(&told, "Not all points are in it yet");
    let before = sync.json();
    assert!(!points(&before).is_empty() && before["complete"] == false);
    for point in points(&before) {
        assert!(point["part"] == "sections" && point["verified"] == true);
    }
    // Nothing is left to do, and nothing changes but the time.
    assert_eq!(sync.done("--only sections")["points"], before["points"]);
    let after = sync.done("--only barrier,sections");
    let (there, added) = points(&after).split_at(points(&before).len());
    assert_eq!(there, points(&before));
    assert!(added.iter().all(|p| p["part"] == "barrier"));
    // The page is made of what there is.
    let out = sync.folder();
    right(&format!("report {}", out.display()));
    for name in ["report.html", "claims.json"] {
        assert!(out.join("report").join(name).is_file(), "{name}");
    }
}

#[test]
fn other_settings_and_unknown_parts_are_refused_and_the_document_stays() {
    let sync = sync();
    sync.ended(0, "--only sections --for 0");
    sync.refused(
        r#"
        --seed 7 => --seed | "1" | "7" | --fresh
        --only mutx => mutx | mutex | barrier
        --device cudda => cudda
        "#,
    );
}

/// Returns the rates of these implementations in a part of the recorded run, at each launch and
/// with each parameter.
fn recorded<'n>(
    all: &[Value],
    part: &str,
    names: impl Fn(&str) -> Option<&'n str>,
) -> BTreeMap<(u64, u64, u64), BTreeMap<&'n str, f64>> {
    let mut found = BTreeMap::<_, BTreeMap<_, _>>::new();
    for point in all.iter().filter(|point| point["part"] == part) {
        let Some(name) = names(point["implementation"].as_str().expect("a name")) else {
            continue;
        };
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let at = (
            number(&point["blocks"]),
            number(&point["threads"]),
            number(&point["parameters"]["count"]),
        );
        let rate = point["per_s"].as_f64().expect("a rate");
        found.entry(at).or_default().insert(name, rate);
    }
    assert!(found.values().all(|rates| rates.len() > 1), "{part}");
    found
}

/// The table of `Defaults` has these figures.
#[test]
fn the_defaults_of_a_gpu_are_the_fastest_of_the_recorded_run() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/results/h200/sync.json"
    );
    let document: Value =
        serde_json::from_str(&fs::read_to_string(file).expect("the document")).expect("JSON");
    let all = points(&document);
    let gpu = Defaults::CUDA;

    let barriers = recorded(all, "barrier", |n| {
        BarrierKind::from_name(n).map(BarrierKind::name)
    });
    assert!(barriers.contains_key(&(1056, 128, 0)));
    for ((blocks, threads, _), rates) in barriers {
        let chosen = rates[gpu.barrier_of(blocks as u32).name()];
        let best = rates.values().copied().fold(0.0, f64::max);
        assert!(
            chosen >= best,
            "{blocks} x {threads}: {chosen} of {rates:?}"
        );
    }

    // As types, the ticket lock and MCS have another name than as kinds that are chosen at launch.
    // One block asks for no order. Anderson's takes memory for each user.
    let first_come = ["ticket", "fetch-add", "mcs", "anderson"];
    let mutexes = recorded(all, "mutex", |n| {
        first_come.into_iter().find(|name| *name == n)
    });
    assert_eq!(gpu.mutex().name(), "ticket-handoff");
    for ((blocks, ..), rates) in mutexes.range((2, 0, 0)..) {
        let best = rates.values().copied().fold(0.0, f64::max);
        assert!(rates["ticket"] > 0.95 * best, "{blocks}: {rates:?}");
    }

    // With room for nearly all, the sleeping semaphore is faster at some launches.
    let semaphores = recorded(all, "semaphore", |n| {
        SemaphoreKind::from_name(n).map(SemaphoreKind::name)
    });
    for ((blocks, _, count), rates) in semaphores {
        let best = rates.values().copied().fold(0.0, f64::max);
        let least = if count < 120 { best } else { 0.85 * best };
        let chosen = rates[gpu.semaphore().name()];
        assert!(chosen >= least, "{blocks}, {count}: {rates:?}");
    }
}

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
