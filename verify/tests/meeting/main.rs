//! Barriers across blocks and semaphores on the simulator, under every schedule and
//! with weak memory; and the seeded defects of both.

mod barrier;
// The kernels are those of the workloads, which the program brings along.
#[path = "../common/asserts.rs"]
mod asserts;
#[cfg(feature = "cli")]
mod checked;
#[path = "../common/runs.rs"]
mod runs;
mod semaphore;

pub(crate) use asserts::of_each;
use runs::{config, simulator};
