//! The reduction of Li et al. 2015 (Listing 10): what a hand-over of 32 values from warp to
//! warp costs under each scheme.
//!
//! With it is what a hop costs: a value that goes round some threads through channels, in each memory
//! that has them.

use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::points::{Asked, Point};
use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{self, Buffer, Device, Launch};
use stm_core::internal::host::Watchdog;
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WARPS_MAX, WarpBarr, WarpVote, expected, spans,
};
use stm_sync::host::Channels;

/// Rounds of a launch.
const ROUNDS: u32 = 1000;

/// The shared memory of a block, which is enough for every scheme with [`WARPS_MAX`] warps.
const SHARED_BYTES: u32 = 8 << 10;

/// How long a launch may take, most of all on a CPU with fewer cores than threads.
const LIMIT: Duration = Duration::from_mins(1);

/// A scheme with its kernel.
struct Measured {
    name: &'static str,
    about: &'static str,
    cost: fn() -> (u32, u32),
    launch: ByWatchdog,
}

/// What launches a kernel.
type ByWatchdog = unsafe fn(
    &mut Watchdog<AnyDevice>,
    &AnyDevice,
    &Launch,
    &ReductionParams,
) -> std::result::Result<Duration, host::Error>;

/// What a launch leaves.
struct Found {
    time: Duration,
    /// The cycles of each round.
    spans: Vec<u64>,
    wrong: Option<String>,
}

/// Makes the list of schemes from the types of schemes and kernels.
macro_rules! schemes {
    ($($scheme:ty: $kernel:ty, $about:literal;)*) => {
        /// The schemes, ours last.
        const SCHEMES: &[Measured] = &[$(Measured {
            name: <$scheme>::NAME,
            about: $about,
            cost: <$scheme>::cost_bytes,
            launch: Watchdog::launch::<$kernel>,
        }),*];
    };
}

schemes! {
    AtomLock: ReductionAtomLock, "a spin lock for each lane";
    ShrdLock: ReductionShrdLock, "a spin lock for each warp";
    WarpBarr: ReductionWarpBarr, "a pair of named barriers (bar.sync, bar.arrive)";
    WarpVote: ReductionWarpVote, "a tag for each warp, and a vote";
    CountedBarr: ReductionCountedBarr, "an mbarrier";
    Tagged: ReductionTagged, "a tag in the word of the value, as channels do";
}

/// Returns the names of the schemes.
pub fn names() -> impl Iterator<Item = &'static str> {
    described().map(|(name, _)| name)
}

/// Returns the schemes' names, and what a warp waits for with each.
pub fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCHEMES.iter().map(|scheme| (scheme.name, scheme.about))
}

/// Returns the bytes of shared memory that a scheme needs beside the values: with 16 warps,
/// and for each.
pub fn cost(name: &str) -> Option<(u32, u32)> {
    let scheme = SCHEMES.iter().find(|scheme| scheme.name == name)?;
    Some((scheme.cost)())
}

/// Measures a scheme: a launch to warm up, and one whose rounds count.
pub fn measure(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let Some(scheme) = SCHEMES.iter().find(|s| s.name == asked.implementation) else {
        return Err(Error::Usage(format!(
            "there is no scheme {:?}: known are {}",
            asked.implementation,
            names().collect::<Vec<_>>().join(", ")
        )));
    };
    let warps = asked.parameters.get("warps").copied().unwrap_or(0) as u32;
    let rounds = if device.limits().warp_width == 1 {
        20
    } else {
        ROUNDS
    };
    launch(device, scheme.launch, warps, rounds)?;
    let mut found = launch(device, scheme.launch, warps, rounds)?;
    found.spans.sort_unstable();
    let ms = found.time.as_secs_f64() * 1e3;
    let hand_overs = u64::from(rounds) * u64::from(warps - 1).max(1);
    let right = found.wrong.is_none();
    let mut point = Point::timed(asked, hand_overs, &[ms], found.wrong);
    point.cycles = found.spans.get(found.spans.len() / 2).copied();
    if right {
        let (all, each) = (scheme.cost)();
        let least = found.spans.first().copied().unwrap_or(0);
        point.note = Some(format!(
            "{rounds} rounds, of which the shortest took {least} cycles; {all} bytes of shared \
             memory beside the values with {WARPS_MAX} warps, {each} a warp"
        ));
    }
    Ok(point)
}

