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
pub(crate) struct Word {
    place: *mut u64,
    wide: bool,
}

/// A thread of a shape, the words `x`, its neighbour `z`, `y`, and `X`, which has 64 bits from `x` on, and a
/// result for each load.
pub(crate) struct At<'a> {
    pub(crate) lane: &'a SimLane<'a>,
    pub(crate) thread: usize,
    pub(crate) x: Word,
    y: Word,
    z: Word,
    whole: Word,
    results: &'a [Cell<u64>],
}

macro_rules! operations {
    ($($name:ident($($value:ident),*) -> $result:ty = $narrow:ident, $wide:ident;)*) => {
        $(
            // SAFETY: each word is live and accessed with its width.
            pub(crate) fn $name(&self, word: Word $(, $value: u64)*) -> $result {
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

/// Splits what is behind the name of a word into an operator and a number.
pub(crate) fn digits(text: &str) -> (&str, Option<u64>) {
    let rest = &text[1..];
    let digit = |c: char| c.is_ascii_digit();
    let (operator, number) = rest.split_at(rest.find(digit).unwrap_or(rest.len()));
    (operator, number.parse().ok())
}

impl<'a> At<'a> {
    /// Makes the thread of a lane, on three of four words.
    pub(crate) fn new(
        lane: &'a SimLane<'a>,
        words: *mut u64,
        wide: bool,
        results: &'a [Cell<u64>],
    ) -> Self {
        let word = |at| Word {
            place: words.wrapping_byte_add(at),
            wide,
        };
        Self {
            lane,
            thread: lane.grid_thread() as usize,
            x: word(0),
            y: word(16),
            z: word(if wide { 8 } else { 4 }),
            whole: Word {
                place: words,
                wide: true,
            },
            results,
        }
    }

    operations! {
        load() -> u64 = load_relaxed_32, load_relaxed_64;
        acquire() -> u64 = load_acquire_32, load_acquire_64;
        add(v) -> u64 = fetch_add_relaxed_32, fetch_add_relaxed_64;
        cas(expected, new) -> u64 = cas_acquire_32, cas_acquire_64;
        private() -> u64 = private_load_32, private_load_64;
        store(v) -> () = store_relaxed_32, store_relaxed_64;
        store_private(v) -> () = private_store_32, private_store_64;
        release(v) -> () = store_release_32, store_release_64;
    }

    pub(crate) fn note(&self, i: Option<u64>, v: u64) {
        if let Some(i) = i {
            self.results[i as usize].set(v);
        }
    }

    /// Meets the other lanes of the warp or of the block, and returns whether there is such a meeting.
    fn meets(&self, text: &str) -> bool {
        let lane = self.lane;
        let me = lane.lane_index();
        let given = u32::from_str_radix(text.get(1..).unwrap_or(""), 16);
        let mask = given.unwrap_or(lane.warp_mask());
        unsafe {
            match text {
                "P" => lane.pause(1),
                _ if text.starts_with('M') => lane.sync_warp(mask),
                "B" => lane.barrier(),
                "N" => lane.barrier_named_sync(1, lane.block_dim()),
                "A" => lane.barrier_named_arrive(1, lane.block_dim()),
                "I" => lane.mbarrier_init(2, lane.warp_width()),
                "C+" => lane.mbarrier_arrive(2),
                "C?" => while !lane.mbarrier_try_wait(2, 0) {},
                "K" => lane.cluster_barrier(),
                "B|" => assert!(lane.barrier_any(me == 1)),
                "V<" => assert_eq!(lane.shuffle_32(mask, me + 5, 1), 6),
                "V=" => assert_eq!(lane.match_any_32(mask, 9), mask),
                "V#" => assert_eq!(lane.match_any_64(mask, me.into()), lane.lane_bit()),
                _ if text.starts_with('V') => assert_eq!(lane.ballot(mask, true), mask),
                _ => return false,
            }
        }
        true
    }

    pub(crate) fn execute(&self, text: &str) {
        if text == "F" {
            return self.lane.fence();
        }
        if text == "-" || self.meets(text) {
            return;
        }
        let word = match text.as_bytes()[0] {
            b'x' => self.x,
            b'y' => self.y,
            b'X' => self.whole,
            _ => self.z,
        };
        let (operator, number) = digits(text);
        let (lane, shared) = (self.lane, text.starts_with('s'));
        let (cluster, block) = (text.starts_with('c'), lane.cluster_rank());
        let found = match (operator, number) {
            ("=", Some(v)) if cluster => return unsafe { lane.cluster_store_64(block, 0, v) },
            ("?", _) if cluster => unsafe { lane.cluster_load_64(1 - block, 0) },
            ("=", Some(v)) if shared => return unsafe { lane.shared_store_32(0, v as u32) },
            ("+?", _) if shared => unsafe { lane.shared_fetch_add_32(0, 1) }.into(),
            ("?", _) if shared => unsafe { lane.shared_load_32(0) }.into(),
            ("=", Some(v)) => return self.store(word, v),
            (":=", Some(v)) => return self.release(word, v),
            ("^=", Some(v)) => return self.store_private(word, v),
            ("~=", Some(v)) => return unsafe { lane.store_weak_64(word.place, v) },
            ("#", Some(v)) => return unsafe { lane.add_relaxed_64(word.place, v) },
            ("@", _) => return while self.cas(word, 0, 1) != 0 {},
            ("+", Some(v)) => {
                self.add(word, v);
                return;
            }
            ("++", _) => {
                let found = self.load(word);
                self.store(word, found + 1);
                found
            }
            ("+?", _) => self.add(word, 1),
            ("|?", _) => unsafe { lane.fetch_or_relaxed_64(word.place, 0) },
            ("?", _) => self.load(word),
            (":?", _) => self.acquire(word),
            ("^?", _) => self.private(word),
            ("~?", _) => unsafe { lane.load_weak_64(word.place) },
            _ => panic!("{text}"),
        };
        self.note(number, found);
    }
}

const WEAK: MemoryModel = MemoryModel::Weak { stale_percent: 50 };

/// Runs a shape over many seeds and schedules, of words of 32 bits and of 64 or of these alone; returns
/// how often its results are as wanted. The threads of a block are one warp, or where warps meet one each.
fn shape(row: &str, memory: MemoryModel, votes_order: bool) -> Vec<usize> {
    let (threads, results) = row.split_once(" : ").unwrap();
    let blocks = threads.split(" | ").count() as u32;
    let threads: Vec<Vec<&str>> = threads
        .split(" | ")
        .flat_map(|block| block.split(" / "))
        .map(|thread| thread.split(' ').collect())
        .collect();
    let holds = |found: &[u64]| {
        let at = |i: &str| found[i.parse::<usize>().unwrap()];
        let number = |v: &str| v.parse::<u64>().unwrap();
        results.split(' ').all(|one| {
            if let Some((i, j)) = one.split_once('<') {
                return at(i) < at(j);
            }
            match one.split_once('=') {
                Some((i, v)) => at(i) == number(v),
                None => one.split_once('!').is_some_and(|(i, v)| at(i) != number(v)),
            }
        })
    };
    let in_block = threads.len() as u32 / blocks;
    let mut launch = shared(Launch::new(blocks, in_block), 16);
    if row.contains('K') {
        launch = launch.with_cluster(blocks);
    }
    let alone = row.contains(['N', 'C']);
    let width = if alone { 1 } else { in_block };
    let count = |&wide: &bool| {
        let mut count = 0;
        for schedule in [Schedule::Random, Schedule::starve(8)] {
            let config = SimConfig {
                votes_order,
                ..SimConfig::of(width, schedule).with_memory(memory)
            };
            let sim = Sim::new(config);
            let mut memory = Buffer::<_, u64>::zeroed(&sim, 4, "memory").unwrap();
            for seed in 0..SEEDS {
                sim.configure(config.with_seed(seed));
                memory.clear().unwrap();
                let results = [const { Cell::new(0) }; 7];
                let ran = sim.run(&launch, |lane| {
                    let at = At::new(lane, memory.as_mut_ptr(), wide, &results);
                    threads[at.thread].iter().for_each(|text| at.execute(text));
                });
                ran.unwrap();
                count += usize::from(holds(&results.map(Cell::into_inner)));
            }
        }
        count
    };
    let wide_only = row.contains(['~', '#']) || row.contains("|?");
    [false, true][usize::from(wide_only)..]
        .iter()
        .map(count)
        .collect()
}

#[test]
fn every_shape_has_its_verdict() {
    each_part(include_str!("litmus.txt"), 27, |name, rows| {
        let mut known = 0;
        for row in rows {
            let (sign, row) = row.split_once(' ').unwrap_or_default();
            let right = match sign {
                "seen" => 1..=usize::MAX,
                "often" => 101..=usize::MAX,
                "never" | "voted" => 0..=0,
                _ => continue,
            };
            let found = shape(row, WEAK, sign == "voted");
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
    assert_eq!(shape(row, MemoryModel::Sequential, true), [0, 0]);
}
