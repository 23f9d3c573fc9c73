//! What a hop costs: a value that goes round some threads through channels, in each memory
//! that has them.

use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::points::{Asked, Point};
use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{Buffer, Device, Launch, Watchdog};
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_sync::host::Channels;

/// Between warps of a block.
pub(super) const SHARED: &str = "shared";
/// Between blocks of a cluster.
pub(super) const CLUSTER: &str = "cluster";
/// Between blocks, through global memory.
pub(super) const GLOBAL: &str = "global";

/// Rounds of a launch.
const ROUNDS: u32 = 10_000;
/// The same on a CPU, whose threads must take turns.
const ROUNDS_CPU: u32 = 100;
/// How long a launch may take, most of all on a CPU with fewer cores than threads.
const LIMIT: Duration = Duration::from_mins(1);

/// Measures a point: a launch to warm up, and one that counts.
///
/// # Errors
/// An error of the device, or a memory that there is not.
pub(super) fn measure(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let (launch, threads) = shape(asked)?;
    let run = match asked.implementation.as_str() {
        SHARED => run::<HopsShared>,
        CLUSTER => run::<HopsCluster>,
        _ => run::<HopsGlobal>,
    };
    let rounds = if device.limits().warp_width == 1 {
        ROUNDS_CPU
    } else {
        ROUNDS
    };
    let mut tag = 1;
    let mut once = || {
        let found = run(device, &launch, tag, rounds);
        tag += rounds;
        found
    };
    once()?;
    let (time, cycles, value) = once()?;
    let hops = u64::from(rounds) * threads;
    let wrong = (value != hops).then(|| format!("the value is {value} after {hops} hops"));
    let right = wrong.is_none();
    let mut point = Point::timed(asked, hops, &[time.as_secs_f64() * 1e3], wrong);
    if right {
        point.cycles = Some(cycles / hops);
        point.note = Some(format!("{rounds} rounds, one launch; cycles of a hop"));
    }
    Ok(point)
}

/// Returns the launch of a point, and how many threads the value goes round.
fn shape(asked: &Asked) -> Result<(Launch, u64)> {
    let (blocks, threads) = (asked.blocks, asked.threads);
    let round = asked.parameters.get("round").copied().unwrap_or(0);
    let launch = Launch::new(blocks, threads);
    match asked.implementation.as_str() {
        SHARED => Ok(Launch {
            shared_bytes: 8 * u32::try_from(round).unwrap_or(u32::MAX),
            ..launch
        }),
        CLUSTER => Ok(Launch {
            shared_bytes: 64,
            ..launch.with_cluster(blocks)
        }),
        GLOBAL => Ok(Launch {
            cooperative: true,
            ..launch
        }),
        other => Err(Error::Usage(format!(
            "there are no channels in {other:?}: known are {SHARED}, {CLUSTER}, {GLOBAL}"
        ))),
    }
    .map(|launch| (launch, round))
}

/// Launches a kernel, and returns its time, that of all rounds in cycles, and the value in the
/// end.
fn run<K: Kernel<Params = HopsParams>>(
    device: &AnyDevice,
    launch: &Launch,
    first_tag: u32,
    rounds: u32,
) -> Result<(Duration, u64, u64)> {
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let channels = Channels::new(device, launch.blocks as usize, watchdog.stop())?;
    let result = Buffer::<_, u64>::zeroed(device, 2, "the result")?;
    let params = HopsParams {
        channels: channels.view(),
        result: result.tarray(),
        stop: watchdog.stop(),
        first_tag,
        rounds,
    };
    // SAFETY: the parameters are views of what lives until the launch has ended, and which
    // nothing else uses meanwhile.
    let time = unsafe { watchdog.launch::<K>(device, launch, &params)? };
    let found = result.download()?;
    Ok((time, found[0], found[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_without_channels_is_named() {
        let asked = Asked::new("hops", "texture", (1, 1), &[]);
        let error = measure(&AnyDevice::cpu(), &asked).unwrap_err();
        assert!(error.to_string().contains("\"texture\""), "{error}");
    }
}
