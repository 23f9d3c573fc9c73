//! The host's side: devices, memory, launches, and the owner of the metadata.
//!
//! | type | meaning |
//! | --- | --- |
//! | [`Device`] | a machine that allocates memory and launches kernels |
//! | [`Cpu`] | OS threads, which every machine has |
//! | `Cuda` (feature `cuda`) | an NVIDIA GPU through its driver |
//! | [`Buffer`] | an array in a device's memory |
//! | [`TxArray`] | an array that transactions access, in the layout of their algorithm |
//! | [`Records`] | an array of structs of words, in the same layouts |
//! | [`Pool`], [`Nodes`] | nodes that transactions allocate and free; with records |
//! | [`PreassignedNodes`] | records that belong to the transactions of a loop by their numbers |
//! | [`Sums`] | rows of sums, to which transactions add without conflict |
//! | [`Stm`] | the metadata of one transactional memory, its statistics, and the check after each launch |
//!
//! # A whole program
//!
//! ```
//! use stm_core::algorithm::HvSorting;
//! use stm_core::host::{Buffer, Cpu, Launch, Stm, StmConfig};
//! use stm_core::{Kernel, Lane, StmRef, TArray};
//!
//! struct Pay;
//!
//! #[repr(C)]
//! #[derive(Clone, Copy)]
//! struct Params { stm: StmRef<HvSorting>, accounts: TArray<u32>, payments: u64 }
//!
//! impl Kernel for Pay {
//!     const ENTRY: &'static str = "pay";
//!     type Params = Params;
//!     fn run<L: Lane>(lane: &L, p: &Params) {
//!         p.stm.for_each(lane, 0..p.payments, |tx, i| {
//!             let (from, to) = (i % 100, 100 + i % 7);
//!             let [a, b] = tx.read_many(&p.accounts, [from, to])?;
//!             if a == 0 { return tx.cancel(); }
//!             tx.write(&p.accounts, from, a - 1)?;
//!             tx.write(&p.accounts, to, b + 1)
//!         });
//!     }
//! }
//!
//! let cpu = Cpu::new();
//! let accounts = Buffer::from_slice(&cpu, &[10u32; 200], "accounts")?;
//! let mut stm = Stm::new(&cpu, Launch::new(4, 8), StmConfig::default())?;
//! let params = Params { stm: stm.handle(), accounts: accounts.tarray(), payments: 5_000 };
//! // SAFETY: the handle is of this `stm`, and `accounts` outlives the launch.
//! let (_time, statistics) = unsafe { stm.launch::<Pay>(&params)? };
//! assert_eq!(statistics.commits, 1_000);
//! assert_eq!(accounts.download()?.iter().sum::<u32>(), 2_000);
//! # Ok::<(), stm_core::host::Error>(())
//! ```

mod buffer;
mod check;
pub(crate) mod collections;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod inspect;
mod parameters;
mod pool;
mod pool_names;
mod profile;
mod records;
mod stm;
mod sums;
mod tx_array;

pub use crate::memory::logs::Capacity;
pub use crate::tx::stm_ref::RetryLimits;
pub use buffer::{Buffer, Pod};
pub use cpu::Cpu;
#[cfg(feature = "cuda")]
pub use cuda::{Cuda, CudaInfo};
pub use device::{Device, Launch, Limits, Memory, StopAt};
pub use error::Error;
pub use parameters::check_parameters;
pub use pool::{Nodes, Pool, PreassignedNodes};
pub use profile::{Profile, ProfileRows};
pub use records::Records;
pub use stm::{Statistics, Stm, StmConfig};
pub use sums::Sums;
pub use tx_array::TxArray;
