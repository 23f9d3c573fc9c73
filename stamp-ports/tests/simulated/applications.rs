//! STAMP's applications with every algorithm on the simulator and on the CPU, driven as `stamp`
//! drives them: k-means, each of whose passes is checked as on any device; vacation, where every
//! place and reservation is accounted for; labyrinth and genome. The history of every attempt,
//! recorded, is opaque. And with a defect seeded into the transactional memory, the checks of
//! k-means and the accounts of vacation notice.

use crate::{crowded, noticed, recorded, simulation, simulations, tests_of_all};
use stamp_ports::record::Settings;
use stamp_ports::workloads::genome::Genome;
use stamp_ports::workloads::kmeans::Kmeans;
use stamp_ports::workloads::labyrinth::{Claim, Labyrinth, Maze};
use stamp_ports::workloads::vacation::Vacation;
use stm_core::algorithm::Variant;
use stm_core::host::{Cpu, Device, RetryLimits};
use stm_core::internal::observe::Mutant;
use stm_kernels::labyrinth::GridSize;
use verify::sim::{Schedule, Sim};

/// More points than a lane takes at a time, and rows longer than a batch.
fn kmeans(points: u32, passes_max: u32) -> Kmeans {
    Kmeans {
        passes_max,
        ..Kmeans::drawn(2, (points, 9), 3)
    }
}

fn kmeans_everywhere(algorithm: Variant) {
    let (pass, all) = (kmeans(130, 1), kmeans(40, 4));
    let on_sim = |config, of| recorded(&Sim::new(config), algorithm, of, &crowded(config.seed, 1));
    let aborted: u64 = simulations(3)
        .map(|config| on_sim(config, &pass).aborted)
        .sum();
    simulations(1).for_each(|config| drop(on_sim(config, &all)));
    for seed in 0..20 {
        recorded(&Cpu::new(), algorithm, &pass, &crowded(seed, 1));
    }
    // Without conflicts this would test little.
    assert_eq!(aborted > 0, algorithm != Variant::Cgl);
}

stm_core::for_each_algorithm!(
    tests_of_all! { kmeans_everywhere in kmeans_is_verified_and_opaque_with, }
);

#[test]
fn kmeans_notices_a_memory_that_loses_updates() {
    let mutant = Mutant::VersionBeforeLocking;
    let wrong = noticed(&kmeans(130, 1), mutant, Variant::HvSorting, 30, 1);
    let mut parts = ["counts", "saw a count", "sum"].iter();
    assert!(parts.any(|part| wrong.contains(part)), "{wrong}");
}

const TRANSACTIONS: u64 = 120;

/// Few records and many queries, as many tasks of each kind, and mixes like those of STAMP.
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

fn vacation_everywhere(algorithm: Variant) {
    let mut aborted = 0;
    for input in INPUTS {
        for config in simulations(2) {
            let settings = crowded(config.seed, TRANSACTIONS);
            aborted += recorded(&Sim::new(config), algorithm, &input, &settings).aborted;
        }
        for seed in 0..4 {
            recorded(&Cpu::new(), algorithm, &input, &crowded(seed, TRANSACTIONS));
        }
    }
    assert_eq!(aborted == 0, algorithm == Variant::Cgl, "{algorithm}");
}

stm_core::for_each_algorithm!(tests_of_all! { vacation_everywhere in vacation_is_opaque_with, });

#[test]
fn vacation_notices_a_memory_that_loses_updates_and_nodes() {
    for (mutant, algorithm) in [
        (Mutant::VersionBeforeLocking, Variant::HvSorting),
        (Mutant::ReadsNotValidated, Variant::Fast),
        (Mutant::PoolNotUndone, Variant::Fast),
    ] {
        let wrong = noticed(&INPUTS[1], mutant, algorithm, 60, TRANSACTIONS);
        println!("{}: {wrong}", mutant.name());
    }
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

/// Runs both workloads; their attempts that aborted.
fn both<D: Device>(device: &D, algorithm: Variant, seed: u64) -> u64 {
    let settings = Settings {
        blocks: 3,
        threads: device.limits().warp_width.max(2),
        locks: 16 << (seed % 3),
        stripe_bytes: 4 << (seed % 2),
        retry_limits: RetryLimits::DEFAULT,
        ..crowded(5, 1)
    };
    recorded(device, algorithm, &labyrinth(seed), &settings).aborted
        + recorded(device, algorithm, &GENOME, &settings).aborted
}

fn labyrinth_and_genome(algorithm: Variant) {
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

stm_core::for_each_algorithm!(
    tests_of_all! { labyrinth_and_genome in labyrinth_and_genome_are_opaque_with, }
);
