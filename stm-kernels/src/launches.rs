//! Launches of the kernels that wait, for benchmarks and for tests: of the reduction, of values that
//! go round, and of the loops with a check. A launch that takes longer than the limit is stopped.

use crate::checked::{
    CheckedEntries, CheckedEntriesParams, CheckedMeetings, CheckedMeetingsParams,
};
use crate::hops::HopsParams;
use crate::reduction::ReductionParams;
use std::{time::Duration, vec::Vec};
use stm_core::Kernel;
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::internal::host::Watchdog;
use stm_sync::host::{Channels, GridBarrier, Semaphores};
use stm_sync::{barrier, semaphore};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    pub time: Duration,
    /// The times at which each warp began and ended each round.
    pub times: Vec<u64>,
    pub values: Vec<u32>,
    pub wrong: u32,
}

/// Makes one launch of a reduction with so many warps, rounds and bytes of shared memory.
pub fn reduce<K: Kernel<Params = ReductionParams>, D: Device>(
    device: &D,
    limit: Option<Duration>,
    (warps, rounds, shared_bytes): (u32, u32, u32),
) -> Result<Reduced, Error> {
    let threads = warps * device.limits().warp_width;
    let mut watchdog = Watchdog::new(device, limit)?;
    let times = Buffer::<_, u64>::zeroed(device, 2 * (warps * rounds) as usize, "times")?;
    let values = Buffer::<_, u32>::zeroed(device, threads as usize, "values")?;
    let wrong = Buffer::<_, u32>::zeroed(device, 1, "wrong values")?;
    let params = ReductionParams {
        times: times.tarray(),
        values: values.tarray(),
        wrong: wrong.tarray(),
        stop: watchdog.stop(),
        rounds,
    };
    let launch = Launch {
        shared_bytes,
        ..Launch::new(1, threads)
    };
    // SAFETY: the buffers live until the launch has ended, and nothing else uses them meanwhile.
    let time = unsafe { watchdog.launch::<K>(device, &launch, &params) }?;
    Ok(Reduced {
        time,
        times: times.download()?,
        values: values.download()?,
        wrong: wrong.download()?[0],
    })
}

/// Lets a value go round in two launches, whose tags follow one another, and returns the time of each,
/// that of its rounds in the device's clock, and its hops.
pub fn hops<K: Kernel<Params = HopsParams>, D: Device>(
    device: &D,
    limit: Option<Duration>,
    launch: &Launch,
    rounds: u32,
) -> Result<[(Duration, u64, u64); 2], Error> {
    let mut watchdog = Watchdog::new(device, limit)?;
    let channels = Channels::new(device, launch.blocks as usize, watchdog.stop())?;
    let mut run = |first_tag| {
        let result = Buffer::<_, u64>::zeroed(device, 2, "the result")?;
        let params = HopsParams {
            channels: channels.view(),
            result: result.tarray(),
            stop: watchdog.stop(),
            first_tag,
            rounds,
        };
        // SAFETY: as in `reduce`.
        let time = unsafe { watchdog.launch::<K>(device, launch, &params) }?;
        let found = result.download()?;
        Ok((time, found[0], found[1]))
    };
    Ok([run(1)?, run(1 + rounds)?])
}

/// Makes one launch of [`CheckedMeetings`] with so many waits, and returns its words: the waits of
/// each thread, and then how many words were wrong.
pub fn meetings<D: Device>(
    device: &D,
    limit: Option<Duration>,
    kind: barrier::Kind,
    launch: Launch,
    waits: u32,
) -> Result<Vec<u32>, Error> {
    let mut watchdog = Watchdog::new(device, limit)?;
    let mut barrier = GridBarrier::chosen(device, kind, launch, watchdog.stop())?;
    let threads = launch.blocks as usize * launch.threads as usize;
    let words = Buffer::zeroed(device, threads + 1, "the words of a barrier's threads")?;
    let params = CheckedMeetingsParams {
        barrier: barrier.view(),
        words: words.tarray(),
        waits,
    };
    // SAFETY: as in `reduce`.
    unsafe { barrier.launch::<CheckedMeetings>(&mut watchdog, &params) }?;
    words.download()
}

/// Makes one launch of [`CheckedEntries`], in which one thread of each block enters so often; returns
/// the threads left inside, and how often one found the semaphore full.
pub fn entries<D: Device>(
    device: &D,
    limit: Option<Duration>,
    kind: semaphore::Kind,
    launch: Launch,
    (count, times): (u32, u32),
) -> Result<Vec<u32>, Error> {
    let mut watchdog = Watchdog::new(device, limit)?;
    let semaphores = Semaphores::chosen(device, kind, 1, count, watchdog.stop())?;
    let found = Buffer::zeroed(device, 2, "the threads inside of a semaphore")?;
    let params = CheckedEntriesParams {
        semaphores: semaphores.view(),
        found: found.tarray(),
        count,
        times,
    };
    // SAFETY: as in `reduce`.
    unsafe { watchdog.launch::<CheckedEntries>(device, &launch, &params) }?;
    found.download()
}
