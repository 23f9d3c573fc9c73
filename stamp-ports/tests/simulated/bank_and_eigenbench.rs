//! Bank and `EigenBench` with every algorithm on the simulator, through the
//! drivers that ship: the result is verified as on any device, and the history
//! of every attempt, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the workloads' own checks notice.

use crate::driven::{Recorded, Setup, simulations};
use stamp_ports::Error;
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::workload::Workload;
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use stm_core::host::StmConfig;
use stm_core::observe::Mutant;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use verify::history::InitialMemory;
use verify::sim::{Sim, SimConfig};

const BANK: Bank = Bank {
    accounts: 21,
    zipf_thousandths: 900,
    audit_percent: 50,
    audit_range: 6,
    adds_row: None,
    form: Form::Dynamic,
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

/// Runs a workload once, recorded.
fn run(workload: &impl Workload, algorithm: Variant, config: SimConfig) -> Result<Recorded, Error> {
    let setup = Setup {
        algorithm,
        shape: (2, 6),
        config: StmConfig {
            locks: 16,
            stripe_bytes: 4 << (config.seed % 3),
            retry_limits: RetryLimits {
                read_polls: 8,
                acquire_tries: 4,
                retries_max: 0,
                ..RetryLimits::DEFAULT
            },
            ..StmConfig::default()
        },
        seed: config.seed,
        transactions: 48,
    };
    setup.record(workload, &Sim::new(config), InitialMemory::INFERRED)
}

/// Runs a workload under each schedule, and returns how many attempts aborted.
fn all_right(workload: &impl Workload, algorithm: Variant) -> u64 {
    simulations(8)
        .map(|config| {
            let what = format!("{} {algorithm} on {config}", workload.name());
            let run = run(workload, algorithm, config);
            run.unwrap_or_else(|error| panic!("{what}: {error}"))
                .right(&what)
        })
        .sum()
}

macro_rules! all_right {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        $(
            #[test]
            fn $entry() {
                let bank = all_right(&BANK, Variant::$variant);
                let eigenbench = all_right(&EIGENBENCH, Variant::$variant);
                // Without conflicts this would test little.
                assert_eq!([bank > 0, eigenbench > 0], [Variant::$variant != Variant::Cgl; 2]);
            }
        )*
    };
}

/// One test for each algorithm of the registry.
mod verified_and_opaque_is {
    use super::*;

    stm_core::for_each_algorithm!(all_right! {});
}

/// What the driver says of the first result that it refuses, of a memory with
/// this defect.
fn noticed(workload: &impl Workload, mutant: Mutant) -> Option<String> {
    simulations(60).find_map(|config| {
        let config = SimConfig {
            mutant: Some(mutant as u32),
            ..config
        };
        run(workload, Variant::HvSorting, config).ok()?.wrong
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
