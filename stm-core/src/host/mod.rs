//! The host's side: devices, memory, launches, and the owner of the metadata.
//!
//! [`Error`] says which errors every function returns that reaches a device; where there are others, its
//! documentation names them. [`Stm::launch`], which launches of kernels are made of, is for kernels that were
//! made otherwise; it is unsafe, as it cannot tell what a parameter block points to.
//!
//! ```
//! use stm_core::prelude::*;
//!
//! #[kernel]
//! pub fn increment_all(stm: &Stm, words: Cells<u32>) {
//!     stm.update_each(0..words.len(), words, |i| [i], |_, [word]| Some([word + 1]));
//! }
//!
//! # fn main() -> Result<(), stm_core::host::Error> {
//! let device = Cpu::new(); // or `Cuda::new(0)?`
//! let mut stm = Stm::on(&device)?; // the metadata of one memory
//! let words = stm.array("words", &[1u32, 2])?; // data
//! let done = increment_all::launch(&mut stm, Launch::new(1, 2), &words)?; // borrows both
//! assert_eq!((done.commits, words.download()?), (2, vec![2, 3]));
//! # Ok(()) }
//! ```

pub(crate) mod arranged;
mod check;
pub(crate) mod collections;
mod config;
#[cfg(all(test, feature = "cuda"))]
mod driver_tests;
mod fault_error;
mod foreign;
mod inspect;
mod launches;
mod pool;
mod prelude;
pub(crate) mod profile;
mod stm;
mod sums;

pub use crate::memory::logs::Capacity;
pub use crate::tx::stm_ref::RetryLimits;
pub use arranged::{Arranged, Records, TxArray};
pub use config::StmConfig;
pub use foreign::ForeignView;
pub use launches::{Done, InOrder};
pub use pool::{Nodes, Pool, PreassignedNodes};
pub use stm::{Statistics, Stm};
pub use stm_machine::host::{
    Argument, Buffer, Cpu, Device, Error, ForeignArray, ForeignInput, Holds, Launch, Pod, Result,
};
#[cfg(feature = "cuda")]
pub use stm_machine::host::{Cuda, CudaInfo};
pub use sums::Sums;
