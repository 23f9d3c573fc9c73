//! The interface of a machine that allocates memory and launches kernels.

use crate::host::error::{Error, Result};
use crate::kernel::Kernel;
use crate::observe::host_probe::HostProbe;
use crate::observe::probe::Observation;
use std::prelude::v1::*;
use std::time::{Duration, Instant};

/// An allocation in a device's memory.
pub trait Memory {
    /// Returns its address on the device, which is aligned to 256 bytes.
    fn address(&self) -> *mut u8;
    /// Returns its size in bytes.
    fn bytes(&self) -> usize;
    /// Returns the number of the address space that it is in ([`Device::space`]).
    fn space(&self) -> u64;
    /// Copies `data` to byte `offset`; it panics if the range is not inside the allocation.
    fn write(&mut self, offset: usize, data: &[u8]) -> Result;
    /// Copies from byte `offset` into `data`; it panics as [`Self::write`] does.
    fn read(&self, offset: usize, data: &mut [u8]) -> Result;
    /// Sets every byte to zero.
    fn clear(&mut self) -> Result;
}

pub(super) fn check_range(offset: usize, len: usize, bytes: usize) {
    assert!(
        offset.checked_add(len).is_some_and(|end| end <= bytes),
        "a copy of {len} bytes at {offset} in an allocation of {bytes}"
    );
}

/// Allocates zeroed memory of so many bytes, or of one for none; refuses `None`, which is too much.
pub fn allocate<D: Device>(
    device: &D,
    bytes: Option<usize>,
    what: &'static str,
) -> Result<D::Memory> {
    match bytes {
        Some(bytes) => device.allocate(bytes.max(1), what),
        None => Err(Error::out_of(what, u64::MAX, device.available_bytes()?)),
    }
}

/// The limits of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of lanes of a warp.
    pub warp_width: u32,
    /// The largest number of threads of a block.
    pub threads_max: u32,
    /// The largest number of blocks of a launch.
    pub blocks_max: u32,
    /// The largest amount of dynamic shared memory of a block, in bytes.
    pub shared_bytes_max: u32,
    /// The number of processors (cores; streaming multiprocessors).
    pub processors: u32,
    /// The largest number of blocks of a cluster; 1 if there are no clusters.
    pub cluster_max: u32,
}

/// A word that tells a running kernel to stop, and when to set it.
#[derive(Clone, Copy, Debug)]
pub struct StopAt {
    /// The word's address on the device.
    pub flag: *mut u32,
    /// The time after the launch at which it becomes 1; with `None` only a panic on the CPU sets it.
    pub after: Option<Duration>,
}

/// The shape of a launch: how many blocks of how many threads, and what each block gets.
///
/// ```
/// use stm_machine::host::{Cpu, Device, Error, Launch};
///
/// let shape = Launch::new(4, 128); // 512 threads
/// shape.check(&Cpu::new().limits())?;
/// let empty = Launch { threads: 0, ..shape };
/// assert!(matches!(empty.check(&Cpu::new().limits()), Err(Error::ZeroLaunch { .. })));
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// The number of blocks of the grid.
    pub blocks: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// The amount of dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Says whether all blocks must run at the same time.
    pub cooperative: bool,
    /// The number of blocks of a cluster, which run together and reach each other's memory; 1 for none.
    pub cluster: u32,
    /// The time limit, if any.
    pub stop: Option<StopAt>,
    /// The probe of the launch.
    pub probe: HostProbe,
}

impl Launch {
    /// Makes a shape without shared memory, clusters, a time limit or a probe.
    pub const fn new(blocks: u32, threads: u32) -> Self {
        Self {
            blocks,
            threads,
            shared_bytes: 0,
            cooperative: false,
            cluster: 1,
            stop: None,
            probe: HostProbe::SILENT,
        }
    }

    pub(super) const fn of_one_cluster(mut self) -> Self {
        self.blocks = self.cluster;
        self
    }

    /// Returns the same shape with clusters of `blocks` blocks.
    #[must_use]
    pub const fn with_cluster(mut self, blocks: u32) -> Self {
        self.cluster = blocks;
        self
    }

