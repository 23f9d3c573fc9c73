//! Software transactional memory for GPUs.
//!
//! The algorithms of *Software Transactional Memory for GPU Architectures* (Xu
//! et al., CGO 2014) and the ones it compares with, from one Rust source, on
//! NVIDIA GPUs (compiled to PTX) and on the CPU.
//!
//! A kernel is a type that implements [`kernel::Kernel`], generic over the
//! [`lane::Lane`] that runs it. Inside, transactions go through a
//! [`StmRef`]:
//!
//! ```
//! use stm_core::{Lane, StmRef, algorithm::Algorithm};
//!
//! /// Moves one unit from account `from` to account `to`.
//! fn transfer<L: Lane, A: Algorithm>(lane: &L, stm: &StmRef<A>, accounts: &A::Array<u32>, from: u64, to: u64) {
//!     let outcome = stm.atomically(lane, |tx| {
//!         let [a, b] = tx.read_many(accounts, [from, to])?;
//!         if a == 0 {
//!             return tx.cancel();
//!         }
//!         tx.write(accounts, from, a - 1)?;
//!         tx.write(accounts, to, b + 1)
//!     });
//!     let _moved = outcome.is_ok();
//! }
//! ```
//!
//! Besides, a transaction writes several words with [`Tx::write_many`] and adds
//! to rows of sums ([`TSums`], [`Tx::add`]). [`StmRef::team`] and
//! [`StmRef::for_each_team`] run one by all lanes of a warp ([`TeamTx`]),
//! [`StmRef::team_of_block`] and [`StmRef::for_each_block_team`] by all threads
//! of a block; only with [`algorithm::Fast`] and [`algorithm::FastTable`], which also let
//! additions pass without conflict.
//!
//! Without features the crate is `no_std` and is what a kernel links. The
//! feature `host` adds the devices' side: buffers, launches, the CPU device
//! and `Stm`, the owner of the metadata; `cuda` adds the CUDA device.
//!
//! `ORDERING.md` beside this file argues every memory order.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, stdarch_nvptx, link_llvm_intrinsics)
)]

#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
extern crate std;

pub mod algorithm;
pub mod array;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod host;
pub mod kernel;
pub mod lane;
pub mod memory;
pub mod observe;
mod run;
mod tx;

pub use array::{Layout, Summand, TArray, TCells, TSums, View};
pub use kernel::Kernel;
pub use lane::Lane;
pub use memory::{Capacity, Element, WordAddress};
pub use tx::abort::{Abort, TxResult};
pub use tx::attempt::Tx;
pub use tx::crew::{BlockCrew, Crew, WarpCrew};
pub use tx::stm_ref::{RetryLimits, StmRef};
pub use tx::team::TeamTx;

/// What a kernel and the program that launches it use: `use stm_core::prelude::*`.
pub mod prelude {
    pub use crate::algorithm::{Algorithm, Fast, FastTable, Variant};
    pub use crate::array::{Summand, TArray, TCells, TSums, View};
    #[cfg(all(not(target_arch = "nvptx64"), feature = "cuda"))]
    pub use crate::host::Cuda;
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub use crate::host::{Buffer, Cpu, Device, Launch, Stm, StmConfig, Sums, TxArray};
    pub use crate::kernel::Kernel;
    pub use crate::lane::Lane;
    pub use crate::memory::Element;
    pub use crate::tx::abort::{Abort, TxResult};
    pub use crate::tx::attempt::Tx;
    pub use crate::tx::stm_ref::StmRef;
    pub use crate::tx::team::TeamTx;
}

/// The README's program, compiled and run as a test.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../../README.md")]
struct Readme;
