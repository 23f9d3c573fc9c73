//! Litmus shapes of weak loads: what a block's first-level cache may answer, and
//! what it must not.
// SAFETY (of the whole file): every shape works on live words of 64 bits; the simulator
// checks each operation of a warp.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{At, RANDOM, Runs};
use stm_core::Lane;
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
