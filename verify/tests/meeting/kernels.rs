//! Kernels of `stm_kernels` that wait, under every schedule and by real threads of the CPU: each scheme of the
//! reduction of Li et al. 2015, values that go round, and the checked loops, by which a benchmark sees that what it
//! times is right. They hand over the right values, and seeded defects are found.

use crate::prelude::*;
use crate::{Ran, are_right, config, is_found, runs_both_sides};
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_kernels::launches::{self, Reduced, hops, reduce};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WARPS_MAX, WarpBarr, WarpVote, expected, spans,
};
use stm_sync::{barrier, semaphore};

const LIMIT: Option<Duration> = Some(Duration::from_mins(1));

fn run<K: Kernel<Params = ReductionParams>>(device: &impl Device, warps: u32, rounds: u32) -> Ran {
    let width = device.limits().warp_width;
    let left = reduce::<K, _>(device, LIMIT, (warps, rounds, 1 << 12));
    let left = left.map_err(|error| error.to_string())?;
    if left.wrong != 0 {
        return Err(format!("{} wrong values", left.wrong));
    }
    let right = |thread| expected(rounds, thread / width, thread % width, width);
    assert!(left.values.into_iter().eq((0..warps * width).map(right)));
    assert!(left.times.iter().all(|&time| time != 0));
    let spans = spans(&left.times, warps);
    assert_eq!(spans.len(), rounds as usize);
    assert!(warps == 1 || spans.iter().all(|&span| span > 0));
    Ok(())
}

fn is_right<K: Kernel<Params = ReductionParams>, S: Scheme>() {
    // No lane waits for one of its own warp, so every schedule will do.
    for warps in [1, 2, 5] {
        are_right(S::NAME, 42, |k| run::<K>(&Sim::new(config(k)), warps, 5));
    }
    for warps in [1, 2, 7, WARPS_MAX] {
        assert_eq!(run::<K>(&Cpu::new(), warps, 30), Ok(()), "{}", S::NAME);
    }
    // Without the memory that it needs, nothing runs; nothing is not taken for right.
    let left = reduce::<K, _>(&Cpu::new(), LIMIT, (4, 3, 0)).unwrap();
    let Reduced { times, values, .. } = left;
    assert_eq!((times, values), (vec![0; 24], vec![0; 4]), "{}", S::NAME);
}

#[test]
fn locks_barriers_votes_and_channels_hand_over_the_right_values() {
    is_right::<ReductionAtomLock, AtomLock>();
    is_right::<ReductionShrdLock, ShrdLock>();
    is_right::<ReductionWarpBarr, WarpBarr>();
    is_right::<ReductionCountedBarr, CountedBarr>();
    is_right::<ReductionWarpVote, WarpVote>();
    is_right::<ReductionTagged, Tagged>();
}

#[test]
fn a_value_that_comes_after_its_tag_is_counted_as_wrong() {
    let mut both_sides = (0..84)
        .map(config)
        .filter(|&config| runs_both_sides(config));
    let found = both_sides.find_map(|config| {
        let sim = Sim::new(config.with_mutant(Some(Mutant::ChannelTagFirst)));
        run::<ReductionTagged>(&sim, 3, 5).err()
    });
    assert!(found.is_some_and(|wrong| wrong.contains("wrong values")));
}

fn goes_round<K: Kernel<Params = HopsParams>>(
    device: &impl Device,
    stations: u32,
    rounds: u32,
    launch: Launch,
) {
    for (_, cycles, hops) in hops::<K, _>(device, LIMIT, &shared(launch, 256), rounds).unwrap() {
        assert!(cycles > 0);
        assert_eq!(hops, u64::from(stations * rounds), "{}", device.name());
    }
}

#[test]
fn values_go_round_the_warps_of_a_block_the_blocks_of_a_cluster_and_all_blocks() {
    fn everywhere(device: &impl Device, n: u32, rounds: u32) {
        let warps = Launch::new(1, n * device.limits().warp_width);
        let blocks = Launch::new(n, 2);
        goes_round::<HopsShared>(device, n, rounds, warps);
        goes_round::<HopsCluster>(device, n, rounds, blocks.with_cluster(n));
        let together = Launch {
            cooperative: true,
            ..blocks
        };
        goes_round::<HopsGlobal>(device, n, rounds, together);
    }
    (0..42).for_each(|k| everywhere(&Sim::new(config(k)), 3, 5));
    for n in [1, 2, 5] {
        everywhere(&Cpu::new(), n, 100);
    }
}

