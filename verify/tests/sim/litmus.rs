//! Litmus shapes with known verdicts: what weak memory must show over many
//! seeds, and what it must never show. They guard the simulator itself.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::each_part;
use crate::prelude::*;

const SEEDS: u64 = 4000;

/// A thread of a shape, four words of which it uses 32 bits or 64, and a result for each load.
pub(crate) struct At<'a> {
    pub(crate) lane: &'a SimLane<'a>,
    pub(crate) thread: usize,
    words: *mut u64,
    wide: bool,
    results: &'a [Cell<u64>],
}

/// Splits what is behind the name of a word into an operator and a number.
pub(crate) fn digits(text: &str) -> (&str, Option<u64>) {
    let rest = &text[1..];
    let digit = |c: char| c.is_ascii_digit();
    let (operator, number) = rest.split_at(rest.find(digit).unwrap_or(rest.len()));
    (operator, number.parse().ok())
}

/// Returns the end of the digits behind the first letter.
fn digits_of(text: &str) -> usize {
    let behind = text[1..].trim_start_matches(|c: char| c.is_ascii_digit());
    text.len() - behind.len()
}

impl<'a> At<'a> {
    pub(crate) fn new(
        lane: &'a SimLane<'a>,
        words: *mut u64,
        wide: bool,
        results: &'a [Cell<u64>],
    ) -> Self {
        Self {
            lane,
            thread: lane.grid_thread() as usize,
            words,
            wide,
            results,
        }
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
                _ if text.contains(',') => {
                    let (id, threads) = text[1..].split_once(',').unwrap();
                    let (id, threads) = (id.parse().unwrap(), threads.parse().unwrap());
                    match &text[..1] {
                        "N" => lane.barrier_named_sync(id, threads),
                        _ => lane.barrier_named_arrive(id, threads),
                    }
                }
                _ if text.starts_with('H') => {
                    lane.shuffle_32(lane.lane_bit(), 1, mask);
                }
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

    /// Takes two locks, of which the second is x or y, and gives the first one up without the second.
    fn lock_both(&self, first: *mut u64, is_x: bool) {
        let second = (self.words).wrapping_byte_add(if is_x { 0 } else { 16 });
        let take = |p: *mut u64| unsafe { self.lane.cas_acquire_32(p.cast(), 0, 1) } == 0;
        loop {
            if take(first) {
                if take(second) {
                    return;
                }
                unsafe { self.lane.store_release_32(first.cast(), 0) };
            }
        }
    }

    pub(crate) fn execute(&self, text: &str) {
        if text == "F" {
            return self.lane.fence();
        }
        if text == "-" || self.meets(text) {
            return;
        }
        let kind = text.as_bytes()[0];
        let end = digits_of(text);
        let place = text[1..end].parse().unwrap_or(0);
        let (operator, number) = digits(&text[end - 1..]);
        let (words, p, wide) = match kind {
            b'x' => (self.words, 0, self.wide),
            b'X' => (self.words, 0, true),
            b'y' => (self.words, 16, self.wide),
            b'z' => (self.words, if self.wide { 8 } else { 4 }, self.wide),
            b'n' => (std::ptr::null_mut(), place, true),
            _ => (self.words, place, kind == b'P'),
        };
        let (lane, p) = (self.lane, words.wrapping_byte_add(p));
        // Calls the operation of 32 bits or that of 64.
        macro_rules! access {
            ($narrow:ident, $wide:ident $(, $value:expr)*) => {
                unsafe {
                    if wide {
                        lane.$wide(p $(, $value)*)
                    } else {
                        lane.$narrow(p.cast() $(, $value as u32)*).into()
                    }
                }
            };
        }
        let (shared, cluster, block) = (kind == b's', kind == b'c', lane.cluster_rank());
        let at = place as u32;
        let found = match (operator, number) {
            ("=", Some(v)) if cluster => return unsafe { lane.cluster_store_64(block, 0, v) },
            ("?", _) if cluster => unsafe { lane.cluster_load_64(1 - block, 0) },
            ("=", Some(v)) if shared => return unsafe { lane.shared_store_32(at, v as u32) },
            ("+?", _) if shared => unsafe { lane.shared_fetch_add_32(at, 1) }.into(),
            ("?", _) if shared => unsafe { lane.shared_load_32(at) }.into(),
            ("=", Some(v)) if kind == b'S' => return unsafe { lane.shared_store_64(at, v) },
            ("?", _) if kind == b'S' => unsafe { lane.shared_load_64(at) },
            ("=", Some(v)) => return access!(store_relaxed_32, store_relaxed_64, v),
            (":=", Some(v)) => return access!(store_release_32, store_release_64, v),
            ("^=", Some(v)) => return access!(private_store_32, private_store_64, v),
            ("~=", Some(v)) => return unsafe { lane.store_weak_64(p, v) },
            ("#", Some(v)) => return unsafe { lane.add_relaxed_64(p, v) },
            ("@", pauses) => {
                while access!(cas_acquire_32, cas_acquire_64, 0, 1) != 0 {
                    (0..pauses.unwrap_or(0)).for_each(|_| lane.pause(100));
                }
                return;
            }
            ("&x" | "&y", _) => return self.lock_both(p, operator == "&x"),
            ("+", Some(v)) => {
                let _: u64 = access!(fetch_add_relaxed_32, fetch_add_relaxed_64, v);
                return;
            }
            ("++", _) => {
                let found: u64 = access!(load_relaxed_32, load_relaxed_64);
                access!(store_relaxed_32, store_relaxed_64, found + 1);
                found
            }
            ("+?", _) => access!(fetch_add_relaxed_32, fetch_add_relaxed_64, 1),
            ("|?", _) => unsafe { lane.fetch_or_relaxed_64(p, 0) },
            ("?", _) => access!(load_relaxed_32, load_relaxed_64),
            (":?", _) => access!(load_acquire_32, load_acquire_64),
            ("^?", _) => access!(private_load_32, private_load_64),
            ("~?", _) => unsafe { lane.load_weak_64(p) },
            _ => panic!("{text}"),
        };
        self.note(number, found);
    }
}

/// Returns whether all of these hold of the values that the texts in them have.
pub(crate) fn holds(conditions: &str, value: impl Fn(&str) -> u64) -> bool {
    conditions.split(' ').all(|one| {
        let mut operators = ["!=", "<=", "<", "="].into_iter();
        let split = |operator| Some((operator, one.split_once(operator)?));
        let (operator, (a, b)) = operators.find_map(split).unwrap();
        let (a, b) = (value(a), value(b));
        match operator {
            "!=" => a != b,
            "<=" => a <= b,
            "<" => a < b,
            _ => a == b,
        }
    })
}

const WEAK: MemoryModel = MemoryModel::Weak { stale_percent: 50 };

/// Runs a shape over many seeds and schedules, with words of both widths or of 64 bits alone; returns how often its
/// results are as wanted. The threads of a block are one warp, or where warps meet one each.
fn shape(row: &str, memory: MemoryModel, votes_order: bool) -> Vec<usize> {
    let (threads, results) = row.split_once(" : ").unwrap();
    let blocks = threads.split(" | ").count() as u32;
    let threads: Vec<Vec<&str>> = threads
        .split(" | ")
        .flat_map(|block| block.split(" / "))
        .map(|thread| thread.split(' ').collect())
        .collect();
    let has = |found: &[u64]| {
        holds(results, |text| match text.strip_prefix('r') {
            Some(i) => found[i.parse::<usize>().unwrap()],
            None => text.parse().unwrap(),
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
                count += usize::from(has(&results.map(Cell::into_inner)));
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
    each_part(include_str!("litmus.txt"), 28, |name, rows| {
        let mut known = 0;
        for row in rows {
            let (sign, row) = row.split_once(' ').unwrap_or_default();
            let right = match sign {
                "seen" => 1..=usize::MAX,
                "often" => 101..=usize::MAX,
                "never" | "voted" => 0..=0,
                // What is shown, or why.
                _ => {
                    assert!(!row.contains('|'), "{name}: {sign} {row}");
                    continue;
                }
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
    let row = "x=1 z=1 | z?0 x?1 : r0=1 r1=0";
    assert_eq!(shape(row, MemoryModel::Sequential, true), [0, 0]);
}
