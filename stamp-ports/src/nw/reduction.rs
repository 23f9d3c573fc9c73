//! The reduction of Li et al. 2015 (Listing 10): what a hand-over of 32 values from warp to warp costs under
//! each scheme; and what a hop costs: a value that goes round some threads through channels, in each memory
//! that has them.

use crate::points::prelude::*;
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsShared};
use stm_kernels::launches::{Reduced, hops, reduce};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WARPS_MAX, WarpBarr, WarpVote, expected, spans,
};

pub(crate) const REDUCTION: &str = "reduction";
pub(crate) const HOPS: &str = "hops";

/// The shared memory of a block, which is enough for every scheme with [`WARPS_MAX`] warps.
const SHARED_BYTES: u32 = 8 << 10;

/// How long a launch may take, most of all on a CPU with fewer cores than threads.
const LIMIT: Option<Duration> = Some(Duration::from_mins(1));

/// A scheme, what a warp waits for with it, the bytes of shared memory that it needs beside the values, with 16 warps
/// and for each, and how it is launched.
type Measured = (&'static str, &'static str, fn() -> (u32, u32), Reduce);
type Reduce = fn(&AnyDevice, Option<Duration>, (u32, u32, u32)) -> host::Result<Reduced>;

const fn scheme<S: Scheme, K: Kernel<Params = ReductionParams>>(about: &'static str) -> Measured {
    (S::NAME, about, S::cost_bytes, reduce::<K, AnyDevice>)
}

/// The schemes, ours last.
#[rustfmt::skip]
pub(crate) const SCHEMES: &[Measured] = &[
    scheme::<AtomLock, ReductionAtomLock>("a spin lock for each lane"),
    scheme::<ShrdLock, ReductionShrdLock>("a spin lock for each warp"),
    scheme::<WarpBarr, ReductionWarpBarr>("a pair of named barriers (bar.sync, bar.arrive)"),
    scheme::<WarpVote, ReductionWarpVote>("a tag for each warp, and a vote"),
    scheme::<CountedBarr, ReductionCountedBarr>("an mbarrier"),
    scheme::<Tagged, ReductionTagged>("a tag in the word of the value, as channels do"),
];

/// Measures a scheme: a launch to warm up, and one whose rounds count.
pub(super) fn measure(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let mut schemes = SCHEMES.iter();
    let (.., cost, reduce) = (schemes.find(|of| of.0 == asked.implementation)).expect("a scheme");
    // Fewer on a CPU, whose threads must take turns.
    let rounds = device.kind().either(20, 1000);
    let width = device.limits().warp_width;
    let warps = asked.threads / width;
    let sizes = (warps, rounds, SHARED_BYTES);
    reduce(device, LIMIT, sizes)?;
    let found = reduce(device, LIMIT, sizes)?;
    let wrong = wrong(&found, rounds, width);
    let mut spans = spans(&found.times, warps);
    spans.sort_unstable();
    let hand_overs = u64::from(rounds) * u64::from(warps - 1).max(1);
    let ((all, each), least) = (cost(), spans.first().copied().unwrap_or(0));
    let note = format!(
        "{rounds} rounds, of which the shortest took {least} cycles; {all} bytes of shared memory \
         beside the values with {WARPS_MAX} warps, {each} a warp"
    );
    let mut point = Point::timed(asked, hand_overs, &[ms(found.time)], wrong).noted(Some(note));
    point.cycles = spans.get(spans.len() / 2).copied();
    Ok(point)
}

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

type Round = [(Duration, u64, u64); 2];
type Hops = fn(&AnyDevice, Option<Duration>, &Launch, u32) -> host::Result<Round>;

/// A memory that has channels, between whom a value goes in it, what a launch of so many of these has beside its
/// shape, and how the value goes round.
pub(crate) type Memory = (&'static str, &'static str, fn(Launch, u32) -> Launch, Hops);

#[rustfmt::skip]
pub(crate) const MEMORIES: [Memory; 3] = [
    ("shared", "from warp to warp of a block", |of, threads| Launch { shared_bytes: 8 * threads, ..of }, hops::<HopsShared, AnyDevice>),
    ("cluster", "from block to block of a cluster, through their shared memory", |of, blocks| Launch { shared_bytes: 64, ..of.with_cluster(blocks) }, hops::<HopsCluster, AnyDevice>),
    ("global", "from block to block", |of, _| Launch { cooperative: true, ..of }, hops::<HopsGlobal, AnyDevice>),
];

/// Measures a point: a launch to warm up, and one that counts.
pub(super) fn measure_hops(device: &AnyDevice, asked: &Asked) -> Result<Point> {
    let mut memories = MEMORIES.iter();
    let (.., shaped, run) = (memories.find(|of| of.0 == asked.implementation)).expect("a memory");
    let round = asked.parameters["round"];
    let launch = shaped(Launch::new(asked.blocks, asked.threads), round as u32);
    let rounds = device.kind().either(100, 10_000);
    let [_, (time, cycles, value)] = run(device, LIMIT, &launch, rounds)?;
    let hops = u64::from(rounds) * round;
    let wrong = (value != hops).then(|| format!("the value is {value} after {hops} hops"));
    let note = format!("{rounds} rounds, one launch; cycles of a hop");
    let mut point = Point::timed(asked, hops, &[ms(time)], wrong).noted(Some(note));
    point.cycles = point.verified.then_some(cycles / hops);
    Ok(point)
}
