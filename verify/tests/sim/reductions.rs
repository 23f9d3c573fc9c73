//! What a reduction (`red`) takes part in, by PTX ISA 9.1, sections 8.8 and
//! 8.9.2: it continues another thread's release sequence, it ends a release
//! pattern of its own, and it never acquires.
// The simulator checks each operation, and all words are live and of 64 bits.
#![allow(clippy::undocumented_unsafe_blocks)]

use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{MemoryModel, Sim, SimConfig, SimLane};

const SEEDS: u64 = 4000;

const DATA: usize = 0;
const FLAG: usize = 1;
const RESULTS: usize = 2;

/// Runs threads that share `[data, flag]`, and returns how often a thread that
/// found the flag at `raised` did not find the data.
fn stale(threads: u32, raised: u64, shape: impl Fn(&SimLane<'_>, u32, *mut u64)) -> (u64, u64) {
    let config = SimConfig {
        warp_width: 1,
        memory: MemoryModel::Weak { stale_percent: 50 },
        ..SimConfig::default()
    };
    let sim = Sim::new(config);
    let mut words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
    let place = words.as_mut_ptr();
    let (mut stale, mut raised_at_all) = (0, 0);
    for seed in 0..SEEDS {
        sim.configure(config.with_seed(seed));
        words.clear().unwrap();
        sim.run(&Launch::new(threads, 1), |lane| {
            shape(lane, lane.block_index(), place);
        })
        .unwrap();
        let found = words.download().unwrap();
        let seen = found[RESULTS] == raised;
        raised_at_all += u64::from(seen);
        stale += u64::from(seen && found[RESULTS + 1] == 0);
    }
    (stale, raised_at_all)
}

fn load(lane: &SimLane<'_>, words: *mut u64, i: usize) -> u64 {
    unsafe { lane.load_relaxed_64(words.wrapping_add(i)) }
}

fn store(lane: &SimLane<'_>, words: *mut u64, i: usize, v: u64) {
    unsafe { lane.store_relaxed_64(words.wrapping_add(i), v) }
}

/// A `red` of 64 bits.
fn reduce(lane: &SimLane<'_>, words: *mut u64, i: usize) {
    unsafe { lane.add_relaxed_64(words.wrapping_add(i), 1) }
}

/// Publishes the data by a reduction of the flag.
fn publish(lane: &SimLane<'_>, words: *mut u64) {
    store(lane, words, DATA, 1);
    lane.fence();
    reduce(lane, words, FLAG);
}

/// Loads the flag and then, ordered, the data.
fn receive(lane: &SimLane<'_>, words: *mut u64) {
    let flag = load(lane, words, FLAG);
    lane.fence();
    let data = load(lane, words, DATA);
    store(lane, words, RESULTS, flag);
    store(lane, words, RESULTS + 1, data);
}

#[test]
fn a_fence_and_a_reduction_are_a_release_pattern() {
    let (stale, raised) = stale(2, 1, |lane, thread, words| match thread {
        0 => publish(lane, words),
        _ => receive(lane, words),
    });
    assert_eq!(stale, 0);
    assert!(raised > 100, "{raised}");
}

#[test]
fn observation_passes_through_a_reduction_of_another_thread() {
    // A flag of 2 may have been read from the second thread's reduction, which
    // comes after the publisher's.
    let (stale, raised) = stale(3, 2, |lane, thread, words| match thread {
        0 => publish(lane, words),
        1 => reduce(lane, words, FLAG),
        _ => receive(lane, words),
    });
    assert_eq!(stale, 0);
    assert!(raised > 100, "{raised}");
}

#[test]
fn a_store_of_another_thread_ends_the_sequence_that_a_reduction_continues() {
    let (stale, raised) = stale(3, 7, |lane, thread, words| match thread {
        0 => publish(lane, words),
        1 => {
            while load(lane, words, FLAG) == 0 {
                lane.pause(1);
            }
            store(lane, words, FLAG, 7);
        }
        _ => receive(lane, words),
    });
    assert!(raised > 100, "{raised}");
    assert!(stale > 0);
}

#[test]
fn a_reduction_and_a_fence_are_no_acquire_pattern_and_an_atomic_is_one() {
    let stale_after = |second: fn(&SimLane<'_>, *mut u64)| {
        let (stale, first) = stale(2, 1, |lane, thread, words| {
            if thread == 0 {
                store(lane, words, DATA, 1);
                lane.fence();
                let found = unsafe { lane.fetch_add_relaxed_64(words.wrapping_add(FLAG), 1) };
                // 1 if the other thread's operation came second.
                store(lane, words, RESULTS, 1 - found);
            } else {
                second(lane, words);
                lane.fence();
                let data = load(lane, words, DATA);
                store(lane, words, RESULTS + 1, data);
            }
        });
        assert!(first > 100, "{first}");
        stale
    };
    let atomic = |lane: &SimLane<'_>, words: *mut u64| {
        unsafe { lane.fetch_add_relaxed_64(words.wrapping_add(FLAG), 1) };
    };
    assert_eq!(stale_after(atomic), 0);
    assert!(stale_after(|lane, words| reduce(lane, words, FLAG)) > 100);
}
