//! The workloads as kernels: one source for GPU, CPU and simulator.
//!
//! Each workload is a type generic over the transactional memory's algorithm,
//! with a parameter struct, a PTX entry point for each algorithm
//! (`<workload>_<variant>`, and with `_recorded` or `_profiled` behind it for
//! those with a probe), and the functions by which the host makes its
//! input and checks its result. `cargo xtask ptx` builds `ptx/*.ptx`, which
//! this crate embeds.
//!
//! | module | workload | source |
//! | --- | --- | --- |
//! | [`ra`] | random array | Xu et al. 2014 |
//! | [`ht`] | hash table | Xu et al. 2014 |
//! | [`bank`] | transfers and audits | the usual bank benchmark |
//! | [`eigenbench`] | `EigenBench` | Hong et al. 2010 |
//! | [`genome`] | assembly of a gene from its segments | STAMP |
//! | [`labyrinth`] | routing in a grid | STAMP |
//! | [`kmeans`] | k-means | STAMP |
//!
//! [`cells`] compares cells of 32 and of 64 bits. [`floor`] has the same accesses without transactions, to compare with.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch))]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod bank;
pub mod cells;
pub mod draw;
pub mod eigenbench;
mod entry;
pub mod floor;
pub mod genome;
pub mod ht;
pub mod kmeans;
pub mod labyrinth;
#[cfg(all(target_arch = "nvptx64", not(feature = "observed")))]
pub mod lane_ops;
pub mod mutants;
#[cfg(not(target_arch = "nvptx64"))]
mod ptx;
pub mod ra;

/// Never called: no kernel panics, and none of this is left in the PTX.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
