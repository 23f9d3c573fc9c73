//! Vacation with every algorithm on the simulator and on the CPU, through the
//! driver that ships: every place and reservation is accounted for, and the history
//! of every attempt, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the accounts notice.

use crate::driven::{Setup, noticed, recorded, simulations};
use stamp_ports::record::Settings;
use stamp_ports::workloads::vacation::Vacation;
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use stm_core::host::Cpu;
use stm_core::observe::Mutant;
use verify::history::InitialMemory;
use verify::sim::Sim;

const TRANSACTIONS: u64 = 120;

/// Few records and many queries, as many tasks of each kind, and mixes like those of
/// STAMP.
const INPUTS: [Vacation; 3] = [vacation(4, 6, 34), vacation(12, 2, 60), vacation(9, 4, 90)];

const fn vacation(relations: u32, queries: u32, users_percent: u32) -> Vacation {
    Vacation {
        relations,
        queries,
        range_percent: 100,
        users_percent,
        transactions_max: TRANSACTIONS,
    }
}

const LIMITS: RetryLimits = RetryLimits {
    read_polls: 8,
    acquire_tries: 4,
    ..RetryLimits::DEFAULT
};

fn setup(algorithm: Variant, seed: u64) -> Setup {
    let mut setup = Setup::crowded(algorithm, seed, TRANSACTIONS);
    setup.config.retry_limits = LIMITS;
    setup
}

fn everywhere(algorithm: Variant) {
    let mut aborted = 0;
    for (config, input) in simulations(2).flat_map(|config| INPUTS.map(|input| (config, input))) {
        let what = format!("{algorithm} on {config}");
        let sim = Sim::new(config);
        aborted += setup(algorithm, config.seed).right(&input, &sim, InitialMemory::INFERRED);
        // The same from the words that the workload says there are at first.
        let settings = Settings {
            transactions: TRANSACTIONS,
            blocks: 2,
            threads: 4,
            locks: 16,
            retry_limits: LIMITS,
            seed: config.seed,
            attempts: 1,
            buffer_bytes: 1 << 20,
            time_limit: None,
            ..Settings::default()
        };
        recorded(&sim, algorithm, input, &settings, &what);
    }
    for (seed, input) in (0..4).flat_map(|seed| INPUTS.map(|input| (seed, input))) {
        setup(algorithm, seed).right(&input, &Cpu::new(), InitialMemory::INFERRED);
    }
    assert_eq!(aborted == 0, algorithm == Variant::Cgl, "{algorithm}");
}

/// One test for each algorithm of the registry.
mod vacation_is_opaque_with {
    use super::*;

    stm_core::for_each_algorithm!(tests_of_everywhere! {});
}

#[test]
fn the_accounts_notice_a_memory_that_loses_updates_and_nodes() {
    for (mutant, algorithm) in [
        (Mutant::VersionBeforeLocking, Variant::HvSorting),
        (Mutant::ReadsNotValidated, Variant::Fast),
        (Mutant::PoolNotUndone, Variant::Fast),
    ] {
        let setup = |seed| setup(algorithm, seed);
        let wrong = noticed(&INPUTS[1], mutant, 60, setup, &InitialMemory::INFERRED);
        println!("{}: {wrong}", mutant.name());
    }
}
