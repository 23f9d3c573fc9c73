//! Labyrinth and genome, driven as `stamp` drives them, on the CPU and on the
//! simulator: recorded, the histories judged, the results checked.

use crate::driven::{Setup, simulation};
use stamp_ports::workloads::genome::Genome;
use stamp_ports::workloads::labyrinth::{Claim, Labyrinth, Maze};
use stamp_ports::workloads::workload::Workload;
use stm_core::algorithm::Variant;
use stm_core::host::{Cpu, Device, StmConfig};
use stm_kernels::labyrinth::GridSize;
use verify::history::InitialMemory;
use verify::sim::{Schedule, Sim};

/// Runs a workload once, recorded; its attempts that aborted.
fn run<D: Device>(
    device: &D,
    workload: &impl Workload,
    algorithm: Variant,
    initial: InitialMemory,
    config: StmConfig,
) -> u64 {
    let setup = Setup {
        algorithm,
        shape: (3, device.limits().warp_width.max(2)),
        config,
        seed: 5,
        transactions: workload.transactions().expect("of the input"),
    };
    setup.right(workload, device, initial)
}

fn labyrinth(seed: u64) -> Labyrinth {
    let size = GridSize { x: 6, y: 6, z: 2 };
    Labyrinth {
        maze: Maze::generate(seed, size, 7, 8).expect("a maze"),
        file: None,
        claim: if seed.is_multiple_of(2) {
            Claim::Warp
        } else {
            Claim::Block
        },
    }
}

const GENOME: Genome = Genome {
    bases: 60,
    segment: 12,
    segments: 90,
};

/// Runs both workloads.
fn both<D: Device>(device: &D, algorithm: Variant, seed: u64) -> u64 {
    let config = StmConfig {
        locks: 16 << (seed % 3),
        stripe_bytes: 4 << (seed % 2),
        ..StmConfig::default()
    };
    // The grid's first state is what its first readers found.
    run(
        device,
        &labyrinth(seed),
        algorithm,
        InitialMemory::INFERRED,
        config,
    ) + run(device, &GENOME, algorithm, InitialMemory::ZERO, config)
}

fn everywhere(algorithm: Variant) {
    for seed in 0..8 {
        both(&Cpu::new(), algorithm, seed);
    }
    let mut aborted = 0;
    for schedule in [Schedule::Lockstep, Schedule::Random, Schedule::its(64)] {
        for (width, seed) in (0..4).flat_map(|s| [(1, 3 * s), (4, 3 * s + 1), (32, 3 * s + 2)]) {
            let sim = Sim::new(simulation(width, schedule, seed));
            aborted += both(&sim, algorithm, seed);
        }
    }
    // Routers must meet, or this tests little.
    assert!(aborted > 0);
}

/// One test for each algorithm of the registry.
mod labyrinth_and_genome_are_opaque_with {
    use super::*;

    stm_core::for_each_algorithm!(tests_of_everywhere! {});
}
