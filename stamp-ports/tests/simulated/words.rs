//! Workloads of words on the simulator, through the drivers that ship: the random array, the hash
//! table, bank and `EigenBench`. Their final state is compared with what the transactions must
//! leave, and the history of every attempt, recorded, is opaque, in their static form too. And with
//! a defect seeded into the transactional memory, the workloads' own checks notice.
//!
//! The profiler on the simulator, whose clock counts steps: with warps of
//! several lanes and under every schedule a lane's phases are all of its time,
//! and an attempt that aborts has its time in `aborted`, whatever the variant.

use crate::{LIMITS, crowded, noticed, recorded, simulation, simulations, tests_of_all};
use stamp_ports::record::Settings;
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::launcher::Launcher;
use stamp_ports::workloads::prepared::prepare;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::workload::Workload;
use stm_core::algorithm::Variant;
use stm_core::host::{Launch, RetryLimits, Statistics, Stm, StmConfig};
use stm_core::internal::host::{Profile, ProfileRows};
use stm_core::internal::observe::{Mutant, Phase};
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use verify::sim::{Schedule, Sim, SimConfig};

const SCHEDULES: &str = "lockstep stack its64 starve64 random";

/// Runs a workload with warps of `width` under each schedule; the attempts that
/// aborted, and the histories that did not fit their buffers at first.
fn runs<W: Workload + Clone>(variant: Variant, workload: &W, width: u32, seeds: u64) -> (u64, u64) {
    let (mut aborted, mut repeated) = (0, 0);
    for schedule in Schedule::named(SCHEDULES) {
        // Blocking locks in the order met: two blocks can undo each other for as long as a schedule
        // that starves the lock's holder lets neither ahead. Both take locks in the order met:
        // between warps, a hostile schedule can keep two of them in each other's way for ever. The
        // paper's backoff orders the lanes of one warp only.
        if matches!(variant, Variant::Egpgv | Variant::HvBackoff)
            && matches!(schedule, Schedule::Its { starve: true, .. })
        {
            continue;
        }
        for seed in 0..seeds {
            let settings = Settings {
                threads: width.max(2),
                retry_limits: RetryLimits {
                    acquire_tries: 8,
                    ..LIMITS
                },
                // Some buffers are full at first, and some runs take several.
                attempts: if seed % 2 == 0 { 1 } else { 4 },
                buffer_bytes: 1 << 20,
                ..crowded(seed, 96)
            };
            let sim = Sim::new(simulation(width, schedule, seed));
            let row = recorded(&sim, variant, workload, &settings);
            aborted += row.aborted;
            repeated += row.repeated;
        }
    }
    (aborted, repeated)
}

const RA: Ra = Ra::of(24, 3, 2);
const HT: Ht = Ht::of(5, 2);

fn ra_and_ht(variant: Variant) {
    let (mut aborted, mut repeated) = (0, 0);
    for (width, seeds) in [(1, 12), (4, 12), (32, 2)] {
        let of_ra = runs(variant, &RA, width, seeds);
        let of_ht = runs(variant, &HT, width, seeds);
        aborted += of_ra.0 + of_ht.0;
        repeated += of_ra.1 + of_ht.1;
    }
    // The runs must be contended to mean anything.
    assert_eq!(aborted == 0, variant == Variant::Cgl);
    assert_eq!(repeated == 0, variant == Variant::Cgl);
}

stm_core::for_each_algorithm!(tests_of_all! { ra_and_ht in ra_and_ht_are_opaque_with, });

const BANK: Bank = Bank {
    zipf_thousandths: 900,
    ..Bank::of(21, 50, 6)
};

fn eigenbench() -> Eigenbench {
    let accesses = |reads, writes| Accesses { reads, writes };
    let mut of = Eigenbench::of_hot_words(16);
    of.plan = EigenbenchPlan {
        mild_words: 4,
        cold_words: 4,
        hot: accesses(5, 3),
        mild: accesses(1, 2),
        cold_inside: accesses(2, 1),
        cold_outside: accesses(1, 2),
        nops_inside: 1,
        nops_outside: 2,
        locality_percent: 25,
        ..of.plan
    };
    of
}

/// Runs a workload under each schedule, and returns how many attempts aborted.
fn aborted<W: Workload + Clone>(
    workload: &W,
    variant: Variant,
    settings: fn(u64, u64) -> Settings,
) -> u64 {
    let runs = simulations(8).map(|config| {
        let settings = settings(config.seed, 48);
        recorded(&Sim::new(config), variant, workload, &settings).aborted
    });
    runs.sum()
}

fn bank_and_eigenbench(variant: Variant) {
    let (bank, eigenbench) = (
        aborted(&BANK, variant, crowded),
        aborted(&eigenbench(), variant, crowded),
    );
    // Without conflicts this would test little.
    assert_eq!([bank > 0, eigenbench > 0], [variant != Variant::Cgl; 2]);
}

