//! The profiler on the simulator, whose clock counts steps: with warps of several lanes and under
//! every schedule a lane's phases are all of its time, and an attempt that aborts has its time in
//! `aborted`, whatever the variant.

use crate::prelude::*;
use crate::simulated::{LIMITS, SCHEDULES, simulations};
use stamp_ports::workloads::launcher::Launcher;
use stm_core::algorithm::Variant;
use stm_core::host::{Launch, Statistics, Stm, StmConfig};
use stm_core::internal::host::{Profile, ProfileRows};
use stm_core::internal::observe::Phase;
use verify::sim::{Sim, SimConfig};

/// A few words, and a few buckets, so that lanes collide.
const RA: &str = "ra --words 24 --reads 4 --writes 3";
const HT: &str = "ht --buckets 8 --keys-per-tx 2";

/// Runs sixty transactions profiled, and verifies their result. That each lane's phases are its
/// time is checked where the rows are read.
fn run(line: &str, algorithm: Variant, config: SimConfig) -> (Profile, Statistics) {
    let (sim, workload) = (Sim::new(config), workload(line, 5));
    let memory = StmConfig {
        locks: 16,
        retry_limits: LIMITS,
        capacity: workload.sizes().capacity(),
        ..StmConfig::default()
    };
    let launch = Launch::new(2, 6);
    let mut stm = Stm::new(&sim, launch, memory).expect("metadata");
    let mut rows = ProfileRows::new(&sim, stm.shape()).expect("rows");
    stm.observe(rows.probe());
    let mut prepared = workload.prepare(&sim, config.seed, 60).expect("data");
    prepared.fit(algorithm, launch).expect("data that fit");
    prepared.reset().expect("data in their first state");
    let run = prepared.run(algorithm, Launcher::new(&sim, &mut stm), 60);
    let what = format!("{line} {algorithm} on {config}");
    let statistics = run
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .statistics;
    let wrong = prepared.verify(statistics.commits, 60).expect("a verdict");
    assert_eq!(wrong, None, "{what}");
    let profile = rows.take();
    let profile = profile.unwrap_or_else(|error| panic!("{what}: {error}"));
    (profile, statistics)
}

/// Simulations whose votes all order memory.
fn profiled(seeds: u64) -> impl Iterator<Item = SimConfig> {
    simulations(SCHEDULES, 4, seeds).map(|config| SimConfig {
        votes_order: SimConfig::default().votes_order,
        ..config
    })
}

fn all_schedules(algorithm: Variant) {
    use Phase::{Aborted, Buffering, Commit, Consistency, Initialisation, Locks, Native};
    let is = |of| algorithm == of;
    let mut aborted = 0;
    for (config, line) in profiled(6).flat_map(|config| [(config, RA), (config, HT)]) {
        let (profile, statistics) = run(line, algorithm, config);
        let what = format!("{line} {algorithm} on {config}: {profile:?}");
        // One lane a block runs transactions with `egpgv`.
        let lanes = if is(Variant::Egpgv) { 2 } else { 12 };
        assert_eq!(profile.lanes, lanes, "{what}");
        let has = |phase: Phase| profile.phases[phase as usize] > 0;
        let all = [Native, Initialisation, Buffering, Locks, Commit];
        assert!(all.into_iter().all(has), "{what}");
        // The coarse lock keeps nothing consistent but by being held.
        assert_eq!(has(Consistency), !is(Variant::Cgl), "{what}");
        // Aborted time there is if and only if an attempt aborted.
        assert_eq!(has(Aborted), statistics.aborted() > 0, "{what}");
        aborted += statistics.aborted();
    }
    let some = aborted > 0;
    assert_eq!(some, !is(Variant::Cgl), "{algorithm}: {aborted} aborted");
}

#[test]
fn phases_are_all_of_the_time_under_every_schedule() {
    let profiled = |algorithm: &&Variant| algorithm.has_profile();
    for &algorithm in Variant::ALL.iter().filter(profiled) {
        all_schedules(algorithm);
    }
}

#[test]
fn more_words_read_is_more_time_in_the_sets() {
    let time = |reads| {
        let line = format!("ra --words 1024 --reads {reads} --writes 1");
        let config = SimConfig::default().with_width(4);
        let (profile, _) = run(&line, Variant::HvSorting, config);
        [Phase::Buffering, Phase::Consistency].map(|phase| profile.phases[phase as usize])
    };
    // A batch of reads is 16 words: two batches against one.
    let (one, two) = (time(16), time(32));
    let is_more = one.iter().zip(two).all(|(one, two)| two > one * 3 / 2);
    assert!(is_more, "{one:?}, {two:?}");
}

#[test]
fn with_one_lock_for_all_lanes_spend_their_time_waiting_for_it() {
    for config in profiled(2) {
        let (profile, _) = run(RA, Variant::Cgl, config);
        let share = profile.share(Phase::Locks);
        // Twelve lanes, one at a time: eleven wait.
        assert!(share > 0.5, "{config}: {share} of {profile:?}");
    }
}
