//! Litmus shapes of a block: barriers, votes and shared memory.
// The simulator checks each operation of a warp or a block.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::ops::{load, result, store};
use super::{SEEDS, Words, weak};
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{Schedule, Sim, SimConfig, SimLane};

/// One block of two lanes; lane 1 reads after `meet` what lane 0 wrote before.
fn stale_after(meet: impl Fn(&SimLane<'_>), votes_order: bool) -> u64 {
    let mut stale = 0;
    for seed in 0..SEEDS {
        let config = SimConfig {
            warp_width: 2,
            votes_order,
            ..weak(Schedule::Random)
        };
        let sim = Sim::new(config.with_seed(seed));
        let x = Buffer::<_, u32>::zeroed(&sim, 1, "x").unwrap();
        let results = Buffer::<_, u32>::zeroed(&sim, 1, "results").unwrap();
        let (x, at) = (x.as_mut_ptr(), results.as_mut_ptr());
        let words = Words {
            x,
            y: x,
            results: at,
        };
        sim.run(&Launch::new(1, 2), |lane| {
            if lane.thread_index() == 0 {
                store(lane, x, 1);
            }
            meet(lane);
            if lane.thread_index() == 1 {
                result(lane, words, 0, load(lane, x));
            }
        })
        .unwrap();
        stale += u64::from(results.download().unwrap() == [0]);
    }
    stale
}

#[test]
fn barriers_and_sync_warp_order_memory_and_votes_only_if_told() {
    for votes_order in [false, true] {
        assert_eq!(
            stale_after(|lane| unsafe { lane.barrier() }, votes_order),
            0
        );
        let vote =
            |lane: &SimLane<'_>| assert!(unsafe { lane.barrier_any(lane.thread_index() == 1) });
        assert_eq!(stale_after(vote, votes_order), 0);
        assert_eq!(
            stale_after(|lane| unsafe { lane.sync_warp(3) }, votes_order),
            0
        );
    }
    let votes: [fn(&SimLane<'_>); 4] = [
        |lane| assert_eq!(unsafe { lane.ballot(3, true) }, 3),
        |lane| assert_eq!(unsafe { lane.shuffle_32(3, lane.lane_index() + 5, 1) }, 6),
        |lane| assert_eq!(unsafe { lane.match_any_32(3, 9) }, 3),
        |lane| {
            assert_eq!(
                unsafe { lane.match_any_64(3, u64::from(lane.lane_index())) },
                lane.lane_bit()
            );
        },
    ];
    for vote in votes {
        assert_eq!(stale_after(vote, true), 0);
        assert_ne!(stale_after(vote, false), 0);
    }
}

/// Returns in how many runs a thread found the flag in shared memory and not what
/// was stored to global memory before it. `fences`: before the store of the flag,
/// and after the load that finds it.
fn stale_behind_a_shared_flag(fences: [bool; 2], atomic: bool) -> u64 {
    let mut stale = 0;
    for seed in 0..SEEDS {
        let sim = Sim::new(weak(Schedule::Random).with_seed(seed));
        let x = Buffer::<_, u32>::zeroed(&sim, 1, "x").unwrap();
        let results = Buffer::<_, u32>::zeroed(&sim, 2, "results").unwrap();
        let words = Words {
            x: x.as_mut_ptr(),
            y: x.as_mut_ptr(),
            results: results.as_mut_ptr(),
        };
        let launch = Launch {
            shared_bytes: 8,
            ..Launch::new(1, 2)
        };
        let fence_if = |lane: &SimLane<'_>, fences: bool| {
            if fences {
                lane.fence();
            }
        };
        sim.run(&launch, |lane| {
            // SAFETY: the block has two shared words.
            unsafe {
                if lane.thread_index() == 0 {
                    store(lane, words.x, 1);
                    fence_if(lane, fences[0]);
                    if atomic {
                        assert_eq!(lane.shared_cas_32(0, 0, 1), 0);
                    } else {
                        lane.shared_store_32(0, 1);
                    }
                    assert_eq!(lane.shared_load_32(0), 1);
                } else {
                    let flag = if atomic {
                        lane.shared_fetch_add_32(0, 0)
                    } else {
                        lane.shared_load_32(0)
                    };
                    fence_if(lane, fences[1]);
                    let data = load(lane, words.x);
                    result(lane, words, 0, flag);
                    result(lane, words, 1, data);
                }
                lane.shared_fetch_add_32(1, 1);
                lane.barrier();
                assert_eq!(lane.shared_cas_32(1, 2, 2), 2);
            }
        })
        .unwrap();
        stale += u64::from(results.download().unwrap() == [1, 0]);
    }
    stale
}

#[test]
fn shared_memory_is_seen_by_the_block_and_orders_global_memory_by_fences_only() {
    for atomic in [false, true] {
        for fences in [[false, false], [true, false], [false, true]] {
            assert_ne!(stale_behind_a_shared_flag(fences, atomic), 0, "{fences:?}");
        }
        assert_eq!(stale_behind_a_shared_flag([true, true], atomic), 0);
    }
}
