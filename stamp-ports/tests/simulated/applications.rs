//! STAMP's applications with every algorithm on the simulator and on the CPU, driven as `stamp`
//! drives them: k-means, each of whose passes is checked as on any device; vacation, where every
//! place and reservation is accounted for; labyrinth and genome. The history of every attempt,
//! recorded, is opaque. And with a defect seeded into the transactional memory, the checks of
//! k-means and the accounts of vacation notice.

use crate::{Setup, noticed, simulation, simulations, tests_of_all};
use stamp_ports::workloads::genome::Genome;
use stamp_ports::workloads::kmeans::Kmeans;
use stamp_ports::workloads::labyrinth::{Claim, Labyrinth, Maze};
use stamp_ports::workloads::vacation::Vacation;
use stamp_ports::workloads::workload::Sizes;
use stm_core::algorithm::Variant;
use stm_core::host::{Cpu, Device, StmConfig};
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

fn crowded_kmeans(kmeans: &Kmeans, algorithm: Variant, seed: u64) -> Setup {
    Setup::crowded(algorithm, seed, kmeans.points.len() as u64)
}

fn kmeans_everywhere(algorithm: Variant) {
    let mut aborted = 0;
    // Between two launches the host clears the sums, of which a history says
    // nothing: so one launch.
    let pass = kmeans(130, 1);
    for config in simulations(3) {
        let setup = crowded_kmeans(&pass, algorithm, config.seed);
        aborted += setup.right(&pass, &Sim::new(config));
    }
    for seed in 0..20 {
        crowded_kmeans(&pass, algorithm, seed).right(&pass, &Cpu::new());
    }
    let all = kmeans(40, 4);
    for config in simulations(1) {
        let setup = crowded_kmeans(&all, algorithm, config.seed);
        let run = setup.record(&all, &Sim::new(config));
        assert_eq!(run.expect("a run").wrong, None, "{algorithm} on {config}");
    }
    // Without conflicts this would test little.
    assert_eq!(aborted > 0, algorithm != Variant::Cgl);
}

stm_core::for_each_algorithm!(
    tests_of_all! { kmeans_everywhere in kmeans_is_verified_and_opaque_with, }
);

#[test]
fn kmeans_notices_a_memory_that_loses_updates() {
    let pass = kmeans(130, 1);
    let setup = |seed| crowded_kmeans(&pass, Variant::HvSorting, seed);
    let wrong = noticed(&pass, Mutant::VersionBeforeLocking, 30, setup);
    assert!(
        ["counts", "saw a count", "sum"]
            .iter()
            .any(|part| wrong.contains(part)),
        "{wrong}"
    );
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

fn crowded_vacation(algorithm: Variant, seed: u64) -> Setup {
    Setup::crowded(algorithm, seed, TRANSACTIONS)
}

fn vacation_everywhere(algorithm: Variant) {
    let mut aborted = 0;
    for (config, input) in simulations(2).flat_map(|config| INPUTS.map(|input| (config, input))) {
        aborted += crowded_vacation(algorithm, config.seed).right(&input, &Sim::new(config));
    }
    for (seed, input) in (0..4).flat_map(|seed| INPUTS.map(|input| (seed, input))) {
        crowded_vacation(algorithm, seed).right(&input, &Cpu::new());
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
        let setup = |seed| crowded_vacation(algorithm, seed);
        let wrong = noticed(&INPUTS[1], mutant, 60, setup);
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
    let labyrinth = labyrinth(seed);
    let setup = |workload: &dyn Sizes| Setup {
        algorithm,
        shape: (3, device.limits().warp_width.max(2)),
        config: StmConfig {
            locks: 16 << (seed % 3),
            stripe_bytes: 4 << (seed % 2),
            ..StmConfig::default()
        },
        seed: 5,
        transactions: workload.transactions().expect("of the input"),
    };
    setup(&labyrinth).right(&labyrinth, device) + setup(&GENOME).right(&GENOME, device)
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
