//! Bank and `EigenBench` with every algorithm on the simulator, through the
//! drivers that ship: the result is verified as on any device, and the history
//! of every attempt, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the workloads' own checks notice.

use stamp_ports::bank::Bank;
use stamp_ports::eigenbench::Eigenbench;
use stamp_ports::workload::Launches;
use stm_core::algorithm::{Algorithm, Cgl, Egpgv, Granule, HvBackoff, HvSorting, TbvSorting, Vbv};
use stm_core::host::{self, Buffer, Launch, Stm, StmConfig};
use stm_core::mutant::Mutant;
use stm_core::stm_ref::Patience;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use verify::history::recorder::decode;
use verify::history::{Header, InitialMemory};
use verify::opacity;
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

const BANK: Bank = Bank {
    accounts: 21,
    zipf_thousandths: 900,
    audit_percent: 50,
    audit_range: 6,
    adds_row: None,
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
};

const fn accesses(reads: u32, writes: u32) -> Accesses {
    Accesses { reads, writes }
}

const SCHEDULES: [Schedule; 4] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::Its {
        bound: 64,
        starve: false,
    },
    Schedule::Random,
];

const LAUNCH: (u32, u32) = (2, 6);
const TRANSACTIONS: u64 = 48;
/// Words of a lane's recording buffer.
const RECORD_WORDS: u64 = 1 << 13;

/// What a run came to.
struct Run {
    aborted: u64,
    /// What the driver found wrong with the result.
    wrong: Option<String>,
    /// Whether the history is opaque.
    opaque: bool,
}

/// Runs a workload once, recorded.
fn run<A, W>(workload: &W, config: SimConfig) -> Result<Run, host::Error>
where
    A: Algorithm,
    W: Launches<A>,
{
    let sim = Sim::new(config);
    workload.check(TRANSACTIONS).expect("parameters");
    let mut data = workload
        .prepare(&sim, config.seed, TRANSACTIONS)
        .expect("data");
    let (blocks, threads) = LAUNCH;
    let lanes = match A::GRANULE {
        Granule::Block => blocks,
        Granule::Lane | Granule::LaneInTurn => blocks * threads,
    };
    workload
        .fit(&sim, &mut data, u64::from(lanes))
        .expect("data of lanes");
    workload.reset(&mut data).expect("first state");
    let sizes = StmConfig {
        locks: 16,
        stripe_bytes: 4 << (config.seed % 3),
        capacity: workload.capacity(),
        patience: Patience {
            read_polls: 8,
            acquire_tries: 4,
            retries_max: 0,
            ..Patience::DEFAULT
        },
        time_limit: None,
    };
    let mut stm = Stm::new(&sim, Launch::new(blocks, threads), sizes)?;
    let all = u64::from(blocks * threads);
    let records = Buffer::<_, u64>::zeroed(&sim, (all * RECORD_WORDS) as usize, "records")?;
    // SAFETY: that many words a lane, zero, which nothing else uses.
    let recorder = unsafe { Recorder::new(records.as_mut_ptr(), RECORD_WORDS) };
    let params = workload.params(&data, stm.observed_handle(recorder), TRANSACTIONS);
    // SAFETY: the data, the records and the memory live in this function.
    let (_, statistics) = unsafe { stm.launch::<<W as Launches<A>>::Kernel>(&params) }?;
    assert_eq!(statistics.commits, TRANSACTIONS, "{config}");
    let history = decode(
        &records.download()?,
        all as u32,
        RECORD_WORDS,
        Header::default(),
        InitialMemory::INFERRED,
    )
    .unwrap_or_else(|error| panic!("{config}: {error}"));
    assert_eq!(history.len() as u64, statistics.attempts, "{config}");
    Ok(Run {
        aborted: statistics.aborted(),
        wrong: workload
            .verify(&mut data, TRANSACTIONS)
            .unwrap_or_else(|error| panic!("{config}: {error}")),
        opaque: opacity::check(&history).is_ok_and(|verdict| verdict.is_opaque()),
    })
}

fn configs(seeds: u64) -> impl Iterator<Item = SimConfig> {
    SCHEDULES.into_iter().flat_map(move |schedule| {
        (0..seeds).map(move |seed| SimConfig {
            warp_width: 4,
            schedule,
            memory: MemoryModel::Weak { stale_percent: 30 },
            votes_order: seed % 2 == 0,
            seed,
            ..SimConfig::default()
        })
    })
}

/// Runs a workload under each schedule, and returns how many attempts aborted.
fn all_right<A, W>(workload: &W) -> u64
where
    A: Algorithm,
    W: Launches<A>,
{
    let mut aborted = 0;
    for config in configs(8) {
        let what = format!("{} {} on {config}", workload.name(), A::NAME);
        let run = run::<A, W>(workload, config).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(run.wrong, None, "{what}");
        assert!(run.opaque, "{what} is not opaque");
        aborted += run.aborted;
    }
    aborted
}

macro_rules! all_right {
    ($($test:ident: $algorithm:ident, $aborts:literal;)*) => {
        $(
            #[test]
            fn $test() {
                let bank = all_right::<$algorithm, _>(&BANK);
                let eigenbench = all_right::<$algorithm, _>(&EIGENBENCH);
                // Without conflicts this would test little.
                assert_eq!([bank > 0, eigenbench > 0], [$aborts; 2]);
            }
        )*
    };
}

all_right! {
    cgl_is_verified_and_opaque: Cgl, false;
    egpgv_is_verified_and_opaque: Egpgv, true;
    vbv_is_verified_and_opaque: Vbv, true;
    tbv_sorting_is_verified_and_opaque: TbvSorting, true;
    hv_sorting_is_verified_and_opaque: HvSorting, true;
    hv_backoff_is_verified_and_opaque: HvBackoff, true;
}

/// What the driver says of the first result that it refuses, of a memory with
/// this defect.
fn noticed<W: Launches<HvSorting>>(workload: &W, mutant: Mutant) -> Option<String> {
    configs(60).find_map(|config| {
        let config = SimConfig {
            mutant: Some(mutant as u32),
            ..config
        };
        run::<HvSorting, W>(workload, config).ok()?.wrong
    })
}

#[test]
fn the_drivers_notice_a_memory_that_loses_updates() {
    let mutant = Mutant::VersionBeforeLocking;
    let bank = noticed(&BANK, mutant).expect("bank does not notice");
    assert!(
        bank.contains("account") || bank.contains("audits"),
        "{bank}"
    );
    let eigenbench = noticed(&EIGENBENCH, mutant).expect("eigenbench does not notice");
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
        let what = what.unwrap_or_else(|| panic!("{}: no audit saw it", mutant.name()));
        assert!(
            what.contains("audits saw a sum"),
            "{}: {what}",
            mutant.name()
        );
    }
}
