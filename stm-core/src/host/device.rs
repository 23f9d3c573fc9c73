//! A machine that allocates memory and launches kernels.

use crate::host::error::Error;
use crate::kernel::Kernel;
use crate::observe::host_probe::HostProbe;
use crate::observe::probe::Observation;
use std::string::String;
use std::time::Duration;

/// An allocation in a device's memory.
pub trait Memory {
    /// Its address on the device; 256-byte aligned.
    fn address(&self) -> *mut u8;
    /// Its size in bytes.
    fn bytes(&self) -> usize;
    /// Copies `data` to byte `offset`.
    ///
    /// # Panics
    /// If the range is not inside the allocation.
    fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), Error>;
    /// Copies from byte `offset` into `data`.
    ///
    /// # Panics
    /// If the range is not inside the allocation.
    fn read(&self, offset: usize, data: &mut [u8]) -> Result<(), Error>;
    /// Sets every byte to zero.
    fn clear(&mut self) -> Result<(), Error>;
}

/// Refuses a copy that is not inside an allocation.
///
/// # Panics
/// If it is not.
pub(super) fn check_range(offset: usize, len: usize, bytes: usize) {
    assert!(
        offset.checked_add(len).is_some_and(|end| end <= bytes),
        "a copy of {len} bytes at {offset} in an allocation of {bytes}"
    );
}

/// What a device can launch and hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Most threads of a block.
    pub threads_max: u32,
    /// Most blocks of a launch.
    pub blocks_max: u32,
    /// Most dynamic shared memory of a block, in bytes.
    pub shared_bytes_max: u32,
    /// Processors (cores; streaming multiprocessors).
    pub processors: u32,
}

/// A word that tells a running kernel to stop, and when to set it.
#[derive(Clone, Copy, Debug)]
pub struct StopAt {
    /// The word's address on the device.
    pub flag: *mut u32,
    /// Set it to 1 this long after the launch; `None` for never, so that only
    /// the device itself sets it (a kernel that panicked, on the CPU).
    pub after: Option<Duration>,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Says whether all blocks must run at the same time.
    pub cooperative: bool,
    /// The time limit, if any.
    pub stop: Option<StopAt>,
    /// What observes the launch's transactions.
    pub probe: HostProbe,
}

impl Launch {
    /// `blocks` blocks of `threads` threads, with no shared memory, no
    /// time limit and no probe.
    pub const fn new(blocks: u32, threads: u32) -> Self {
        Self {
            blocks,
            threads,
            shared_bytes: 0,
            cooperative: false,
            stop: None,
            probe: HostProbe::SILENT,
        }
    }

    /// Checks the shape against a device's limits.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        for (what, option, asked, limit) in [
            (
                "threads a block",
                "--threads",
                self.threads,
                limits.threads_max,
            ),
            ("blocks", "--blocks", self.blocks, limits.blocks_max),
        ] {
            if asked == 0 {
                return Err(Error::ZeroLaunch { what, option });
            }
            if asked > limit {
                return Err(Error::LaunchTooLarge { what, asked, limit });
            }
        }
        if self.shared_bytes > limits.shared_bytes_max {
            return Err(Error::LaunchTooLarge {
                what: "bytes of shared memory a block",
                asked: self.shared_bytes,
                limit: limits.shared_bytes_max,
            });
        }
        Ok(())
    }
}

/// A machine that allocates memory and launches kernels.
pub trait Device: Clone {
    /// Its allocations.
    type Memory: Memory;

    /// Returns what it is, for a person: `NVIDIA H200`, `CPU, 2 cores`.
    fn name(&self) -> String;

    /// `cpu`, `cuda:0`, `sim`.
    fn id(&self) -> String;

    /// Returns what it can launch and hold.
    fn limits(&self) -> Limits;

    /// Returns the bits of the widest atomic access that kernels use here: 128
    /// where a 64-bit element and its version are one access, else 64.
    fn atomics_bits(&self) -> u32 {
        64
    }

    /// Bytes that an allocation could still take, as far as the device knows.
    fn available_bytes(&self) -> Result<u64, Error>;

    /// Allocates zeroed memory; `what` names it in an error.
    fn allocate(&self, bytes: usize, what: &'static str) -> Result<Self::Memory, Error>;

    /// Prepares a kernel, so that its first launch does not pay for it (on a
    /// GPU: compiles its module for launches that are observed so). Returns the
    /// time that took.
    fn prepare<K: Kernel>(&self, observation: Observation) -> Result<Duration, Error>;

    /// Launches a kernel and waits for it. Returns the time that it ran, by
    /// the device's own clock where it has one.
    ///
    /// # Safety
    /// What `params` points to is live in this device's memory, is used as
    /// the kernel expects, and is touched by nothing else until this returns.
    unsafe fn launch<K: Kernel>(
        &self,
        launch: &Launch,
        params: &K::Params,
    ) -> Result<Duration, Error>;
}
