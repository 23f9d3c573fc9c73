//! What a run left is judged, as it is and spoilt.

use super::*;
use crate::workloads::launcher::{KernelTime, Launched};
use crate::workloads::workload::Sizes;
use std::time::Duration;
use stm_core::algorithm::HvSorting;
use stm_core::host::{Cpu, ProfileRows, Statistics, Stm, StmConfig};

const GENOME: Genome = Genome {
    bases: 200,
    segment: 24,
    segments: 60,
};

/// The data as a right run leaves it.
fn assembled() -> GenomeData<Cpu> {
    let cpu = Cpu::new();
    let config = StmConfig {
        capacity: GENOME.capacity(),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, Launch::new(2, 3), config).unwrap();
    let mut data = GENOME.prepare(&cpu, 4, 60).unwrap();
    GENOME.reset(&mut data).unwrap();
    let mut launcher = Launcher::new(&cpu, &mut stm);
    GENOME
        .run::<_, HvSorting>(&mut data, &mut launcher, 60)
        .unwrap();
    let commits = launcher.finish().statistics.commits;
    let expected = GENOME.commits_expected(&data, 60).unwrap();
    assert_eq!(Some(commits), expected);
    assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
    data
}

#[test]
fn no_pair_was_found_twice_or_in_vain() {
    let data = assembled();
    let pairs: u32 = data.pair_counts.download().unwrap().iter().sum();
    assert_eq!(pairs, data.gene.distinct - 1);
}

#[test]
fn the_ends_of_the_chain_point_to_each_other() {
    use stm_kernels::genome::{link_of, other_of};
    let data = assembled();
    let (slots, nexts) = (
        data.slots.download().unwrap(),
        data.nexts.download().unwrap(),
    );
    let (prevs, others) = (
        data.prevs.download().unwrap(),
        data.others.download().unwrap(),
    );
    let entries = || (0..slots.len()).filter(|&e| slots[e] != 0);
    let first = entries().find(|&e| prevs[e] == 0).unwrap();
    let last = entries().find(|&e| link_of(nexts[e]).is_none()).unwrap();
    assert_eq!(other_of(others[first], first as u32), last as u32);
    assert_eq!(other_of(others[last], last as u32), first as u32);
}

#[test]
fn what_the_kernels_left_is_refused_with_any_word_changed() {
    let right = assembled();
    let [slots, prevs] = [&right.slots, &right.prevs].map(|b| b.download().unwrap());
    let nexts = right.nexts.download().unwrap();
    let refused = |data: &mut GenomeData<Cpu>, what: &str| {
        assert!(GENOME.verify(data, 60).unwrap().is_some(), "{what}");
    };
    let mut data = assembled();
    // Which segment of several alike is in the set, and where, may differ
    // from run to run; so the words of one run are put in.
    data.nexts.upload(&nexts).unwrap();
    for entry in 0..slots.len() {
        let mut changed = slots.clone();
        changed[entry] = u32::from(slots[entry] == 0);
        data.slots.upload(&changed).unwrap();
        data.prevs.upload(&prevs).unwrap();
        refused(&mut data, "slots");
        if slots[entry] != 0 {
            let mut changed = prevs.clone();
            changed[entry] ^= 1;
            data.slots.upload(&slots).unwrap();
            data.prevs.upload(&changed).unwrap();
            refused(&mut data, "prevs");
        }
    }
    data.slots.upload(&slots).unwrap();
    data.prevs.upload(&prevs).unwrap();
    assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
}

/// A run, followed launch by launch or not, and how often it was reported.
fn run(followed: bool) -> (Launched, usize) {
    let cpu = Cpu::new();
    let mut stm = Stm::new(&cpu, Launch::new(1, 1), StmConfig::default()).unwrap();
    let mut data = GENOME.prepare(&cpu, 4, 60).unwrap();
    GENOME.reset(&mut data).unwrap();
    let mut reported = 0;
    let mut count = |_: Duration, _: &Statistics| reported += 1;
    let mut launcher = Launcher::new(&cpu, &mut stm);
    if followed {
        launcher = launcher.followed_by(&mut count);
    }
    GENOME
        .run::<_, HvSorting>(&mut data, &mut launcher, 60)
        .unwrap();
    let done = launcher.finish();
    assert_eq!(GENOME.verify(&mut data, 60).unwrap(), None);
    (done, reported)
}

#[test]
fn launches_are_enqueued_unless_somebody_follows_them_and_their_sums_are_the_same() {
    let segment = u64::from(GENOME.segment);
    let (alone, reported) = run(true);
    // The set once, and the links of all overlaps but the longest.
    assert_eq!(reported as u64, 1 + segment - 1);
    assert_eq!(alone.enqueued.us_a_launch(), None);
    let (in_order, _) = run(false);
    assert_eq!(in_order.enqueued.launches, 2 * segment - 1);
    assert!(in_order.enqueued.us_a_launch() > Some(0.0));
    // One thread does the same whatever the way, so all counts are the same.
    assert_eq!(in_order.statistics, alone.statistics);
    let counts = |done: &Launched| -> Vec<_> {
        let of = |k: &KernelTime| (k.kernel, k.launches, k.commits, k.aborts);
        done.kernels.iter().map(of).collect()
    };
    assert_eq!(counts(&in_order), counts(&alone));
    let sum: f64 = in_order.kernels.iter().map(|kernel| kernel.time_ms).sum();
    assert!((sum - in_order.time.as_secs_f64() * 1e3).abs() < 1e-6);
}

#[test]
fn an_observed_memory_has_its_launches_one_by_one() {
    let cpu = Cpu::new();
    let mut stm = Stm::new(&cpu, Launch::new(1, 1), StmConfig::default()).unwrap();
    let rows = ProfileRows::new(&cpu, Launch::new(1, 1)).unwrap();
    stm.observe(rows.probe());
    let mut data = GENOME.prepare(&cpu, 4, 60).unwrap();
    GENOME.reset(&mut data).unwrap();
    let mut launcher = Launcher::new(&cpu, &mut stm);
    GENOME
        .run::<_, HvSorting>(&mut data, &mut launcher, 60)
        .unwrap();
    assert_eq!(launcher.finish().enqueued.launches, 0);
}
