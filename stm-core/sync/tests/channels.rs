//! Channels, named barriers and barriers that count arrivals on the CPU, with real threads.
#![cfg(feature = "host")]

use std::time::Duration;
use stm_machine::host::{Buffer, Cpu, Device, Error, Launch, Watchdog};
use stm_machine::{Kernel, Lane, TArray};
use stm_sync::Stop;
use stm_sync::channel::{Cluster, Copies, RingShape, Shared, TChannels, TRings};
use stm_sync::host::{Channels, Rings};

/// The values that each ring carries.
const VALUES: u32 = 20_000;

/// Value `n`, whose halves tell a torn one.
fn value(n: u32) -> u64 {
    u64::from(n) << 32 | u64::from(!n)
}

/// Thread 0 sends, and all others take all values, through global memory; and at the same
/// time through shared memory, in the other direction for the second thread.
struct OneToMany;

#[repr(C)]
#[derive(Clone, Copy)]
struct OneToManyParams {
    rings: TRings<u64>,
    stop: Stop,
    /// How many values of each thread were wrong, and 1 for one that was stopped.
    wrong: TArray<u32>,
}

impl Kernel for OneToMany {
    const ENTRY: &'static str = "one_to_many";
    type Params = OneToManyParams;

    fn run<L: Lane>(lane: &L, p: &OneToManyParams) {
        let shape = RingShape::one_to_one(1, 2);
        // SAFETY: every thread of the only block comes here.
        let within = unsafe { TRings::<u32, Shared>::in_shared(lane, 0, shape, p.stop) };
        let (Some(within), Some(ring)) = (within.and_then(|rings| rings.get(0)), p.rings.get(0))
        else {
            return;
        };
        let me = lane.thread_index();
        let mut wrong = 0;
        if me == 0 {
            let mut sender = ring.sender(lane);
            let mut back = within.receiver(lane, 0);
            for n in 0..VALUES {
                wrong += u32::from(sender.send(value(n)).is_err());
                let answer = back.as_mut().map(stm_sync::channel::Receiver::take);
                wrong += u32::from(answer != Some(Ok(n)));
            }
        } else if let Some(mut receiver) = ring.receiver(lane, me - 1) {
            let mut back = (me == 1).then(|| within.sender(lane));
            for n in 0..VALUES {
                wrong += u32::from(receiver.take() != Ok(value(n)));
                wrong += u32::from(back.as_mut().is_some_and(|back| back.send(n).is_err()));
            }
        }
        if let Some(word) = p.wrong.get(u64::from(me)) {
            // SAFETY: a live word of this thread's.
            unsafe { lane.store_relaxed_32(word, wrong) };
        }
    }
}

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
        let wrong = Buffer::<_, u32>::from_slice(&cpu, &[u32::MAX; 4], "wrong").unwrap();
        let params = OneToManyParams {
            rings: rings.view(),
            stop: watchdog.stop(),
            wrong: wrong.tarray(),
        };
        let launch = Launch {
            shared_bytes: 256,
            ..Launch::new(1, 4)
        };
        // A second launch goes on with the same rings.
        for _ in 0..2 {
            // SAFETY: all of it lives until the launch has ended.
            unsafe { watchdog.launch::<OneToMany>(&cpu, &launch, &params) }.unwrap();
            assert_eq!(wrong.download().unwrap(), [0; 4]);
        }
    }
}

/// Each block waits for the one before it, at every channel.
struct Chain;

#[repr(C)]
#[derive(Clone, Copy)]
struct ChainParams {
    channels: TChannels<u32>,
    /// Whether block 0 puts nothing.
    silent: bool,
}

impl Kernel for Chain {
    const ENTRY: &'static str = "chain";
    type Params = ChainParams;

    fn run<L: Lane>(lane: &L, p: &ChainParams) {
        let block = lane.block_index();
        for i in 0..p.channels.len() {
            let tag = 1 + block;
            let before = match block {
                0 if p.silent => return,
                0 => Ok(i as u32),
                _ => p.channels.get(lane, i, tag - 1),
            };
            let Ok(before) = before else { return };
            p.channels.put(lane, i, tag, before + 1);
        }
    }
}

