//! Litmus shapes with known verdicts: what weak memory must show over many
//! seeds, and what it must never show. They guard the simulator itself.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

mod caches;
mod meetings;
mod reductions;

use std::cell::Cell;
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{MemoryModel, Schedule, Sim, SimConfig, SimLane};

const SEEDS: u64 = 4000;

/// A word of a shape, of 32 bits or of 64.
#[derive(Clone, Copy)]
struct Word {
    place: *mut u64,
    wide: bool,
}

/// A thread of a shape, the words `x`, its neighbour `z`, and `y`, and a result for each load.
struct At<'a> {
    lane: &'a SimLane<'a>,
    thread: usize,
    x: Word,
    y: Word,
    z: Word,
    results: &'a [Cell<u64>],
}

/// Defines operations of both widths.
macro_rules! operations {
    ($($name:ident($($value:ident),*) = $narrow:ident, $wide:ident;)*) => {
        $(
            // SAFETY: each word is live and accessed with its width.
            fn $name(&self, word: Word $(, $value: u64)*) -> u64 {
                unsafe {
                    if word.wide {
                        self.lane.$wide(word.place $(, $value)*)
                    } else {
                        self.lane.$narrow(word.place.cast() $(, $value as u32)*).into()
                    }
                }
            }
        )*
    };
}

impl At<'_> {
    operations! {
        load() = load_relaxed_32, load_relaxed_64;
        acquire() = load_acquire_32, load_acquire_64;
        add(v) = fetch_add_relaxed_32, fetch_add_relaxed_64;
        cas(expected, new) = cas_acquire_32, cas_acquire_64;
    }

    fn store(&self, word: Word, v: u64) {
        unsafe {
            if word.wide {
                self.lane.store_relaxed_64(word.place, v);
            } else {
                self.lane.store_relaxed_32(word.place.cast(), v as u32);
            }
        }
    }

    fn release(&self, word: Word, v: u64) {
        unsafe {
            if word.wide {
                self.lane.store_release_64(word.place, v);
            } else {
                self.lane.store_release_32(word.place.cast(), v as u32);
            }
        }
    }

    fn fence(&self) {
        self.lane.fence();
    }

    fn fence_if(&self, fence: bool) {
        if fence {
            self.fence();
        }
    }

    /// Leaves the result of a load.
    fn note(&self, i: usize, v: u64) {
        self.results[i].set(v);
    }

    /// Loads a word and then another, and leaves what they were.
    fn note_both(&self, first: Word, second: Word) {
        self.note(0, self.load(first));
        self.note(1, self.load(second));
    }

    /// Returns the words of two threads, each of which writes one and reads the other.
    fn crossed(&self) -> (Word, Word) {
        if self.thread.is_multiple_of(2) {
            (self.x, self.y)
        } else {
            (self.y, self.x)
        }
    }

    /// Makes a store that publishes what came before it, under an order.
    fn publish(&self, order: Order, word: Word) {
        self.fence_if(order == Order::Fences);
        if order == Order::ReleaseAcquire {
            self.release(word, 1);
        } else {
            self.store(word, 1);
        }
    }

    /// Makes a load that makes what was published visible, under an order.
    fn receive(&self, order: Order, word: Word) -> u64 {
        let v = if order == Order::ReleaseAcquire {
            self.acquire(word)
        } else {
            self.load(word)
        };
        self.fence_if(order == Order::Fences);
        v
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Relaxed,
    ReleaseAcquire,
    Fences,
}

const WEAK: MemoryModel = MemoryModel::Weak { stale_percent: 50 };
const RANDOM: &[Schedule] = &[Schedule::Random];
const BOTH: &[Schedule] = &[Schedule::Random, Schedule::starve(8)];

/// How a shape is run.
#[derive(Clone, Copy)]
struct Runs {
    config: SimConfig,
    launch: Launch,
    wide: bool,
    schedules: &'static [Schedule],
}

impl Runs {
    /// Blocks of so many threads that are one warp each.
    fn of(blocks: u32, threads: u32, wide: bool) -> Self {
        let config = SimConfig {
            memory: WEAK,
            ..SimConfig::of(threads, Schedule::Random)
        };
        Self {
            config,
            launch: Launch::new(blocks, threads),
            wide,
            schedules: BOTH,
        }
    }

