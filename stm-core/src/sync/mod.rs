//! Synchronisation between the blocks of a launch without transactions.
//!
//! | module | contains |
//! | --- | --- |
//! | [`barrier`] | barriers across blocks: no thread goes on before all blocks have come |
//! | [`semaphore`] | semaphores: at most a given number of threads are inside at a time |
//!
//! Everything here is written against [`Lane`](crate::Lane), as the transactions are, so the same source runs on the
//! GPU, on the CPU and in the simulator. A kernel gets a small reference as a parameter; its owner is on the host
//! (`host::GridBarrier`, `host::Semaphores`). Each wait looks at the stop flag of the launch now and then
//! ([`Stop`]), so a launch that would wait for ever ends with an error (`host::Watchdog`).
//!
//! `ORDERING.md`, "Barriers and semaphores", gives the reason for each memory order.

pub mod barrier;
pub mod semaphore;
mod wait;

pub use wait::{Stop, Stopped};
