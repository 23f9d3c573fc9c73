//! Software transactional memory for GPUs.
//!
//! This crate implements the algorithms of *Software Transactional Memory for
//! GPU Architectures* (Xu et al., CGO 2014), those that the paper compares
//! with, and algorithms of its own. One Rust source runs on NVIDIA GPUs
//! (compiled to PTX) and on the CPU.
//!
//! A kernel is a type that implements [`kernel::Kernel`] and is generic over
//! the [`lane::Lane`] that runs it. Its transactions go through a [`StmRef`]:
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
//! Where the words of a transaction are known before it reads any, [`StmRef::update_each`] is
//! the first thing to reach for: a *static update* is shorter to write and faster.
//!
//! A transaction can also write several words at once with [`Tx::write_many`]
//! and add to rows of sums ([`TSums`], [`Tx::add`]). [`StmRef::team`] and
//! [`StmRef::for_each_team`] run one transaction by all lanes of a warp
//! ([`TeamTx`]), and [`StmRef::team_of_block`] and
//! [`StmRef::for_each_block_team`] by all threads of a block. Teams need
//! [`algorithm::Fast`] or [`algorithm::FastTable`], under which additions do
//! not conflict either.
//!
//! Without features the crate is `no_std` and is what a kernel links. The
//! feature `host` adds the host's side: buffers, launches, the CPU device and
//! `Stm`, the owner of the metadata. The feature `cuda` adds the CUDA device.
//!
//! # The modules
//!
//! | module | contains |
//! | --- | --- |
//! | [`kernel`](mod@kernel) | the trait that a kernel implements |
//! | [`lane`] | the vocabulary of machine operations, and its implementations for the GPU and the CPU |
//! | [`memory`] | words, versions, stripes, the global metadata and the logs: where each bit lies |
//! | [`array`](mod@array) | the views through which kernels name elements: plain arrays, cells, sums |
//! | [`collections`] | containers as functions of a transaction: maps, ordered maps and lists, queues |
//! | `tx` | one attempt at a transaction: [`Tx`], [`TeamTx`], the handle [`StmRef`], [`Abort`] |
//! | `run` | the loops around attempts: rounds, retries, backoff, the gate |
//! | [`algorithm`] | the interface of an algorithm and the registry of all of them |
//! | `algorithm/paper` | the algorithms of Xu et al. 2014 |
//! | `algorithm/fast` | `fast` and `fast-table` |
//! | [`observe`] | probes that record histories or measure time, and seeded defects |
//! | `host` | devices, memory, launches, and the owner of the metadata |
//!
//! [`lane`], the machine's side of [`kernel`](mod@kernel) and `host`, and words and plain arrays
//! are those of the crate `stm-machine`, under the names that they have here. Locks, barriers,
//! semaphores and channels are in `stm-sync`, which needs no transactions.
//!
//! `ORDERING.md` beside this file gives the reason for every memory order.
//!
//! # How to read this
//!
//! Follow `tx.read(&array, i)` from the closure to the word:
//!
//! 1. [`Tx::read`] is [`Tx::read_many`] for one element (`tx/attempt.rs`). It
//!    asks the view for the [`WordAddress`] of the element and returns
//!    [`Abort::OutOfRange`] past the end.
//! 2. `Tx::read_words` looks up the transaction's own writes, if there are any,
//!    and calls `Algorithm::read_many` for the rest (`algorithm/contract.rs`).
//! 3. For [`algorithm::Fast`] this is `Versioned::read_many`
//!    (`algorithm/fast/protocol.rs`). It calls `load`; while a word is locked
//!    it calls it again, and if one is newer than the snapshot, `extend` and then
//!    `load`. Both are in `algorithm/fast/read.rs`. It records the word in the read set
//!    (`algorithm/fast/entry_set.rs`).
//! 4. `load` finds the version word of the address
//!    (`algorithm/fast/storage.rs`) and calls [`Lane::load_relaxed_64`], one
//!    PTX instruction in `lane/gpu.rs`, written by the macro `load!` of
//!    `lane/gpu_access.rs`, and one atomic load in `lane/cpu.rs`. For an `f64` it
//!    is [`Lane::load_relaxed_128`], or version, value and version. The bits of
//!    the word are described in `memory/version.rs`.
//! 5. [`Tx::write`] marks the word's entry (`EntrySet::buffer`). At the commit
//!    (`Versioned::commit`) `acquire.rs` swaps the words for their locked forms,
//!    and `commit.rs` has `advance`, `validate` and `publish`.
//! 6. For [`algorithm::HvSorting`], start at `VersionLocks::read_many` and
//!    `try_commit` in `algorithm/paper/version_locks.rs`.
//!
//! The loop that began the attempt and will commit it is in `run/single.rs`.

#![no_std]
// What only the host's side uses stands beside what kernels use.
#![cfg_attr(not(feature = "host"), allow(dead_code))]
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[macro_use]
extern crate std;

// The macros name the crate as their users do.
extern crate self as stm_core;

pub mod algorithm;
pub mod array;
pub mod collections;
mod hint;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod host;
pub mod kernel;
pub mod memory;
pub mod observe;
mod run;
mod tx;

pub use array::{
    Field, Input, Layout, Node, Output, Preassigned, Record, Summand, TArray, TCells, TNodes,
    TPool, TPreassigned, TRecords, TSums, View,
};
pub use kernel::{Kernel, Plain};
pub use memory::{Capacity, Element, WordAddress};
pub use run::loops::{KernelStm, KernelTeams};
pub use run::step::InStep;
#[doc = include_str!("kernel/attribute.md")]
pub use stm_core_macros::kernel;
#[doc = include_str!("kernel/transactional.md")]
pub use stm_core_macros::transactional;
pub use stm_machine::lane::{self, Lane};
#[doc(hidden)]
pub use stm_machine::{__entry_point, __observed, __registers, ptx_of};
pub use stm_machine::{kernel_alone, ptx_note};
pub use tx::abort::{Abort, TxResult};
pub use tx::actions::Action;
pub use tx::attempt::Tx;
pub use tx::compose::{OnLane, Transact};
pub use tx::crew::{BlockCrew, Crew, WarpCrew};
pub use tx::stm_ref::{RetryLimits, StmRef};
pub use tx::team::TeamTx;

/// The items that a kernel and the program that launches it need: `use
/// stm_core::prelude::*`.
pub mod prelude {
    pub use crate::algorithm::{Algorithm, Fast, FastTable, Variant};
    pub use crate::array::{
        Input, Node, Output, Record, Summand, TArray, TCells, TNodes, TPool, TRecords, TSums, View,
    };
    #[cfg(all(not(target_arch = "nvptx64"), feature = "cuda"))]
    pub use crate::host::Cuda;
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub use crate::host::{
        Argument, Buffer, Cpu, Device, Done, ForeignArray, ForeignView, Launch, Nodes, Pool,
        Records, Stm, StmConfig, Sums, TxArray,
    };
    #[doc(hidden)]
    #[allow(deprecated)]
    pub use crate::kernel::Cells;
    pub use crate::kernel::{Kernel, Plain};
    pub use crate::memory::Element;
    pub use crate::tx::abort::{Abort, TxResult};
    pub use crate::tx::actions::Action;
    pub use crate::tx::attempt::Tx;
    pub use crate::tx::compose::Transact;
    pub use crate::tx::stm_ref::StmRef;
    pub use crate::tx::team::TeamTx;
    pub use crate::{kernel, transactional};
    pub use stm_machine::Lane;
}

#[cfg(all(doctest, feature = "host"))]
mod book;

/// Compiles and runs the program of the README as a test.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../../README.md")]
struct Readme;
