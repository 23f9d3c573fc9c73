//! An NVIDIA GPU through its driver, without a toolkit: the driver compiles the PTX when a kernel is first
//! used. Of two modules, the one for GPUs with atomics of 128 bits is used where GPU and driver are recent
//! enough (compute capability 9.0, CUDA 12.3). After an illegal address, a trap or a watchdog the context is
//! lost with everything in it, and every call returns [`Error::DeviceLost`](crate::host::Error::DeviceLost).

pub(crate) mod context;
mod driver;
mod launch;
mod memory;
mod module;
#[cfg(any(test, feature = "stand-in"))]
pub mod stand_in;

pub use context::{Cuda, CudaInfo};
