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
use stm_core::host::{self, Device, Launch};
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsShared};
use stm_kernels::launches::{Reduced, hops, reduce};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WARPS_MAX, WarpBarr, WarpVote, expected, spans,
};

/// The part of the reduction.
pub(crate) const REDUCTION: &str = "reduction";
/// The part of single hops.
pub(crate) const HOPS: &str = "hops";

/// The shared memory of a block, which is enough for every scheme with [`WARPS_MAX`] warps.
const SHARED_BYTES: u32 = 8 << 10;

/// How long a launch may take, most of all on a CPU with fewer cores than threads.
const LIMIT: Option<Duration> = Some(Duration::from_mins(1));

struct Measured {
    name: &'static str,
    about: &'static str,
    cost: fn() -> (u32, u32),
    launch: Reduce,
}

type Reduce = fn(&AnyDevice, Option<Duration>, (u32, u32, u32)) -> Result<Reduced, host::Error>;

const fn scheme<S: Scheme, K: Kernel<Params = ReductionParams>>(about: &'static str) -> Measured {
    Measured {
        name: S::NAME,
        about,
        cost: S::cost_bytes,
        launch: reduce::<K, AnyDevice>,
    }
}

/// The schemes, ours last.
#[rustfmt::skip]
const SCHEMES: &[Measured] = &[
    scheme::<AtomLock, ReductionAtomLock>("a spin lock for each lane"),
    scheme::<ShrdLock, ReductionShrdLock>("a spin lock for each warp"),
    scheme::<WarpBarr, ReductionWarpBarr>("a pair of named barriers (bar.sync, bar.arrive)"),
    scheme::<WarpVote, ReductionWarpVote>("a tag for each warp, and a vote"),
    scheme::<CountedBarr, ReductionCountedBarr>("an mbarrier"),
    scheme::<Tagged, ReductionTagged>("a tag in the word of the value, as channels do"),
];

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
    let sizes = (warps, rounds, SHARED_BYTES);
    (scheme.launch)(device, LIMIT, sizes)?;
    let found = (scheme.launch)(device, LIMIT, sizes)?;
    let wrong = wrong(&found, rounds, device.limits().warp_width);
    let mut spans = spans(&found.times, warps);
    spans.sort_unstable();
    let hand_overs = u64::from(rounds) * u64::from(warps - 1).max(1);
    let mut point = Point::timed(asked, hand_overs, &[ms(found.time)], wrong);
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

/// Says what is wrong with what a launch has left, if anything.
fn wrong(found: &Reduced, rounds: u32, width: u32) -> Option<String> {
    if found.wrong > 0 {
        return Some(format!("{} wrong values in {rounds} rounds", found.wrong));
    }
    let mut values = (0..).zip(&found.values);
    let is_wrong =
        |(i, value): &(u32, &u32)| **value != expected(rounds, i / width, i % width, width);
    let (i, value) = values.find(is_wrong)?;
    Some(format!("thread {i} has {value} in the end"))
}

pub(super) const SHARED: &str = "shared";
pub(super) const CLUSTER: &str = "cluster";
pub(super) const GLOBAL: &str = "global";

type Hops = fn(&AnyDevice, Launch, u32, u32) -> Result<[(Duration, u64, u64); 2], host::Error>;

/// The memories that have channels, between whom a value goes in each, and how it goes round so many
/// threads, in so many rounds.
#[rustfmt::skip]
pub(crate) const MEMORIES: [(&str, &str, Hops); 3] = [
    (SHARED, "from warp to warp of a block", |device, of, threads, rounds| {
        hops::<HopsShared, _>(device, LIMIT, &Launch { shared_bytes: 8 * threads, ..of }, rounds)
    }),
    (CLUSTER, "from block to block of a cluster, through their shared memory", |device, of, threads, rounds| {
        let launch = Launch { shared_bytes: 64, ..of.with_cluster(threads) };
        hops::<HopsCluster, _>(device, LIMIT, &launch, rounds)
    }),
    (GLOBAL, "from block to block", |device, of, _, rounds| {
        hops::<HopsGlobal, _>(device, LIMIT, &Launch { cooperative: true, ..of }, rounds)
    }),
];

/// Measures a point: a launch to warm up, and one that counts.
pub(super) fn measure_hops(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let round = asked.parameters.get("round").copied().unwrap_or(0);
    let mut memories = MEMORIES.into_iter();
    let Some((_, _, run)) = memories.find(|memory| memory.0 == asked.implementation) else {
        return Err(Error::Usage(format!(
            "there are no channels in {:?}: known are {}",
            asked.implementation,
            MEMORIES.map(|memory| memory.0).join(", ")
        )));
    };
    let launch = Launch::new(asked.blocks, asked.threads);
    let rounds = rounds(device, 10_000, 100);
    let [_, (time, cycles, value)] = run(device, launch, round as u32, rounds)?;
    let hops = u64::from(rounds) * round;
    let wrong = (value != hops).then(|| format!("the value is {value} after {hops} hops"));
    let mut point = Point::timed(asked, hops, &[ms(time)], wrong);
    if point.verified {
        point.cycles = Some(cycles / hops);
        point.note = Some(format!("{rounds} rounds, one launch; cycles of a hop"));
    }
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scheme_and_a_memory_without_channels_are_named() {
        let device = AnyDevice::cpu();
        let asked = |name| Asked::new(name, name, (1, 4), &[]);
        let error = measure(&device, &asked("mutex")).unwrap_err();
        assert!(error.to_string().contains("\"mutex\""), "{error}");
        let error = measure_hops(&device, &asked("texture")).unwrap_err();
        assert!(error.to_string().contains("\"texture\""), "{error}");
    }
}
