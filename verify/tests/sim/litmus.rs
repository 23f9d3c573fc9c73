//! Litmus shapes with known verdicts: what weak memory must show over many
//! seeds, and what it must never show. They guard the simulator itself.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

mod caches;
mod meetings;

use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig, SimLane};

const SEEDS: u64 = 4000;

/// What a shape's threads work on: `x` with a neighbour, `y`, and a result for
/// each load. All 32 bits.
#[derive(Clone, Copy)]
struct Words {
    x: *mut u32,
    y: *mut u32,
    results: *mut u32,
}

// SAFETY (of the whole file): every shape works on three live buffers of 32-bit
// words, through 32-bit operations, at indices inside them.
#[allow(clippy::undocumented_unsafe_blocks)]
mod ops {
    use super::{Lane, SimLane, Words};

    pub(crate) fn store(lane: &SimLane<'_>, p: *mut u32, v: u32) {
        unsafe { lane.store_relaxed_32(p, v) }
    }
    pub(crate) fn store_release(lane: &SimLane<'_>, p: *mut u32, v: u32) {
        unsafe { lane.store_release_32(p, v) }
    }
    pub(crate) fn load(lane: &SimLane<'_>, p: *mut u32) -> u32 {
        unsafe { lane.load_relaxed_32(p) }
    }
    pub(crate) fn load_acquire(lane: &SimLane<'_>, p: *mut u32) -> u32 {
        unsafe { lane.load_acquire_32(p) }
    }
    pub(crate) fn add(lane: &SimLane<'_>, p: *mut u32, v: u32) -> u32 {
        unsafe { lane.fetch_add_relaxed_32(p, v) }
    }
    pub(crate) fn cas_acquire(lane: &SimLane<'_>, p: *mut u32, expected: u32, new: u32) -> u32 {
        unsafe { lane.cas_acquire_32(p, expected, new) }
    }
    pub(crate) fn result(lane: &SimLane<'_>, words: Words, i: usize, v: u32) {
        unsafe { lane.private_store_32(words.results.wrapping_add(i), v) }
    }
}
use ops::{add, cas_acquire, load, load_acquire, result, store, store_release};

fn weak(schedule: Schedule) -> SimConfig {
    SimConfig {
        warp_width: 1,
        schedule,
        memory: MemoryModel::Weak { stale_percent: 50 },
        ..SimConfig::default()
    }
}

