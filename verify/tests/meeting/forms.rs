//! Every form of a channel, in global and in shared memory: each consumer has every value once, in the order in
//! which it was put. The seeded defects of channels are found, and the right code survives the same runs.

use crate::prelude::*;
use crate::{Ran, config, first_wrong, runs_both_sides, simulator};
use stm_sync::channel::{
    Cluster, Copies, DEPTH_LOG2_MAX, Global, RingShape, Shared, Space, TChannels, TRings,
};
use stm_sync::host::{Channels, Rings};
use stm_sync::{Stop, Stopped};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum In {
    Global,
    Shared,
    /// The shared memory of the first block of a cluster of blocks of one thread.
    Cluster,
}

/// What the threads of a run do: the first ones produce, one for each ring, and the next ones consume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Each consumer of a ring takes all its values.
    Each,
    /// One thread takes the values of all rings, in turn.
    InOrder,
    /// One thread takes whichever value is ready.
    WhicheverReady,
}

const VALUES: u32 = 9;

#[derive(Clone, Copy, Debug)]
struct Run {
    shape: RingShape,
    form: Form,
    place: In,
}

impl Run {
    fn threads(&self) -> u32 {
        match self.form {
            Form::Each => self.shape.rings * (1 + self.shape.consumers),
            _ => self.shape.rings + 1,
        }
    }
}

/// The value that ring `ring` sends as number `n`, whose halves tell which it is.
fn value<T: Element>(ring: u32, n: u32) -> T {
    let half = u64::from((ring << 16 | n).wrapping_mul(0x9E37_79B9) | 1);
    T::from_bits64(half << 32 | half)
}

fn assert_value<T: Element>(found: T, ring: u32, n: u32) {
    let (found, expected) = (found.to_bits64(), value::<T>(ring, n).to_bits64());
    assert_eq!(found, expected, "value {n} of ring {ring}");
}

/// Runs a thread: one of the first, which send through a ring each, one of the next, which take, or the last.
fn part<T: Element, S: Space>(lane: &SimLane<'_>, rings: &TRings<T, S>, run: Run) {
    let (i, count) = (lane.grid_thread() as u32, run.shape.rings);
    let pause = |sometimes| (0..u32::from(sometimes)).for_each(|_| lane.pause(1));
    if i < count {
        let mut sender = rings.get(i).unwrap().sender(lane);
        for n in 0..VALUES {
            pause((i + n) % 5 == 4);
            sender.send(value(i, n)).unwrap();
        }
        return sender.drain().unwrap();
    }
    if run.form == Form::Each {
        let (ring, consumer) = ((i - count) % count, (i - count) / count);
        let mut receiver = rings.get(ring).unwrap().receiver(lane, consumer).unwrap();
        for n in 0..VALUES {
            assert_value(receiver.take().unwrap(), ring, n);
            pause((i - count + n) % 7 == 6);
        }
        let more = receiver.try_take().map(T::to_bits64);
        assert_eq!(more, None, "after all values of ring {ring}");
        return;
    }
    let mut gather = rings.gather(lane);
    let mut next = vec![0; count as usize];
    for k in 0..VALUES * count {
        let (ring, found) = if run.form == Form::InOrder {
            (k % count, gather.take_from(k % count).unwrap())
        } else {
            gather.take_any().unwrap()
        };
        let n = &mut next[ring as usize];
        assert_value(found, ring, *n);
        *n += 1;
    }
    let more = gather.try_take_any().map(|(ring, _)| ring);
    assert_eq!(more, None, "after all values of ring");
}

