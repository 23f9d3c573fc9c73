//! `stamp bench floor` from outside: what is right is verified, what lacks synchronisation is called
//! unsafe, and the transactional memory stands beside both.
//!
//! Where the lanes' time goes: what `--profile` shows. `workloads/phases.rs` has the phases of every
//! variant.
//!
//! The commands `bench sync` and `bench nw`: what they measure, how they go on, and what they refuse.
//!
//! `stamp device --measure` on the CPU: what it finds.

use crate::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use stm_core::internal::observe::Phase;
use stm_sync::barrier::Kind as BarrierKind;
use stm_sync::host::Defaults;
use stm_sync::semaphore::Kind as SemaphoreKind;

/// Runs what must succeed, and returns its document.
fn document(arguments: &str) -> Value {
    json(&format!("bench floor --device cpu --json {arguments}"))
}

/// The contenders of a document, each by its workload and the letter of its kind. Those without
/// synchronisation are called unsafe and not verified; all others are right.
fn kinds(document: &Value) -> Vec<(&str, char)> {
    let runs = list(&document["runs"]).iter().map(|run| {
        let text = |field: &str| run[field].as_str().expect("text");
        let (kind, label, verified) = match text("kind") {
            "unsynchronised" => ('u', "unsafe", Value::Null),
            "special-purpose" => ('s', "special-purpose", true.into()),
            _ => ('c', "critical-section", true.into()),
        };
        assert_eq!(
            (text("label"), &run["verified"]),
            (label, &verified),
            "{run}"
        );
        (text("workload"), kind)
    });
    runs.collect()
}

#[test]
fn a_quick_run_has_every_contender_and_verifies_the_rivals() {
    let document = document(
        "--quick --no-stm --transactions 4K --words 64K --buckets 1K --accounts 16K --hot-words 64K \
         -g 1K --points 500",
    );
    let kinds = kinds(&document);
    let found = kinds.chunk_by(|a, b| a.0 == b.0).map(|of| {
        let kinds: String = of.iter().map(|(_, kind)| kind).collect();
        format!("{} {kinds}", of[0].0)
    });
    assert_eq!(
        found.collect::<Vec<_>>().join(", "),
        "ra uusc, ht usc, bank usc, eigenbench uc, genome uscc, labyrinth c, kmeans usssc, \
         vacation c, queue c, map c, ordered c, list c, pool c"
    );
}

#[test]
fn a_run_that_is_not_quick_tries_several_shapes_for_every_contender() {
    let document = document("--no-stm --workload ra --repeat 3 --words 64 --transactions 20K");
    let (search, runs) = (list(&document["search"]).len(), kinds(&document));
    assert!(search >= 4 * runs.len(), "{search} launches for {runs:?}");
}

#[test]
fn the_transactional_memory_stands_beside_with_ratios() {
    let document = document(
        "--quick --workload ra,ht --words 64K --transactions 2K --variant hv-sorting,tbv-sorting",
    );
    let stm = list(&document["stm"]);
    assert_eq!(stm.len(), 4);
    assert!(stm.iter().all(|report| report["verified"] == true));
    let ratios = list(&document["ratios"]);
    assert_eq!(ratios.len(), 2 * (4 + 3));
    for ratio in ratios {
        let mut runs = list(&document["runs"]).iter();
        let contender =
            runs.find(|r| r["workload"] == ratio["workload"] && r["name"] == ratio["to"]);
        let rate = |of: &Value| of["tx_per_s"].as_f64().expect("a rate");
        let expected = rate(ratio) / rate(contender.expect("the contender ran"));
        let told = ratio["rate"].as_f64().expect("a ratio");
        assert!((told / expected - 1.0).abs() < 1e-6, "{ratio}");
    }
}

#[test]
fn the_program_shows_a_table_and_json() {
    for base in [TINY_RA, TINY_HT] {
        let out = right(&format!("{base} --profile --variant cgl,hv-sorting"));
        has(&out, "Both results are verified.");
        has(&out, "native | check | locks | aborted | cost | per cent");
        let run = json(&format!("{base} --profile --variant hv-sorting --json"));
        let shares = run["profile"]["shares"].as_object().expect("shares");
        assert_eq!(shares.len(), Phase::COUNT);
        let whole: f64 = shares.values().filter_map(Value::as_f64).sum();
        assert!((whole - 1.0).abs() < 1e-9, "{whole}");
        assert!(run["profile"]["cost"].as_f64().is_some_and(|c| c > 0.0));
        // The default has no clocks: found before anything runs.
        let why = "--profile has no kernels for fast: give --variant hv-sorting";
        refused(&format!("{base} --profile"), why);
        let run = json(&format!("{base} --json"));
        assert!(run.get("profile").is_none(), "nobody asked");
    }
}

