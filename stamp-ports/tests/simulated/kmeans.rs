//! k-means with every algorithm on the simulator, through the driver that
//! ships: each pass is checked as on any device, and the history of every
//! attempt of a pass, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the driver's checks notice.

use crate::driven::{Setup, noticed, simulations};
use stamp_ports::workloads::kmeans::Kmeans;
use stm_core::algorithm::Variant;
use stm_core::host::Cpu;
use stm_core::observe::Mutant;
use verify::history::InitialMemory;
use verify::sim::Sim;

/// More points than a lane takes at a time, and rows longer than a batch.
fn kmeans(points: u32, passes_max: u32) -> Kmeans {
    Kmeans {
        passes_max,
        ..Kmeans::drawn(2, (points, 9), 3)
    }
}

fn setup(kmeans: &Kmeans, algorithm: Variant, seed: u64) -> Setup {
    Setup::crowded(algorithm, seed, kmeans.points.len() as u64)
}

fn everywhere(algorithm: Variant) {
    let mut aborted = 0;
    // Between two launches the host clears the sums, of which a history says
    // nothing: so one launch.
    let pass = kmeans(130, 1);
    for config in simulations(3) {
        let setup = setup(&pass, algorithm, config.seed);
        aborted += setup.right(&pass, &Sim::new(config), InitialMemory::ZERO);
    }
    for seed in 0..20 {
        setup(&pass, algorithm, seed).right(&pass, &Cpu::new(), InitialMemory::ZERO);
    }
    let all = kmeans(40, 4);
    for config in simulations(1) {
        let setup = setup(&all, algorithm, config.seed);
        let run = setup.record(&all, &Sim::new(config), InitialMemory::ZERO);
        assert_eq!(run.expect("a run").wrong, None, "{algorithm} on {config}");
    }
    // Without conflicts this would test little.
    assert_eq!(aborted > 0, algorithm != Variant::Cgl);
}

/// One test for each algorithm of the registry.
mod verified_and_opaque_is {
    use super::*;

    stm_core::for_each_algorithm!(tests_of_everywhere! {});
}

#[test]
fn the_driver_notices_a_memory_that_loses_updates() {
    let pass = kmeans(130, 1);
    let setup = |seed| setup(&pass, Variant::HvSorting, seed);
    let wrong = noticed(
        &pass,
        Mutant::VersionBeforeLocking,
        30,
        setup,
        &InitialMemory::ZERO,
    );
    assert!(
        ["counts", "saw a count", "sum"]
            .iter()
            .any(|part| wrong.contains(part)),
        "{wrong}"
    );
}