fn chain(limit: Duration, silent: bool) -> (Result<Duration, Error>, Vec<(u32, u32)>) {
    let cpu = Cpu::new();
    let mut watchdog = Watchdog::new(&cpu, Some(limit)).unwrap();
    let mut channels = Channels::<_, u32>::new(&cpu, 500, watchdog.stop()).unwrap();
    assert_eq!((channels.len(), channels.is_empty()), (500, false));
    channels.reset().unwrap();
    let params = ChainParams {
        channels: channels.view(),
        silent,
    };
    let launch = Launch {
        cooperative: true,
        ..Launch::new(6, 1)
    };
    // SAFETY: the channels live until the launch has ended.
    let ran = unsafe { watchdog.launch::<Chain>(&cpu, &launch, &params) };
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

/// The blocks of each cluster send round it, through rings in the block that takes.
struct Round;

#[repr(C)]
#[derive(Clone, Copy)]
struct RoundParams {
    stop: Stop,
    sums: TArray<u64>,
    panics: bool,
}

impl Kernel for Round {
    const ENTRY: &'static str = "round";
    type Params = RoundParams;

    fn run<L: Lane>(lane: &L, p: &RoundParams) {
        let (rank, size) = (lane.cluster_rank(), lane.cluster_size());
        let next = if rank + 1 == size { 0 } else { rank + 1 };
        let mut own = None;
        let mut other = None;
        for to in 0..size {
            let shape = RingShape::one_to_one(1, 3);
            // SAFETY: every thread of the cluster comes here.
            let rings = unsafe { TRings::<u64, Cluster>::in_cluster(lane, to, 0, shape, p.stop) };
            let ring = rings.and_then(|rings| rings.get(0));
            if to == rank {
                own = ring;
            }
            if to == next {
                other = ring;
            }
        }
        assert!(!p.panics || lane.block_index() != 4, "block 4 gives up");
        let (Some(own), Some(other)) = (own, other) else {
            return;
        };
        if lane.thread_index() == 0 {
            let mut sender = other.sender(lane);
            for n in 0..5_000 {
                if sender
                    .send(u64::from(lane.block_index()) << 32 | n)
                    .is_err()
                {
                    return;
                }
            }
        } else if let Some(mut receiver) = own.receiver(lane, 0) {
            let mut sum = 0;
            for _ in 0..5_000 {
                let Ok(value) = receiver.take() else { return };
                sum += value;
            }
            if let Some(word) = p.sums.get(u64::from(lane.block_index())) {
                // SAFETY: a live word of this thread's.
                unsafe { lane.store_relaxed_64(word, sum) };
            }
        }
        // SAFETY: every thread of the cluster comes here.
        unsafe { lane.cluster_barrier() };
    }
}

fn round(cpu: &Cpu, panics: bool) -> (Result<Duration, Error>, Vec<u64>) {
    let mut watchdog = Watchdog::new(cpu, Some(Duration::from_mins(1))).unwrap();
    let sums = Buffer::<_, u64>::zeroed(cpu, 9, "sums").unwrap();
    let params = RoundParams {
        stop: watchdog.stop(),
        sums: sums.tarray(),
        panics,
    };
    let launch = Launch {
        shared_bytes: 256,
        ..Launch::new(9, 2).with_cluster(3)
    };
    // SAFETY: the words live until the launch has ended.
    let ran = unsafe { watchdog.launch::<Round>(cpu, &launch, &params) };
    (ran, sums.download().unwrap())
}

#[test]
fn blocks_of_clusters_reach_each_others_shared_memory() {
    let (ran, sums) = round(&Cpu::new(), false);
    ran.unwrap();
    let from = [2, 0, 1, 5, 3, 4, 8, 6, 7u64];
    let numbers: u64 = (0..5_000).sum();
    assert_eq!(sums, from.map(|block| 5_000 * (block << 32) + numbers));
}

#[test]
fn blocks_of_a_cluster_do_not_wait_for_one_that_panicked() {
    let (ran, _) = round(&Cpu::new(), true);
    assert!(matches!(ran, Err(Error::Panicked { .. })), "{ran:?}");
}

/// Named barriers between pairs of threads, and one that counts arrivals for all; or that of
/// the block, if a thread is to panic.
struct Barriers;

#[repr(C)]
#[derive(Clone, Copy)]
struct BarriersParams {
    words: TArray<u32>,
    wrong: TArray<u32>,
    panics: bool,
}

impl Kernel for Barriers {
    const ENTRY: &'static str = "barriers";
    type Params = BarriersParams;

    fn run<L: Lane>(lane: &L, p: &BarriersParams) {
        let (me, threads) = (lane.thread_index(), lane.block_dim());
        let word = |i: u32| p.words.get(u64::from(i)).unwrap();
        // SAFETY: live words; a warp here is a thread, and all make the same calls.
        unsafe {
            if me == 0 {
                lane.mbarrier_init(2, threads);
            }
            lane.barrier();
            for round in 0..200 {
                assert!(!p.panics || round != 100 || me != 1, "thread 1 gives up");
                if me != 0 {
                    lane.barrier_named_sync(me, 2);
                    if lane.load_relaxed_32(word(me - 1)) != round + 1 {
                        lane.fetch_add_relaxed_32(p.wrong.get(0).unwrap(), 1);
                    }
                }
                lane.store_relaxed_32(word(me), round + 1);
                if me + 1 != threads {
                    lane.barrier_named_arrive(me + 1, 2);
                }
                if p.panics {
                    lane.barrier();
                } else {
                    lane.mbarrier_arrive(2);
                    while !lane.mbarrier_try_wait(2, round & 1) {
                        lane.pause(0);
                    }
                }
                for other in 0..threads {
                    let found = lane.load_relaxed_32(word(other));
                    // The other one may have gone on to the next round.
                    if found != round + 1 && found != round + 2 {
                        lane.fetch_add_relaxed_32(p.wrong.get(0).unwrap(), 1);
                    }
                }
            }
        }
    }
}

fn barriers(panics: bool) -> (Result<Duration, Error>, u32) {
    let cpu = Cpu::new();
    let words = Buffer::<_, u32>::zeroed(&cpu, 4, "words").unwrap();
    let wrong = Buffer::<_, u32>::zeroed(&cpu, 1, "wrong").unwrap();
    let params = BarriersParams {
        words: words.tarray(),
        wrong: wrong.tarray(),
        panics,
    };
    let launch = Launch {
        shared_bytes: 16,
        ..Launch::new(1, 4)
    };
    // SAFETY: the words live until the launch has ended.
    let ran = unsafe { cpu.launch::<Barriers>(&launch, &params) };
    (ran, wrong.download().unwrap()[0])
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