/// Runs a shape of `threads` blocks of one thread over many seeds and two
/// schedules, and returns how often its results were as `wanted`.
fn count<const R: usize>(
    threads: u32,
    shape: impl Fn(&SimLane<'_>, u32, Words),
    wanted: impl Fn([u32; R]) -> bool,
) -> u64 {
    let mut found = 0;
    for schedule in [Schedule::Random, Schedule::starve(8)] {
        let sim = Sim::new(weak(schedule));
        let mut x = Buffer::<_, u32>::zeroed(&sim, 2, "x").unwrap();
        let mut y = Buffer::<_, u32>::zeroed(&sim, 1, "y").unwrap();
        let results = Buffer::<_, u32>::zeroed(&sim, R, "results").unwrap();
        let words = Words {
            x: x.as_mut_ptr(),
            y: y.as_mut_ptr(),
            results: results.as_mut_ptr(),
        };
        for seed in 0..SEEDS {
            sim.configure(weak(schedule).with_seed(seed));
            x.clear().unwrap();
            y.clear().unwrap();
            sim.run(&Launch::new(threads, 1), |lane| {
                shape(lane, lane.block_index(), words);
            })
            .unwrap();
            found += u64::from(wanted(results.download().unwrap().try_into().unwrap()));
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Relaxed,
    ReleaseAcquire,
    Fences,
}

/// A store that publishes what came before it, under an order.
fn publish(lane: &SimLane<'_>, order: Order, p: *mut u32) {
    match order {
        Order::Relaxed => store(lane, p, 1),
        Order::ReleaseAcquire => store_release(lane, p, 1),
        Order::Fences => {
            lane.fence();
            store(lane, p, 1);
        }
    }
}

/// A load that makes what was published visible, under an order.
fn receive(lane: &SimLane<'_>, order: Order, p: *mut u32) -> u32 {
    match order {
        Order::Relaxed => load(lane, p),
        Order::ReleaseAcquire => load_acquire(lane, p),
        Order::Fences => {
            let v = load(lane, p);
            lane.fence();
            v
        }
    }
}

fn message_passing(writer: Order, reader: Order) -> u64 {
    count(
        2,
        |lane, thread, words| {
            if thread == 0 {
                store(lane, words.x, 1);
                publish(lane, writer, words.y);
            } else {
                let flag = receive(lane, reader, words.y);
                let data = load(lane, words.x);
                result(lane, words, 0, flag);
                result(lane, words, 1, data);
            }
        },
        |[flag, data]| flag == 1 && data == 0,
    )
}

#[test]
fn message_passing_is_stale_unless_both_sides_order_it() {
    use Order::{Fences, Relaxed, ReleaseAcquire};
    assert_ne!(message_passing(Relaxed, Relaxed), 0);
    assert_ne!(message_passing(ReleaseAcquire, Relaxed), 0);
    assert_ne!(message_passing(Fences, Relaxed), 0);
    assert_ne!(message_passing(Relaxed, ReleaseAcquire), 0);
    assert_ne!(message_passing(Relaxed, Fences), 0);
    for writer in [ReleaseAcquire, Fences] {
        for reader in [ReleaseAcquire, Fences] {
            assert_eq!(message_passing(writer, reader), 0);
        }
    }
}

#[test]
fn sequential_memory_is_never_stale() {
    for seed in 0..SEEDS {
        let sim = Sim::new(
            SimConfig {
                memory: MemoryModel::Sequential,
                ..weak(Schedule::Random)
            }
            .with_seed(seed),
        );
        let words = Buffer::<_, u32>::zeroed(&sim, 2, "words").unwrap();
        let results = Buffer::<_, u32>::zeroed(&sim, 2, "results").unwrap();
        let (x, y) = (words.as_mut_ptr(), words.as_mut_ptr().wrapping_add(1));
        let words = Words {
            x,
            y,
            results: results.as_mut_ptr(),
        };
        sim.run(&Launch::new(2, 1), |lane| {
            if lane.block_index() == 0 {
                store(lane, words.x, 1);
                store(lane, words.y, 1);
            } else {
                let flag = load(lane, words.y);
                result(lane, words, 1, load(lane, words.x));
                result(lane, words, 0, flag);
            }
        })
        .unwrap();
        assert_ne!(results.download().unwrap(), [1, 0], "seed {seed}");
    }
}

#[test]
fn store_buffering_is_seen_even_with_acquire_release_fences() {
    for fences in [false, true] {
        let both_zero = count(
            2,
            |lane, thread, words| {
                let (mine, other) = if thread == 0 {
                    (words.x, words.y)
                } else {
                    (words.y, words.x)
                };
                store(lane, mine, 1);
                if fences {
                    lane.fence();
                }
                result(lane, words, thread as usize, load(lane, other));
            },
            |found: [u32; 2]| found == [0, 0],
        );
        assert_ne!(both_zero, 0, "fences: {fences}");
    }
}

#[test]
fn load_buffering_is_never_seen() {
    let both_one = count(
        2,
        |lane, thread, words| {
            let (mine, other) = if thread == 0 {
                (words.x, words.y)
            } else {
                (words.y, words.x)
            };
            let v = load(lane, other);
            store(lane, mine, 1);
            result(lane, words, thread as usize, v);
        },
        |found: [u32; 2]| found == [1, 1],
    );
    assert_eq!(both_one, 0);
}

#[test]
fn two_loads_of_one_word_never_go_back() {
    let back = count(
        3,
        |lane, thread, words| {
            if thread == 0 {
                (1..=6).for_each(|v| store(lane, words.x, v));
            } else {
                let base = (thread as usize - 1) * 3;
                for i in 0..3 {
                    let v = load(lane, words.x);
                    result(lane, words, base + i, v);
                }
            }
        },
        |r: [u32; 6]| r[0] > r[1] || r[1] > r[2] || r[3] > r[4] || r[4] > r[5],
    );
    assert_eq!(back, 0);
}

#[test]
fn a_lane_sees_its_own_stores() {
    let lost = count(
        3,
        |lane, thread, words| {
            store(lane, words.x, 10 * (thread + 1));
            let v = load(lane, words.x);
            store(lane, words.x, v + 1);
            result(lane, words, thread as usize, v);
        },
        |found: [u32; 3]| found.contains(&0),
    );
    assert_eq!(lost, 0);
}

#[test]
fn a_store_after_the_release_is_not_released() {
    // Thread 1 has received y, and z says that the store to x was executed.
    let shape = |order| {
        count(
            2,
            move |lane, thread, words| {
                let z = words.x.wrapping_add(1);
                if thread == 0 {
                    publish(lane, order, words.y);
                    store(lane, words.x, 1);
                    store(lane, z, 1);
                } else {
                    let flag = receive(lane, order, words.y);
                    let done = load(lane, z);
                    let data = load(lane, words.x);
                    result(lane, words, 0, flag);
                    result(lane, words, 1, done);
                    result(lane, words, 2, data);
                }
            },
            |found| found == [1, 1, 0],
        )
    };
    assert_ne!(shape(Order::ReleaseAcquire), 0);
    assert_ne!(shape(Order::Fences), 0);
}

#[test]
fn a_load_that_happens_before_another_bounds_it() {
    // Thread 1 reads x, then publishes y; thread 2 receives y, then reads x:
    // never an older x, though thread 0's stores publish nothing.
    let shape = |order| {
        count(
            3,
            move |lane, thread, words| match thread {
                0 => (1..=4).for_each(|v| store(lane, words.x, v)),
                1 => {
                    let v = load(lane, words.x);
                    publish(lane, order, words.y);
                    result(lane, words, 0, v);
                }
                _ => {
                    let flag = receive(lane, order, words.y);
                    let v = load(lane, words.x);
                    result(lane, words, 1, flag);
                    result(lane, words, 2, v);
                }
            },
            |[first, flag, second]| flag == 1 && second < first,
        )
    };
    assert_ne!(shape(Order::Relaxed), 0);
    assert_eq!(shape(Order::ReleaseAcquire), 0);
    assert_eq!(shape(Order::Fences), 0);
}

#[test]
fn cumulativity_of_three_threads_needs_every_fence() {
    let shape = |fence_2: bool, fence_3: bool| {
        count(
            3,
            move |lane, thread, words| match thread {
                0 => store(lane, words.x, 1),
                1 => {
                    let v = load(lane, words.x);
                    if fence_2 {
                        lane.fence();
                    }
                    if v == 1 {
                        store(lane, words.y, 1);
                    }
                }
                _ => {
                    let v = load(lane, words.y);
                    if fence_3 {
                        lane.fence();
                    }
                    let x = load(lane, words.x);
                    result(lane, words, 0, v);
                    result(lane, words, 1, x);
                }
            },
            |[y, x]| y == 1 && x == 0,
        )
    };
    assert_eq!(shape(true, true), 0);
    assert_ne!(shape(false, true), 0);
    assert_ne!(shape(true, false), 0);
    assert_ne!(shape(false, false), 0);
}

#[test]
fn independent_readers_may_disagree_on_the_order_of_independent_writes() {
    let disagree = count(
        4,
        |lane, thread, words| match thread {
            0 => store_release(lane, words.x, 1),
            1 => store_release(lane, words.y, 1),
            _ => {
                let (first, second) = if thread == 2 {
                    (words.x, words.y)
                } else {
                    (words.y, words.x)
                };
                let a = load_acquire(lane, first);
                let b = load_acquire(lane, second);
                let base = (thread as usize - 2) * 2;
                result(lane, words, base, a);
                result(lane, words, base + 1, b);
            }
        },
        |found: [u32; 4]| found == [1, 0, 1, 0],
    );
    assert_ne!(disagree, 0);
}

#[test]
fn a_release_sequence_goes_on_through_atomics_and_ends_at_a_store() {
    let shape = |atomic: bool| {
        count(
            3,
            move |lane, thread, words| match thread {
                0 => {
                    store(lane, words.x, 1);
                    store_release(lane, words.y, 1);
                }
                1 if atomic => {
                    add(lane, words.y, 1);
                }
                1 => {
                    if load(lane, words.y) == 1 {
                        store(lane, words.y, 2);
                    }
                }
                _ => {
                    let y = load_acquire(lane, words.y);
                    let x = load(lane, words.x);
                    result(lane, words, 0, y);
                    result(lane, words, 1, x);
                }
            },
            |[y, x]| y == 2 && x == 0,
        )
    };
    assert_eq!(shape(true), 0);
    assert_ne!(shape(false), 0);
}

#[test]
fn atomics_read_the_newest_store_and_lose_no_update() {
    let lost = count(
        4,
        |lane, thread, words| {
            add(lane, words.x, 1);
            let found = add(lane, words.x, 1);
            result(lane, words, thread as usize, found);
        },
        |found: [u32; 4]| found.iter().max() != Some(&7),
    );
    assert_eq!(lost, 0);
}

#[test]
fn a_lock_taken_with_acquire_and_left_with_release_protects_its_data() {
    let broken = count(
        3,
        |lane, thread, words| {
            while cas_acquire(lane, words.y, 0, 1) != 0 {}
            let v = load(lane, words.x);
            store(lane, words.x, v + 1);
            store_release(lane, words.y, 0);
            result(lane, words, thread as usize, v);
        },
        |mut found: [u32; 3]| {
            found.sort_unstable();
            found != [0, 1, 2]
        },
    );
    assert_eq!(broken, 0);
}
