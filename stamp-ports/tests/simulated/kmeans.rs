//! k-means with every algorithm on the simulator, through the driver that
//! ships: each pass is checked as on any device, and the history of every
//! attempt of a pass, recorded, is opaque. And with a defect seeded into the
//! transactional memory, the driver's checks notice.

use crate::driven::{Recorded, Setup, simulations};
use stamp_ports::Error;
use stamp_ports::workloads::kmeans::{Kmeans, Points, Source};
use stm_core::RetryLimits;
use stm_core::algorithm::Variant;
use stm_core::host::{Cpu, Device, StmConfig};
use stm_core::observe::Mutant;
use verify::history::InitialMemory;
use verify::sim::{Sim, SimConfig};

/// More points than a lane takes at a time, and rows longer than a batch.
fn kmeans(points: u32, passes_max: u32) -> Kmeans {
    let mut points = Points::generate(2, points, 9, 3);
    points.normalise();
    Kmeans {
        points,
        source: Source::Generated(3),
        normalised: true,
        clusters_min: 3,
        clusters_max: 3,
        threshold: 0.0,
        passes_max,
        adds: false,
    }
}

/// Runs k-means once, recorded.
fn run<D: Device>(
    kmeans: &Kmeans,
    algorithm: Variant,
    device: &D,
    seed: u64,
) -> Result<Recorded, Error> {
    let setup = Setup {
        algorithm,
        shape: (2, 6),
        config: StmConfig {
            locks: 16,
            stripe_bytes: 4 << (seed % 3),
            retry_limits: RetryLimits {
                read_polls: 8,
                acquire_tries: 4,
                retries_max: 0,
                ..RetryLimits::DEFAULT
            },
            ..StmConfig::default()
        },
        seed,
        transactions: kmeans.points.len() as u64,
    };
    setup.record(kmeans, device, InitialMemory::ZERO)
}

/// Runs under each schedule and on the CPU, and returns how many attempts
/// aborted on the simulator.
fn all_right(algorithm: Variant) -> u64 {
    let mut aborted = 0;
    // Between two launches the host clears the sums, of which a history says
    // nothing: so one launch.
    let pass = kmeans(130, 1);
    for config in simulations(3) {
        let what = format!("{algorithm} on {config}");
        let run = run(&pass, algorithm, &Sim::new(config), config.seed)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        aborted += run.right(&what);
    }
    for seed in 0..20 {
        let run = run(&pass, algorithm, &Cpu::new(), seed).expect("a run on the CPU");
        run.right(&format!("{algorithm} on the CPU, seed {seed}"));
    }
    for config in simulations(1) {
        let run = run(&kmeans(40, 4), algorithm, &Sim::new(config), config.seed);
        assert_eq!(run.expect("a run").wrong, None, "{algorithm} on {config}");
    }
    aborted
}

macro_rules! all_right {
    ($($variant:ident $entry:ident $name:literal $origin:ident $teams:ident $sums:ident;)*) => {
        $(
            #[test]
            fn $entry() {
                // Without conflicts this would test little.
                assert_eq!(all_right(Variant::$variant) > 0, Variant::$variant != Variant::Cgl);
            }
        )*
    };
}

/// One test for each algorithm of the registry.
mod verified_and_opaque_is {
    use super::*;

    stm_core::for_each_algorithm!(all_right! {});
}

#[test]
fn the_driver_notices_a_memory_that_loses_updates() {
    let pass = kmeans(130, 1);
    let wrong = simulations(30).find_map(|config| {
        let config = SimConfig {
            mutant: Some(Mutant::VersionBeforeLocking as u32),
            ..config
        };
        let sim = Sim::new(config);
        run(&pass, Variant::HvSorting, &sim, config.seed)
            .ok()?
            .wrong
    });
    let wrong = wrong.expect("the driver does not notice");
    assert!(
        ["counts", "saw a count", "sum"]
            .iter()
            .any(|part| wrong.contains(part)),
        "{wrong}"
    );
}