/// Makes one launch of waits at a barrier, which must all be made; returns how many words were wrong.
fn meetings(
    device: &impl Device,
    kind: barrier::Kind,
    (blocks, threads): (u32, u32),
    times: u32,
) -> Result<u32, Error> {
    let shape = Launch::new(blocks, threads);
    let mut words = launches::meetings(device, LIMIT, kind, shape, times)?;
    let wrong = words.pop();
    assert_eq!(words, vec![times; (blocks * threads) as usize]);
    Ok(wrong.unwrap_or_default())
}

/// The waits, and the entries of each block, under a schedule; and by threads of the CPU.
const TIMES: u32 = 6;
const OF_CPU: u32 = 400;

#[test]
fn a_checked_loop_finds_the_defects_of_barriers_and_else_nothing() {
    const SHAPES: [(u32, u32); 7] = [(5, 8), (70, 2), (2, 1), (1, 5), (9, 2), (1, 1), (37, 1)];
    for &kind in barrier::Kind::ALL {
        let name = kind.name();
        assert_eq!(barrier::Kind::from_name(name), Some(kind));
        let wrong = |config, shape| match meetings(&Sim::new(config), kind, shape, TIMES) {
            Ok(0) => Ok(()),
            Ok(wrong) => Err(format!("{wrong} words of another round")),
            Err(error) => Err(error.to_string()),
        };
        // All schedules, widths and memories.
        for shape in SHAPES {
            are_right(&format!("{name}: {shape:?}"), 84, |k| {
                wrong(config(k), shape)
            });
        }
        let passes_on = !matches!(kind, barrier::Kind::TwoStage | barrier::Kind::Counted);
        let finds = |mutant, how: &[&str]| {
            is_found(mutant, name, how, 400, |k| {
                let config = config(k).with_mutant(Some(mutant));
                wrong(config, SHAPES[(k % 5) as usize])
            });
        };
        let ends = ["another round", "livelock"];
        finds(Mutant::BarrierNoRelease, &ends[..1]);
        finds(Mutant::BarrierNoAcquire, &ends[..1]);
        finds(Mutant::BarrierRoundKept, &ends);
        if passes_on {
            finds(Mutant::BarrierNotPassedOn, &ends[..1]);
        }
        for shape in [(1, 3), (4, 2), (5, 2), (9, 1), (66, 1)] {
            let wrong = meetings(&Cpu::new(), kind, shape, OF_CPU);
            assert_eq!(wrong, Ok(0), "{name}: {shape:?}");
        }
    }
}

#[test]
fn a_checked_loop_finds_one_too_many_in_a_semaphore_and_else_nothing() {
    // The threads left inside, and how often one found it full.
    let right = Ok(vec![0, 0]);
    let mut together = Launch::new(12, 1);
    together.cooperative = true;
    let mut found = BTreeSet::new();
    for &kind in semaphore::Kind::ALL {
        assert_eq!(semaphore::Kind::from_name(kind.name()), Some(kind));
        let entries = |config, count| {
            let launch = Launch::new(7, 3);
            launches::entries(&Sim::new(config), None, kind, launch, (count, TIMES))
        };
        for k in 0..84 {
            for count in [1, 2, 100] {
                let what = format!("{}: {}", kind.name(), config(k));
                assert_eq!(entries(config(k), count), right, "{what}");
            }
            let mutant = config(k)
                .with_mutant(Some(Mutant::SemaphoreOneMore))
                .with_idle(20_000);
            if entries(mutant, 2).is_ok_and(|found| found[1] > 0) {
                found.insert(kind.name());
            }
        }
        for count in [1, 2, 10] {
            let ended = launches::entries(&Cpu::new(), LIMIT, kind, together, (count, OF_CPU));
            assert_eq!(ended, right, "{}: {count}", kind.name());
        }
    }
    assert_eq!(found.len(), semaphore::Kind::ALL.len(), "{found:?}");
}