    /// Checks the shape against a device's limits.
    pub fn check(&self, limits: &Limits) -> Result {
        for (what, asked, limit) in [
            ("threads a block", self.threads, limits.threads_max),
            ("blocks", self.blocks, limits.blocks_max),
            ("blocks a cluster", self.cluster, limits.cluster_max),
        ] {
            if asked == 0 {
                return Err(Error::ZeroLaunch { what });
            }
            Error::above(what, asked, limit)?;
        }
        Error::unless(
            self.blocks.is_multiple_of(self.cluster),
            "the number of blocks of a launch with clusters",
            self.blocks,
            "a multiple of the cluster's blocks",
        )?;
        let what = "bytes of shared memory a block";
        Error::above(what, self.shared_bytes, limits.shared_bytes_max)
    }
}

impl Error {
    /// Makes an [`Error::OutOfMemory`], of numbers of bytes.
    pub const fn out_of(what: &'static str, needed: u64, available: u64) -> Self {
        Self::OutOfMemory {
            what,
            needed,
            available,
        }
    }

    /// Refuses a configuration value that is out of its range, by [`Error::BadConfig`].
    pub fn unless(
        fits: bool,
        what: &'static str,
        value: impl Into<u64>,
        expected: &'static str,
    ) -> Result<(), Self> {
        let value = value.into();
        fits.then_some(()).ok_or(Self::BadConfig {
            what,
            value,
            expected,
        })
    }

    /// Refuses a dimension of a launch that is too large, by [`Error::LaunchTooLarge`].
    pub fn above(what: &'static str, asked: u32, limit: u32) -> Result<(), Self> {
        let too_large = Self::LaunchTooLarge { what, asked, limit };
        (asked <= limit).then_some(()).ok_or(too_large)
    }
}

/// A clock that takes times between launches in order ([`Device::laps`]).
pub trait Laps {
    /// Takes the time at which all that has been launched before has ended. The caller does not wait for it.
    fn lap(&mut self) -> Result;

    /// Returns the times between laps, when [`Device::wait`] has returned; waits for the host are in them.
    fn read(&mut self) -> Result<Vec<Duration>>;
}

#[derive(Debug, Default)]
struct HostLaps(Vec<Instant>);

impl Laps for HostLaps {
    fn lap(&mut self) -> Result {
        self.0.push(Instant::now());
        Ok(())
    }

    fn read(&mut self) -> Result<Vec<Duration>> {
        Ok(self.0.windows(2).map(|lap| lap[1] - lap[0]).collect())
    }
}

/// A machine that allocates memory and launches kernels.
///
/// ```
/// use stm_machine::host::{Buffer, Cpu, Device, Error};
///
/// /// Does its work on whichever device it is given.
/// fn copy_back<D: Device>(device: &D, data: &[f64]) -> Result<Vec<f64>, Error> {
///     println!("{} on {} processors", device.name(), device.limits().processors);
///     Buffer::from_slice(device, data, "the data")?.download()
/// }
/// assert_eq!(copy_back(&Cpu::new(), &[0.5])?, [0.5]);
/// # Ok::<(), stm_machine::host::Error>(())
/// ```
pub trait Device: Clone {
    /// The type of its allocations.
    type Memory: Memory;

    /// Returns its name for a person: `NVIDIA H200`, `CPU, 2 cores`.
    fn name(&self) -> String;

    /// Returns its identifier: `cpu`, `cuda:0`, `sim`.
    fn id(&self) -> String;

    /// Returns its address space's number; kernels of devices with the same number reach the allocations.
    fn space(&self) -> u64;

    /// Returns its limits.
    fn limits(&self) -> Limits;

    /// Returns the width in bits of the widest atomic access of kernels: 128 where a 64-bit element and its
    /// version take one, else 64.
    fn atomics_bits(&self) -> u32 {
        64
    }

    /// Returns how many bytes an allocation could still take, as far as the device knows.
    fn available_bytes(&self) -> Result<u64>;

