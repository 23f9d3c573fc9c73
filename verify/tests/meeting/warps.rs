//! Who waits for one another: the warps of a block, by named barriers and barriers that count
//! arrivals, which order what was written before; the lanes of a warp, by channels; and the blocks
//! of a cluster, by its barrier (`forms.rs` has their channels).

use crate::prelude::*;
use crate::{are_right, config, first_wrong, runs_both_sides, simulator};
use stm_sync::Stop;
use stm_sync::channel::{Cluster, RingShape, Shared, TChannels, in_rounds};
use stm_sync::host::{Channels, Rings};

const ROUNDS: u32 = 4;

/// Warp w waits for warp w - 1, reads what its lanes stored in global and shared memory,
/// and hands over to warp w + 1.
fn hand_over(
    config: SimConfig,
    init: impl Fn(&SimLane<'_>),
    put: impl Fn(&SimLane<'_>, u32, u32),
    get: impl Fn(&SimLane<'_>, u32, u32),
) -> Result<(), String> {
    let (warps, width) = (4, config.warp_width.min(4));
    let sim = Sim::new(config.with_width(width));
    let threads = warps * width;
    let words = Buffer::<_, u32>::zeroed(&sim, threads as usize, "words").unwrap();
    let launch = shared(Launch::new(1, threads), 4 * (threads + 2 * warps));
    let ran = sim.run(&launch, |lane| {
        let (me, warp) = (lane.thread_index(), lane.warp_index());
        let word = |i: u32| words.as_mut_ptr().wrapping_add(i as usize);
        init(lane);
        // SAFETY: live words of 32 bits; every thread makes the same barriers.
        unsafe {
            for round in 1..=ROUNDS {
                lane.barrier();
                if warp != 0 {
                    get(lane, warp - 1, round);
                    let found = [
                        lane.load_relaxed_32(word(me - width)),
                        lane.shared_load_32(me - width),
                    ];
                    assert_eq!(found, [round, round + 100], "what warp {warp} found");
                }
                lane.store_relaxed_32(word(me), round);
                lane.shared_store_32(me, round + 100);
                if warp + 1 != warps {
                    put(lane, warp, round);
                }
            }
        }
    });
    ran.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn named_barriers_hand_over_what_was_written_under_every_schedule() {
    // SAFETY: all lanes of both warps come, twice the width of them.
    are_right("named barriers", 84, |k| unsafe {
        hand_over(
            config(k),
            |_| (),
            |lane, pair, _| lane.barrier_named_arrive(1 + pair, 2 * lane.warp_width()),
            |lane, pair, _| lane.barrier_named_sync(1 + pair, 2 * lane.warp_width()),
        )
    });
}

/// Waits at a barrier that counts arrivals. Lanes wait apart, so they meet afterwards.
fn wait_counted(lane: &SimLane<'_>, i: u32, round: u32) {
    // SAFETY: a barrier of this launch.
    while !unsafe { lane.mbarrier_try_wait(i, (round - 1) & 1) } {
        lane.pause(1);
    }
}

fn counted(lane: &SimLane<'_>, pair: u32) -> u32 {
    lane.block_dim() + 2 * pair
}

#[test]
fn barriers_that_count_arrivals_hand_over_what_was_written_under_every_schedule() {
    // SAFETY: words of shared memory that nothing else uses; a barrier follows.
    are_right("barriers that count", 84, |k| unsafe {
        hand_over(
            config(k),
            |lane| {
                if lane.lane_index() == 0 {
                    let i = counted(lane, lane.warp_index());
                    lane.mbarrier_init(i, lane.warp_width());
                }
            },
            |lane, pair, _| lane.mbarrier_arrive(counted(lane, pair)),
            |lane, pair, round| wait_counted(lane, counted(lane, pair), round),
        )
    });
}

#[test]
fn without_a_barrier_the_same_runs_find_old_words() {
    let without = |k| hand_over(config(k), |_| (), |_, _, _| (), |_, _, _| ());
    let wrong = first_wrong(84, without);
    assert!(wrong.is_some_and(|(_, wrong)| wrong.contains("found")));
}

/// Asserts that a launch of two warps of four ends with an error that says so.
#[track_caller]
fn ends_with(said: &str, body: impl Fn(&SimLane<'_>)) {
    let sim = Sim::new(config(4).with_width(4));
    let ran = sim.run(&shared(Launch::new(1, 8), 64), |lane| body(lane));
    assert_says(ran.unwrap_err(), &[said]);
}

#[test]
fn a_named_barrier_with_wrong_operands_is_an_error() {
    for (id, threads) in [(0, 4), (16, 4), (u32::MAX, 4), (1, 0), (1, 6), (1, 12)] {
        // SAFETY: the simulator checks the operands.
        ends_with("barriers are 1 to 15", |lane| unsafe {
            lane.barrier_named_sync(id, threads);
        });
    }
    // SAFETY: as above.
    ends_with("the same for all that meet", |lane| unsafe {
        lane.barrier_named_arrive(1, if lane.warp_index() == 0 { 8 } else { 4 });
    });
    // A barrier that is left over waits for ever, and the launch says so.
    // SAFETY: as above.
    ends_with("deadlock", |lane| unsafe {
        if lane.warp_index() == 0 {
            lane.barrier_named_sync(3, 8);
        }
    });
}

#[test]
fn a_shared_word_has_one_width_and_wide_ones_are_even() {
    // SAFETY: the simulator checks the indices.
    ends_with("64", |lane| unsafe {
        lane.shared_store_64(2, 1);
        lane.shared_load_32(3);
    });
    // SAFETY: as above.
    ends_with("32", |lane| unsafe {
        lane.shared_store_32(3, 1);
        lane.shared_load_64(2);
    });
    for i in [1, 15, 16, u32::MAX] {
        // SAFETY: as above.
        ends_with("even indices", |lane| _ = unsafe { lane.shared_load_64(i) });
    }
}

/// Lane i waits for lane i - 1 and puts for lane i + 1: the longest chain in a warp.
fn chain(config: SimConfig, backwards: bool, within_block: bool) {
    let (sim, watchdog) = simulator(config);
    let stop = watchdog.stop();
    let lanes = 12;
    let channels = Channels::<_, u32>::new(&sim, lanes as usize, stop).unwrap();
    let view = channels.view();
    let launch = shared(Launch::new(1, lanes), 8 * lanes);
    sim.run(&launch, |lane| {
        // SAFETY: every thread of the block comes here.
        let within = unsafe { TChannels::<u32, Shared>::in_shared(lane, 0, lanes, stop) }.unwrap();
        let forwards = lane.thread_index();
        let me = u64::from(if backwards {
            lanes - 1 - forwards
        } else {
            forwards
        });
        let sum = me.checked_sub(1).map_or(0, |before| {
            let got = if within_block {
                within.get(lane, before, 1)
            } else {
                view.get(lane, before, 1)
            };
            got.unwrap()
        });
        assert_eq!(sum, (0..me as u32).sum::<u32>());
        if within_block {
            within.put(lane, me, 1, sum + me as u32);
        } else {
            view.put(lane, me, 1, sum + me as u32);
        }
    })
    .unwrap_or_else(|error| panic!("{config}: {backwards} {within_block}: {error}"));
}

#[test]
fn a_chain_through_the_lanes_of_a_warp_ends_where_both_sides_of_a_branch_run() {
    for k in (0..126).filter(|&k| runs_both_sides(config(k))) {
        for backwards in [false, true] {
            chain(config(k), backwards, k % 2 == 0);
        }
    }
}

/// The same with values that go round, by steps that do not wait, in every schedule: also
/// where one side of a branch runs until it ends.
fn ring_of_lanes(config: SimConfig) -> Result<(), String> {
    let (sim, watchdog) = simulator(config);
    let stop = watchdog.stop();
    let (lanes, values) = (config.warp_width.min(8), 5);
    let rings = Rings::<_, u32>::new(&sim, RingShape::one_to_one(lanes, 0), stop).unwrap();
    let view = rings.view();
    let ran = sim.run(&Launch::new(1, lanes), |lane| {
        let me = lane.thread_index();
        let before = if me == 0 { lanes - 1 } else { me - 1 };
        let mut sender = view.get(me).unwrap().sender(lane);
        let mut receiver = view.get(before).unwrap().receiver(lane, 0).unwrap();
        let (mut taken, mut holds) = (0, (me == 0).then_some(0));
        // SAFETY: all lanes of the only warp make the same call.
        let done = unsafe {
            in_rounds(lane, lane.warp_mask(), stop, || {
                match holds {
                    Some(value) if sender.try_send(value + 1) => holds = None,
                    Some(_) => {}
                    None => {
                        if let Some(value) = receiver.try_take() {
                            assert_eq!(value, taken * lanes + if me == 0 { lanes } else { me });
                            taken += 1;
                            holds = (me != 0 || taken != values).then_some(value);
                        }
                    }
                }
                taken == values && holds.is_none()
            })
        };
        assert_eq!(done, Ok(()));
    });
    ran.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn steps_in_rounds_end_under_every_schedule() {
    are_right("a ring", 126, |k| ring_of_lanes(config(k)));
}

/// The simulator's stack schedule is the machine on which plain waits of lanes of one warp
/// do not end. If it were not, the tests above would not show what they claim.
#[test]
fn a_plain_wait_for_a_lane_of_the_same_warp_can_stop_a_warp_without_independent_lanes() {
    let stuck = (0..40).any(|seed| {
        let (sim, watchdog) = simulator(SimConfig {
            schedule: Schedule::Stack,
            ..config(0).with_width(4).with_seed(seed).with_idle(20_000)
        });
        let channels = Channels::<_, u32>::new(&sim, 1, watchdog.stop()).unwrap();
        let view = channels.view();
        let ran = sim.run(&Launch::new(1, 4), |lane| {
            if lane.thread_index() == 0 {
                view.put(lane, 0, 1, 5);
            } else {
                assert_eq!(view.get(lane, 0, 1), Ok(5));
            }
        });
        ran.is_err_and(|error| error.to_string().contains("livelock"))
    });
    assert!(stuck);
}

/// Runs two clusters of three blocks of two threads.
fn run(config: SimConfig, body: impl Fn(&SimLane<'_>, Stop)) -> Result<(), String> {
    let (sim, watchdog) = simulator(config);
    let launch = Launch::new(6, 2).with_cluster(3);
    let ran = sim.run(&shared(launch, 256), |lane| body(lane, watchdog.stop()));
    ran.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn the_barrier_of_a_cluster_shows_what_was_written_before() {
    let memory = |config, barrier: bool| {
        run(config, |lane, _| {
            let (rank, thread) = (lane.cluster_rank(), lane.thread_index());
            assert_eq!((lane.cluster_size(), rank), (3, lane.block_index() % 3));
            // SAFETY: words of the shared memory that nothing else uses; every thread makes
            // the same barriers.
            unsafe {
                lane.cluster_store_64(rank, 2 * thread, u64::from(rank) + 1);
                if barrier {
                    lane.cluster_barrier();
                }
                for other in 0..3 {
                    let found = lane.cluster_load_64(other, 2 * (1 - thread));
                    assert_eq!(found, u64::from(other) + 1);
                }
                lane.cluster_barrier();
            }
        })
    };
    are_right("clusters", 84, |k| memory(config(k), true));
    // Without it the same runs find words that are not stored yet.
    assert!((0..84).any(|k| memory(config(k), false).is_err()));
}

#[test]
fn a_block_that_is_not_there_and_one_that_has_ended_are_errors() {
    let wrong = run(config(4), |lane, _| {
        // SAFETY: the simulator checks the block.
        unsafe { lane.cluster_load_64(3, 0) };
    });
    assert_says(wrong.unwrap_err(), &["block 3 of a cluster of 3"]);
    let wrong = (0..50).find_map(|k| {
        let ran = run(config(k), |lane, _| {
            if lane.cluster_rank() == 0 {
                // SAFETY: as above.
                unsafe { lane.cluster_store_64(2, 0, 1) };
            }
        });
        ran.err()
    });
    assert!(wrong.unwrap().contains("all its threads have ended"));
    let wrong = run(config(4), |lane, _| {
        if lane.cluster_rank() != 1 {
            // SAFETY: the simulator notices that not all come.
            unsafe { lane.cluster_barrier() };
        }
    });
    let wrong = wrong.unwrap_err();
    let known = ["ended", "deadlock"].iter().any(|how| wrong.contains(how));
    assert!(known, "{wrong}");
}

#[test]
fn channels_in_a_block_that_is_not_there_are_refused_to_all_threads() {
    run(config(4), |lane, stop| {
        // SAFETY: every thread of the cluster makes the same calls.
        unsafe {
            assert!(TChannels::<u32, Cluster>::in_cluster(lane, 3, 0, 1, stop).is_none());
            assert!(TChannels::<u32, Cluster>::in_cluster(lane, 0, 1, 1, stop).is_none());
            assert!(TChannels::<u32, Cluster>::in_cluster(lane, 0, 0, 33, stop).is_none());
            assert!(TChannels::<u32, Cluster>::in_cluster(lane, 2, 0, 32, stop).is_some());
        }
    })
    .unwrap();
}

#[test]
fn a_launch_with_clusters_that_cannot_be_is_refused() {
    let limits = Sim::new(config(0)).limits();
    let check = |blocks, cluster| Launch::new(blocks, 1).with_cluster(cluster).check(&limits);
    assert_eq!(check(32, 16), Ok(()));
    let what = "blocks a cluster";
    assert_eq!(check(4, 0), Err(Error::ZeroLaunch { what }));
    let (asked, limit) = (17, 16);
    let too_large = Error::LaunchTooLarge { what, asked, limit };
    assert_eq!(check(34, asked), Err(too_large));
    assert_says(
        check(9, 4).unwrap_err(),
        &["a multiple of the cluster's blocks"],
    );
}