stm_core::for_each_algorithm!(
    tests_of_all! { bank_and_eigenbench in bank_and_eigenbench_are_verified_and_opaque_with, }
);

#[test]
fn the_drivers_notice_a_memory_that_loses_updates() {
    let (mutant, variant) = (Mutant::VersionBeforeLocking, Variant::HvSorting);
    let bank = noticed(&BANK, mutant, variant, 60, 48);
    assert!(
        bank.contains("account") || bank.contains("audits"),
        "{bank}"
    );
    let eigenbench = noticed(&eigenbench(), mutant, variant, 60, 48);
    assert!(eigenbench.contains("hot word"), "{eigenbench}");
}

/// These leave the right accounts: only who looks inside a transaction sees.
#[test]
fn audits_notice_reads_of_no_state() {
    for mutant in [
        Mutant::LockedStripeRead,
        Mutant::LockWordBeforeValue,
        Mutant::DoomedGoesOn,
        Mutant::NoE1,
        Mutant::NoE4Extension,
    ] {
        let what = noticed(&BANK, mutant, Variant::HvSorting, 60, 48);
        assert!(what.contains("audits saw a sum"), "{mutant:?}: {what}");
    }
}

/// Runs a workload in its static form under each schedule, which must have conflicts.
fn static_form<W: Workload + Clone>(workload: &W) {
    let settings = |seed, transactions| Settings {
        locks: StmConfig::default().locks,
        stripe_bytes: StmConfig::default().stripe_bytes,
        retry_limits: StmConfig::default().retry_limits,
        ..crowded(seed, transactions)
    };
    let aborted = aborted(workload, Variant::Fast, settings);
    assert!(aborted > 0, "{}: no conflicts", workload.name());
}

#[test]
fn static_updates_of_words_are_verified_and_opaque() {
    for form in [Form::Static, Form::Wide] {
        static_form(&Ra {
            form,
            ..Ra::of(32, 16, 16)
        });
        static_form(&Bank {
            zipf_thousandths: 900,
            form,
            ..Bank::of(21, 0, 6)
        });
    }
    let form = Form::Static;
    static_form(&Ht {
        form,
        ..Ht::of(3, 4)
    });
    static_form(&Eigenbench {
        form,
        ..Eigenbench::of_hot_words(40)
    });
}

/// Runs sixty transactions profiled, and verifies their result. That each lane's phases are its
/// time is checked where the rows are read.
fn run(workload: &impl Workload, algorithm: Variant, config: SimConfig) -> (Profile, Statistics) {
    let sim = Sim::new(config);
    let launch = Launch {
        shared_bytes: workload.shared_bytes(),
        ..Launch::new(2, 6)
    };
    let memory = StmConfig {
        locks: 16,
        retry_limits: LIMITS,
        capacity: workload.capacity(),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&sim, launch, memory).expect("metadata");
    let mut rows = ProfileRows::new(&sim, stm.shape()).expect("rows");
    stm.observe(rows.probe());
    let mut prepared = prepare(workload, &sim, config.seed, 60).expect("data");
    prepared.fit(algorithm, launch).expect("data that fit");
    prepared.reset().expect("data in their first state");
    let run = prepared.run(algorithm, Launcher::new(&sim, &mut stm), 60);
    let what = format!("{} {algorithm} on {config}", workload.name());
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
    simulations(seeds).map(|config| SimConfig {
        votes_order: SimConfig::default().votes_order,
        ..config
    })
}

/// A few words and buckets, so that lanes collide.
fn all_schedules(algorithm: Variant) {
    let (ra, ht) = (Ra::of(24, 4, 3), Ht::of(8, 2));
    let mut aborted = 0;
    for config in profiled(6) {
        for (profile, statistics) in [run(&ra, algorithm, config), run(&ht, algorithm, config)] {
            let what = format!("{algorithm} on {config}: {profile:?}");
            let lanes = if algorithm == Variant::Egpgv { 2 } else { 12 };
            assert_eq!(profile.lanes, lanes, "{what}");
            let has = |phase: Phase| profile.phases[phase as usize] > 0;
            assert!(has(Phase::Native) && has(Phase::Commit), "{what}");
            // Aborted time there is if and only if an attempt aborted.
            assert_eq!(has(Phase::Aborted), statistics.aborted() > 0, "{what}");
            aborted += statistics.aborted();
        }
    }
    let can_abort = algorithm != Variant::Cgl;
    assert_eq!(aborted > 0, can_abort, "{algorithm}: {aborted} aborted");
}

#[test]
fn phases_are_all_of_the_time_under_every_schedule() {
    for algorithm in Variant::ALL
        .iter()
        .filter(|algorithm| algorithm.has_profile())
    {
        all_schedules(*algorithm);
    }
}

#[test]
fn more_words_read_is_more_time_in_the_sets() {
    let time = |reads| {
        let ra = Ra::of(1 << 10, reads, 1);
        let config = SimConfig::default().with_width(4);
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
