//! Where the lanes' time goes, on the CPU: with every variant the phases are
//! all of a lane's time (the host checks each lane, and fails if not), they are
//! those that the variant has, and the results of profiled runs are verified.

mod common;

use common::{Setting, TINY_HT, TINY_RA, has, json, refused, right};
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stm_core::algorithm::Variant;
use stm_core::host::{Profile, StmConfig};
use stm_core::observe::Phase;

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

fn phases_of_every_variant(workload: impl Into<AnyWorkload>) {
    let workload = workload.into();
    for variant in AskedVariant::of_paper() {
        let what = format!("{} {}", workload.sizes().name(), variant.name());
        let (report, profile) = run(&workload, variant, 3000, 1);
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
fn phases_of_the_random_array_are_all_of_the_time() {
    phases_of_every_variant(RA);
}

#[test]
fn phases_of_the_hash_table_are_all_of_the_time() {
    phases_of_every_variant(Ht::of(16, 2));
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
