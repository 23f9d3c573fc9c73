//! Schedules: what each lets happen and what it promises, and that a line replays a run. Another
//! process does so by the lines that `tests/cli.rs` and `tests/check` give it.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::litmus::At;
use crate::prelude::*;
use verify::sim::Op;

const ALL: &str = "lockstep stack its32 starve32 random pct3x500";

fn config(warp_width: u32, schedule: Schedule, seed: u64) -> SimConfig {
    let config = SimConfig::of(warp_width, schedule).with_seed(seed);
    config.with_limits(100_000, 10_000)
}

/// Runs a kernel on so many words that are 0 before, and returns what it leaves there.
fn on_words(
    config: SimConfig,
    launch: &Launch,
    name: &'static str,
    len: usize,
    kernel: impl Fn(&SimLane<'_>, *mut u32),
) -> Result<Vec<u32>, SimError> {
    let sim = Sim::new(config);
    let words = Buffer::<_, u32>::zeroed(&sim, len, name).unwrap();
    let p = words.as_mut_ptr();
    sim.run(launch, |lane| kernel(lane, p))?;
    Ok(words.download().unwrap())
}

fn cas(lane: &SimLane<'_>, p: *mut u32) -> bool {
    // SAFETY: callers pass live words that are only used with 32 bits.
    unsafe { lane.cas_acquire_32(p, 0, 1) == 0 }
}

fn release(lane: &SimLane<'_>, p: *mut u32) {
    // SAFETY: as in `cas`.
    unsafe { lane.store_release_32(p, 0) }
}

/// The naive spin lock (Grote, chapter 3): each lane loops until it has it, with a pause or without.
fn spin_lock(config: SimConfig, launch: &Launch, pauses: bool) -> Result<u32, SimError> {
    let words = on_words(config, launch, "lock", 2, |lane, p| {
        while !cas(lane, p) {
            if pauses {
                lane.pause(100);
            }
        }
        increment(lane, p.wrapping_add(1));
        release(lane, p);
    })?;
    Ok(words[1])
}

#[test]
fn the_naive_spin_lock_deadlocks_with_a_reconvergence_stack() {
    for seed in 0..50 {
        for pauses in [false, true] {
            let config = config(4, Schedule::Stack, seed);
            let error = spin_lock(config, &Launch::new(1, 4), pauses).unwrap_err();
            assert_eq!(error.kind, SimErrorKind::NothingChanged, "{error}");
            // One lane holds the lock and is masked off, and the others spin.
            let lanes = || error.text.split("; ");
            let masked = lanes().filter(|lane| lane.contains("is masked off before"));
            let held = masked.filter(|lane| !lane.contains("before cas_acquire_32"));
            assert_eq!(held.count(), 1, "{error}");
            let spinning = lanes().filter(|lane| lane.contains("can run"));
            assert_eq!(spinning.count() + 1, lanes().count(), "{error}");
            assert!(error.text.contains("`lock`[0]"), "{error}");
        }
    }
}

#[test]
fn the_naive_spin_lock_ends_with_one_lane_a_warp_and_under_independent_scheduling() {
    let (its, starve) = (Schedule::its(16), Schedule::starve(16));
    for seed in 0..50 {
        let alone = config(1, Schedule::Stack, seed);
        assert_eq!(spin_lock(alone, &Launch::new(1, 4), false), Ok(4));
        for schedule in [its, starve, Schedule::Random, Schedule::pct(4, 200)] {
            let config = config(4, schedule, seed);
            let ended = spin_lock(config, &Launch::new(2, 8), seed % 2 == 0);
            assert_eq!(ended, Ok(16), "{config}");
        }
    }
}

/// Two lanes take two locks, and let the first go without the second (Xu et al. 2014, scheme #3 of 2.2).
fn two_locks(config: SimConfig, sorted: bool) -> Result<u32, SimError> {
    let words = on_words(config, &Launch::new(1, 2), "locks", 3, |lane, p| {
        let first = usize::from(!sorted && lane.lane_index() == 1);
        let (a, b) = (p.wrapping_add(first), p.wrapping_add(1 - first));
        loop {
            if cas(lane, a) {
                if cas(lane, b) {
                    break;
                }
                release(lane, a);
            }
        }
        increment(lane, p.wrapping_add(2));
        release(lane, b);
        release(lane, a);
    })?;
    Ok(words[2])
}

#[test]
fn circular_locking_livelocks_in_lockstep_and_sorted_locking_does_not() {
    for seed in 0..50 {
        let config = config(2, Schedule::Lockstep, seed);
        let error = two_locks(config, false).unwrap_err();
        let lanes = error.text.split("; ").count();
        assert_eq!((error.kind, lanes), (SimErrorKind::NoneEnded, 2), "{error}");
        assert_says(
            error,
            &["for 100000 operations", "cas_acquire_32 of `locks`["],
        );
        assert_eq!(two_locks(config, true), Ok(2), "{config}");
    }
    for schedule in [Schedule::its(8), Schedule::Random] {
        for seed in 0..50 {
            assert_eq!(two_locks(config(2, schedule, seed), false), Ok(2));
        }
    }
}

/// Grote's livelock (chapter 3): a lane waits for one of its warp that is masked off, unless they meet.
#[test]
fn a_wait_for_the_masked_off_side_ends_only_with_a_warp_operation_in_its_loop() {
    let wait = |meets: bool, seed| {
        let config = config(2, Schedule::Stack, seed);
        on_words(config, &Launch::new(1, 2), "flag", 1, |lane, p| {
            // SAFETY: a live word used with 32 bits only.
            let seen = || unsafe { lane.load_relaxed_32(p) } == 1;
            let mut done = seen();
            loop {
                if lane.lane_index() == 0 {
                    done = seen();
                } else if !done {
                    // SAFETY: as above.
                    unsafe { lane.store_relaxed_32(p, 1) };
                    done = true;
                }
                // SAFETY: both lanes come here as often.
                if done && !meets || meets && unsafe { lane.ballot(3, done) } == 3 {
                    break;
                }
            }
        })
    };
    for seed in 0..50 {
        let error = wait(false, seed).unwrap_err();
        assert_eq!(error.kind, SimErrorKind::NothingChanged, "{error}");
        assert!(wait(true, seed).is_ok());
    }
}

#[test]
fn lockstep_lanes_of_a_warp_are_never_an_operation_apart() {
    for seed in 0..20 {
        let gap = Cell::new(0);
        let counts = [const { Cell::new(0) }; 16];
        let config = config(8, Schedule::Lockstep, seed);
        let ran = on_words(config, &Launch::new(1, 16), "done", 16, |lane, p| {
            let me = lane.thread_index() as usize;
            for round in 1..=50 {
                // SAFETY: a live array of as many words as threads.
                unsafe { lane.store_relaxed_32(p.wrapping_add(me), round) };
                counts[me].set(round);
                let warp = || counts[me / 8 * 8..][..8].iter().map(Cell::get);
                let apart = warp().max().unwrap() - warp().min().unwrap();
                gap.set(gap.get().max(apart));
            }
        });
        ran.unwrap();
        assert_eq!(gap.get(), 1);
    }
}

#[test]
fn no_lane_waits_longer_than_the_bound_of_its() {
    for starve in [false, true] {
        for seed in 0..20 {
            let (bound, lanes) = (24, 8);
            let config = config(4, Schedule::Its { bound, starve }, seed);
            let longest = Cell::new(0);
            on_words(config, &Launch::new(1, lanes), "word", 1, |lane, p| {
                let mut before = 0;
                for _ in 0..200 {
                    // SAFETY: a live word used with 32 bits only.
                    unsafe { lane.fetch_add_relaxed_32(p, 1) };
                    let now = lane.clock();
                    longest.set(longest.get().max(now - before));
                    before = now;
                }
            })
            .unwrap();
            // Two operations, each passed over for the bound and for every lane that has waited as long.
            let (most, longest) = (u64::from(2 * (bound + lanes)), longest.get());
            let passed_over = !starve || longest > u64::from(bound);
            assert!(longest <= most && passed_over, "{longest} operations");
        }
    }
}

#[test]
fn active_mask_is_the_warp_in_lockstep_and_one_lane_otherwise() {
    for schedule in Schedule::named(ALL) {
        let together = matches!(schedule, Schedule::Lockstep | Schedule::Stack);
        let sim = Sim::new(config(4, schedule, 3));
        sim.run(&Launch::new(2, 8), |lane| {
            let active = |all| if together { all } else { lane.lane_bit() };
            assert_eq!(lane.active_mask(), active(0xF));
            if lane.lane_index() < 2 {
                assert_eq!(lane.active_mask(), active(3));
            }
        })
        .unwrap();
    }
}

fn mixture(config: SimConfig) -> RunReport {
    let sim = Sim::new(config);
    let words = Buffer::<_, u64>::zeroed(&sim, 4, "words").unwrap();
    let launch = shared(Launch::new(2, 12), 64);
    let ran = sim.run(&launch, |lane| {
        let at = At::new(lane, words.as_mut_ptr(), true, &[]);
        let ops = "z=1 z~? x? y:=2 x+1 y++ s3+? V";
        for text in [ops; 20].join(" ").split(' ') {
            at.execute(text);
        }
        at.execute("B");
    });
    ran.unwrap()
}

#[test]
fn a_line_replays_its_run_and_another_seed_does_not() {
    for schedule in Schedule::named(ALL) {
        for memory in [
            MemoryModel::Sequential,
            MemoryModel::Weak { stale_percent: 30 },
        ] {
            let config = config(4, schedule, 11).with_memory(memory);
            let config = config.with_mutant(Some(Mutant::NoE5));
            let run = mixture(config);
            assert_eq!(run, mixture(config.to_string().parse().unwrap()));
            assert_ne!(run.trace, mixture(config.with_seed(12)).trace, "{config}");
            assert_eq!(run.stale_loads == 0, memory == MemoryModel::Sequential);
            assert_eq!(run.count(Op::Ballot), 24 * 20);
            assert_eq!(run.count(Op::Barrier), 24);
            assert!(run.switches <= run.steps + 24);
        }
    }
}

#[test]
fn the_time_limit_sets_its_flag_at_that_operation() {
    for schedule in Schedule::named(ALL) {
        let sim = Sim::new(config(4, schedule, 1));
        let flag = Buffer::<_, u32>::zeroed(&sim, 1, "flag").unwrap();
        let p = flag.as_mut_ptr();
        let mut launch = Launch::new(2, 8);
        launch.stop = Some(StopAt {
            flag: p,
            after: Some(Duration::from_micros(2)),
        });
        let run = sim.run(&launch, |lane| {
            // SAFETY: a live word used with 32 bits only.
            while unsafe { lane.load_relaxed_32(p) } == 0 {}
        });
        let steps = run.unwrap().steps;
        assert!((2000..4000).contains(&steps), "{steps} under {schedule}");
    }
}

#[test]
fn addresses_do_not_depend_on_what_lived_before() {
    let sim = Sim::new(SimConfig::default());
    let places = || {
        let first = Buffer::<_, u32>::zeroed(&sim, 5000, "first").unwrap();
        let second = Buffer::<_, u64>::zeroed(&sim, 1, "second").unwrap();
        [first.as_mut_ptr() as usize, second.as_mut_ptr() as usize]
    };
    let first = places();
    assert!(first.iter().all(|place| place.is_multiple_of(256)));
    assert_eq!(places(), first);
}
