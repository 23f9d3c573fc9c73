//! Launches of the reduction, of values that go round and of the checked loops, on the CPU and on
//! the simulator.

use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::internal::host::Watchdog;
use stm_kernels::checked::{
    CheckedEntries, CheckedEntriesParams, CheckedMeetings, CheckedMeetingsParams,
};
use stm_kernels::hops::HopsParams;
use stm_kernels::reduction::ReductionParams;
use stm_sync::host::{Channels, GridBarrier, Semaphores};
use stm_sync::{barrier, semaphore};

/// What a reduction leaves: the times, the values and the number of wrong ones.
pub(crate) type Left = (Vec<u64>, Vec<u32>, u32);

/// Makes one launch of a reduction with so many warps, rounds and bytes of shared memory.
pub(crate) fn reduce<K: Kernel<Params = ReductionParams>, D: Device>(
    device: &D,
    limit: Option<Duration>,
    (warps, rounds, shared_bytes): (u32, u32, u32),
) -> Result<Left, Error> {
    let threads = warps * device.limits().warp_width;
    let mut watchdog = Watchdog::new(device, limit)?;
    let times = Buffer::<_, u64>::zeroed(device, 2 * (warps * rounds) as usize, "times")?;
    let values = Buffer::<_, u32>::zeroed(device, threads as usize, "values")?;
    let wrong = Buffer::<_, u32>::zeroed(device, 1, "wrong")?;
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
    // SAFETY: the buffers live until the launch has ended.
    unsafe { watchdog.launch::<K>(device, &launch, &params) }?;
    Ok((times.download()?, values.download()?, wrong.download()?[0]))
}

/// Lets a value go round in two launches with tags of their own, and returns the hops of each.
pub(crate) fn hops<K: Kernel<Params = HopsParams>, D: Device>(
    device: &D,
    limit: Option<Duration>,
    launch: Launch,
    rounds: u32,
) -> Result<[u64; 2], Error> {
    let launch = Launch {
        shared_bytes: 256,
        ..launch
    };
    let mut watchdog = Watchdog::new(device, limit)?;
    let channels = Channels::new(device, launch.blocks as usize, watchdog.stop())?;
    let mut ends = [0; 2];
    for (k, end) in (0..).zip(&mut ends) {
        let result = Buffer::<_, u64>::zeroed(device, 2, "the result")?;
        let params = HopsParams {
            channels: channels.view(),
            result: result.tarray(),
            stop: watchdog.stop(),
            first_tag: 1 + 100 * k,
            rounds,
        };
        // SAFETY: all of it lives until the launch has ended.
        unsafe { watchdog.launch::<K>(device, &launch, &params) }?;
        let found = result.download()?;
        assert!(found[0] > 0);
        *end = found[1];
    }
    Ok(ends)
}

/// Makes one launch of [`CheckedMeetings`] with so many waits, and returns how many words were
/// wrong.
pub(crate) fn meetings<D: Device>(
    device: &D,
    limit: Option<Duration>,
    kind: barrier::Kind,
    (blocks, threads): (u32, u32),
    waits: u32,
) -> Result<u32, Error> {
    let mut watchdog = Watchdog::new(device, limit)?;
    let launch = Launch::new(blocks, threads);
    let mut barrier = GridBarrier::chosen(device, kind, launch, watchdog.stop())?;
    let all = (blocks * threads) as usize;
    let words = Buffer::<_, u32>::zeroed(device, all + 1, "words")?;
    let params = CheckedMeetingsParams {
        barrier: barrier.view(),
        words: words.tarray(),
        waits,
    };
    // SAFETY: the barrier and the words live on this device.
    unsafe { barrier.launch::<CheckedMeetings>(&mut watchdog, &params) }?;
    let words = words.download()?;
    assert_eq!(words[..all], vec![waits; all]);
    Ok(words[all])
}

/// Makes one launch of [`CheckedEntries`], in which one thread of each block enters so often; returns
/// the threads left inside, and how often one found the semaphore full.
pub(crate) fn entries<D: Device>(
    device: &D,
    limit: Option<Duration>,
    kind: semaphore::Kind,
    launch: Launch,
    (count, times): (u32, u32),
) -> Result<[u32; 2], Error> {
    let mut watchdog = Watchdog::new(device, limit)?;
    let semaphores = Semaphores::chosen(device, kind, 1, count, watchdog.stop())?;
    let found = Buffer::<_, u32>::zeroed(device, 2, "found")?;
    let params = CheckedEntriesParams {
        semaphores: semaphores.view(),
        found: found.tarray(),
        count,
        times,
    };
    // SAFETY: the semaphore and the words live on this device.
    unsafe { watchdog.launch::<CheckedEntries>(device, &launch, &params) }?;
    let found = found.download()?;
    Ok([found[0], found[1]])
}
