//! Barriers across blocks, semaphores, channels, named barriers and barriers that count arrivals on
//! the simulator, under every schedule and with weak memory; and the seeded defects of them.

#[path = "../common/asserts.rs"]
mod asserts;
mod barrier;
// The kernels are those of the workloads, which the program brings along.
mod forms;
#[cfg(feature = "cli")]
mod kernels;
#[path = "../common/runs.rs"]
mod runs;
#[cfg(feature = "cli")]
#[path = "../../../stm-kernels/tests/common/mod.rs"]
mod runs_of_kernels;
mod semaphore;
mod warps;

pub(crate) use asserts::of_each;
use runs::simulator;
use stm_core::host::Launch;
use verify::sim::{Schedule, SimConfig};

/// The configuration of a run of channels: what other numbered runs have, and the atomics.
fn config(k: u64) -> SimConfig {
    let twice = 2 * Schedule::named(runs::SCHEDULES).len() as u64;
    runs::config(k).with_wide_atomics(!(k / twice).is_multiple_of(2))
}

/// Returns a launch with so many bytes of shared memory.
const fn shared(mut launch: Launch, bytes: u32) -> Launch {
    launch.shared_bytes = bytes;
    launch
}

/// Whether lanes of a warp that wait for one another in different places come to an end:
/// where the warp runs both sides of a divergence.
fn runs_both_sides(config: SimConfig) -> bool {
    config.warp_width == 1 || config.schedule != Schedule::Stack
}
