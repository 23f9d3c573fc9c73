//! Who waits for one another: the lanes of a warp, by channels; and the blocks of a cluster, by its barrier
//! (`forms.rs` has their channels). `sim/litmus.txt` has what these, named barriers and those that count arrivals
//! order, `sim/errors.txt` their misuse, and `kernels.rs` both in rounds, from warp to warp.

use crate::prelude::*;
use crate::{Ran, are_right, config, simulator};
use stm_sync::channel::{Cluster, RingShape, TChannels, in_rounds};
use stm_sync::host::{Channels, Rings};

/// Values go round the lanes of a warp by steps that do not wait, in every schedule: also where one
/// side of a branch runs until it ends. `forms.rs` has lanes that wait for others of their warp.
fn ring_of_lanes(config: SimConfig) -> Ran {
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

/// If plain waits ended under this schedule, too, the test above would not show what it claims.
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

#[test]
fn channels_in_a_block_that_is_not_there_are_refused_to_all_threads() {
    let (sim, watchdog) = simulator(config(4));
    let stop = watchdog.stop();
    // Two clusters of three blocks.
    let launch = shared(Launch::new(6, 2).with_cluster(3), 256);
    sim.run(&launch, |lane| {
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
