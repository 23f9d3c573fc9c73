//! The profiler on the simulator, whose clock counts steps: with warps of
//! several lanes and under every schedule a lane's phases are all of its time,
//! and an attempt that aborts has its time in `aborted`, whatever the variant.

use stamp_ports::ht::Ht;
use stamp_ports::ra::Ra;
use stamp_ports::workload::Launches;
use stm_core::algorithm::{Algorithm, Cgl, Egpgv, HvBackoff, HvSorting, TbvSorting, Vbv};
use stm_core::host::{Launch, Profile, ProfileRows, Statistics, Stm, StmConfig};
use stm_core::profile::{Phase, Profiler};
use stm_core::stm_ref::Patience;
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

const LAUNCH: (u32, u32) = (2, 6);
const TRANSACTIONS: u64 = 60;

const SCHEDULES: [Schedule; 4] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::Its {
        bound: 64,
        starve: false,
    },
    Schedule::Random,
];

/// Runs a workload profiled, and verifies its result. That each lane's phases
/// are its time is checked where the rows are read.
fn run<A, W>(workload: &W, transactions: u64, config: SimConfig) -> (Profile, Statistics)
where
    A: Algorithm,
    W: Launches<A>,
{
    let sim = Sim::new(config);
    let what = format!("{} {} on {config}", workload.name(), A::NAME);
    let mut data = workload
        .prepare(&sim, config.seed, transactions)
        .expect("data");
    workload.reset(&mut data).expect("first state");
    let sizes = StmConfig {
        locks: 16,
        capacity: workload.capacity(),
        patience: Patience {
            read_polls: 8,
            acquire_tries: 4,
            retries_max: 0,
            ..Patience::DEFAULT
        },
        ..StmConfig::default()
    };
    let launch = Launch::new(LAUNCH.0, LAUNCH.1);
    let mut stm = Stm::new(&sim, launch, sizes).expect("metadata");
    let mut rows = ProfileRows::new(&sim, launch).expect("rows");
    let params = workload.params(&data, stm.observed_handle(rows.probe()), transactions);
    // SAFETY: the data, the rows and the memory live in this function.
    let (_, statistics) = unsafe { stm.launch::<<W as Launches<A>>::Kernel>(&params) }
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(statistics.commits, transactions, "{what}");
    let profile = rows
        .take()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(
        workload.verify(&mut data, transactions).expect("a result"),
        None,
        "{what}"
    );
    (profile, statistics)
}

fn configs(seeds: u64) -> impl Iterator<Item = SimConfig> {
    SCHEDULES.into_iter().flat_map(move |schedule| {
        (0..seeds).map(move |seed| SimConfig {
            warp_width: 4,
            schedule,
            memory: MemoryModel::Weak { stale_percent: 30 },
            seed,
            ..SimConfig::default()
        })
    })
}

/// A few words and buckets, so that lanes collide.
fn all_schedules<A>()
where
    A: Algorithm,
    Ra: Launches<A>,
    Ht: Launches<A>,
{
    let ra = Ra {
        words: 24,
        reads: 4,
        writes: 3,
    };
    let ht = Ht {
        buckets: 8,
        keys_per_tx: 2,
    };
    let mut aborted = 0;
    for config in configs(6) {
        for (profile, statistics) in [
            run::<A, _>(&ra, TRANSACTIONS, config),
            run::<A, _>(&ht, TRANSACTIONS, config),
        ] {
            let what = format!("{} on {config}: {profile:?}", A::NAME);
            let lanes = if A::NAME == "egpgv" { 2 } else { 12 };
            assert_eq!(profile.lanes, lanes, "{what}");
            let of = |phase: Phase| profile.phases[phase as usize];
            assert!(of(Phase::Native) > 0 && of(Phase::Commit) > 0, "{what}");
            // Aborted time there is if and only if an attempt aborted.
            let has = of(Phase::Aborted) > 0;
            assert_eq!(has, statistics.aborted() > 0, "{what}");
            aborted += statistics.aborted();
        }
    }
    let can_abort = A::NAME != "cgl";
    assert_eq!(aborted > 0, can_abort, "{}: {aborted} aborted", A::NAME);
}

#[test]
fn phases_are_all_of_the_time_under_every_schedule() {
    all_schedules::<Cgl>();
    all_schedules::<Egpgv>();
    all_schedules::<Vbv>();
    all_schedules::<TbvSorting>();
    all_schedules::<HvSorting>();
    all_schedules::<HvBackoff>();
}

#[test]
fn more_words_read_is_more_time_in_the_sets() {
    let time = |reads| {
        let ra = Ra {
            words: 1 << 10,
            reads,
            writes: 1,
        };
        let config = SimConfig {
            warp_width: 4,
            ..SimConfig::default()
        };
        let (profile, _) = run::<HvSorting, _>(&ra, TRANSACTIONS, config);
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
    let ra = Ra {
        words: 24,
        reads: 4,
        writes: 3,
    };
    for config in configs(2) {
        let (profile, _) = run::<Cgl, _>(&ra, TRANSACTIONS, config);
        let share = profile.share(Phase::Locks);
        // Twelve lanes, one at a time: eleven wait.
        assert!(share > 0.5, "{config}: {share} of {profile:?}");
    }
}
