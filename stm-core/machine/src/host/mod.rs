//! The host's side: devices, memory and launches.
//!
//! | type | meaning |
//! | --- | --- |
//! | [`Device`] | a machine that allocates memory and launches kernels |
//! | [`Cpu`] | OS threads, which every machine has |
//! | `Cuda` (feature `cuda`) | an NVIDIA GPU through its driver |
//! | [`Buffer`] | an array in a device's memory |
//! | [`ForeignArray`] | an array over memory that somebody else owns |
//! | [`Watchdog`] | the time limit of launches whose threads wait for each other |
//! | [`Argument`] | what can be lent to a kernel for a launch |
//! | [`Holds`] | what a launch has in use, which no other launch may have at the time |

mod argument;
mod buffer;
mod cores;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod foreign;
mod parameters;
mod watchdog;

pub use argument::{Argument, Holds, on};
pub use buffer::{Buffer, Pod};
#[doc(hidden)]
pub use cores::in_ranges;
pub use cpu::Cpu;
#[cfg(all(feature = "cuda", any(test, feature = "stand-in")))]
#[doc(hidden)]
pub use cuda::stand_in;
#[cfg(feature = "cuda")]
pub use cuda::{Cuda, CudaInfo};
pub use device::{Device, Laps, Launch, Limits, Memory, Replay, StopAt, allocate};
pub use error::Error;
pub use foreign::{ForeignArray, ForeignInput};
pub use parameters::check_parameters;
pub use watchdog::Watchdog;
