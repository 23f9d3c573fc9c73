//! Software transactional memory for GPUs: threads of a kernel read and write words that they
//! share inside transactions, and each transaction takes effect as a whole or not at all.
//!
//! One Rust source runs on NVIDIA GPUs (compiled to PTX) and on the CPU:
//!
//! ```
//! use stm_core::prelude::*;
//!
//! /// Payments between accounts, one transaction each.
//! #[kernel]
//! pub fn pay(stm: &Stm, accounts: Cells<u32>, payments: u64) {
//!     stm.each(0..payments, |tx, i| {
//!         let (from, to) = (i % 100, 100 + i % 7);
//!         let [a, b] = tx.read_many(accounts, [from, to])?;
//!         if a == 0 {
//!             return tx.cancel();
//!         }
//!         tx.write_many(accounts, [from, to], [a - 1, b + 1], 2)
//!     });
//! }
//!
//! # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
//! let mut stm = Stm::on(&Cpu::new())?; // or `Cuda::new(0)?`
//! let accounts = stm.array("accounts", &[10u32; 200])?;
//! let done = pay::launch(&mut stm, Launch::new(4, 8), &accounts, 5_000)?;
//! assert_eq!(done.commits, 1_000); // 100 accounts of 10 are emptied
//! # Ok(()) }
//! # #[cfg(not(feature = "host"))] fn main() {}
//! ```
//!
//! The closure is the transaction: [`Tx`] has what it may do, `?` carries a conflict out of it, and
//! [`KernelStm::each`] runs it again, so it has no other effects. Where all words are known before
//! the first is read, [`KernelStm::update_each`] is shorter and faster. What is guaranteed:
//!
//! | guarantee | means |
//! | --- | --- |
//! | opacity | committed transactions take effect in one order that respects real time, and every attempt, even one that aborts, sees a state that existed |
//! | progress | a transaction of [`Fast`](algorithm::Fast) that fails for long has a turn in which nobody else is inside |
//! | an error, not a trap | an index past the end or a set without room ends the launch with an error that names it; what had committed stays |
//! | memory that lasts | versions never run out, and arrays may go from one memory to another between launches |
//!
//! `ORDERING.md` beside this file gives the reason for every memory order, and `SAFETY.md` lists
//! every kind of unsafe code.
//!
//! | to go on | read |
//! | --- | --- |
//! | write kernels, and functions that they call | [`kernel`](macro@kernel), [`transactional`](macro@transactional), [`KernelStm`], [`Tx`] |
//! | sums, structs, nodes, results | [`TSums`], [`record!`], [`TPool`], [`Output`] |
//! | maps, lists, queues | [`collections`] |
//! | devices, memory and launches (feature `host`; `cuda` adds the GPU) | `host` |
//! | choose an algorithm: `fast`, or those of Xu et al., CGO 2014 | [`algorithm`] |
//! | write a kernel that names its lane and its algorithm | [`kernel`](macro@kernel#the-generic-form), [`StmRef`], [`Lane`] |
//!
//! Without features the crate is `no_std` and is what a kernel links. Locks, barriers, semaphores
//! and channels, which need no transactions, are in `stm-sync`.

#![no_std]
// What only the host's side uses stands beside what kernels use.
#![cfg_attr(not(feature = "host"), allow(dead_code))]
// Indices are constants: an iterator over an array would move it to the stack, on a GPU byte by byte.
#![allow(clippy::needless_range_loop)]
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
#[macro_use]
extern crate std;

// The macros name the crate as their users do.
extern crate self as stm_core;

pub mod algorithm;
mod array;
pub mod collections;
mod hint;
#[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
pub mod host;
mod kernel;
mod memory;
mod observe;
mod run;
mod tx;

