//! The reduction of Li et al. 2015: every scheme hands over the right values under every
//! schedule, with warps of several lanes; and a scheme whose values are torn is found. So do
//! values that go round.

use crate::runs_of_kernels::{hops, reduce};
use crate::{config, runs, runs_both_sides};
use stm_core::Kernel;
use stm_core::host::Launch;
use stm_core::observe::Mutant;
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WarpBarr, WarpVote, expected,
};
use verify::sim::{Sim, SimConfig};

/// The rounds of each launch.
const ROUNDS: u32 = 5;

/// Makes one launch with so many warps and returns what was wrong.
fn run<K: Kernel<Params = ReductionParams>>(config: SimConfig, warps: u32) -> Result<(), String> {
    let width = config.warp_width;
    let threads = warps * width;
    let left = reduce::<K, _>(&Sim::new(config), None, (warps, ROUNDS, 16 * threads));
    let (times, values, wrong) = left.map_err(|error| error.to_string())?;
    if wrong != 0 {
        return Err(format!("{wrong} wrong values"));
    }
    let right = (0..threads).map(|thread| expected(ROUNDS, thread / width, thread % width, width));
    assert_eq!(values, right.collect::<Vec<_>>());
    assert!(times.iter().all(|&time| time != 0));
    Ok(())
}

fn is_right<K: Kernel<Params = ReductionParams>, S: Scheme>() {
    // No lane waits for one of its own warp, so every schedule will do.
    for warps in [1, 2, 5] {
        runs::are_right(S::NAME, 42, |k| run::<K>(config(k), warps));
    }
}

#[test]
fn locks_hand_over_the_right_values_under_every_schedule() {
    is_right::<ReductionAtomLock, AtomLock>();
    is_right::<ReductionShrdLock, ShrdLock>();
}

#[test]
fn barriers_hand_over_the_right_values_under_every_schedule() {
    is_right::<ReductionWarpBarr, WarpBarr>();
    is_right::<ReductionCountedBarr, CountedBarr>();
}

#[test]
fn votes_hand_over_the_right_values_under_every_schedule() {
    is_right::<ReductionWarpVote, WarpVote>();
}

#[test]
fn channels_hand_over_the_right_values_under_every_schedule() {
    is_right::<ReductionTagged, Tagged>();
}

#[test]
fn a_value_that_comes_after_its_tag_is_counted_as_wrong() {
    let found = (0..84)
        .filter(|&k| runs_both_sides(config(k)))
        .find_map(|k| {
            let config = config(k).with_mutant(Some(Mutant::ChannelTagFirst));
            run::<ReductionTagged>(config, 3).err()
        });
    assert!(found.is_some_and(|wrong| wrong.contains("wrong values")));
}

/// Lets a value go round three stations.
fn goes_round<K: Kernel<Params = HopsParams>>(config: SimConfig, launch: Launch) {
    let found = hops::<K, _>(&Sim::new(config), None, launch, ROUNDS);
    assert_eq!(found, Ok([u64::from(3 * ROUNDS); 2]), "{config}");
}

#[test]
fn values_go_round_in_each_memory_under_every_schedule() {
    for k in 0..42 {
        let config = config(k);
        goes_round::<HopsShared>(config, Launch::new(1, 3 * config.warp_width));
        let blocks = Launch::new(3, 2);
        goes_round::<HopsGlobal>(config, blocks);
        goes_round::<HopsCluster>(config, blocks.with_cluster(3));
    }
}
