//! Kernels of `stm_kernels` that wait. The reduction of Li et al. 2015: every scheme hands over the
//! right values under every schedule, with warps of several lanes; and a scheme whose values are torn
//! is found. So do values that go round. And the checked loops, by which a benchmark sees that what it
//! times is right: they find nothing in what is right, and the seeded defects.

use crate::prelude::*;
use crate::{are_right, config, runs_both_sides};
use std::collections::BTreeSet;
use stm_core::Kernel;
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_kernels::launches::{self, Reduced, hops, reduce};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WarpBarr, WarpVote, expected,
};
use stm_sync::{barrier, semaphore};

const ROUNDS: u32 = 5;

fn run<K: Kernel<Params = ReductionParams>>(config: SimConfig, warps: u32) -> Result<(), String> {
    let width = config.warp_width;
    let threads = warps * width;
    let left = reduce::<K, _>(&Sim::new(config), None, (warps, ROUNDS, 16 * threads));
    let Reduced {
        times,
        values,
        wrong,
        ..
    } = left.map_err(|error| error.to_string())?;
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
        are_right(S::NAME, 42, |k| run::<K>(config(k), warps));
    }
}

#[test]
fn locks_barriers_votes_and_channels_hand_over_the_right_values_under_every_schedule() {
    is_right::<ReductionAtomLock, AtomLock>();
    is_right::<ReductionShrdLock, ShrdLock>();
    is_right::<ReductionWarpBarr, WarpBarr>();
    is_right::<ReductionCountedBarr, CountedBarr>();
    is_right::<ReductionWarpVote, WarpVote>();
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

fn goes_round<K: Kernel<Params = HopsParams>>(config: SimConfig, mut launch: Launch) {
    launch.shared_bytes = 256;
    for (_, cycles, hops) in hops::<K, _>(&Sim::new(config), None, &launch, ROUNDS).unwrap() {
        assert!(cycles > 0);
        assert_eq!(hops, u64::from(3 * ROUNDS), "{config}");
    }
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

/// The waits, and the entries of each block.
const TIMES: u32 = 6;

#[test]
fn a_checked_loop_finds_a_barrier_without_a_fence_and_else_nothing() {
    for &kind in barrier::Kind::ALL {
        assert_eq!(barrier::Kind::from_name(kind.name()), Some(kind));
        let wrong = |k, mutant| {
            let sim = Sim::new(config(k).with_mutant(mutant));
            let (blocks, threads) = [(5, 8), (70, 2), (2, 1), (1, 5)][(k % 4) as usize];
            let shape = Launch::new(blocks, threads);
            let mut words = launches::meetings(&sim, None, kind, shape, TIMES)?;
            let wrong = words.pop();
            assert_eq!(words, vec![TIMES; words.len()]);
            Ok::<_, Error>(wrong.unwrap_or_default())
        };
        for mutant in [Mutant::BarrierNoRelease, Mutant::BarrierNoAcquire] {
            let found = (0..400).any(|k| wrong(k, Some(mutant)).is_ok_and(|wrong| wrong > 0));
            assert!(found, "{}: {}", kind.name(), mutant.name());
        }
        assert!((0..84).all(|k| wrong(k, None) == Ok(0)), "{}", kind.name());
    }
}

/// Makes one launch of entries into a semaphore; returns the threads left inside, and how often
/// one found it full.
fn entries(config: SimConfig, kind: semaphore::Kind, count: u32) -> Result<Vec<u32>, Error> {
    let launch = Launch::new(7, 3);
    launches::entries(&Sim::new(config), None, kind, launch, (count, TIMES))
}

#[test]
fn a_checked_loop_finds_one_too_many_in_a_semaphore_and_else_nothing() {
    let mut found = BTreeSet::new();
    for &kind in semaphore::Kind::ALL {
        assert_eq!(semaphore::Kind::from_name(kind.name()), Some(kind));
        for k in 0..84 {
            for count in [1, 2, 100] {
                let right = entries(config(k), kind, count);
                assert_eq!(right, Ok(vec![0, 0]), "{}: {}", kind.name(), config(k));
            }
            let mutant = config(k)
                .with_mutant(Some(Mutant::SemaphoreOneMore))
                .with_idle(20_000);
            if entries(mutant, kind, 2).is_ok_and(|found| found[1] > 0) {
                found.insert(kind.name());
            }
        }
    }
    assert_eq!(found.len(), semaphore::Kind::ALL.len(), "{found:?}");
}
