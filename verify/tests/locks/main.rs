//! Locks in the simulator: mutual exclusion under every schedule and weak memory,
//! progress under every schedule that lets each lane run in the end, fairness,
//! lock coupling, misuse, and seeded defects.

#[path = "../common/asserts.rs"]
mod asserts;
mod chosen;
mod combining;
mod common;
mod coupling;
#[cfg(feature = "cli")]
mod critical;
mod exclusion;
mod fairness;
mod misuse;
mod mutants;
mod panics;
#[cfg(feature = "cli")]
mod plain;
mod series;
#[cfg(feature = "cli")]
mod structures;
mod transactions;
