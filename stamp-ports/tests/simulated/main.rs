//! The workloads on the simulator and on the CPU, driven as `stamp` drives them:
//! recorded and judged, profiled, and their results checked.

#[macro_use]
mod driven;

mod bank_and_eigenbench;
mod kernels;
mod kmeans;
mod labyrinth_and_genome;
mod profile;
mod static_forms;
mod vacation;