    /// Runs a shape over many seeds and all schedules; returns its results in each run, and the
    /// trace of the run.
    fn outcomes<const R: usize>(&self, shape: impl Fn(&At<'_>)) -> Vec<([u64; R], u64)> {
        let mut outcomes = Vec::new();
        for &schedule in self.schedules {
            let config = SimConfig {
                schedule,
                ..self.config
            };
            let sim = Sim::new(config);
            let mut memory = Buffer::<_, u64>::zeroed(&sim, 4, "memory").unwrap();
            let word = |at: usize| Word {
                place: memory.as_mut_ptr().wrapping_byte_add(at),
                wide: self.wide,
            };
            let beside = if self.wide { 8 } else { 4 };
            let (x, z, y) = (word(0), word(beside), word(16));
            for seed in 0..SEEDS {
                sim.configure(config.with_seed(seed));
                memory.clear().unwrap();
                let results = [const { Cell::new(0) }; R];
                let run = sim.run(&self.launch, |lane| {
                    shape(&At {
                        lane,
                        thread: lane.grid_thread() as usize,
                        x,
                        y,
                        z,
                        results: &results,
                    });
                });
                outcomes.push((results.map(Cell::into_inner), run.unwrap().trace));
            }
        }
        outcomes
    }

    /// Returns how often the results of a shape are as wanted.
    fn count<const R: usize>(
        &self,
        shape: impl Fn(&At<'_>),
        wanted: impl Fn([u64; R]) -> bool,
    ) -> usize {
        let outcomes = self.outcomes(shape).into_iter();
        outcomes.filter(|&(results, _)| wanted(results)).count()
    }
}

/// Runs a shape of blocks of one thread, on words of 32 bits and of 64, and returns how often
/// its results are as wanted.
fn count<const R: usize>(
    blocks: u32,
    shape: impl Fn(&At<'_>),
    wanted: impl Fn([u64; R]) -> bool,
) -> [usize; 2] {
    [false, true].map(|wide| Runs::of(blocks, 1, wide).count(&shape, &wanted))
}

/// Asserts that something was seen on words of both widths.
#[track_caller]
fn seen(found: [usize; 2]) {
    assert!(found.iter().all(|&runs| runs != 0), "{found:?}");
}

/// Asserts that it was never seen.
#[track_caller]
fn never(found: [usize; 2]) {
    assert_eq!(found, [0; 2]);
}

fn message_passing(writer: Order, reader: Order) -> [usize; 2] {
    count(
        2,
        |at| {
            if at.thread == 0 {
                at.store(at.x, 1);
                at.publish(writer, at.y);
            } else {
                at.note(0, at.receive(reader, at.y));
                at.note(1, at.load(at.x));
            }
        },
        |[flag, data]| flag == 1 && data == 0,
    )
}

#[test]
fn message_passing_is_stale_unless_both_sides_order_it() {
    use Order::{Fences, Relaxed, ReleaseAcquire};
    for order in [Relaxed, ReleaseAcquire, Fences] {
        seen(message_passing(order, Relaxed));
        seen(message_passing(Relaxed, order));
    }
    for writer in [ReleaseAcquire, Fences] {
        for reader in [ReleaseAcquire, Fences] {
            never(message_passing(writer, reader));
        }
    }
}

#[test]
fn sequential_memory_is_never_stale() {
    for wide in [false, true] {
        let mut runs = Runs::of(2, 1, wide);
        runs.config.memory = MemoryModel::Sequential;
        let shape = |at: &At<'_>| {
            if at.thread == 0 {
                at.store(at.x, 1);
                at.store(at.z, 1);
            } else {
                at.note_both(at.z, at.x);
            }
        };
        assert_eq!(runs.count(shape, |results: [u64; 2]| results == [1, 0]), 0);
    }
}

#[test]
fn store_buffering_is_seen_even_with_acquire_release_fences() {
    for fences in [false, true] {
        let shape = |at: &At<'_>| {
            let (mine, other) = at.crossed();
            at.store(mine, 1);
            at.fence_if(fences);
            at.note(at.thread, at.load(other));
        };
        seen(count(2, shape, |found: [u64; 2]| found == [0, 0]));
    }
}

#[test]
fn load_buffering_is_never_seen() {
    let shape = |at: &At<'_>| {
        let (mine, other) = at.crossed();
        at.note(at.thread, at.load(other));
        at.store(mine, 1);
    };
    never(count(2, shape, |found: [u64; 2]| found == [1, 1]));
}

#[test]
fn two_loads_of_one_word_never_go_back() {
    let shape = |at: &At<'_>| match at.thread {
        0 => (1..=6).for_each(|v| at.store(at.x, v)),
        _ => (0..3).for_each(|i| at.note((at.thread - 1) * 3 + i, at.load(at.x))),
    };
    let back = |r: [u64; 6]| !r[..3].is_sorted() || !r[3..].is_sorted();
    never(count(3, shape, back));
}

