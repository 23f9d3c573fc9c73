//! Named barriers and barriers that count arrivals: they order what was written before, and
//! wrong use is an error.

use crate::{config, runs, shared};
use std::cell::Cell;
use stm_core::Lane;
use stm_core::host::{Buffer, Launch};
use verify::sim::{Sim, SimConfig, SimLane};

/// The rounds of each run.
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
    let wrong = Cell::new(None);
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
                    if found != [round, round + 100] {
                        wrong.set(Some((warp, round, found)));
                    }
                }
                lane.store_relaxed_32(word(me), round);
                lane.shared_store_32(me, round + 100);
                if warp + 1 != warps {
                    put(lane, warp, round);
                }
            }
        }
    });
    if let Some((warp, round, found)) = wrong.get() {
        return Err(format!("warp {warp} found {found:?} in round {round}"));
    }
    ran.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn named_barriers_hand_over_what_was_written_under_every_schedule() {
    // SAFETY: all lanes of both warps come, twice the width of them.
    runs::are_right("named barriers", 84, |k| unsafe {
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

/// The index of the barrier of a pair of warps.
fn counted(lane: &SimLane<'_>, pair: u32) -> u32 {
    lane.block_dim() + 2 * pair
}

#[test]
fn barriers_that_count_arrivals_hand_over_what_was_written_under_every_schedule() {
    // SAFETY: words of shared memory that nothing else uses; a barrier follows.
    runs::are_right("barriers that count", 84, |k| unsafe {
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
    let wrong = runs::first_wrong(84, without);
    assert!(wrong.is_some_and(|(_, wrong)| wrong.contains("found")));
}

fn error_of(threads: u32, body: impl Fn(&SimLane<'_>)) -> String {
    let sim = Sim::new(config(4).with_width(4));
    let launch = shared(Launch::new(1, threads), 64);
    let error = sim.run(&launch, |lane| body(lane)).unwrap_err();
    error.to_string()
}

#[test]
fn a_named_barrier_with_wrong_operands_is_an_error() {
    for (id, threads) in [(0, 4), (16, 4), (u32::MAX, 4), (1, 0), (1, 6), (1, 12)] {
        // SAFETY: the simulator checks the operands.
        let error = error_of(8, |lane| unsafe { lane.barrier_named_sync(id, threads) });
        assert!(error.contains("barriers are 1 to 15"), "{error}");
    }
    // SAFETY: as above.
    let error = error_of(8, |lane| unsafe {
        lane.barrier_named_arrive(1, if lane.warp_index() == 0 { 8 } else { 4 });
    });
    assert!(error.contains("the same for all that meet"), "{error}");
    // A barrier that is left over waits for ever, and the launch says so.
    // SAFETY: as above.
    let error = error_of(8, |lane| unsafe {
        if lane.warp_index() == 0 {
            lane.barrier_named_sync(3, 8);
        }
    });
    assert!(error.contains("deadlock"), "{error}");
}

#[test]
fn a_shared_word_has_one_width_and_wide_ones_are_even() {
    // SAFETY: the simulator checks the indices.
    let error = error_of(1, |lane| unsafe {
        lane.shared_store_64(2, 1);
        lane.shared_load_32(3);
    });
    assert!(error.contains("64"), "{error}");
    // SAFETY: as above.
    let error = error_of(1, |lane| unsafe {
        lane.shared_store_32(3, 1);
        lane.shared_load_64(2);
    });
    assert!(error.contains("32"), "{error}");
    for i in [1, 15, 16, u32::MAX] {
        // SAFETY: as above.
        let error = error_of(1, |lane| _ = unsafe { lane.shared_load_64(i) });
        assert!(error.contains("even indices"), "{error}");
    }
}
