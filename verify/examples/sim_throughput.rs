//! How many operations a second the simulator schedules on one core:
//! `cargo run --release -p verify --example sim_throughput [SECONDS]`.
//!
//! Two kernels, each schedule, both memory models. `raw`: 32 lanes in two
//! blocks, each operation a relaxed load, a relaxed store, a fetch-and-add or,
//! one in eight, a fence, on one of 64 words. `bank`: transactions of two reads
//! and two writes on 64 accounts by `hv-sorting`, 16 lanes in two blocks, 400
//! transactions a launch; its private accesses are not counted as operations.

use std::time::{Duration, Instant};
use stm_core::algorithm::HvSorting;
use stm_core::host::{Buffer, Launch, Stm, StmConfig};
use stm_core::kernel::Kernel;
use stm_core::logs::Capacity;
use stm_core::{Lane, StmRef, TArray};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig};

const SCHEDULES: [Schedule; 6] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::Its {
        bound: 64,
        starve: false,
    },
    Schedule::Its {
        bound: 64,
        starve: true,
    },
    Schedule::Random,
    Schedule::Pct {
        depth: 3,
        length: 10_000,
    },
];

struct Raw;

impl Kernel for Raw {
    const ENTRY: &'static str = "raw";
    type Params = TArray<u32>;

    fn run<L: Lane>(lane: &L, words: &TArray<u32>) {
        let mut state = lane.grid_thread() + 1;
        for _ in 0..500 {
            state = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            let Some(word) = words.get(state % words.len()) else {
                continue;
            };
            // SAFETY: a live word used with 32 bits only.
            unsafe {
                match state >> 60 {
                    0..8 => state ^= u64::from(lane.load_relaxed_32(word)),
                    8..12 => lane.store_relaxed_32(word, state as u32),
                    12..14 => state ^= u64::from(lane.fetch_add_relaxed_32(word, 1)),
                    _ => lane.fence(),
                }
            }
        }
    }
}

struct Bank;

#[derive(Clone, Copy)]
struct BankParams {
    stm: StmRef<HvSorting>,
    accounts: TArray<u32>,
}

impl Kernel for Bank {
    const ENTRY: &'static str = "bank";
    type Params = BankParams;

    fn run<L: Lane>(lane: &L, params: &BankParams) {
        let accounts = params.accounts;
        params.stm.for_each(lane, 0..400, |tx, i| {
            let (from, to) = (
                i.wrapping_mul(0x9E37_79B1) >> 7,
                i.wrapping_mul(0x85EB_CA77) >> 9,
            );
            let (from, to) = (from % accounts.len(), to % accounts.len());
            let taken = tx.read(&accounts, from)?;
            tx.write(&accounts, from, taken - 1)?;
            let given = tx.read(&accounts, to)?;
            tx.write(&accounts, to, given + 1)
        });
    }
}

/// Launches until `time` is over; operations and launches a second.
fn rate(sim: &Sim, time: Duration, mut launch: impl FnMut()) -> (f64, f64) {
    launch();
    let start = Instant::now();
    let (mut operations, mut launches) = (0, 0.0);
    while start.elapsed() < time {
        launch();
        operations += sim.last_run().map_or(0, |(run, _)| run.steps);
        launches += 1.0;
    }
    let seconds = start.elapsed().as_secs_f64();
    (operations as f64 / seconds, launches / seconds)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(1.0), |s| s.parse())?;
    let time = Duration::try_from_secs_f64(seconds)?;
    println!(
        "{:10} {:8} {:>12} {:>12} {:>14}",
        "schedule", "memory", "raw Mop/s", "bank Mop/s", "bank ktx/s"
    );
    for schedule in SCHEDULES {
        for memory in [
            MemoryModel::Sequential,
            MemoryModel::Weak { stale_percent: 25 },
        ] {
            let config = SimConfig {
                warp_width: 8,
                schedule,
                memory,
                seed: 1,
                ..SimConfig::default()
            };
            let sim = Sim::new(config);
            let words = Buffer::<_, u32>::zeroed(&sim, 64, "words")?;
            let (raw, _) = rate(&sim, time, || {
                sim.run(&Launch::new(2, 16), |lane| Raw::run(lane, &words.tarray()))
                    .expect("runs to its end");
            });
            let sim = Sim::new(config);
            let accounts = Buffer::from_slice(&sim, &[1 << 30; 64], "accounts")?;
            let sizes = StmConfig {
                locks: 256,
                capacity: Capacity {
                    reads: 8,
                    writes: 8,
                },
                ..StmConfig::default()
            };
            let mut stm = Stm::new(&sim, Launch::new(2, 8), sizes)?;
            let params = BankParams {
                stm: stm.handle(),
                accounts: accounts.tarray(),
            };
            let (bank, launches) = rate(&sim, time, || {
                // SAFETY: the buffer lives, and only these transactions touch it.
                unsafe { stm.launch::<Bank>(&params) }.expect("runs to its end");
            });
            println!(
                "{:10} {:8} {:12.1} {:12.1} {:14.1}",
                schedule.to_string(),
                memory.to_string(),
                raw / 1e6,
                bank / 1e6,
                launches * 0.4
            );
        }
    }
    Ok(())
}
