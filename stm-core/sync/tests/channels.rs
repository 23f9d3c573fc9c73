//! Channels, named barriers and barriers that count arrivals on the CPU, with real threads.
#![cfg(feature = "host")]

mod common;

use common::{Word, launch, together, watched};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use stm_machine::Lane;
use stm_machine::host::{Buffer, Cpu, Error, Launch, Watchdog};
use stm_sync::channel::{Cluster, Copies, Receiver, RingShape, Shared, TRings};
use stm_sync::host::{Channels, Rings};

/// The values that each ring carries.
const VALUES: u32 = 20_000;

/// Value `n`, whose halves tell a torn one.
fn value(n: u32) -> u64 {
    u64::from(n) << 32 | u64::from(!n)
}

/// Thread 0 sends, and all others take all values, through global memory; and at the same
/// time through shared memory, in the other direction for the second thread.
#[test]
fn all_consumers_take_all_values_from_real_threads() {
    let cpu = Cpu::new();
    for copies in [Copies::One, Copies::Each] {
        let limit = Some(Duration::from_mins(1));
        let mut watchdog = Watchdog::new(&cpu, limit).unwrap();
        let shape = RingShape {
            rings: 1,
            depth_log2: 4,
            consumers: 3,
            copies,
        };
        let rings = Rings::<_, u64>::new(&cpu, shape, watchdog.stop()).unwrap();
        assert_eq!(rings.shape(), shape);
        let (view, stop) = (rings.view(), watchdog.stop());
        let launch = Launch {
            shared_bytes: 256,
            ..Launch::new(1, 4)
        };
        // A second launch goes on with the same rings.
        for _ in 0..2 {
            let launched = watched(&mut watchdog, &launch, |lane| {
                let shape = RingShape::one_to_one(1, 2);
                // SAFETY: every thread of the only block comes here.
                let within = unsafe { TRings::<u32, Shared>::in_shared(lane, 0, shape, stop) };
                let (within, ring) = (within.unwrap().get(0).unwrap(), view.get(0).unwrap());
                let me = lane.thread_index();
                if me == 0 {
                    let mut sender = ring.sender(lane);
                    let mut back = within.receiver(lane, 0);
                    for n in 0..VALUES {
                        sender.send(value(n)).unwrap();
                        assert_eq!(back.as_mut().map(Receiver::take), Some(Ok(n)));
                    }
                } else {
                    let mut receiver = ring.receiver(lane, me - 1).unwrap();
                    let mut back = (me == 1).then(|| within.sender(lane));
                    for n in 0..VALUES {
                        assert_eq!(receiver.take(), Ok(value(n)));
                        if let Some(back) = &mut back {
                            back.send(n).unwrap();
                        }
                    }
                }
            });
            launched.unwrap();
        }
    }
}

/// Each block waits for the one before it, at every channel; or nobody puts anything, if
/// block 0 is silent.
fn chain(limit: Duration, silent: bool) -> (Result<Duration, Error>, Vec<(u32, u32)>) {
    let cpu = Cpu::new();
    let mut watchdog = Watchdog::new(&cpu, Some(limit)).unwrap();
    let mut channels = Channels::<_, u32>::new(&cpu, 500, watchdog.stop()).unwrap();
    assert_eq!((channels.len(), channels.is_empty()), (500, false));
    channels.reset().unwrap();
    let view = channels.view();
    let ran = watched(&mut watchdog, &together(6, 1, 0), |lane| {
        let block = lane.block_index();
        for i in 0..view.len() {
            let tag = 1 + block;
            let before = match block {
                0 if silent => return,
                0 => Ok(i as u32),
                _ => view.get(lane, i, tag - 1),
            };
            let Ok(before) = before else { return };
            view.put(lane, i, tag, before + 1);
        }
    });
    (ran, channels.download().unwrap())
}

#[test]
fn blocks_pass_values_on_through_one_array_of_channels() {
    let (ran, found) = chain(Duration::from_mins(1), false);
    ran.unwrap();
    for (i, found) in found.into_iter().enumerate() {
        assert_eq!(found, (6, i as u32 + 6));
    }
}

#[test]
fn a_launch_that_waits_for_what_nobody_puts_ends_with_an_error() {
    let limit = Duration::from_millis(50);
    let (ran, found) = chain(limit, true);
    assert_eq!(ran, Err(Error::StillWaiting { limit }));
    assert!(found.into_iter().all(|found| found == (0, 0)));
}

