//! The host's side: devices, memory, launches, and the owner of the metadata.
//!
//! | type | meaning |
//! | --- | --- |
//! | [`Device`] | a machine that allocates memory and launches kernels |
//! | [`Cpu`] | OS threads, which every machine has |
//! | `Cuda` (feature `cuda`) | an NVIDIA GPU through its driver |
//! | [`Buffer`] | an array in a device's memory |
//! | [`TxArray`] | an array that transactions access, in the layout of their algorithm |
//! | [`ForeignArray`] | an array over memory that somebody else owns |
//! | [`Records`] | an array of structs of words, in the same layouts |
//! | [`Arranged`] | what both kinds of array have in common |
//! | [`Pool`], [`Nodes`] | nodes that transactions allocate and free; with records |
//! | [`PreassignedNodes`] | records that belong to the transactions of a loop by their numbers |
//! | [`Sums`] | rows of sums, to which transactions add without conflict |
//! | [`Watchdog`] | the time limit of launches whose threads wait for each other |
//! | [`Argument`] | what can be lent to a kernel for a launch |
//! | [`Stm`] | the metadata of one transactional memory, its statistics, and the check after each launch |
//!
//! # A whole program
//!
//! ```
//! use stm_core::prelude::*;
//!
//! #[kernel]
//! pub fn pay(stm: &Stm, accounts: Cells<u32>, payments: u64) {
//!     stm.each(0..payments, |tx, i| {
//!         let (from, to) = (i % 100, 100 + i % 7);
//!         let [a, b] = tx.read_many(accounts, [from, to])?;
//!         if a == 0 { return tx.cancel(); }
//!         tx.write(accounts, from, a - 1)?;
//!         tx.write(accounts, to, b + 1)
//!     });
//! }
//!
//! # fn main() -> Result<(), stm_core::host::Error> {
//! let mut stm = Stm::on(&Cpu::new())?;
//! let accounts = stm.array("accounts", &[10u32; 200])?;
//! let done = pay::launch(&mut stm, Launch::new(4, 8), &accounts, 5_000)?;
//! assert_eq!(done.commits, 1_000);
//! assert_eq!(accounts.download()?.iter().sum::<u32>(), 2_000);
//! # Ok(())
//! # }
//! ```
//!
//! [`Stm::launch`] is what such a launch is made of, for kernels that were made
//! otherwise; it is unsafe, as it cannot tell what a parameter block points to.

mod argument;
mod arranged;
mod call;
mod check;
pub(crate) mod collections;
mod config;
mod copies;
#[cfg(all(test, feature = "cuda"))]
mod driver_tests;
mod fault_error;
mod foreign;
mod in_order;
mod inspect;
mod pool;
mod pool_names;
mod profile;
mod records;
mod stm;
mod sums;
mod tx_array;

pub use crate::memory::logs::Capacity;
pub use crate::tx::stm_ref::RetryLimits;
pub use arranged::{Arranged, Form};
pub use call::Done;
pub use config::StmConfig;
pub use foreign::ForeignView;
pub use in_order::InOrder;
pub use pool::{Nodes, Pool, PreassignedNodes};
pub use profile::{Profile, ProfileRows};
pub use records::{Records, Structs};
pub use stm::{Statistics, Stm};
pub use stm_machine::host::{
    Argument, Buffer, Cpu, Device, Error, ForeignArray, ForeignInput, Holds, Laps, Launch, Limits,
    Memory, Pod, Replay, StopAt, Watchdog, check_parameters,
};
#[cfg(feature = "cuda")]
pub use stm_machine::host::{Cuda, CudaInfo};
pub use sums::Sums;
pub use tx_array::{Elements, TxArray};
