//! An NVIDIA GPU through its driver, without a toolkit: the driver compiles the PTX when a kernel
//! is first used. If a kernel has two modules, the one for GPUs with atomics of 128 bits is used
//! where the GPU and the driver are recent enough (compute capability 9.0, CUDA 12.3).
//!
//! After an illegal address, a trap or a watchdog the context is lost with everything in it. The
//! error is [`Error::DeviceLost`](crate::host::Error::DeviceLost), and every later call returns it
//! again.
//!
//! | file | contains |
//! | --- | --- |
//! | `context` | `Cuda`: the context, and the errors that end it |
//! | `driver` | the driver's calls, and the errors that end a context |
//! | `graph` | recorded launches, and events of a stream |
//! | `memory` | allocations and copies, and memory of the caller's `cudarc` |
//! | `module` | PTX modules, and their compilation by the driver |
//! | `launch` | launches, and the time limit |

pub(crate) mod context;
mod driver;
mod graph;
mod launch;
mod memory;
mod module;
#[cfg(any(test, feature = "stand-in"))]
pub mod stand_in;

pub use context::{Cuda, CudaInfo};
