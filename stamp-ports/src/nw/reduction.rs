//! The reduction of Li et al. 2015 (Listing 10): what a hand-over of 32 values from warp to
//! warp costs under each scheme.
//!
//! With it is what a hop costs: a value that goes round some threads through channels, in each memory
//! that has them.

use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::measure::ms;
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

/// The shared memory of a block, which is enough for every scheme with [`WARPS_MAX`] warps.
const SHARED_BYTES: u32 = 8 << 10;

/// How long a launch may take, most of all on a CPU with fewer cores than threads.
const LIMIT: Duration = Duration::from_mins(1);

struct Measured {
    name: &'static str,
    about: &'static str,
    cost: fn() -> (u32, u32),
    launch: ByWatchdog,
}

type ByWatchdog = unsafe fn(
    &mut Watchdog<AnyDevice>,
    &AnyDevice,
    &Launch,
    &ReductionParams,
) -> std::result::Result<Duration, host::Error>;

/// What a launch leaves: its time, the cycles of each round, and what is wrong.
type Found = (Duration, Vec<u64>, Option<String>);

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
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    described().map(|(name, _)| name)
}

/// Returns the schemes' names, and what a warp waits for with each.
pub(crate) fn described() -> impl Iterator<Item = (&'static str, &'static str)> {
    SCHEMES.iter().map(|scheme| (scheme.name, scheme.about))
}

/// Returns the bytes of shared memory that a scheme needs beside the values: with 16 warps,
/// and for each.
pub(crate) fn cost(name: &str) -> Option<(u32, u32)> {
    let scheme = SCHEMES.iter().find(|scheme| scheme.name == name)?;
    Some((scheme.cost)())
}

/// Returns the rounds of a launch: fewer on a CPU, whose threads must take turns.
fn rounds(device: &AnyDevice, on_gpu: u32, on_cpu: u32) -> u32 {
    match device.limits().warp_width {
        1 => on_cpu,
        _ => on_gpu,
    }
}

/// Measures a scheme: a launch to warm up, and one whose rounds count.
pub(crate) fn measure(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let Some(scheme) = SCHEMES.iter().find(|s| s.name == asked.implementation) else {
        return Err(Error::Usage(format!(
            "there is no scheme {:?}: known are {}",
            asked.implementation,
            names().collect::<Vec<_>>().join(", ")
        )));
    };
    let warps = asked.parameters.get("warps").copied().unwrap_or(0) as u32;
    let rounds = rounds(device, 1000, 20);
    launch(device, scheme.launch, warps, rounds)?;
    let (time, mut spans, wrong) = launch(device, scheme.launch, warps, rounds)?;
    spans.sort_unstable();
    let hand_overs = u64::from(rounds) * u64::from(warps - 1).max(1);
    let mut point = Point::timed(asked, hand_overs, &[ms(time)], wrong);
    point.cycles = spans.get(spans.len() / 2).copied();
    if point.verified {
        let (all, each) = (scheme.cost)();
        let least = spans.first().copied().unwrap_or(0);
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
    Ok((time, spans(&times.download()?, warps), wrong))
}

/// Between warps of a block.
pub(super) const SHARED: &str = "shared";
/// Between blocks of a cluster.
pub(super) const CLUSTER: &str = "cluster";
/// Between blocks, through global memory.
pub(super) const GLOBAL: &str = "global";

/// Measures a point: a launch to warm up, and one that counts.
pub(super) fn measure_hops(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let round = asked.parameters.get("round").copied().unwrap_or(0);
    let mut launch = Launch::new(asked.blocks, asked.threads);
    let run = match asked.implementation.as_str() {
        SHARED => {
            launch.shared_bytes = 8 * u32::try_from(round).unwrap_or(u32::MAX);
            run_hops::<HopsShared>
        }
        CLUSTER => {
            launch = launch.with_cluster(asked.blocks);
            launch.shared_bytes = 64;
            run_hops::<HopsCluster>
        }
        GLOBAL => {
            launch.cooperative = true;
            run_hops::<HopsGlobal>
        }
        other => {
            return Err(Error::Usage(format!(
                "there are no channels in {other:?}: known are {SHARED}, {CLUSTER}, {GLOBAL}"
            )));
        }
    };
    let rounds = rounds(device, 10_000, 100);
    run(device, &launch, 1, rounds)?;
    let (time, cycles, value) = run(device, &launch, 1 + rounds, rounds)?;
    let hops = u64::from(rounds) * round;
    let wrong = (value != hops).then(|| format!("the value is {value} after {hops} hops"));
    let mut point = Point::timed(asked, hops, &[ms(time)], wrong);
    if point.verified {
        point.cycles = Some(cycles / hops);
        point.note = Some(format!("{rounds} rounds, one launch; cycles of a hop"));
    }
    Ok(point)
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
    fn an_unknown_scheme_and_a_memory_without_channels_are_named() {
        let device = AnyDevice::cpu();
        let error = measure(&device, &asked("mutex")).unwrap_err();
        assert!(error.to_string().contains("\"mutex\""), "{error}");
        let error = measure_hops(&device, &asked("texture")).unwrap_err();
        assert!(error.to_string().contains("\"texture\""), "{error}");
    }
}
