//! Lanes of one warp that wait for one another.

use crate::{config, runs, runs_both_sides, shared, simulator};
use stm_core::Lane;
use stm_core::host::Launch;
use stm_sync::channel::{RingShape, Shared, TChannels, in_rounds};
use stm_sync::host::{Channels, Rings};
use verify::sim::{Schedule, SimConfig};

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
        let me = u64::from(if backwards {
            lanes - 1 - lane.thread_index()
        } else {
            lane.thread_index()
        });
        let mut sum = 0;
        if me != 0 {
            let before = me - 1;
            let got = if within_block {
                within.get(lane, before, 1)
            } else {
                view.get(lane, before, 1)
            };
            sum = got.unwrap();
        }
        assert_eq!(sum, (0..=me as u32).sum::<u32>() - me as u32);
        let sum = sum + me as u32;
        if within_block {
            within.put(lane, me, 1, sum);
        } else {
            view.put(lane, me, 1, sum);
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
    runs::are_right("a ring", 126, |k| ring_of_lanes(config(k)));
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
