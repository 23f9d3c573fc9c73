//! Labyrinth and genome, driven as `stamp` drives them, on the CPU and on the
//! simulator: recorded, the histories judged, the results checked.

use stamp_ports::genome::Genome;
use stamp_ports::labyrinth::maze::Maze;
use stamp_ports::labyrinth::{Claim, Labyrinth, Source};
use stamp_ports::timed::Timed;
use stamp_ports::workload::Launches;
use stm_core::algorithm::{
    Algorithm, Cgl, Egpgv, Fast, FastTable, HvBackoff, HvSorting, TbvSorting, Vbv,
};
use stm_core::host::{Buffer, Cpu, Device, Launch, Stm, StmConfig};
use stm_kernels::labyrinth::GridSize;
use verify::history::recorder::decode;
use verify::history::{Header, InitialMemory};
use verify::opacity;
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

/// Runs a workload once, recorded; its attempts that aborted.
fn run<A, W, D>(device: &D, workload: &W, initial: InitialMemory, config: StmConfig) -> u64
where
    A: Algorithm,
    W: Launches<A>,
    D: Device,
{
    const BLOCKS: u32 = 3;
    const WORDS: u64 = 1 << 14;
    let threads = device.limits().warp_width.max(2);
    let what = format!("{} {} on {}", workload.name(), A::NAME, device.id());
    let transactions = workload.transactions().expect("of the input");
    let launch = Launch {
        shared_bytes: workload.shared_bytes(),
        ..Launch::new(BLOCKS, threads)
    };
    let config = StmConfig {
        capacity: workload.capacity(),
        ..config
    };
    let mut stm = Stm::new(device, launch, config).expect("metadata");
    let lanes = BLOCKS * threads;
    let records = Buffer::<D, u64>::zeroed(device, (u64::from(lanes) * WORDS) as usize, "records")
        .expect("records");
    // SAFETY: the buffer has that many words a lane, zero, and only the lanes
    // of these launches use it.
    let probe = unsafe { Recorder::new(records.as_mut_ptr(), WORDS) };
    let mut data = workload.prepare(device, 5, transactions).expect("data");
    workload.arrange::<D, A>(&mut data).expect("data");
    workload.reset(&mut data).expect("data");
    let mut timed = Timed::new(device, &mut stm, probe, None);
    workload
        .run(&mut data, &mut timed, transactions)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let done = timed.finish().statistics;
    let expected = workload.commits_expected(&data, transactions);
    assert_eq!(Some(done.commits), expected.expect("data"), "{what}");
    let wrong = workload.verify(&mut data, transactions).expect("data");
    assert_eq!(wrong, None, "{what}");
    let header = Header {
        variant: A::NAME.into(),
        workload: workload.name().into(),
        device: device.id(),
        seed: String::new(),
    };
    let records = records.download().expect("records");
    let history = decode(&records, lanes, WORDS, header, initial).expect("a history");
    assert_eq!(history.len() as u64, done.attempts, "{what}");
    let verdict = opacity::check(&history).expect("a possible history");
    assert!(verdict.is_opaque(), "{what}:\n{verdict}");
    done.aborted()
}

fn labyrinth(seed: u64) -> Labyrinth {
    let size = GridSize { x: 6, y: 6, z: 2 };
    Labyrinth {
        maze: Maze::generate(seed, size, 7, 8).expect("a maze"),
        source: Source::Generated,
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

/// Both workloads.
fn both<A, D>(device: &D, seed: u64) -> u64
where
    A: Algorithm,
    Labyrinth: Launches<A>,
    Genome: Launches<A>,
    D: Device,
{
    let config = StmConfig {
        locks: 16 << (seed % 3),
        stripe_bytes: 4 << (seed % 2),
        ..StmConfig::default()
    };
    // The grid's first state is what its first readers found.
    run::<A, _, D>(device, &labyrinth(seed), InitialMemory::INFERRED, config)
        + run::<A, _, D>(device, &GENOME, InitialMemory::ZERO, config)
}

fn everywhere<A>()
where
    A: Algorithm,
    Labyrinth: Launches<A>,
    Genome: Launches<A>,
{
    for seed in 0..8 {
        both::<A, _>(&Cpu::new(), seed);
    }
    let mut aborted = 0;
    for schedule in [
        Schedule::Lockstep,
        Schedule::Random,
        Schedule::Its {
            bound: 64,
            starve: false,
        },
    ] {
        for (width, seed) in (0..4).flat_map(|s| [(1, 3 * s), (4, 3 * s + 1), (32, 3 * s + 2)]) {
            let sim = Sim::new(SimConfig {
                warp_width: width,
                schedule,
                memory: MemoryModel::Weak { stale_percent: 30 },
                votes_order: seed % 2 == 0,
                seed,
                ..SimConfig::default()
            });
            aborted += both::<A, _>(&sim, seed);
        }
    }
    // Routers must meet, or this tests little.
    assert!(aborted > 0);
}

macro_rules! variants {
    ($($name:ident: $algorithm:ident;)*) => {
        $(
            #[test]
            fn $name() {
                everywhere::<$algorithm>();
            }
        )*
    };
}

variants! {
    labyrinth_and_genome_are_opaque_with_cgl: Cgl;
    labyrinth_and_genome_are_opaque_with_egpgv: Egpgv;
    labyrinth_and_genome_are_opaque_with_vbv: Vbv;
    labyrinth_and_genome_are_opaque_with_tbv_sorting: TbvSorting;
    labyrinth_and_genome_are_opaque_with_hv_sorting: HvSorting;
    labyrinth_and_genome_are_opaque_with_hv_backoff: HvBackoff;
    labyrinth_and_genome_are_opaque_with_fast: Fast;
    labyrinth_and_genome_are_opaque_with_fast_table: FastTable;
}
