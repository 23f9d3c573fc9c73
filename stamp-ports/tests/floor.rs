//! `stamp bench floor` from outside: what is right is verified, what lacks synchronisation is called
//! unsafe, and the transactional memory stands beside both.
//!
//! Where the lanes' time goes, on the CPU: with every variant the phases are
//! all of a lane's time (the host checks each lane, and fails if not), they are
//! those that the variant has, and the results of profiled runs are verified.

mod common;

use common::{Setting, TINY_HT, TINY_RA, has, json, refused, right};
use serde_json::Value;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stm_core::algorithm::Variant;
use stm_core::host::StmConfig;
use stm_core::internal::host::Profile;
use stm_core::internal::observe::Phase;

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
fn without_conflicts_no_time_is_aborted() {
    let (cpu, ra) = (AnyDevice::cpu(), AnyWorkload::from(RA));
    let mut runner = Runner::new(&cpu, &ra, 5, 500).expect("data");
    for variant in AskedVariant::of_paper() {
        let setting = Setting {
            transactions: 500,
            ..Setting::of(5, (1, 1), (StmConfig::default().locks, 4))
        };
        let spec = setting.spec(&ra, variant);
        let (report, profile) = runner.profile(&spec).expect("a run");
        let phases = profile.expect("verified").phases;
        assert_eq!(report.aborts.values().sum::<u64>(), 0);
        assert_eq!(phases[Phase::Aborted as usize], 0, "{}", variant.name());
        assert!(phases[Phase::Native as usize] > 0);
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
