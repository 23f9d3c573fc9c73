//! Channels between the blocks of a cluster, and the cluster's barrier.

use crate::{config, runs, shared, simulator};
use stm_core::Lane;
use stm_core::host::{Device, Error, Launch};
use stm_sync::Stop;
use stm_sync::channel::{Cluster, RingShape, TChannels, TRings};
use verify::sim::{Schedule, Sim, SimConfig, SimLane};

/// The values that each block sends.
const VALUES: u32 = 9;

/// Runs two clusters of blocks of two threads.
fn run(config: SimConfig, cluster: u32, body: impl Fn(&SimLane<'_>, Stop)) -> Result<(), String> {
    let (sim, watchdog) = simulator(config);
    let launch = Launch::new(2 * cluster, 2).with_cluster(cluster);
    let ran = sim.run(&shared(launch, 256), |lane| body(lane, watchdog.stop()));
    ran.map(|_| ()).map_err(|error| error.to_string())
}

/// Each block sends to the next one, round the cluster, through a ring in the memory of the
/// block that takes.
fn send_round(lane: &SimLane<'_>, stop: Stop, cluster: u32) {
    assert_eq!(lane.cluster_size(), cluster);
    let rank = lane.cluster_rank();
    assert_eq!(rank, lane.block_index() % cluster);
    let shape = RingShape::one_to_one(1, 1);
    let mut rings = [None; 3];
    for to in 0..cluster {
        // SAFETY: every thread of the cluster makes the same calls.
        rings[to as usize] =
            unsafe { TRings::<u64, Cluster>::in_cluster(lane, to, 2, shape, stop) };
    }
    let ring = |to: u32| rings[to as usize].unwrap().get(0).unwrap();
    let id = |from: u32, n| u64::from(from) << 32 | u64::from(n);
    let (next, before) = ((rank + 1) % cluster, (rank + cluster - 1) % cluster);
    let first = lane.block_index() - rank;
    if lane.thread_index() == 0 {
        let mut sender = ring(next).sender(lane);
        for n in 0..VALUES {
            sender.send(id(first + rank, n)).unwrap();
        }
    } else {
        let mut receiver = ring(rank).receiver(lane, 0).unwrap();
        for n in 0..VALUES {
            assert_eq!(receiver.take(), Ok(id(first + before, n)));
        }
    }
    // SAFETY: every thread of the cluster comes here.
    unsafe { lane.cluster_barrier() };
}

#[test]
fn blocks_of_a_cluster_send_round_under_every_schedule() {
    for k in 0..84 {
        // Two lanes of one warp wait for others here, each for its own.
        let width = match config(k).schedule {
            Schedule::Stack => 1,
            _ => 4,
        };
        let config = config(k).with_width(width);
        for cluster in [1, 3] {
            run(config, cluster, |lane, stop| {
                send_round(lane, stop, cluster);
            })
            .unwrap_or_else(|error| panic!("{config}: {cluster}: {error}"));
        }
    }
}

#[test]
fn the_barrier_of_a_cluster_shows_what_was_written_before() {
    let memory = |config, barrier: bool| {
        run(config, 3, |lane, _| {
            let (rank, thread) = (lane.cluster_rank(), lane.thread_index());
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
    runs::are_right("clusters", 84, |k| memory(config(k), true));
    // Without it the same runs find words that are not stored yet.
    assert!((0..84).any(|k| memory(config(k), false).is_err()));
}

#[test]
fn a_block_that_is_not_there_and_one_that_has_ended_are_errors() {
    let wrong = run(config(4), 3, |lane, _| {
        // SAFETY: the simulator checks the block.
        unsafe { lane.cluster_load_64(3, 0) };
    });
    assert!(wrong.unwrap_err().contains("block 3 of a cluster of 3"));
    let wrong = (0..50).find_map(|k| {
        let ran = run(config(k), 3, |lane, _| {
            if lane.cluster_rank() == 0 {
                // SAFETY: as above.
                unsafe { lane.cluster_store_64(2, 0, 1) };
            }
        });
        ran.err()
    });
    assert!(wrong.unwrap().contains("all its threads have ended"));
    let wrong = run(config(4), 3, |lane, _| {
        if lane.cluster_rank() != 1 {
            // SAFETY: the simulator notices that not all come.
            unsafe { lane.cluster_barrier() };
        }
    });
    let wrong = wrong.unwrap_err();
    assert!(
        wrong.contains("ended") || wrong.contains("deadlock"),
        "{wrong}"
    );
}

#[test]
fn channels_in_a_block_that_is_not_there_are_refused_to_all_threads() {
    run(config(4), 3, |lane, stop| {
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
    let not_whole = Error::BadConfig {
        what: "the number of blocks of a launch with clusters",
        value: 9,
        expected: "a multiple of the cluster's blocks",
    };
    assert_eq!(check(9, 4), Err(not_whole));
}
