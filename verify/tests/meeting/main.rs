//! Barriers across blocks, semaphores, channels, named barriers and barriers that count arrivals on
//! the simulator, under every schedule and with weak memory; and the seeded defects of them.

#[path = "../../../stm-core/tests/common/asserts.rs"]
mod asserts;
mod barrier;
#[path = "../common/prelude.rs"]
mod prelude;
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

use crate::prelude::*;
use runs::simulator;

/// The configuration of a run of channels: what other numbered runs have, and the atomics.
fn config(k: u64) -> SimConfig {
    let twice = 2 * Schedule::named(runs::SCHEDULES).len() as u64;
    runs::config(k).with_wide_atomics(!(k / twice).is_multiple_of(2))
}

/// Whether lanes of a warp that wait for one another in different places come to an end:
/// where the warp runs both sides of a divergence.
fn runs_both_sides(config: SimConfig) -> bool {
    config.warp_width == 1 || config.schedule != Schedule::Stack
}
