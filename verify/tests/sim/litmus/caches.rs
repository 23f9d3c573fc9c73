//! Litmus shapes of weak loads: what a block's first-level cache may answer, and
//! what it must not.
// SAFETY (of the whole file): every shape works on two live buffers of 64-bit words,
// through 64-bit operations, at indices inside them; the simulator checks each
// operation of a warp.
#![allow(clippy::undocumented_unsafe_blocks)]

use super::{SEEDS, weak};
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig, SimLane};

/// Words of 64 bits: `x`, `y`, and a result for each load.
#[derive(Clone, Copy)]
struct Words {
    x: *mut u64,
    y: *mut u64,
    results: *mut u64,
}

fn store(lane: &SimLane<'_>, p: *mut u64, v: u64) {
    unsafe { lane.store_relaxed_64(p, v) }
}

fn load(lane: &SimLane<'_>, p: *mut u64) -> u64 {
    unsafe { lane.load_relaxed_64(p) }
}

fn load_acquire(lane: &SimLane<'_>, p: *mut u64) -> u64 {
    unsafe { lane.load_acquire_64(p) }
}

fn load_weak(lane: &SimLane<'_>, p: *mut u64) -> u64 {
    unsafe { lane.load_weak_64(p) }
}

fn result(lane: &SimLane<'_>, words: Words, i: usize, v: u64) {
    unsafe { lane.private_store_64(words.results.wrapping_add(i), v) }
}

const SCHEDULES: [Schedule; 2] = [Schedule::Random, Schedule::starve(8)];

/// Runs a shape in one configuration, and returns its results and the trace of
/// the run.
fn outcome<const R: usize>(
    config: SimConfig,
    launch: &Launch,
    shape: &impl Fn(&SimLane<'_>, Words),
) -> ([u64; R], u64) {
    let sim = Sim::new(config);
    let memory = Buffer::<_, u64>::zeroed(&sim, 2, "memory").unwrap();
    let results = Buffer::<_, u64>::zeroed(&sim, R, "results").unwrap();
    let x = memory.as_mut_ptr();
    let words = Words {
        x,
        y: x.wrapping_add(1),
        results: results.as_mut_ptr(),
    };
    let run = sim.run(launch, |lane| shape(lane, words)).unwrap();
    (results.download().unwrap().try_into().unwrap(), run.trace)
}

/// Returns how often a shape had results as `wanted`, in blocks of `threads`
/// threads that are one warp each.
fn count<const R: usize>(
    [blocks, threads]: [u32; 2],
    shape: impl Fn(&SimLane<'_>, Words),
    wanted: impl Fn([u64; R]) -> bool,
) -> u64 {
    let launch = Launch::new(blocks, threads);
    let runs = SCHEDULES.into_iter().flat_map(|schedule| {
        let config = SimConfig {
            warp_width: threads,
            ..weak(schedule)
        };
        (0..SEEDS).map(move |seed| config.with_seed(seed))
    });
    runs.filter(|&config| wanted(outcome(config, &launch, &shape).0))
        .count() as u64
}

/// How a shape's reader orders its loads.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Reader {
    /// Not at all.
    Relaxed,
    /// A relaxed load of the flag, then a fence.
    Fence,
    /// A load of the flag that acquires.
    Acquire,
    /// A *weak* load of the flag, then a fence.
    WeakFence,
}

/// Block 0 stores x, and publishes it in y by a fence. Block 1 has x in its cache,
/// loads y, and then loads x weakly.
fn message_passing(reader: Reader) -> u64 {
    count(
        [2, 1],
        |lane, words| {
            if lane.block_index() == 0 {
                store(lane, words.x, 1);
                lane.fence();
                store(lane, words.y, 1);
                return;
            }
            load_weak(lane, words.x);
            let flag = match reader {
                Reader::Relaxed | Reader::Fence => load(lane, words.y),
                Reader::Acquire => load_acquire(lane, words.y),
                Reader::WeakFence => load_weak(lane, words.y),
            };
            if matches!(reader, Reader::Fence | Reader::WeakFence) {
                lane.fence();
            }
            let data = load_weak(lane, words.x);
            result(lane, words, 0, flag);
            result(lane, words, 1, data);
        },
        |[flag, data]| flag == 1 && data == 0,
    )
}

#[test]
fn a_weak_load_behind_a_fence_or_an_acquire_sees_what_was_published() {
    assert_eq!(message_passing(Reader::Fence), 0);
    assert_eq!(message_passing(Reader::Acquire), 0);
}

#[test]
fn a_weak_load_behind_a_relaxed_flag_may_be_stale() {
    assert_ne!(message_passing(Reader::Relaxed), 0);
}

#[test]
fn a_weak_load_and_a_fence_do_not_acquire() {
    assert_ne!(message_passing(Reader::WeakFence), 0);
}

/// Block 1 loads x weakly, then loads it relaxed, and then loads it weakly again;
/// returns how often the last load went back behind the one before it.
fn back_behind_a_relaxed_load(between: impl Fn(&SimLane<'_>, Words)) -> u64 {
    count(
        [2, 1],
        |lane, words| {
            if lane.block_index() == 0 {
                (1..=4).for_each(|v| store(lane, words.x, v));
                return;
            }
            load_weak(lane, words.x);
            let newer = load(lane, words.x);
            between(lane, words);
            let after = load_weak(lane, words.x);
            let at_last = load(lane, words.x);
            assert!(at_last >= newer, "relaxed loads pass the cache by");
            result(lane, words, 0, newer);
            result(lane, words, 1, after);
        },
        |[newer, after]| after < newer,
    )
}

#[test]
fn a_weak_load_may_go_back_behind_a_relaxed_one_until_the_lane_fences_or_acquires() {
    assert_ne!(back_behind_a_relaxed_load(|_, _| ()), 0);
    let relaxed = |lane: &SimLane<'_>, words: Words| {
        load(lane, words.y);
    };
    assert_ne!(back_behind_a_relaxed_load(relaxed), 0);
    assert_eq!(back_behind_a_relaxed_load(|lane, _| lane.fence()), 0);
    // Nobody publishes anything in y, but every acquire invalidates the cache.
    let acquire = |lane: &SimLane<'_>, words: Words| {
        load_acquire(lane, words.y);
    };
    assert_eq!(back_behind_a_relaxed_load(acquire), 0);
}

