//! The profiler on the simulator, whose clock counts steps: with warps of
//! several lanes and under every schedule a lane's phases are all of its time,
//! and an attempt that aborts has its time in `aborted`, whatever the variant.

use crate::driven::{Setup, simulations};
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::workload::Workload;
use stm_core::algorithm::Variant;
use stm_core::host::{Profile, ProfileRows, Statistics, StmConfig};
use stm_core::observe::Phase;
use verify::sim::{Sim, SimConfig};

/// Runs a workload profiled, and verifies its result. That each lane's phases
/// are its time is checked where the rows are read.
fn run(workload: &impl Workload, algorithm: Variant, config: SimConfig) -> (Profile, Statistics) {
    let sim = Sim::new(config);
    let what = format!("{} {algorithm} on {config}", workload.name());
    let mut setup = Setup::crowded(algorithm, config.seed, 60);
    setup.config.stripe_bytes = StmConfig::default().stripe_bytes;
    let mut stm = setup.stm(workload, &sim).expect("metadata");
    let mut rows = ProfileRows::new(&sim, stm.shape()).expect("rows");
    stm.observe(rows.probe());
    let (statistics, wrong) =
        (setup.drive(workload, &sim, &mut stm)).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(wrong, None, "{what}");
    let profile = rows.take();
    let profile = profile.unwrap_or_else(|error| panic!("{what}: {error}"));
    (profile, statistics)
}

/// Simulations whose votes all order memory.
fn profiled(seeds: u64) -> impl Iterator<Item = SimConfig> {
    simulations(seeds).map(|config| SimConfig {
        votes_order: SimConfig::default().votes_order,
        ..config
    })
}

/// A few words and buckets, so that lanes collide.
fn all_schedules(algorithm: Variant) {
    let ra = Ra::of(24, 4, 3);
    let ht = Ht::of(8, 2);
    let mut aborted = 0;
    for config in profiled(6) {
        for (profile, statistics) in [run(&ra, algorithm, config), run(&ht, algorithm, config)] {
            let what = format!("{algorithm} on {config}: {profile:?}");
            let lanes = if algorithm == Variant::Egpgv { 2 } else { 12 };
            assert_eq!(profile.lanes, lanes, "{what}");
            let of = |phase: Phase| profile.phases[phase as usize];
            assert!(of(Phase::Native) > 0 && of(Phase::Commit) > 0, "{what}");
            // Aborted time there is if and only if an attempt aborted.
            let has = of(Phase::Aborted) > 0;
            assert_eq!(has, statistics.aborted() > 0, "{what}");
            aborted += statistics.aborted();
        }
    }
    let can_abort = algorithm != Variant::Cgl;
    assert_eq!(aborted > 0, can_abort, "{algorithm}: {aborted} aborted");
}

#[test]
fn phases_are_all_of_the_time_under_every_schedule() {
    all_schedules(Variant::Cgl);
    all_schedules(Variant::Egpgv);
    all_schedules(Variant::Vbv);
    all_schedules(Variant::TbvSorting);
    all_schedules(Variant::HvSorting);
    all_schedules(Variant::HvBackoff);
}

#[test]
fn more_words_read_is_more_time_in_the_sets() {
    let time = |reads| {
        let ra = Ra::of(1 << 10, reads, 1);
        let config = SimConfig {
            warp_width: 4,
            ..SimConfig::default()
        };
        let (profile, _) = run(&ra, Variant::HvSorting, config);
        let of = |phase: Phase| profile.phases[phase as usize];
        (of(Phase::Buffering), of(Phase::Consistency))
    };
    // A batch of reads is 16 words: two batches against one.
    let (one, two) = (time(16), time(32));
    assert!(two.0 > one.0 * 3 / 2, "buffering: {one:?}, {two:?}");
    assert!(two.1 > one.1 * 3 / 2, "consistency: {one:?}, {two:?}");
}

#[test]
fn with_one_lock_for_all_lanes_spend_their_time_waiting_for_it() {
    let ra = Ra::of(24, 4, 3);
    for config in profiled(2) {
        let (profile, _) = run(&ra, Variant::Cgl, config);
        let share = profile.share(Phase::Locks);
        // Twelve lanes, one at a time: eleven wait.
        assert!(share > 0.5, "{config}: {share} of {profile:?}");
    }
}
