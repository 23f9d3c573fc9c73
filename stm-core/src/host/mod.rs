//! The host's side: devices, memory, launches, and the owner of the metadata.
//!
//! | type | is |
//! | --- | --- |
//! | [`Device`] | a machine that allocates memory and launches kernels |
//! | [`Cpu`] | OS threads; always there |
//! | `Cuda` (feature `cuda`) | an NVIDIA GPU through its driver |
//! | [`Buffer`] | an array in a device's memory |
//! | [`Stm`] | the metadata of one transactional memory, its statistics, and the check after each launch |

mod buffer;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod stm;

pub use buffer::{Buffer, Pod};
pub use cpu::Cpu;
#[cfg(feature = "cuda")]
pub use cuda::{Cuda, CudaInfo};
pub use device::{Device, Launch, Limits, Memory, StopAt};
pub use error::Error;
pub use stm::{Statistics, Stm, StmConfig};
