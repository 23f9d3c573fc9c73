//! `stamp bench floor` from outside: what is right is verified, what lacks synchronisation is called
//! unsafe, and the transactional memory stands beside both.
//!
//! Where the lanes' time goes, on the CPU: with every variant the phases are
//! all of a lane's time (the host checks each lane, and fails if not), they are
//! those that the variant has, and the results of profiled runs are verified.
//!
//! The commands `bench sync` and `bench nw`: what they measure, how they go on, and what they refuse.
//!
//! `stamp device --measure` on the CPU: what it finds, and what it refuses.

use common::{Bench, Setting, TINY_HT, TINY_RA, has, json, refused, refused_rows, right};
use serde_json::Value;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use std::collections::BTreeMap;
use std::fs;
use stm_core::algorithm::Variant;
use stm_core::internal::host::Profile;
use stm_core::internal::observe::Phase;
use stm_sync::barrier::Kind as BarrierKind;
use stm_sync::host::Defaults;
use stm_sync::semaphore::Kind as SemaphoreKind;

mod common;

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

const RA: Ra = Ra::of(32, 4, 4);

fn run(
    workload: &AnyWorkload,
    variant: AskedVariant,
    transactions: u64,
    repeat: u32,
) -> (RunReport, Profile) {
    let cpu = AnyDevice::cpu();
    let mut runner = Runner::new(&cpu, workload, 5, transactions).expect("data");
    let setting = Setting {
        transactions,
        ..Setting::of(5, (2, 4), (16, 4))
    };
    let mut spec = setting.spec(workload, variant);
    spec.repeat = repeat;
    let (report, profile) = runner.profile(&spec).expect("a run");
    assert!(report.verified, "{}: {:?}", variant.name(), report.error);
    (report, profile.expect("a profile of a verified run"))
}

#[test]
fn phases_of_every_variant_are_all_of_the_time() {
    let workloads: [AnyWorkload; 2] = [RA.into(), Ht::of(16, 2).into()];
    let runs = AskedVariant::of_paper().into_iter();
    for (variant, workload) in runs.flat_map(|v| workloads.iter().map(move |w| (v, w))) {
        let what = format!("{} {}", workload.sizes().name(), variant.name());
        let (report, profile) = run(workload, variant, 3000, 1);
        // One lane a block runs transactions with `egpgv`.
        let lanes = if variant == Variant::Egpgv.into() {
            2
        } else {
            8
        };
        assert_eq!(profile.lanes, lanes, "{what}");
        let of = |phase: Phase| profile.phases[phase as usize];
        for phase in [
            Phase::Native,
            Phase::Initialisation,
            Phase::Buffering,
            Phase::Locks,
            Phase::Commit,
        ] {
            assert!(of(phase) > 0, "{what}: no time in {}", phase.name());
        }
        // The coarse lock keeps nothing consistent but by being held.
        let checks = of(Phase::Consistency) > 0;
        assert_eq!(checks, variant != Variant::Cgl.into(), "{what}");
        let breakdown = report.profile.expect("in the report, too");
        assert!(breakdown.cost > 0.0, "{what}");
        let whole: f64 = breakdown.shares.values().sum();
        assert!((whole - 1.0).abs() < 1e-9, "{what}: {whole}");
    }
}

#[test]
fn a_launch_does_not_see_the_rows_of_the_one_before() {
    // Left-over rows would fail the check of a lane's sum.
    let (_, profile) = run(&RA.into(), Variant::HvSorting.into(), 500, 5);
    assert_eq!(profile.lanes, 8);
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
        assert!(run["profile"]["cost"].as_f64().is_some_and(|c| c > 0.0));
        // The default has no clocks: found before anything runs.
        let default = format!("{base} --profile");
        refused(&default, "for fast: give --variant hv-sorting");
        let run = json(&format!("{base} --json"));
        assert!(run.get("profile").is_none(), "nobody asked");
    }
}

#[test]
fn a_variant_without_profiled_kernels_is_refused_by_name() {
    let line = "run bank --device cpu --profile --variant fast --transactions 1K";
    refused(line, "--profile has no kernels for fast");
}

fn points(document: &Value) -> &Vec<Value> {
    document["points"].as_array().expect("points")
}

#[test]
fn the_same_command_goes_on_and_what_it_cannot_go_on_with_is_refused() {
    for (command, file, part, other, unknown) in [
        (
            "bench sync",
            "sync.json",
            "sections",
            "barrier",
            "mutx => mutx | mutex | barrier",
        ),
        (
            "bench nw",
            "nw.json",
            "table3",
            "all",
            "table4 => table4 | table3 | batch",
        ),
    ] {
        let bench = Bench::new(&format!("{command} --quick --out"), file);
        let format = file.replace(".json", "/1");
        let only = format!("--only {part}");
        // No time for any point.
        assert!(points(&bench.done(&format!("{only} --for 0"))).is_empty());
        has(&bench.ended(0, &only).0, "Not all points are in it yet");
        let before = bench.json();
        assert_eq!(before["format"], format!("stamp-{format}"));
        assert!(
            !points(&before).is_empty() && before["complete"] == false && before["ptx"].is_string()
        );
        let is_right = |p: &Value| p["part"] == part && p["verified"] == true;
        assert!(points(&before).iter().all(is_right), "{before}");
        // Nothing is left to do, and nothing changes but the time.
        assert_eq!(bench.done(&only)["points"], before["points"]);
        let after = bench.done(&format!("--only {other}"));
        let (there, added) = points(&after).split_at(points(&before).len());
        assert_eq!(there, points(&before));
        let is_other = |p: &Value| p["part"] != part && (other == "all" || p["part"] == other);
        assert!(!added.is_empty() && added.iter().all(is_other), "{after}");
        assert_eq!(after["complete"], other == "all");
        // The page is made of what there is.
        let out = bench.folder();
        right(&format!("report {}", out.display()));
        for name in ["report.html", "claims.json"] {
            assert!(out.join("report").join(name).is_file(), "{name}");
        }
        bench.refused(r#"--seed 7 => --seed | "1" | "7" | --fresh"#);
        bench.refused(&format!("--only {unknown}"));
        bench.refused("--device cudda => cudda");
    }
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
        assert!(rates["ticket"] > 0.9 * best, "{blocks}: {rates:?}");
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
