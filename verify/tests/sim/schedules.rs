//! Schedules: what each lets happen and what it promises, and that a line replays a run. Another
//! process does so by the lines that `tests/cli.rs` and `tests/check` give it.
// The simulator checks each operation of a warp or a block, and the tests make wrong ones.
#![allow(clippy::undocumented_unsafe_blocks)]

use crate::each_part;
use crate::errors::letters;
use crate::litmus::{At, holds};
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
    len: usize,
    kernel: impl Fn(&SimLane<'_>, *mut u32),
) -> Result<Vec<u32>, SimError> {
    let sim = Sim::new(config);
    let words = Buffer::<_, u32>::zeroed(&sim, len, "words").unwrap();
    let p = words.as_mut_ptr();
    sim.run(launch, |lane| kernel(lane, p))?;
    Ok(words.download().unwrap())
}

#[test]
fn lanes_that_lock_or_meet_end_or_hang_as_the_table_says() {
    each_part(include_str!("spinning.txt"), 4, |name, rows| {
        let rows = rows.into_iter().filter(|row| !row.starts_with(' '));
        let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" : ").collect()).collect();
        for row in &rows {
            let [schedules, width, shape, threads, ends] = row[..] else {
                panic!("{name}: {row:?}")
            };
            let number = |text: &str| text.parse().unwrap();
            let (blocks, in_block) = shape.split_once('x').unwrap();
            let launch = Launch::new(number(blocks), number(in_block));
            let seeds = |schedule| (0..50).map(move |seed| (schedule, seed));
            for (schedule, seed) in Schedule::named(schedules).into_iter().flat_map(seeds) {
                let config = config(number(width), schedule, seed);
                let kernel = letters(threads);
                let ended = on_words(config, &launch, 8, |lane, p| kernel(lane, p.cast()));
                let right = match (ends.split_once(": "), &ended) {
                    (None, Ok(words)) => holds(ends, |text| match text {
                        "y" => words[4].into(),
                        "z" => words[1].into(),
                        value => value.parse().unwrap(),
                    }),
                    // How many lanes the error says this of.
                    (Some((kind, says)), Err(error)) => says.split(" | ").all(|part| {
                        let (times, text) = part.split_once(' ').unwrap();
                        let lanes: Vec<&str> = error.text.split("; ").collect();
                        let count = lanes.iter().filter(|lane| lane.contains(text)).count();
                        let expected = match times {
                            "all" => lanes.len(),
                            "others" => lanes.len() - 1,
                            number => number.parse().unwrap(),
                        };
                        count == expected && format!("{:?}", error.kind) == kind
                    }),
                    _ => false,
                };
                assert!(right, "{name}: {row:?}: {config}: {ended:?}");
            }
        }
        assert!(!rows.is_empty(), "{name}");
    });
}

#[test]
fn lockstep_lanes_of_a_warp_are_never_an_operation_apart() {
    for seed in 0..20 {
        let gap = Cell::new(0);
        let counts = [const { Cell::new(0) }; 16];
        let config = config(8, Schedule::Lockstep, seed);
        let ran = on_words(config, &Launch::new(1, 16), 16, |lane, p| {
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
            on_words(config, &Launch::new(1, lanes), 1, |lane, p| {
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