    /// Allocates zeroed memory; `what` names it in an error.
    fn allocate(&self, bytes: usize, what: &'static str) -> Result<Self::Memory>;

    /// Prepares a kernel, so that its first launch is not slower than others: a GPU compiles its module for
    /// launches with this observation. Returns the time that this took.
    fn prepare<K: Kernel>(&self, observation: Observation) -> Result<Duration>;

    /// Returns how many blocks of this kernel are resident at the same time at most, in launches with the
    /// threads a block and the shared memory of `launch`; one with `cooperative` and more is refused. Errors
    /// are those of a launch of one block.
    fn resident_blocks<K: Kernel>(&self, launch: &Launch) -> Result<u32>;

    /// Copies bytes of its memory, after the launches before, waits for that, and returns the time that it
    /// took, by the device's own clock where it has one.
    ///
    /// # Safety
    /// Both places have this many live bytes in this device's memory, do not overlap and are aligned to 4
    /// bytes, as is their number. Nothing else accesses them meanwhile.
    unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<Duration>;

    /// Launches a kernel, waits for it, and returns the time that it ran, by the device's own clock if any.
    ///
    /// # Safety
    /// What `params` points to is live in this device's memory, is used as the kernel expects, and is
    /// accessed by nothing else until this returns.
    unsafe fn launch<K: Kernel>(&self, launch: &Launch, params: &K::Params) -> Result<Duration>;

    /// Begins a launch after those begun before without waiting, where the device can; else it is
    /// [`Self::launch`], whose errors it has as far as they are known yet.
    ///
    /// # Safety
    /// The obligations are those of [`Self::launch`], until [`Self::wait`] returns.
    unsafe fn enqueue<K: Kernel>(&self, launch: &Launch, params: &K::Params) -> Result {
        // SAFETY: the caller promises it.
        unsafe { self.launch::<K>(launch, params) }.map(|_| ())
    }

    /// Records launches of a kernel, which [`Replay::replay`] makes, each after the one before has ended. On
    /// a GPU they are a CUDA graph, which takes the host less time than [`Self::enqueue`]; elsewhere a list.
    /// No time limit holds for them. Errors are those of [`Self::launch`] that are known yet.
    ///
    /// # Safety
    /// The obligations are those of [`Self::launch`] in each replay until the recording is dropped.
    unsafe fn record<'d, K: Kernel>(
        &'d self,
        launches: &[(Launch, K::Params)],
    ) -> Result<Box<dyn Replay + 'd>> {
        for (launch, _) in launches {
            launch.check(&self.limits())?;
        }
        let (device, launches) = (self, launches.to_vec());
        Ok(Box::new(Kept::<Self, K> { device, launches }))
    }

    /// Returns a clock for about `most` times in the order of the launches, also of those that nobody waits
    /// for. It is the host's where [`Self::enqueue`] waits.
    fn laps(&self, _most: usize) -> Result<Box<dyn Laps + '_>> {
        Ok(Box::new(HostLaps::default()))
    }

    /// Waits for all that [`Self::enqueue`] has begun, whose errors it returns. At the time limit of `stop`,
    /// counted from now, it tells them to stop.
    fn wait(&self, _stop: Option<StopAt>) -> Result {
        Ok(())
    }
}

/// Launches that [`Device::record`] has recorded.
pub trait Replay {
    /// Makes the launches, waits for the last one, and returns the time from the beginning of the first to
    /// the end of the last, by the device's own clock where it has one.
    fn replay(&mut self) -> Result<Duration>;
}

struct Kept<'d, D, K: Kernel> {
    device: &'d D,
    launches: Vec<(Launch, K::Params)>,
}

impl<D: Device, K: Kernel> Replay for Kept<'_, D, K> {
    fn replay(&mut self) -> Result<Duration> {
        let mut laps = self.device.laps(2)?;
        laps.lap()?;
        let begun = self.launches.iter().try_for_each(|(launch, params)| {
            // SAFETY: whoever recorded it promised it until the recording is dropped.
            unsafe { self.device.enqueue::<K>(launch, params) }
        });
        let ended = laps.lap();
        // What has begun is waited for whatever happened.
        self.device.wait(None)?;
        begun?;
        ended?;
        Ok(laps.read()?.into_iter().sum())
    }
}
