//! An NVIDIA GPU through its driver, with no toolkit: PTX is compiled by the
//! driver when a kernel is first used. Of a kernel with two modules, the one for
//! GPUs with atomics of 128 bits is taken where the GPU and the driver are new
//! enough (compute capability 9.0, CUDA 12.3).
//!
//! After an illegal address, a trap or a watchdog the context is gone with
//! everything in it: the error is [`Error::DeviceLost`], and every later call
//! returns it again.

pub(crate) mod context;
mod launch;
mod memory;
mod module;

pub use context::{Cuda, CudaInfo};
