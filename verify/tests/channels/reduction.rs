//! The reduction of Li et al. 2015: every scheme hands over the right values under every
//! schedule, with warps of several lanes; and a scheme whose values are torn is found. So do
//! values that go round.

use crate::{config, runs_both_sides, shared, simulator};
use stm_core::Kernel;
use stm_core::host::{Buffer, Launch, Watchdog};
use stm_core::observe::Mutant;
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WarpBarr, WarpVote, expected,
};
use stm_sync::host::Channels;
use verify::sim::{Sim, SimConfig};

/// The rounds of each launch.
const ROUNDS: u32 = 5;

/// Makes one launch with so many warps and returns what was wrong.
fn run<K: Kernel<Params = ReductionParams>>(config: SimConfig, warps: u32) -> Result<(), String> {
    let sim = Sim::new(config);
    let threads = warps * config.warp_width;
    let mut watchdog = Watchdog::new(&sim, None).unwrap();
    let times = 2 * (warps * ROUNDS) as usize;
    let times = Buffer::<_, u64>::zeroed(&sim, times, "times").unwrap();
    let values = Buffer::<_, u32>::zeroed(&sim, threads as usize, "values").unwrap();
    let wrong = Buffer::<_, u32>::zeroed(&sim, 1, "wrong").unwrap();
    let params = ReductionParams {
        times: times.tarray(),
        values: values.tarray(),
        wrong: wrong.tarray(),
        stop: watchdog.stop(),
        rounds: ROUNDS,
    };
    let launch = shared(Launch::new(1, threads), 16 * threads);
    // SAFETY: the buffers live in this simulator.
    let launched = unsafe { watchdog.launch::<K>(&sim, &launch, &params) };
    launched.map_err(|error| error.to_string())?;
    let wrong = wrong.download().unwrap()[0];
    if wrong != 0 {
        return Err(format!("{wrong} wrong values"));
    }
    let width = config.warp_width;
    let right = (0..threads).map(|thread| expected(ROUNDS, thread / width, thread % width, width));
    assert_eq!(values.download().unwrap(), right.collect::<Vec<_>>());
    assert!(times.download().unwrap().iter().all(|&time| time != 0));
    Ok(())
}

fn is_right<K: Kernel<Params = ReductionParams>, S: Scheme>() {
    for k in 0..42 {
        // No lane waits for one of its own warp, so every schedule will do.
        for warps in [1, 2, 5] {
            if let Err(wrong) = run::<K>(config(k), warps) {
                panic!("{}: {}: {warps}: {wrong}", S::NAME, config(k));
            }
        }
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

/// Lets a value go round and returns the number of hops.
fn hops<K: Kernel<Params = HopsParams>>(config: SimConfig, launch: Launch) -> Result<u64, String> {
    let (sim, mut watchdog) = simulator(config);
    let channels = Channels::new(&sim, launch.blocks as usize, watchdog.stop()).unwrap();
    let result = Buffer::<_, u64>::zeroed(&sim, 2, "the result").unwrap();
    let params = HopsParams {
        channels: channels.view(),
        result: result.tarray(),
        stop: watchdog.stop(),
        first_tag: 1,
        rounds: ROUNDS,
    };
    let launch = shared(launch, 64);
    // SAFETY: the channels and the buffer live in this simulator.
    let launched = unsafe { watchdog.launch::<K>(&sim, &launch, &params) };
    launched.map_err(|error| error.to_string())?;
    Ok(result.download().unwrap()[1])
}

#[test]
fn values_go_round_in_each_memory_under_every_schedule() {
    for k in 0..42 {
        let config = config(k);
        let all = Ok(u64::from(3 * ROUNDS));
        let warps = Launch::new(1, 3 * config.warp_width);
        assert_eq!(hops::<HopsShared>(config, warps), all, "{config}");
        let blocks = Launch::new(3, 2);
        assert_eq!(hops::<HopsGlobal>(config, blocks), all, "{config}");
        let cluster = blocks.with_cluster(3);
        assert_eq!(hops::<HopsCluster>(config, cluster), all, "{config}");
    }
}
