//! Litmus shapes of weak loads: what a block's first-level cache may answer, and what it must not; and
//! of barriers, votes and shared memory.
//!
//! And what a reduction (`red`) takes part in, by PTX ISA 9.1, sections 8.8 and
//! 8.9.2: it continues another thread's release sequence, it ends a release
//! pattern of its own (`litmus.txt`), and it never acquires. `x` is data, and `y` a flag.
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

/// Returns how often a shape had results as `wanted`, in blocks of `threads`
/// threads that are one warp each.
fn count<const R: usize>(
    [blocks, threads]: [u32; 2],
    shape: impl Fn(&At<'_>),
    wanted: impl Fn([u64; R]) -> bool,
) -> usize {
    Runs::of(blocks, threads, true).count(shape, wanted)
}

#[test]
fn a_loop_of_weak_loads_may_miss_a_store_that_a_relaxed_load_has_shown() {
    let shape = |at: &At<'_>| {
        if at.thread == 0 {
            unsafe { at.lane.load_weak_64(at.y.place) };
            at.store(at.x, 1);
            return;
        }
        let polls = || (0..6).fold(0, |any, _| any | at.weak());
        let before = polls();
        let shown = at.load(at.x);
        let missed = shown == 1 && (before, polls()) == (0, 0);
        at.note(0, missed.into());
    };
    assert_ne!(count([2, 1], shape, |[missed]| missed == 1), 0);
}

/// Two lanes of a warp load x weakly; lane 0 stores it, by `write`; the lanes meet
/// or do not; both load x weakly. Returns how often each lane missed the store.
fn stale_in_a_block(meet: bool, write: fn(&SimLane<'_>, *mut u64)) -> [usize; 2] {
    [0, 1].map(|reader| {
        count(
            [1, 2],
            |at| {
                at.weak();
                if at.thread == 0 {
                    write(at.lane, at.x.place);
                }
                if meet {
                    unsafe { at.lane.sync_warp(3) };
                }
                at.note(at.thread, at.weak());
            },
            |found: [u64; 2]| found[reader] == 0,
        )
    })
}

#[test]
fn stores_of_a_block_go_through_its_cache() {
    let writes: [fn(&SimLane<'_>, *mut u64); 3] = [
        |lane, x| unsafe { lane.store_weak_64(x, 1) },
        |lane, x| _ = unsafe { lane.fetch_add_relaxed_64(x, 1) },
        |lane, x| unsafe { lane.store_relaxed_64(x, 1) },
    ];
    for write in writes {
        assert_eq!(stale_in_a_block(true, write), [0, 0]);
        let [own, other] = stale_in_a_block(false, write);
        assert_eq!(own, 0);
        assert_ne!(other, 0);
    }
}

#[test]
fn what_a_block_stores_before_a_release_is_seen_behind_the_acquire_of_a_lane_and_a_barrier() {
    // Lane 0 of block 1 acquires for its warp.
    let shape = |at: &At<'_>| {
        if at.thread < 2 {
            if at.thread == 0 {
                at.store(at.x, 1);
                at.release(at.y, 1);
            }
            return;
        }
        at.weak();
        if at.thread == 2 {
            at.note(0, at.acquire(at.y));
        }
        unsafe { at.lane.sync_warp(3) };
        if at.thread == 3 {
            at.note(1, at.weak());
        }
    };
    assert_eq!(count([2, 2], shape, |found| found == [1, 0]), 0);
}

#[test]
fn an_atomic_that_changes_nothing_is_seen_by_the_weak_loads_of_its_lane() {
    let shape = |at: &At<'_>| {
        if at.thread == 0 {
            at.store(at.x, 1);
            return;
        }
        at.weak();
        let found = unsafe { at.lane.fetch_or_relaxed_64(at.x.place, 0) };
        at.note(0, found);
        at.note(1, at.weak());
    };
    assert_eq!(count([2, 1], shape, |[found, after]| after < found), 0);
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

#[test]
fn a_reduction_and_a_fence_are_no_acquire_pattern_and_an_atomic_is_one() {
    let stale_after = |second: fn(&At<'_>)| {
        let runs = Runs {
            schedules: RANDOM,
            ..Runs::of(2, 1, true)
        };
        let outcomes: Vec<([u64; 2], u64)> = runs.outcomes(|at| {
            if at.thread == 0 {
                at.store(at.x, 1);
                at.fence();
                // 1 if the other thread's operation came second.
                at.note(0, 1 - at.add(at.y, 1));
            } else {
                second(at);
                at.fence();
                at.note(1, at.load(at.x));
            }
        });
        let count = |data: &[u64]| {
            let first = outcomes.iter().filter(|(found, _)| found[0] == 1);
            first.filter(|(found, _)| data.contains(&found[1])).count()
        };
        assert!(count(&[0, 1]) > 100);
        count(&[0])
    };
    assert_eq!(stale_after(|at| _ = at.add(at.y, 1)), 0);
    let reduce = |at: &At<'_>| unsafe { at.lane.add_relaxed_64(at.y.place, 1) };
    assert!(stale_after(reduce) > 100);
}
