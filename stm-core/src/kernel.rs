//! What runs: a kernel is a type, and the machine it runs on a parameter.

use crate::lane::Lane;

/// A kernel: an entry name, a parameter struct, and a body generic over the
/// machine.
///
/// The same `run` becomes PTX (through an `extern "ptx-kernel"` entry point
/// named [`Kernel::ENTRY`] that takes [`Kernel::Params`] by value and calls
/// it), a call on CPU threads, or fibres in the simulator of the crate `verify`.
pub trait Kernel: 'static {
    /// The name of the PTX entry point.
    const ENTRY: &'static str;

    /// The launch's parameters. `#[repr(C)]`, so that host and device agree on
    /// its layout; shared by all threads.
    type Params: Copy + Send + Sync + 'static;

    /// The text of the PTX module that holds the entry point, or `None` for a
    /// kernel that runs on the CPU only.
    #[cfg(not(target_arch = "nvptx64"))]
    fn ptx() -> Option<&'static str> {
        None
    }

    /// The same for a device with atomics of 128 bits
    /// ([`Lane::has_wide_atomics`]), if it makes a difference: the name of
    /// another entry point, and the text of the module that holds it.
    #[cfg(not(target_arch = "nvptx64"))]
    fn wide_ptx() -> Option<(&'static str, &'static str)> {
        None
    }

    /// One thread's work.
    fn run<L: Lane>(lane: &L, params: &Self::Params);
}
