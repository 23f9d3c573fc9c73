//! Channels, named barriers and barriers that count arrivals on the simulator, under every
//! schedule and with weak memory; and the seeded defects of channels.

mod clusters;
mod forms;
mod lanes;
mod mutants;
// The kernels are those of the workloads, which the program brings along.
#[cfg(feature = "cli")]
mod reduction;
mod warps;

use verify::sim::{MemoryModel, Schedule, SimConfig};

/// Every kind of schedule. Priorities are fair only because waits pause.
const SCHEDULES: [Schedule; 7] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::Its {
        bound: 64,
        starve: false,
    },
    Schedule::Its {
        bound: 16,
        starve: true,
    },
    Schedule::Random,
    Schedule::Pct {
        depth: 3,
        length: 2_000,
    },
    Schedule::Pct {
        depth: 8,
        length: 10_000,
    },
];

/// The configuration of a run: schedule, width, memory and atomics follow from its number.
fn config(k: u64) -> SimConfig {
    let schedule = SCHEDULES[(k % SCHEDULES.len() as u64) as usize];
    let k = k / SCHEDULES.len() as u64;
    SimConfig {
        warp_width: [1, 4, 32][(k % 3) as usize],
        schedule,
        memory: MemoryModel::Weak {
            stale_percent: [25, 60][(k / 3 % 2) as usize],
        },
        votes_order: (k / 6).is_multiple_of(2),
        wide_atomics: !(k / 2).is_multiple_of(2),
        seed: k,
        steps_max: 2_000_000,
        idle_max: 200_000,
        ..SimConfig::default()
    }
}

/// Whether lanes of a warp that wait for one another in different places come to an end:
/// where the warp runs both sides of a divergence.
fn runs_both_sides(config: SimConfig) -> bool {
    config.warp_width == 1 || config.schedule != Schedule::Stack
}