/// Launches the run `launches` times with the same rings, and returns what went wrong.
fn run<T: Element>(config: SimConfig, run: Run, launches: u32) -> Ran {
    let (sim, watchdog) = simulator(config);
    let stop = watchdog.stop();
    let rings = Rings::<_, T>::new(&sim, run.shape, stop).unwrap();
    let global: TRings<T, Global> = rings.view();
    // Warps of one lane, and threads of one warp, both occur.
    let launch = match run.place {
        In::Global if config.seed.is_multiple_of(2) => Launch::new(run.threads(), 1),
        In::Global => Launch::new(1, run.threads()),
        In::Shared => {
            let words = run.shape.words::<T, Shared>().unwrap() as u32;
            shared(Launch::new(1, run.threads()), 8 * words + 16)
        }
        In::Cluster => {
            let words = run.shape.words::<T, Cluster>().unwrap() as u32;
            let blocks = Launch::new(run.threads(), 1).with_cluster(run.threads());
            shared(blocks, 8 * words + 16)
        }
    };
    for _ in 0..launches {
        let ran = sim.run(&launch, |lane| match run.place {
            In::Global => part(lane, &global, run),
            In::Shared => {
                // SAFETY: every thread of the only block comes here, and nothing else
                // uses shared memory.
                let rings = unsafe { TRings::<T, Shared>::in_shared(lane, 4, run.shape, stop) };
                part(lane, &rings.unwrap(), run);
            }
            // SAFETY: every thread of the only cluster comes here, and to its barrier.
            In::Cluster => unsafe {
                let rings = TRings::<T, Cluster>::in_cluster(lane, 0, 4, run.shape, stop);
                part(lane, &rings.unwrap(), run);
                lane.cluster_barrier();
            },
        });
        ran.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn shape(k: u64, copies: Copies, consumers: u32) -> RingShape {
    RingShape {
        rings: [1, 3][(k % 2) as usize],
        depth_log2: [0, 1, 3][(k % 3) as usize],
        consumers,
        copies,
    }
}

fn is_right_of<T: Element>(form: Form, consumers: u32, copies: Copies) {
    for k in (0..84).filter(|&k| runs_both_sides(config(k))) {
        for place in [In::Global, In::Shared, In::Cluster] {
            let shape = shape(k, copies, consumers);
            let what = Run { shape, form, place };
            let launches = if place == In::Global { 2 } else { 1 };
            if let Err(wrong) = run::<T>(config(k), what, launches) {
                panic!("{}: {what:?}: {wrong}", config(k));
            }
        }
    }
}

fn is_right(form: Form, consumers: u32, copies: Copies) {
    is_right_of::<u32>(form, consumers, copies);
    is_right_of::<u64>(form, consumers, copies);
}

#[test]
fn one_to_one_delivers_each_value_once_and_in_order_under_every_schedule() {
    is_right(Form::Each, 1, Copies::One);
    is_right_of::<f64>(Form::Each, 1, Copies::One);
}

#[test]
fn one_to_many_delivers_each_value_to_all_by_one_copy_and_by_private_ones() {
    is_right(Form::Each, 3, Copies::One);
    is_right(Form::Each, 3, Copies::Each);
}

#[test]
fn many_to_one_delivers_the_values_of_all_in_order_and_whichever_is_ready() {
    is_right(Form::InOrder, 1, Copies::One);
    is_right(Form::WhicheverReady, 1, Copies::One);
}

/// The values under way are never more than the depth: so many sends succeed, and one for each value taken.
#[test]
fn a_ring_holds_as_many_values_as_it_is_deep() {
    for depth_log2 in [0, 1, 4] {
        let (sim, watchdog) = simulator(config(4));
        let shape = RingShape::one_to_one(2, depth_log2);
        let rings = Rings::<_, u32>::new(&sim, shape, watchdog.stop()).unwrap();
        assert_eq!(rings.shape(), shape);
        let view = rings.view();
        sim.run(&Launch::new(1, 1), |lane| {
            let ring = view.get(1).unwrap();
            let mut sender = ring.sender(lane);
            let mut receiver = ring.receiver(lane, 0).unwrap();
            let sent = (0..100).take_while(|&n| sender.try_send(n)).count();
            assert_eq!(sent, 1 << depth_log2);
            for n in 0..50 {
                assert_eq!(receiver.try_take(), Some(n));
                assert!(sender.try_send(n + (1 << depth_log2)));
                assert!(!sender.try_send(0));
            }
            assert!(!sender.is_drained());
            while receiver.try_take().is_some() {}
            assert!(sender.is_drained());
        })
        .unwrap();
    }
}

/// The number of values passes 2^32: the rings' words are set as after so many.
#[test]
fn a_ring_goes_on_when_its_numbers_wrap_around() {
    let (sim, watchdog) = simulator(config(4));
    let shape = RingShape::one_to_one(1, 1);
    let words = shape.words::<u32, Global>().unwrap() as usize;
    let mut memory = Buffer::<_, u64>::zeroed(&sim, words, "a ring").unwrap();
    let mut content = vec![0; words];
    // After 2^32 - 3 values: two channels with the last two tags, and the number.
    content[0] = u64::from(u32::MAX - 2) << 32;
    content[1] = u64::from(u32::MAX - 3) << 32;
    content[16] = u64::from(u32::MAX - 2);
    memory.upload(&content).unwrap();
    // SAFETY: the words of the shape, used by this ring only.
    let view = unsafe {
        let space = Global::from_raw(memory.as_mut_ptr());
        TRings::<u32>::from_raw(space, shape, watchdog.stop())
    };
    sim.run(&Launch::new(2, 1), |lane| {
        let ring = view.get(0).unwrap();
        if lane.block_index() == 0 {
            let mut sender = ring.sender(lane);
            (0..9).for_each(|n| sender.send(n).unwrap());
        } else {
            let mut receiver = ring.receiver(lane, 0).unwrap();
            (0..9).for_each(|n| assert_eq!(receiver.take(), Ok(n)));
        }
    })
    .unwrap();
}

#[test]
fn a_channel_keeps_its_value_for_all_and_has_no_other_tag() {
    for k in 0..28 {
        let (sim, watchdog) = simulator(config(k));
        let channels = Channels::<_, u64>::new(&sim, 3, watchdog.stop()).unwrap();
        let view = channels.view();
        sim.run(&Launch::new(4, 1), |lane| {
            if lane.block_index() == 0 {
                assert!(view.put(lane, 2, 7, u64::MAX));
                assert!(!view.put(lane, 3, 7, 1));
            } else {
                assert_eq!(view.get(lane, 2, 7), Ok(u64::MAX));
                assert_eq!(view.try_get(lane, 2, 8), None);
                assert_eq!(view.get(lane, 3, 7), Err(Stopped));
            }
        })
        .unwrap_or_else(|error| panic!("{}: {error}", config(k)));
        let found = channels.download().unwrap();
        assert_eq!(found, [(0, 0), (0, 0), (7, u64::MAX)]);
    }
}

#[test]
fn shared_memory_that_is_too_small_or_odd_is_refused_to_all_threads() {
    let (sim, watchdog) = simulator(config(0));
    let stop = watchdog.stop();
    let launch = shared(Launch::new(1, 5), 40);
    sim.run(&launch, |lane| {
        // SAFETY: every thread of the only block makes the same calls.
        unsafe {
            assert!(TChannels::<u32, Shared>::in_shared(lane, 0, 6, stop).is_none());
            assert!(TChannels::<u32, Shared>::in_shared(lane, 2, 5, stop).is_none());
            assert!(TChannels::<u32, Shared>::in_shared(lane, 1, 2, stop).is_none());
            assert!(TChannels::<u32, Shared>::in_shared(lane, u32::MAX - 1, 1, stop).is_none());
            assert!(TChannels::<u64, Shared>::in_shared(lane, 0, 3, stop).is_none());
            assert!(TChannels::<u32, Shared>::in_shared(lane, 2, 4, stop).is_some());
            let shape = RingShape::one_to_one(1, 2);
            assert!(TRings::<u32, Shared>::in_shared(lane, 0, shape, stop).is_none());
        }
    })
    .unwrap();
    assert_eq!(TChannels::<u64, Shared>::shared_words(5), 20);
}

#[test]
fn rings_out_of_range_are_refused() {
    let (sim, watchdog) = simulator(config(0));
    let refused = |shape, said: &str| {
        let error = Rings::<_, u32>::new(&sim, shape, watchdog.stop()).err();
        assert_says(error.unwrap(), &[said]);
    };
    let deep = RingShape::one_to_one(1, DEPTH_LOG2_MAX + 1);
    refused(deep, "the logarithm of a ring's depth is 21");
    for consumers in [0, (1 << 20) + 1] {
        let mut shape = RingShape::one_to_one(1, 3);
        shape.consumers = consumers;
        let said = format!("the number of a ring's consumers is {consumers}");
        refused(shape, &said);
    }
    let none = RingShape::one_to_one(0, 3);
    let rings = Rings::<_, u32>::new(&sim, none, watchdog.stop()).unwrap();
    assert!(rings.view().is_empty() && rings.view().get(0).is_none());
}

/// Waits of each kind for what does not come, in each memory.
fn waits(lane: &SimLane<'_>, channels: TChannels, rings: TRings, stop: Stop) {
    let shape = RingShape::one_to_one(1, 0);
    // SAFETY: every thread of the block comes here, and nothing else uses these words.
    let (shared, in_shared) = unsafe {
        let shared = TChannels::<u32, Shared>::in_shared(lane, 0, 1, stop).unwrap();
        let rings = TRings::<u32, Shared>::in_shared(lane, 2, shape, stop).unwrap();
        (shared, rings)
    };
    match lane.thread_index() {
        0 => assert_eq!(channels.get(lane, 0, 1), Err(Stopped)),
        1 => assert_eq!(shared.get(lane, 0, 1), Err(Stopped)),
        2 => {
            let mut sender = rings.get(0).unwrap().sender(lane);
            assert_eq!((sender.send(1), sender.send(2)), (Ok(()), Err(Stopped)));
            assert_eq!(sender.drain(), Err(Stopped));
        }
        3 => assert_eq!(in_shared.gather(lane).take_any(), Err(Stopped)),
        4 => assert_eq!(in_shared.gather(lane).take_from(0), Err(Stopped)),
        _ => {
            let mut receiver = in_shared.get(0).unwrap().receiver(lane, 0).unwrap();
            assert_eq!(receiver.take(), Err(Stopped));
        }
    }
}

#[test]
fn a_wait_for_what_does_not_come_is_asked_to_stop() {
    for k in (0..42).filter(|&k| runs_both_sides(config(k))) {
        let sim = Sim::new(config(k).with_idle(2_000_000));
        let flag = Buffer::<_, u32>::zeroed(&sim, 1, "the flag").unwrap();
        // SAFETY: a word of this simulator.
        let stop = unsafe { Stop::from_raw(flag.as_mut_ptr()) };
        let channels = Channels::new(&sim, 1, stop).unwrap();
        let rings = Rings::new(&sim, RingShape::one_to_one(1, 0), stop).unwrap();
        let launch = Launch {
            shared_bytes: 64,
            stop: Some(StopAt {
                flag: flag.as_mut_ptr(),
                after: Some(Duration::from_micros(5)),
            }),
            ..Launch::new(1, 6)
        };
        sim.run(&launch, |lane| {
            waits(lane, channels.view(), rings.view(), stop);
        })
        .unwrap_or_else(|error| panic!("{}: {error}", config(k)));
    }
}

fn run_of<T: Element>(mutant: Option<Mutant>, place: In, k: u64) -> Ran {
    let config = config(k).with_mutant(mutant).with_idle(20_000);
    let config = config.with_width(1).with_wide_atomics(false);
    let shape = RingShape {
        rings: 1,
        depth_log2: (k % 2) as u32,
        consumers: 2,
        copies: [Copies::One, Copies::Each][(k / 2 % 2) as usize],
    };
    let form = Form::Each;
    run::<T>(config, Run { shape, form, place }, 1)
}

const RUNS: u64 = 300;

fn is_found<T: Element>(mutant: Mutant, how: &str) {
    for place in [In::Global, In::Shared] {
        let what = format!("{place:?} memory");
        let run = |k| run_of::<T>(Some(mutant), place, k);
        crate::is_found(mutant, &what, &[how], RUNS, run);
    }
}

#[test]
fn each_defect_is_found_in_both_memories() {
    is_found::<u32>(Mutant::ChannelTagFirst, "of ring");
    is_found::<u64>(Mutant::ChannelTagFirst, "of ring");
    is_found::<u64>(Mutant::ChannelHalfAwaited, "of ring");
    is_found::<u32>(Mutant::ChannelReusedEarly, "livelock");
    is_found::<u32>(Mutant::ChannelNotAcknowledged, "livelock");
    // Without a defect the same runs find nothing.
    for place in [In::Global, In::Shared] {
        let narrow = first_wrong(RUNS, |k| run_of::<u32>(None, place, k));
        let wide = first_wrong(RUNS, |k| run_of::<u64>(None, place, k));
        assert_eq!((narrow, wide), (None, None));
    }
}