#[test]
fn the_same_command_goes_on_and_what_it_cannot_go_on_with_is_refused() {
    let points = |document: &Value| list(&document["points"]).to_vec();
    for (name, part, other, unknown) in [
        ("sync", "sections", "barrier", "mutx => mutx | barrier"),
        ("nw", "table3", "all", "table4 => table4 | table3 | batch"),
    ] {
        let command = format!("bench {name} --quick --out");
        let bench = Bench::new(&command, &format!("{name}.json"));
        let only = format!("--only {part}");
        // No time for any point.
        assert!(points(&bench.done(&format!("{only} --for 0"))).is_empty());
        has(&bench.ended(0, &only).0, "Not all points are in it yet");
        let before = bench.json();
        assert_eq!(before["format"], format!("stamp-{name}/1"));
        assert!(!points(&before).is_empty() && before["ptx"].is_string());
        assert_eq!(before["complete"], false);
        let is_right = |p: &Value| p["part"] == part && p["verified"] == true;
        assert!(points(&before).iter().all(is_right), "{before}");
        // Nothing is left to do, and nothing changes but the time.
        assert_eq!(bench.done(&only)["points"], before["points"]);
        let after = bench.done(&format!("--only {other}"));
        let (points, before) = (points(&after), points(&before));
        let (there, added) = points.split_at(before.len());
        assert_eq!(there, before);
        let is_other = |p: &Value| p["part"] != part && (other == "all" || p["part"] == other);
        assert!(!added.is_empty() && added.iter().all(is_other), "{after}");
        assert_eq!(after["complete"], other == "all");
        // The page is made of what there is.
        let out = bench.folder();
        right(&format!("report {}", out.display()));
        for name in ["report.html", "claims.json"] {
            assert!(out.join("report").join(name).is_file(), "{name}");
        }
        bench.refused(&format!(
            r#"--seed 7 => --seed | "1" | "7" | --fresh
            --only {unknown}
            --device cudda => cudda"#
        ));
    }
}

/// Returns the rates of these implementations in a part of the recorded run, at each launch and
/// with each parameter.
fn recorded<'n>(
    all: &Value,
    part: &str,
    names: impl Fn(&str) -> Option<&'n str>,
) -> BTreeMap<(u64, u64, u64), BTreeMap<&'n str, f64>> {
    let mut found = BTreeMap::<_, BTreeMap<_, _>>::new();
    for point in list(all).iter().filter(|point| point["part"] == part) {
        if let Some(name) = names(point["implementation"].as_str().expect("a name")) {
            let count = point["parameters"]["count"].as_u64().unwrap_or(0);
            let at = (number(&point["blocks"]), number(&point["threads"]), count);
            let rate = point["per_s"].as_f64().expect("a rate");
            found.entry(at).or_default().insert(name, rate);
        }
    }
    assert!(found.values().all(|rates| rates.len() > 1), "{part}");
    found
}

/// The table of `Defaults` has these figures.
#[test]
fn the_defaults_of_a_gpu_are_the_fastest_of_the_recorded_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/results/h200/");
    let text = fs::read_to_string(format!("{folder}sync.json")).expect("the document");
    let all: Value = serde_json::from_str(&text).expect("a document");
    let all = &all["points"];
    let gpu = Defaults::CUDA;

    let best = |rates: &BTreeMap<_, f64>| rates.values().copied().fold(0.0, f64::max);
    let barriers = recorded(all, "barrier", |n| Some(BarrierKind::from_name(n)?.name()));
    assert!(barriers.contains_key(&(1056, 128, 0)));
    for ((blocks, threads, _), rates) in barriers {
        let chosen = rates[gpu.barrier_of(blocks as u32).name()];
        assert!(
            chosen >= best(&rates),
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
        assert!(rates["ticket"] > 0.9 * best(rates), "{blocks}: {rates:?}");
    }

    // With room for nearly all, the sleeping semaphore is faster at some launches.
    let semaphores = recorded(all, "semaphore", |n| {
        Some(SemaphoreKind::from_name(n)?.name())
    });
    for ((blocks, _, count), rates) in semaphores {
        let least = if count < 120 { 1.0 } else { 0.85 } * best(&rates);
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

    for (what, count, of_each, least) in [
        ("rates", 3 * 4 * 2, "per_s", 1e5), // Three sizes, four operations, two widths.
        ("barriers", 2 * 6, "ns", 0.0),
        ("mutexes", 2 * 6, "per_s", 1.0), // Two numbers of blocks, six kinds.
        ("semaphores", 2 * 4, "per_s", 1.0), // Two counts, four algorithms.
    ] {
        let all = list(&measurement[what]);
        assert_eq!(all.len(), count, "{what}");
        assert!(
            all.iter().all(|one| one[of_each].as_f64() > Some(least)),
            "{all:?}"
        );
    }
    for mutex in list(&measurement["mutexes"]) {
        let (most, fewest) = (number(&mutex["most"]), number(&mutex["fewest"]));
        assert!(most > 0 && most >= fewest, "{mutex}");
    }
    assert_eq!(list(&found["fastest_barriers"]).len(), 2);
}