/// Launches a kernel, and checks its values.
fn launch(device: &AnyDevice, by: ByWatchdog, warps: u32, rounds: u32) -> Result<Found> {
    let width = device.limits().warp_width;
    let mut watchdog = Watchdog::new(device, Some(LIMIT))?;
    let times = Buffer::<_, u64>::zeroed(device, 2 * (warps * rounds) as usize, "times")?;
    let values = Buffer::<_, u32>::zeroed(device, (warps * width) as usize, "values")?;
    let wrong = Buffer::<_, u32>::zeroed(device, 1, "wrong values")?;
    let params = ReductionParams {
        times: times.tarray(),
        values: values.tarray(),
        wrong: wrong.tarray(),
        stop: watchdog.stop(),
        rounds,
    };
    let shape = Launch {
        shared_bytes: SHARED_BYTES,
        ..Launch::new(1, warps * width)
    };
    // SAFETY: the parameters are views of buffers that live until the launch has ended, and
    // which nothing else uses meanwhile.
    let time = unsafe { by(&mut watchdog, device, &shape, &params)? };
    let bad = wrong.download()?[0];
    let values = values.download()?;
    let last = (0..warps * width)
        .find(|&i| values[i as usize] != expected(rounds, i / width, i % width, width));
    let wrong = match (bad, last) {
        (0, None) => None,
        (0, Some(i)) => Some(format!("thread {i} has {} in the end", values[i as usize])),
        (bad, _) => Some(format!("{bad} wrong values in {rounds} rounds")),
    };
    Ok(Found {
        time,
        spans: spans(&times.download()?, warps),
        wrong,
    })
}

/// Between warps of a block.
pub(super) const SHARED: &str = "shared";
/// Between blocks of a cluster.
pub(super) const CLUSTER: &str = "cluster";
/// Between blocks, through global memory.
pub(super) const GLOBAL: &str = "global";

/// Rounds of a launch.
const HOPS_ROUNDS: u32 = 10_000;
/// The same on a CPU, whose threads must take turns.
const HOPS_ROUNDS_CPU: u32 = 100;

/// Measures a point: a launch to warm up, and one that counts.
pub(super) fn measure_hops(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let (launch, threads) = hops_shape(asked)?;
    let run_hops = match asked.implementation.as_str() {
        SHARED => run_hops::<HopsShared>,
        CLUSTER => run_hops::<HopsCluster>,
        _ => run_hops::<HopsGlobal>,
    };
    let rounds = if device.limits().warp_width == 1 {
        HOPS_ROUNDS_CPU
    } else {
        HOPS_ROUNDS
    };
    let mut tag = 1;
    let mut once = || {
        let found = run_hops(device, &launch, tag, rounds);
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
fn hops_shape(asked: &Asked) -> Result<(Launch, u64)> {
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

/// Launches a kernel, and returns its time, that of all rounds in cycles, and the value in the end.
fn run_hops<K: Kernel<Params = HopsParams>>(
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

    fn asked(implementation: &str) -> Asked {
        Asked::new("reduction", implementation, (1, 4), &[("warps", 4)])
    }

    #[test]
    fn every_scheme_is_measured_and_right() {
        let device = AnyDevice::cpu();
        for name in names() {
            let point = measure(&device, &asked(name)).expect("no error");
            assert!(point.verified && point.cycles.is_some(), "{point:?}");
            assert!(cost(name).is_some());
        }
    }

    #[test]
    fn an_unknown_scheme_is_named() {
        let error = measure(&AnyDevice::cpu(), &asked("mutex")).unwrap_err();
        assert!(error.to_string().contains("\"mutex\""), "{error}");
    }

    #[test]
    fn a_memory_without_channels_is_named() {
        let asked = Asked::new("hops", "texture", (1, 1), &[]);
        let error = measure_hops(&AnyDevice::cpu(), &asked).unwrap_err();
        assert!(error.to_string().contains("\"texture\""), "{error}");
    }
}
