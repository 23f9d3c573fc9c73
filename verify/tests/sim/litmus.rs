//! Litmus shapes with known verdicts: what weak memory must show over many
//! seeds, and what it must never show. They guard the simulator itself.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::each_part;
use crate::prelude::*;
use verify::sim::MemoryModel;

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

macro_rules! operations {
    ($($name:ident($($value:ident),*) -> $result:ty = $narrow:ident, $wide:ident;)*) => {
        $(
            // SAFETY: each word is live and accessed with its width.
            fn $name(&self, word: Word $(, $value: u64)*) -> $result {
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
        load() -> u64 = load_relaxed_32, load_relaxed_64;
        acquire() -> u64 = load_acquire_32, load_acquire_64;
        add(v) -> u64 = fetch_add_relaxed_32, fetch_add_relaxed_64;
        cas(expected, new) -> u64 = cas_acquire_32, cas_acquire_64;
        store(v) -> () = store_relaxed_32, store_relaxed_64;
        release(v) -> () = store_release_32, store_release_64;
    }

    fn fence(&self) {
        self.lane.fence();
    }

    fn note(&self, i: usize, v: u64) {
        self.results[i].set(v);
    }

    fn execute(&self, text: &str) {
        match text {
            "F" => return self.fence(),
            "M" => return unsafe { self.lane.sync_warp(self.lane.warp_mask()) },
            "-" => return,
            _ => {}
        }
        let word = match text.as_bytes()[0] {
            b'x' => self.x,
            b'y' => self.y,
            _ => self.z,
        };
        let digit = |c: char| c.is_ascii_digit();
        let (operator, number) =
            text[1..].split_at(text[1..].find(digit).unwrap_or(text.len() - 1));
        let number: Option<u64> = number.parse().ok();
        let (lane, shared) = (self.lane, text.starts_with('s'));
        let found = match (operator, number) {
            ("=", Some(v)) if shared => return unsafe { lane.shared_store_32(0, v as u32) },
            ("+?", _) if shared => unsafe { lane.shared_fetch_add_32(0, 1) }.into(),
            ("?", _) if shared => unsafe { lane.shared_load_32(0) }.into(),
            ("=", Some(v)) => return self.store(word, v),
            (":=", Some(v)) => return self.release(word, v),
            ("~=", Some(v)) => return unsafe { self.lane.store_weak_64(word.place, v) },
            ("+", Some(v)) => {
                self.add(word, v);
                return;
            }
            ("#", Some(v)) => return unsafe { self.lane.add_relaxed_64(word.place, v) },
            ("+?", _) => self.add(word, 1),
            ("|?", _) => unsafe { self.lane.fetch_or_relaxed_64(word.place, 0) },
            ("?", _) => self.load(word),
            (":?", _) => self.acquire(word),
            ("~?", _) => unsafe { self.lane.load_weak_64(word.place) },
            _ => panic!("{text}"),
        };
        if let Some(i) = number {
            self.note(i as usize, found);
        }
    }
}

const WEAK: MemoryModel = MemoryModel::Weak { stale_percent: 50 };
const RANDOM: &[Schedule] = &[Schedule::Random];
const BOTH: &[Schedule] = &[Schedule::Random, Schedule::starve(8)];

struct Runs {
    config: SimConfig,
    launch: Launch,
    wide: bool,
    schedules: &'static [Schedule],
}

impl Runs {
    /// Blocks of so many threads that are one warp each.
    fn of(blocks: u32, threads: u32, wide: bool) -> Self {
        let config = SimConfig::of(threads, Schedule::Random).with_memory(WEAK);
        Self {
            config,
            launch: shared(Launch::new(blocks, threads), 8),
            wide,
            schedules: BOTH,
        }
    }

    /// Runs a shape over many seeds and all schedules; returns how often its results are as wanted.
    fn count<const R: usize>(
        &self,
        shape: impl Fn(&At<'_>),
        wanted: impl Fn([u64; R]) -> bool,
    ) -> usize {
        let mut count = 0;
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
                run.unwrap();
                count += usize::from(wanted(results.map(Cell::into_inner)));
            }
        }
        count
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

fn shape(row: &str, memory: MemoryModel) -> Vec<usize> {
    let (threads, results) = row.split_once(" : ").unwrap();
    let blocks = threads.split(" | ").count() as u32;
    let threads: Vec<Vec<&str>> = threads
        .split(" | ")
        .flat_map(|block| block.split(" / "))
        .map(|thread| thread.split(' ').collect())
        .collect();
    let holds = |found: [u64; 7]| {
        let at = |i: &str| found[i.parse::<usize>().unwrap()];
        results.split(' ').all(|one| {
            if let Some((i, j)) = one.split_once('<') {
                return at(i) < at(j);
            }
            let (i, v) = one.split_once('=').unwrap();
            at(i) == v.parse::<u64>().unwrap()
        })
    };
    let widths = if row.contains(['~', '#']) || row.contains("|?") {
        &[true][..]
    } else {
        &[false, true]
    };
    let count = |&wide: &bool| {
        let mut runs = Runs::of(blocks, threads.len() as u32 / blocks, wide);
        runs.config.memory = memory;
        let run = |at: &At<'_>| threads[at.thread].iter().for_each(|text| at.execute(text));
        runs.count(run, holds)
    };
    widths.iter().map(count).collect()
}

#[test]
fn every_shape_has_its_verdict() {
    each_part(include_str!("litmus.txt"), 22, |name, rows| {
        let mut known = 0;
        for row in rows {
            let (sign, row) = row.split_once(' ').unwrap_or_default();
            let right = match sign {
                "seen" => 1..=usize::MAX,
                "often" => 101..=usize::MAX,
                "never" => 0..=0,
                _ => continue,
            };
            let found = shape(row, WEAK);
            let all = found.iter().all(|runs| right.contains(runs));
            assert!(all, "{name}: {row}: {found:?}");
            known += 1;
        }
        assert_ne!(known, 0, "{name}");
    });
}

#[test]
fn sequential_memory_is_never_stale() {
    let row = "x=1 z=1 | z?0 x?1 : 0=1 1=0";
    assert_eq!(shape(row, MemoryModel::Sequential), [0, 0]);
}

#[test]
fn atomics_read_the_newest_store_and_lose_no_update() {
    let shape = |at: &At<'_>| {
        at.add(at.x, 1);
        at.note(at.thread, at.add(at.x, 1));
    };
    let lost = |found: [u64; 4]| found.iter().max() != Some(&7);
    assert_eq!(count(4, shape, lost), [0; 2]);
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
    assert_eq!(count(3, shape, broken), [0; 2]);
}

/// One block of two lanes; lane 1 reads after `meet` what lane 0 wrote before. Returns how often
/// it does not find it.
fn stale_after(meet: impl Fn(&SimLane<'_>), votes_order: bool) -> usize {
    let mut runs = Runs::of(1, 2, false);
    (runs.schedules, runs.config.votes_order) = (RANDOM, votes_order);
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
