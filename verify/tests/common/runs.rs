//! Numbered runs of kernels that wait, for barriers, semaphores and channels.

use verify::sim::{MemoryModel, Schedule, SimConfig};

/// Every kind of schedule. Priorities are fair only because waits pause.
pub(crate) const SCHEDULES: [Schedule; 7] = [
    Schedule::Lockstep,
    Schedule::Stack,
    Schedule::its(64),
    Schedule::starve(16),
    Schedule::Random,
    Schedule::pct(3, 2_000),
    Schedule::pct(8, 10_000),
];

/// The configuration of a run: schedule, width and memory follow from its number.
pub(crate) fn config(k: u64) -> SimConfig {
    let schedule = SCHEDULES[(k % SCHEDULES.len() as u64) as usize];
    let k = k / SCHEDULES.len() as u64;
    SimConfig {
        warp_width: [1, 4, 32][(k % 3) as usize],
        schedule,
        memory: MemoryModel::Weak {
            stale_percent: [25, 60][(k / 3 % 2) as usize],
        },
        votes_order: (k / 6).is_multiple_of(2),
        seed: k,
        steps_max: 2_000_000,
        idle_max: 200_000,
        ..SimConfig::default()
    }
}
