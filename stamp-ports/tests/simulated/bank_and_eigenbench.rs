//! Bank and `EigenBench` with every algorithm on the simulator, through the
//! drivers that ship: the result is verified as on any device, and the history
//! of every attempt, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the workloads' own checks notice.

use crate::driven::{self, Setup, simulations};
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::workload::Workload;
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;
use stm_kernels::eigenbench::{Accesses, EigenbenchPlan};
use verify::history::InitialMemory;
use verify::sim::Sim;

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
fn aborted(workload: &impl Workload, algorithm: Variant) -> u64 {
    let runs = simulations(8).map(|config| {
        let setup = Setup::crowded(algorithm, config.seed, 48);
        setup.right(workload, &Sim::new(config), InitialMemory::INFERRED)
    });
    runs.sum()
}

fn everywhere(algorithm: Variant) {
    let (bank, eigenbench) = (aborted(&BANK, algorithm), aborted(&EIGENBENCH, algorithm));
    // Without conflicts this would test little.
    assert_eq!([bank > 0, eigenbench > 0], [algorithm != Variant::Cgl; 2]);
}

/// One test for each algorithm of the registry.
mod verified_and_opaque_is {
    use super::*;

    stm_core::for_each_algorithm!(tests_of_everywhere! {});
}

fn noticed(workload: &impl Workload, mutant: Mutant) -> String {
    let setup = |seed| Setup::crowded(Variant::HvSorting, seed, 48);
    driven::noticed(workload, mutant, 60, setup, &InitialMemory::INFERRED)
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
