//! Locks in the simulator: mutual exclusion under every schedule and weak memory,
//! progress under every schedule that lets each lane run in the end, fairness,
//! lock coupling, misuse, and seeded defects.

#[path = "../../../stm-core/tests/common/asserts.rs"]
mod asserts;
mod combining;
mod common;
mod exclusion;
mod fairness;
mod misuse;
#[cfg(feature = "cli")]
mod structures;
