//! Workloads in their static form on the simulator: the result is verified, and the history of
//! every attempt is opaque.

use crate::driven::{Setup, simulations};
use stamp_ports::workloads::bank::Bank;
use stamp_ports::workloads::eigenbench::Eigenbench;
use stamp_ports::workloads::form::Form;
use stamp_ports::workloads::ht::Ht;
use stamp_ports::workloads::ra::Ra;
use stamp_ports::workloads::workload::Workload;
use stm_core::algorithm::Variant;
use stm_core::host::StmConfig;
use verify::history::InitialMemory;
use verify::sim::Sim;

const RA: Ra = Ra {
    form: Form::Static,
    ..Ra::of(32, 16, 16)
};

const BANK: Bank = Bank {
    zipf_thousandths: 900,
    form: Form::Static,
    ..Bank::of(21, 0, 6)
};

const HT: Ht = Ht {
    form: Form::Static,
    ..Ht::of(3, 4)
};

/// Runs a workload under each schedule, and returns how many attempts aborted.
fn aborted(workload: &impl Workload) -> u64 {
    let runs = simulations(8).map(|config| {
        let setup = Setup {
            algorithm: Variant::Fast,
            shape: (2, 6),
            config: StmConfig::default(),
            seed: config.seed,
            transactions: 48,
        };
        setup.right(workload, &Sim::new(config), InitialMemory::INFERRED)
    });
    runs.sum()
}

#[test]
fn static_transfers_and_updates_of_random_words_are_verified_and_opaque() {
    assert!(aborted(&RA) > 0 && aborted(&BANK) > 0, "no conflicts");
}

#[test]
fn static_insertions_and_updates_of_hot_words_are_verified_and_opaque() {
    let eigenbench = Eigenbench {
        form: Form::Static,
        ..Eigenbench::of_hot_words(40)
    };
    assert!(aborted(&HT) > 0 && aborted(&eigenbench) > 0, "no conflicts");
}
