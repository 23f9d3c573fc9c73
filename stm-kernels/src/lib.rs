//! The workloads as kernels: one source for GPU, CPU and simulator.
//!
//! Each workload is a type that is generic over the algorithm of the transactional memory, with a parameter
//! struct, a PTX entry point for each algorithm (`<workload>_<variant>`, followed by `_recorded` or
//! `_profiled` for those with a probe), and what the host needs for input and check. `cargo xtask ptx` builds
//! the PTX that this crate embeds. A row makes a kernel of a function (`rows`).
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
//! | [`vacation`] | travel agency: reservations from tables and lists | STAMP |
//! | [`queue`] | bounded first-in-first-out queue, producers and consumers that try | |
//! | [`chain::Map`] | hash map: insertions, removals, lookups | |
//! | [`chain::Ordered`] | ordered map: the same | |
//! | [`chain::List`] | ordered list: the same | |
//! | [`pool`] | allocation and release of nodes alone | |
//! | [`counter`] | counters that all threads increment | Grote 2020; Gattani and Anickode 2024 |
//! | [`nw`] | alignment of sequences | Li et al. 2015 |
//! | [`sorted`] | one sorted list with entry points, into which all threads insert | Grote 2020 |
//!
//! A workload's folder has its kernel and its plan, and what it is compared with: in `floor` the same accesses
//! without transactions, in `locked` the same work under locks. What these share is in [`floor`] and [`locked`].
//!
//! [`cells`] compares cells of 32 and of 64 bits. [`machine`] shows what memory and barriers do, [`sections`]
//! what locks do, [`checked`] whether barriers and semaphores are right, [`reduction`] how warps hand values
//! on, after Li et al. 2015, and [`hops`] the time of one such hand-over. `copy` has the library's own kernels.

#![no_std]
// As in stm-core.
#![allow(clippy::needless_range_loop)]
#![allow(
    missing_docs,
    reason = "the programs of this repository alone use these items; what a name says needs no sentence"
)]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, asm_experimental_arch))]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod bank;
pub mod cells;
pub mod chain;
pub mod checked;
mod copy;
pub mod counter;
pub mod draw;
pub mod eigenbench;
pub mod floor;
pub mod genome;
pub mod hops;
pub mod ht;
pub mod kmeans;
pub mod labyrinth;
#[cfg(all(target_arch = "nvptx64", not(feature = "observed")))]
pub mod lane_ops;
#[cfg(not(target_arch = "nvptx64"))]
pub mod launches;
pub mod locked;
pub mod machine;
pub mod mutants;
pub mod nw;
pub mod pool;
mod prelude;
pub mod queue;
pub mod ra;
pub mod reduction;
pub mod rows;
pub mod sections;
pub mod sorted;
mod spelled;
pub mod vacation;
mod words;