/// The blocks of each cluster send round it, through rings in the block that takes. Returns
/// the sum of what each block has taken.
fn round(panics: bool) -> (Result<Duration, Error>, [u64; 9]) {
    let mut watchdog = Watchdog::new(&Cpu::new(), Some(Duration::from_mins(1))).unwrap();
    let stop = watchdog.stop();
    let sums = [const { AtomicU64::new(0) }; 9];
    let launch = Launch {
        shared_bytes: 256,
        ..Launch::new(9, 2).with_cluster(3)
    };
    let ran = watched(&mut watchdog, &launch, |lane| {
        let (rank, size) = (lane.cluster_rank(), lane.cluster_size());
        let rings: Vec<_> = (0..size)
            .map(|to| {
                let shape = RingShape::one_to_one(1, 3);
                // SAFETY: every thread of the cluster comes here.
                let rings = unsafe { TRings::<u64, Cluster>::in_cluster(lane, to, 0, shape, stop) };
                rings.unwrap().get(0).unwrap()
            })
            .collect();
        let block = lane.block_index();
        assert!(!panics || block != 4, "block 4 gives up");
        if lane.thread_index() == 0 {
            let mut sender = rings[((rank + 1) % size) as usize].sender(lane);
            for n in 0..5_000 {
                if sender.send(u64::from(block) << 32 | n).is_err() {
                    return;
                }
            }
        } else {
            let mut receiver = rings[rank as usize].receiver(lane, 0).unwrap();
            for _ in 0..5_000 {
                let Ok(value) = receiver.take() else { return };
                sums[block as usize].fetch_add(value, Ordering::Relaxed);
            }
        }
        // SAFETY: every thread of the cluster comes here.
        unsafe { lane.cluster_barrier() };
    });
    (ran, sums.map(AtomicU64::into_inner))
}

#[test]
fn blocks_of_clusters_reach_each_others_shared_memory() {
    let (ran, sums) = round(false);
    ran.unwrap();
    let from = [2, 0, 1, 5, 3, 4, 8, 6, 7u64];
    let numbers: u64 = (0..5_000).sum();
    assert_eq!(sums, from.map(|block| 5_000 * (block << 32) + numbers));
}

#[test]
fn blocks_of_a_cluster_do_not_wait_for_one_that_panicked() {
    let (ran, _) = round(true);
    assert!(matches!(ran, Err(Error::Panicked { .. })), "{ran:?}");
}

/// Named barriers between pairs of threads, and one that counts arrivals for all; or that of
/// the block, if a thread is to panic. Returns how often a word was of another round.
fn barriers(panics: bool) -> (Result<Duration, Error>, u32) {
    let buffer = Buffer::<_, u32>::zeroed(&Cpu::new(), 4, "words").unwrap();
    let words = [0, 1, 2, 3].map(|i| Word::of(&buffer, i));
    let wrong = AtomicU32::new(0);
    let shape = Launch {
        shared_bytes: 16,
        ..Launch::new(1, 4)
    };
    let ran = launch(&shape, |lane| {
        let (me, threads) = (lane.thread_index(), lane.block_dim());
        let found_wrong = || _ = wrong.fetch_add(1, Ordering::Relaxed);
        // SAFETY: a warp here is a thread, and all make the same calls.
        unsafe {
            if me == 0 {
                lane.mbarrier_init(2, threads);
            }
            lane.barrier();
            for round in 0..200 {
                assert!(!panics || round != 100 || me != 1, "thread 1 gives up");
                if me != 0 {
                    lane.barrier_named_sync(me, 2);
                    if words[me as usize - 1].load(lane) != round + 1 {
                        found_wrong();
                    }
                }
                words[me as usize].store(lane, round + 1);
                if me + 1 != threads {
                    lane.barrier_named_arrive(me + 1, 2);
                }
                if panics {
                    lane.barrier();
                } else {
                    lane.mbarrier_arrive(2);
                    while !lane.mbarrier_try_wait(2, round & 1) {
                        lane.pause(0);
                    }
                }
                // Another one may have gone on to the next round.
                let others = words.map(|word| word.load(lane));
                if !others
                    .iter()
                    .all(|found| [round + 1, round + 2].contains(found))
                {
                    found_wrong();
                }
            }
        }
    });
    (ran, wrong.into_inner())
}

#[test]
fn barriers_of_some_threads_and_of_counted_arrivals_hold() {
    let (ran, wrong) = barriers(false);
    ran.unwrap();
    assert_eq!(wrong, 0);
}

#[test]
fn threads_at_a_named_barrier_do_not_wait_for_one_that_panicked() {
    let (ran, _) = barriers(true);
    let Err(Error::Panicked { message, .. }) = ran else {
        panic!("{ran:?}")
    };
    assert!(message.contains("thread 1 gives up"), "{message}");
}