pub use algorithm::contract::Tx;
pub use array::{
    Field, Input, Layout, Node, Output, Preassigned, Record, Summand, TArray, TCells, TNodes,
    TPool, TPreassigned, TRecords, TSums, View,
};
pub use kernel::Kernel;
/// Data that a kernel takes by value: the trait, and the derive that implements it for a struct.
///
/// ```
/// use stm_core::prelude::*;
///
/// #[derive(Clone, Copy, Plain)]
/// #[repr(C)]
/// pub struct Price { base: u32, per_item: u32 }
///
/// /// Stores what each number of items costs.
/// #[kernel]
/// pub fn price_all(stm: &Stm, costs: Cells<u32>, price: Price) {
///     stm.each(0..costs.len(), |tx, i| {
///         tx.write(costs, i, price.base + price.per_item * i as u32)
///     });
/// }
///
/// # #[cfg(feature = "host")] fn main() -> Result<(), stm_core::host::Error> {
/// let mut stm = Stm::on(&Cpu::new())?;
/// let costs = stm.array("costs", &[0u32; 3])?;
/// let price = Price { base: 10, per_item: 2 };
/// price_all::launch(&mut stm, Launch::new(1, 2), &costs, price)?;
/// assert_eq!(costs.download()?, [10, 12, 14]);
/// # Ok(()) }
/// # #[cfg(not(feature = "host"))] fn main() {}
/// ```
pub use kernel::Plain;
pub use memory::Element;
pub use run::loops::{KernelStm, KernelTeams};
#[doc = include_str!("kernel/attribute.md")]
pub use stm_core_macros::kernel;
#[doc = include_str!("kernel/transactional.md")]
pub use stm_core_macros::transactional;
pub use stm_machine::Lane;
#[doc(hidden)]
pub use stm_machine::{
    __entry_point, __is_plain, __observed, __registers, inlined, kernel_alone, ptx_note, ptx_of,
};
pub use tx::abort::{Abort, TxResult};
pub use tx::actions::Action;
pub use tx::compose::Transact;
pub use tx::stm_ref::StmRef;
pub use tx::team::TeamTx;

/// What most kernels and the programs that launch them need: `use stm_core::prelude::*`.
///
/// The rest is in the crate's root, in [`collections`] and in `host`.
pub mod prelude {
    pub use crate::algorithm::contract::Tx;
    pub use crate::algorithm::{Algorithm, Fast, FastTable};
    pub use crate::array::{Input, Node, Output, View};
    #[cfg(all(not(target_arch = "nvptx64"), feature = "cuda"))]
    pub use crate::host::Cuda;
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub use crate::host::{Buffer, Cpu, Device, Launch, Stm, StmConfig, TxArray};
    #[doc(hidden)]
    #[allow(deprecated)]
    pub use crate::kernel::Cells;
    pub use crate::kernel::Plain;
    pub use crate::memory::Element;
    pub use crate::tx::abort::TxResult;
    pub use crate::tx::compose::Transact;
    pub use crate::tx::stm_ref::StmRef;
    pub use crate::tx::team::TeamTx;
    pub use stm_core_macros::{kernel, transactional};
    pub use stm_machine::Lane;
}

/// What the macros name, and what this project's checker, workloads and benchmarks use beside the
/// interface. It may change in any version.
#[doc(hidden)]
pub mod internal {
    pub use crate::memory::WordAddress;
    pub use crate::tx::compose::OnLane;
    pub use crate::tx::crew::{BlockCrew, Crew, WarpCrew};
    pub use stm_machine::{inlined, lane};

    /// What the algorithms are made of.
    pub mod algorithm {
        pub use crate::algorithm::contract::Scratch;
        pub use crate::algorithm::fast::protocol::Versioned;
        pub use crate::algorithm::fast::storage::{Cells, Storage, Table};
    }

    /// The views, and the layout of records.
    pub mod array {
        pub use crate::array::*;
    }

    /// Kernels, their entry points and their PTX.
    pub mod kernel {
        pub use crate::kernel::*;
    }

    /// The global metadata.
    pub mod memory {
        pub use crate::memory::*;
        pub use stm_machine::memory::Word;
    }

    /// Probes, histories, profiles and seeded defects.
    pub mod observe {
        pub use crate::observe::*;
    }

    /// Launches as tools make them.
    #[cfg(all(not(target_arch = "nvptx64"), feature = "host"))]
    pub mod host {
        pub use crate::host::arranged::{Elements, Form, Structs};
        pub use crate::host::profile::{Profile, ProfileRows};
        pub use stm_machine::host::{
            Laps, Limits, Memory, Replay, StopAt, Watchdog, check_parameters, in_ranges,
        };
    }
}

/// The programs of the book, `docs/book`: doctests compile and run them. Each
/// item stands for a chapter.
#[cfg(all(doctest, feature = "host"))]
mod book {
    #[doc = include_str!("../../docs/book/src/first-kernel.md")]
    struct FirstKernel;
    #[doc = include_str!("../../docs/book/src/guide.md")]
    struct Guide;
    #[doc = include_str!("../../docs/book/src/reference.md")]
    struct Reference;
    #[doc = include_str!("../../docs/book/src/from-a-lock.md")]
    struct FromALock;
    #[doc = include_str!("../../docs/book/src/synchronisation.md")]
    struct Synchronisation;
    #[doc = include_str!("../../docs/book/src/alignments.md")]
    struct Alignments;
    #[doc = include_str!("../../docs/book/src/opacity.md")]
    struct Opacity;
    #[doc = include_str!("../../docs/book/src/troubleshooting.md")]
    struct Troubleshooting;
}

/// The programs that are refused.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("SAFETY.md")]
struct Safety;

/// Compiles and runs the program of the README as a test.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../../README.md")]
struct Readme;
