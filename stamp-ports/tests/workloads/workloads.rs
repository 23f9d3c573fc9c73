//! Workloads by the drivers that ship: with every variant on the CPU, and in simulations. What they
//! read, and what is measured beside them.

#[path = "../prelude/mod.rs"]
mod prelude;

mod alignment;
mod contention;
mod floors;
mod phases;
mod readers;
mod simulated;
