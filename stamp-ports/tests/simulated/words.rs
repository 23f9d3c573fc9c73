//! Workloads of words on the simulator, through the drivers that ship: the random array, the hash
//! table, bank and `EigenBench`. Their final state is compared with what the transactions must
//! leave, and the history of every attempt, recorded, is opaque, in their static form too. And with
//! a defect seeded into the transactional memory, the workloads' own checks notice.
//!
//! The profiler on the simulator, whose clock counts steps: with warps of
//! several lanes and under every schedule a lane's phases are all of its time,
//! and an attempt that aborts has its time in `aborted`, whatever the variant.

use crate::{LIMITS, Setup, recorded, simulation, simulations, tests_of_all};
use stamp_ports::record::Settings;
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::workload::Workload;
use stm_core::algorithm::Variant;
use stm_core::host::{RetryLimits, Statistics, StmConfig};
use stm_core::internal::host::{Profile, ProfileRows};
use stm_core::internal::observe::{Mutant, Phase};
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use verify::sim::{Schedule, Sim, SimConfig};

const SCHEDULES: &str = "lockstep stack its64 starve64 random";

/// Runs a workload with warps of `width` under each schedule; the attempts that
/// aborted, and the histories that did not fit their buffers at first.
fn runs<W: Workload + Copy>(variant: Variant, workload: W, width: u32, seeds: u64) -> (u64, u64) {
    let mut aborted = 0;
    let mut repeated = 0;
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
            let config = simulation(width, schedule, seed);
            let settings = Settings {
                transactions: 96,
                blocks: 2,
                threads: width.max(2),
                locks: 16,
                stripe_bytes: 4 << (seed % 3),
                retry_limits: RetryLimits {
                    acquire_tries: 8,
                    ..LIMITS
                },
                seed,
                // Some buffers are full at first, and some runs take several.
                attempts: if seed % 2 == 0 { 1 } else { 4 },
                buffer_bytes: 1 << 20,
                time_limit: None,
                ..Settings::default()
            };
            let what = format!("{variant}, {config}");
            let row = recorded(&Sim::new(config), variant, workload, &settings, &what);
            assert_eq!(row.attempts, row.transactions + row.aborted);
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
        for (a, r) in [
            runs(variant, RA, width, seeds),
            runs(variant, HT, width, seeds),
        ] {
            aborted += a;
            repeated += r;
        }
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

const EIGENBENCH: Eigenbench = Eigenbench {
    plan: EigenbenchPlan {
        seed: 0,
        hot_words: 16,
        mild_words: 4,
        cold_words: 4,
        hot: accesses(5, 3),
        mild: accesses(1, 2),
        cold_inside: accesses(2, 1),
        cold_outside: accesses(1, 2),
        nops_inside: 1,
        nops_outside: 2,
        locality_percent: 25,
    },
    form: Form::Dynamic,
};

const fn accesses(reads: u32, writes: u32) -> Accesses {
    Accesses { reads, writes }
}

/// Runs a workload under each schedule, and returns how many attempts aborted.
fn crowded(workload: &impl Workload, algorithm: Variant) -> u64 {
    let runs = simulations(8).map(|config| {
        let setup = Setup::crowded(algorithm, config.seed, 48);
        setup.right(workload, &Sim::new(config))
    });
    runs.sum()
}

fn bank_and_eigenbench(algorithm: Variant) {
    let (bank, eigenbench) = (crowded(&BANK, algorithm), crowded(&EIGENBENCH, algorithm));
    // Without conflicts this would test little.
    assert_eq!([bank > 0, eigenbench > 0], [algorithm != Variant::Cgl; 2]);
}

stm_core::for_each_algorithm!(
    tests_of_all! { bank_and_eigenbench in bank_and_eigenbench_are_verified_and_opaque_with, }
);

fn noticed(workload: &impl Workload, mutant: Mutant) -> String {
    let setup = |seed| Setup::crowded(Variant::HvSorting, seed, 48);
    crate::noticed(workload, mutant, 60, setup)
}

#[test]
fn the_drivers_notice_a_memory_that_loses_updates() {
    let mutant = Mutant::VersionBeforeLocking;
    let bank = noticed(&BANK, mutant);
    assert!(
        bank.contains("account") || bank.contains("audits"),
        "{bank}"
    );
    let eigenbench = noticed(&EIGENBENCH, mutant);
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
        let what = noticed(&BANK, mutant);
        assert!(
            what.contains("audits saw a sum"),
            "{}: {what}",
            mutant.name()
        );
    }
}

/// Runs a workload under each schedule, which must have conflicts.
fn static_form(workload: &impl Workload) {
    let runs = simulations(8).map(|config| {
        let setup = Setup {
            algorithm: Variant::Fast,
            shape: (2, 6),
            config: StmConfig::default(),
            seed: config.seed,
            transactions: 48,
        };
        setup.right(workload, &Sim::new(config))
    });
    assert!(runs.sum::<u64>() > 0, "{}: no conflicts", workload.name());
}

#[test]
fn static_transfers_and_updates_of_random_words_are_verified_and_opaque() {
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
}

#[test]
fn static_insertions_and_updates_of_hot_words_are_verified_and_opaque() {
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
    let (statistics, wrong, _) =
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
