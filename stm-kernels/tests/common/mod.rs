//! Launches of the reduction and of values that go round, on the CPU and on the simulator.

use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{Buffer, Device, Error, Launch};
use stm_core::internal::host::Watchdog;
use stm_kernels::hops::HopsParams;
use stm_kernels::reduction::ReductionParams;
use stm_sync::host::Channels;

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