#[test]
fn a_loop_of_weak_loads_may_miss_a_store_that_a_relaxed_load_has_shown() {
    const POLLS: usize = 6;
    let missed = count(
        [2, 1],
        |lane, words| {
            if lane.block_index() == 0 {
                load_weak(lane, words.y);
                store(lane, words.x, 1);
                return;
            }
            let polls: [u64; POLLS] = std::array::from_fn(|_| load_weak(lane, words.x));
            let shown = load(lane, words.x);
            let again: [u64; POLLS] = std::array::from_fn(|_| load_weak(lane, words.x));
            let missed = shown == 1 && polls == [0; POLLS] && again == [0; POLLS];
            result(lane, words, 0, u64::from(missed));
        },
        |[missed]| missed == 1,
    );
    assert_ne!(missed, 0);
}

/// Two lanes of a warp load x weakly; lane 0 stores it, by `write`; the lanes meet
/// or do not; both load x weakly. Returns how often each lane missed the store.
fn stale_in_a_block(meet: bool, write: impl Fn(&SimLane<'_>, *mut u64)) -> [u64; 2] {
    [0, 1].map(|reader| {
        count(
            [1, 2],
            |lane, words| {
                load_weak(lane, words.x);
                if lane.thread_index() == 0 {
                    write(lane, words.x);
                }
                if meet {
                    unsafe { lane.sync_warp(3) };
                }
                let i = lane.thread_index() as usize;
                result(lane, words, i, load_weak(lane, words.x));
            },
            |found: [u64; 2]| found[reader] == 0,
        )
    })
}

#[test]
fn stores_of_a_block_go_through_its_cache() {
    let plain = |lane: &SimLane<'_>, x: *mut u64| unsafe { lane.store_weak_64(x, 1) };
    let added = |lane: &SimLane<'_>, x: *mut u64| {
        unsafe { lane.fetch_add_relaxed_64(x, 1) };
    };
    let relaxed = |lane: &SimLane<'_>, x: *mut u64| store(lane, x, 1);
    let writes: [fn(&SimLane<'_>, *mut u64); 3] = [plain, added, relaxed];
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
    let stale = count(
        [2, 2],
        |lane, words| {
            if lane.block_index() == 0 {
                if lane.thread_index() == 0 {
                    store(lane, words.x, 1);
                    unsafe { lane.store_release_64(words.y, 1) };
                }
                return;
            }
            load_weak(lane, words.x);
            if lane.thread_index() == 0 {
                result(lane, words, 0, load_acquire(lane, words.y));
            }
            unsafe { lane.sync_warp(3) };
            if lane.thread_index() == 1 {
                result(lane, words, 1, load_weak(lane, words.x));
            }
        },
        |[flag, data]| flag == 1 && data == 0,
    );
    assert_eq!(stale, 0);
}

#[test]
fn an_atomic_that_changes_nothing_is_seen_by_the_weak_loads_of_its_lane() {
    let back = count(
        [2, 1],
        |lane, words| {
            if lane.block_index() == 0 {
                store(lane, words.x, 1);
                return;
            }
            load_weak(lane, words.x);
            let found = unsafe { lane.fetch_or_relaxed_64(words.x, 0) };
            result(lane, words, 0, found);
            result(lane, words, 1, load_weak(lane, words.x));
        },
        |[found, after]| after < found,
    );
    assert_eq!(back, 0);
}

#[test]
fn a_weak_store_behind_a_fence_publishes_nothing() {
    let shape = |plain: bool| {
        count(
            [2, 1],
            move |lane, words| {
                if lane.block_index() == 0 {
                    store(lane, words.x, 1);
                    lane.fence();
                    if plain {
                        unsafe { lane.store_weak_64(words.y, 1) };
                    } else {
                        store(lane, words.y, 1);
                    }
                } else {
                    let flag = load_acquire(lane, words.y);
                    result(lane, words, 0, flag);
                    result(lane, words, 1, load(lane, words.x));
                }
            },
            |[flag, data]| flag == 1 && data == 0,
        )
    };
    assert_ne!(shape(true), 0);
    assert_eq!(shape(false), 0);
}

/// Two blocks of two lanes that store and load one word weakly.
fn jumble(lane: &SimLane<'_>, words: Words) {
    let me = (lane.block_index() * 2 + lane.thread_index()) as usize;
    for i in 0..3 {
        store(lane, words.x, (10 * me + i) as u64);
        result(lane, words, 3 * me + i, load_weak(lane, words.x));
    }
}

#[test]
fn a_seed_decides_what_the_caches_answer() {
    let launch = Launch::new(2, 2);
    let mut differ = false;
    for seed in 0..200 {
        let config = SimConfig {
            warp_width: 2,
            ..weak(Schedule::Random).with_seed(seed)
        };
        let first = outcome::<12>(config, &launch, &jumble);
        assert_eq!(first, outcome::<12>(config, &launch, &jumble));
        differ |= first != outcome::<12>(config.with_seed(seed + 1), &launch, &jumble);
        // The printed line says all that decides a run.
        let line: SimConfig = config.to_string().parse().unwrap();
        assert_eq!(first, outcome::<12>(line, &launch, &jumble));
    }
    assert!(differ);
}

#[test]
fn sequential_memory_has_no_caches() {
    for seed in 0..SEEDS {
        let config = SimConfig {
            memory: MemoryModel::Sequential,
            ..weak(Schedule::Random).with_seed(seed)
        };
        let shape = |lane: &SimLane<'_>, words: Words| {
            if lane.block_index() == 0 {
                (1..=4).for_each(|v| store(lane, words.x, v));
            } else {
                let seen: [u64; 4] = std::array::from_fn(|_| load_weak(lane, words.x));
                assert!(seen.is_sorted());
                assert!(load(lane, words.x) >= seen[3]);
            }
        };
        outcome::<1>(config, &Launch::new(2, 1), &shape);
    }
}