#[test]
fn a_lane_sees_its_own_stores() {
    let shape = |at: &At<'_>| {
        at.store(at.x, 10 * (at.thread as u64 + 1));
        let v = at.load(at.x);
        at.store(at.x, v + 1);
        at.note(at.thread, v);
    };
    never(count(3, shape, |found: [u64; 3]| found.contains(&0)));
}

#[test]
fn a_store_after_the_release_is_not_released() {
    // Thread 1 has received y, and z says that the store to x was executed.
    for order in [Order::ReleaseAcquire, Order::Fences] {
        let shape = |at: &At<'_>| {
            if at.thread == 0 {
                at.publish(order, at.y);
                at.store(at.x, 1);
                at.store(at.z, 1);
            } else {
                at.note(0, at.receive(order, at.y));
                at.note(1, at.load(at.z));
                at.note(2, at.load(at.x));
            }
        };
        seen(count(2, shape, |found| found == [1, 1, 0]));
    }
}

#[test]
fn a_load_that_happens_before_another_bounds_it() {
    // Thread 1 reads x, then publishes y; thread 2 receives y, then reads x:
    // never an older x, though thread 0's stores publish nothing.
    let shape = |order| {
        count(
            3,
            move |at| match at.thread {
                0 => (1..=4).for_each(|v| at.store(at.x, v)),
                1 => {
                    at.note(0, at.load(at.x));
                    at.publish(order, at.y);
                }
                _ => {
                    at.note(1, at.receive(order, at.y));
                    at.note(2, at.load(at.x));
                }
            },
            |[first, flag, second]| flag == 1 && second < first,
        )
    };
    seen(shape(Order::Relaxed));
    never(shape(Order::ReleaseAcquire));
    never(shape(Order::Fences));
}

#[test]
fn cumulativity_of_three_threads_needs_every_fence() {
    let shape = |fence_2: bool, fence_3: bool| {
        count(
            3,
            move |at| match at.thread {
                0 => at.store(at.x, 1),
                1 => {
                    let v = at.load(at.x);
                    at.fence_if(fence_2);
                    if v == 1 {
                        at.store(at.y, 1);
                    }
                }
                _ => {
                    at.note(0, at.load(at.y));
                    at.fence_if(fence_3);
                    at.note(1, at.load(at.x));
                }
            },
            |[y, x]| y == 1 && x == 0,
        )
    };
    never(shape(true, true));
    seen(shape(false, true));
    seen(shape(true, false));
    seen(shape(false, false));
}

#[test]
fn independent_readers_may_disagree_on_the_order_of_independent_writes() {
    let shape = |at: &At<'_>| match at.thread {
        0 => at.release(at.x, 1),
        1 => at.release(at.y, 1),
        _ => {
            let (first, second) = at.crossed();
            let base = (at.thread - 2) * 2;
            at.note(base, at.acquire(first));
            at.note(base + 1, at.acquire(second));
        }
    };
    seen(count(4, shape, |found| found == [1, 0, 1, 0]));
}

#[test]
fn a_release_sequence_goes_on_through_atomics_and_ends_at_a_store() {
    let shape = |atomic: bool| {
        count(
            3,
            move |at| match at.thread {
                0 => {
                    at.store(at.x, 1);
                    at.release(at.y, 1);
                }
                1 if atomic => _ = at.add(at.y, 1),
                1 => {
                    if at.load(at.y) == 1 {
                        at.store(at.y, 2);
                    }
                }
                _ => {
                    at.note(0, at.acquire(at.y));
                    at.note(1, at.load(at.x));
                }
            },
            |[y, x]| y == 2 && x == 0,
        )
    };
    never(shape(true));
    seen(shape(false));
}

#[test]
fn atomics_read_the_newest_store_and_lose_no_update() {
    let shape = |at: &At<'_>| {
        at.add(at.x, 1);
        at.note(at.thread, at.add(at.x, 1));
    };
    never(count(4, shape, |found: [u64; 4]| {
        found.iter().max() != Some(&7)
    }));
}

#[test]
fn a_lock_taken_with_acquire_and_left_with_release_protects_its_data() {
    let shape = |at: &At<'_>| {
        while at.cas(at.y, 0, 1) != 0 {}
        let v = at.load(at.x);
        at.store(at.x, v + 1);
        at.release(at.y, 0);
        at.note(at.thread, v);
    };
    let broken = |mut found: [u64; 3]| {
        found.sort_unstable();
        found != [0, 1, 2]
    };
    never(count(3, shape, broken));
}
