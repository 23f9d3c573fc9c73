//! Litmus shapes that are no rows of `litmus.txt`: of weak loads, which a block's first-level cache
//! may answer, of barriers, of votes and of shared memory.
// SAFETY (of the whole file): every shape works on live words; the simulator checks each operation of
// a warp or a block.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{At, RANDOM, Runs};
use crate::shared;
use stm_core::Lane;
use stm_core::host::Launch;
use verify::sim::{MemoryModel, SimConfig, SimLane};

impl At<'_> {
    fn weak(&self) -> u64 {
        unsafe { self.lane.load_weak_64(self.x.place) }
    }
}

#[test]
fn a_seed_decides_what_the_caches_answer() {
    // Two blocks of two lanes that store and load one word weakly.
    let jumble = |at: &At<'_>| {
        for i in 0..3 {
            at.store(at.x, (10 * at.thread + i) as u64);
            at.note(3 * at.thread + i, at.weak());
        }
    };
    let runs = Runs {
        schedules: RANDOM,
        ..Runs::of(2, 2, true)
    };
    let first: Vec<([u64; 12], u64)> = runs.outcomes(jumble);
    // The printed line says all that decides a run.
    let config: SimConfig = runs.config.to_string().parse().unwrap();
    assert_eq!(first, Runs { config, ..runs }.outcomes(jumble));
    assert!(first.windows(2).any(|two| two[0] != two[1]));
}

#[test]
fn sequential_memory_has_no_caches() {
    let mut runs = Runs::of(2, 1, true);
    runs.config.memory = MemoryModel::Sequential;
    runs.outcomes::<0>(|at| {
        if at.thread == 0 {
            (1..=4).for_each(|v| at.store(at.x, v));
        } else {
            let seen: [u64; 4] = std::array::from_fn(|_| at.weak());
            assert!(seen.is_sorted());
            assert!(at.load(at.x) >= seen[3]);
        }
    });
}

/// One block of two lanes; lane 1 reads after `meet` what lane 0 wrote before. Returns how often
/// it does not find it.
fn stale_after(meet: impl Fn(&SimLane<'_>), votes_order: bool) -> usize {
    let mut runs = Runs {
        schedules: RANDOM,
        ..Runs::of(1, 2, false)
    };
    runs.config.votes_order = votes_order;
    let shape = |at: &At<'_>| {
        if at.thread == 0 {
            at.store(at.x, 1);
        }
        meet(at.lane);
        if at.thread == 1 {
            at.note(0, at.load(at.x));
        }
    };
    runs.count(shape, |found| found == [0])
}

#[test]
fn barriers_and_sync_warp_order_memory_and_votes_only_if_told() {
    let meetings: [fn(&SimLane<'_>); 3] = [
        |lane| unsafe { lane.barrier() },
        |lane| assert!(unsafe { lane.barrier_any(lane.thread_index() == 1) }),
        |lane| unsafe { lane.sync_warp(3) },
    ];
    for meet in meetings {
        assert_eq!(stale_after(meet, false), 0);
        assert_eq!(stale_after(meet, true), 0);
    }
    let votes: [fn(&SimLane<'_>); 4] = [
        |lane| assert_eq!(unsafe { lane.ballot(3, true) }, 3),
        |lane| assert_eq!(unsafe { lane.shuffle_32(3, lane.lane_index() + 5, 1) }, 6),
        |lane| assert_eq!(unsafe { lane.match_any_32(3, 9) }, 3),
        |lane| {
            let same = unsafe { lane.match_any_64(3, u64::from(lane.lane_index())) };
            assert_eq!(same, lane.lane_bit());
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
fn stale_behind_a_shared_flag(fences: [bool; 2], atomic: bool) -> usize {
    let mut runs = Runs {
        launch: shared(Launch::new(1, 2), 8),
        schedules: RANDOM,
        ..Runs::of(1, 1, false)
    };
    runs.config.warp_width = 1;
    let shape = |at: &At<'_>| {
        let lane = at.lane;
        // SAFETY: the block has two shared words.
        unsafe {
            if at.thread == 0 {
                at.store(at.x, 1);
                at.fence_if(fences[0]);
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
                at.fence_if(fences[1]);
                at.note(0, flag.into());
                at.note(1, at.load(at.x));
            }
            lane.shared_fetch_add_32(1, 1);
            lane.barrier();
            assert_eq!(lane.shared_cas_32(1, 2, 2), 2);
        }
    };
    runs.count(shape, |found| found == [1, 0])
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
