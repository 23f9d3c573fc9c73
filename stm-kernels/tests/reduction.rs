//! The reduction of Li et al. 2015 on the CPU: every scheme gives the values of the serial loop in
//! every round. And values that go round threads through channels: every hop is counted. And the
//! checked loops: nobody leaves a barrier early, and a semaphore lets in no more than its count.

use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::{Cpu, Launch};
use stm_kernels::hops::{HopsCluster, HopsGlobal, HopsParams, HopsShared};
use stm_kernels::launches::{Reduced, entries, hops, meetings, reduce};
use stm_kernels::reduction::{
    AtomLock, CountedBarr, ReductionAtomLock, ReductionCountedBarr, ReductionParams,
    ReductionShrdLock, ReductionTagged, ReductionWarpBarr, ReductionWarpVote, Scheme, ShrdLock,
    Tagged, WARPS_MAX, WarpBarr, WarpVote, expected, initial, spans,
};
use stm_sync::{barrier, semaphore};

const LIMIT: Option<Duration> = Some(Duration::from_mins(1));

fn gives_the_serial_values<K: Kernel<Params = ReductionParams>, S: Scheme>() {
    for warps in [1, 2, 7, WARPS_MAX] {
        let rounds = 30;
        let left = reduce::<K, _>(&Cpu::new(), LIMIT, (warps, rounds, 1 << 12));
        let Reduced {
            times,
            values,
            wrong,
            ..
        } = left.unwrap();
        assert_eq!(wrong, 0, "{}", S::NAME);
        // The serial loop (Listing 10), with warps of one lane.
        let mut a = vec![initial(rounds, 0)];
        for i in 0..warps {
            a.push(a[i as usize].wrapping_add(i));
        }
        assert_eq!(values, a[1..], "{}", S::NAME);
        let spans = spans(&times, warps);
        assert_eq!(spans.len(), rounds as usize);
        let later = spans.iter().all(|&span| span > 0);
        assert!(warps == 1 || later, "{spans:?}");
    }
    // Without the memory that it needs, nothing runs; nothing is not taken for right.
    let left = reduce::<K, _>(&Cpu::new(), LIMIT, (4, 3, 0)).unwrap();
    let nothing = (vec![0; 24], vec![0; 4]);
    assert_eq!((left.times, left.values), nothing, "{}", S::NAME);
}

#[test]
fn every_scheme_gives_the_serial_values() {
    gives_the_serial_values::<ReductionAtomLock, AtomLock>();
    gives_the_serial_values::<ReductionShrdLock, ShrdLock>();
    gives_the_serial_values::<ReductionWarpBarr, WarpBarr>();
    gives_the_serial_values::<ReductionWarpVote, WarpVote>();
    gives_the_serial_values::<ReductionCountedBarr, CountedBarr>();
    gives_the_serial_values::<ReductionTagged, Tagged>();
}

#[test]
fn the_expected_values_are_those_of_the_serial_loop() {
    let (width, warps) = (32, 16);
    let mut a: Vec<u32> = (0..width).map(|lane| initial(9, lane)).collect();
    for i in 0..width * warps {
        a.push(a[i as usize].wrapping_add(i));
    }
    for warp in 0..warps {
        for lane in 0..width {
            let i = (width * (warp + 1) + lane) as usize;
            assert_eq!(a[i], expected(9, warp, lane, width));
        }
    }
}

/// Tables 1 and 2 of the paper have 2,048 bytes and 128 for `atom_lock`, 4 bytes a warp for
/// `shrd_lock` and `warp_vote`, and none for `warp_barr`.
#[test]
fn the_schemes_take_the_memory_of_the_papers_tables() {
    assert_eq!(AtomLock::cost_bytes(), (2048, 128));
    assert_eq!(ShrdLock::cost_bytes(), (64, 4));
    assert_eq!(WarpBarr::cost_bytes(), (0, 0));
    assert_eq!(WarpVote::cost_bytes(), (64, 4));
    assert_eq!(CountedBarr::cost_bytes(), (128, 8));
    assert_eq!(Tagged::cost_bytes(), (2048, 128));
    assert_eq!((WarpBarr::BARRIERS, Tagged::BARRIERS), (1, 0));
}

#[test]
fn a_span_is_from_the_earliest_start_to_the_latest_end() {
    let times = [10, 20, 12, 31, 100, 110, 90, 105];
    assert_eq!(spans(&times, 2), [21, 20]);
}

/// Asserts that a value goes round so many stations.
fn goes_round<K: Kernel<Params = HopsParams>>(stations: u32, mut launch: Launch) {
    launch.shared_bytes = 256;
    for (_, cycles, hops) in hops::<K, _>(&Cpu::new(), LIMIT, &launch, 100).unwrap() {
        assert!(cycles > 0);
        assert_eq!(hops, 100 * u64::from(stations));
    }
}

#[test]
fn a_value_goes_round_the_warps_of_a_block_the_blocks_of_a_cluster_and_all_blocks() {
    for n in [1, 2, 5] {
        goes_round::<HopsShared>(n, Launch::new(1, n));
        goes_round::<HopsCluster>(n, Launch::new(n, 2).with_cluster(n));
        let mut launch = Launch::new(n, 2);
        launch.cooperative = true;
        goes_round::<HopsGlobal>(n, launch);
    }
}

#[test]
fn every_barrier_keeps_the_rounds_of_threads_apart() {
    for &kind in barrier::Kind::ALL {
        for (blocks, threads) in [(1, 3), (4, 2), (5, 2), (9, 1), (66, 1)] {
            let shape = Launch::new(blocks, threads);
            let mut right = vec![400; (blocks * threads) as usize];
            right.push(0);
            let words = meetings(&Cpu::new(), LIMIT, kind, shape, 400);
            assert_eq!(words, Ok(right), "{}: {shape:?}", kind.name());
        }
    }
}

#[test]
fn every_semaphore_lets_in_its_count_and_everybody() {
    let mut launch = Launch::new(12, 1);
    launch.cooperative = true;
    for &kind in semaphore::Kind::ALL {
        for count in [1, 2, 10] {
            let found = entries(&Cpu::new(), LIMIT, kind, launch, (count, 400));
            assert_eq!(found, Ok(vec![0, 0]), "{}: {count}", kind.name());
        }
    }
}
