//! What the kernels leave on the CPU is accepted, and refused when it is spoilt; and how their
//! launches are made.

use super::*;
use crate::workloads::launcher::{KernelTime, Launched};
use crate::workloads::test_prelude::*;
use stm_core::internal::host::ProfileRows;
use stm_kernels::genome::other_of;

const GENOME: Genome = Genome {
    bases: 200,
    segment: 24,
    segments: 60,
};

/// A gene, and what the kernels left of it.
#[derive(Clone)]
struct Assembled {
    gene: Gene,
    packed: Vec<u64>,
    left: FinalChains,
    /// The entries in the order of the chain.
    chain: Vec<usize>,
}

impl Assembled {
    fn right() -> Self {
        let mut data = left(&GENOME, 4, ((2, 3), 60));
        GENOME.verify(&mut data, 60).unwrap();
        // No pair was found twice or in vain.
        let pairs: u32 = data.pair_counts.download().unwrap().iter().sum();
        assert_eq!(pairs, data.gene.distinct - 1);
        let left = data.left().unwrap();
        let entries = (0..left.slots.len()).filter(|&e| left.slots[e] != 0);
        let first = entries.clone().find(|&e| left.prevs[e] == 0).unwrap();
        let next = |e: &usize| Some(link_of(left.nexts[*e])?.1 as usize);
        let chain: Vec<usize> = std::iter::successors(Some(first), next).collect();
        assert!(chain.len() > 8 && entries.count() == chain.len());
        // The ends of the chain point to each other.
        let others = data.others.download().unwrap();
        let last = chain[chain.len() - 1];
        for (a, b) in [(first, last), (last, first)] {
            assert_eq!(other_of(others[a], a as u32), b as u32);
        }
        Self {
            gene: data.gene,
            packed: data.packed,
            left,
            chain,
        }
    }

    fn link(&mut self, a: usize, b: usize, overlap: u32) {
        self.left.nexts[a] = u64::from(overlap) << 32 | (b as u64 + 1);
        self.left.prevs[b] = a as u32 + 1;
    }

    fn free_slot(&mut self) -> &mut u32 {
        let mut slots = self.left.slots.iter_mut();
        slots.find(|slot| **slot == 0).expect("a free slot")
    }

    fn wrong(self) -> Option<String> {
        check(&self.gene, &self.packed, &self.left).err()
    }
}

const SPOILS: Spoils<Assembled, 9> = spoils! {
    |a| a.left.slots[a.chain[2]] = 0 => "different segments are in the set";
    |a| *a.free_slot() = a.left.slots[a.chain[3]] => "slots | both have";
    |a| *a.free_slot() = u32::MAX => "has segment 4294967294";
    |a| (a.left.nexts[a.chain[4]], a.left.prevs[a.chain[5]]) = (0, 0) => "2 chains";
    // A link of one way.
    |a| a.left.prevs[a.chain[5]] = a.chain[1] as u32 + 1 =>
        "is linked to | whose predecessor is entry";
    |a| a.left.nexts[a.chain[4]] = 0 => "the chain from the start has 5 of";
    // Three entries are cut out and closed to a ring beside the chain.
    |a| {
        let overlap = link_of(a.left.nexts[a.chain[3]]).unwrap().0;
        a.link(a.chain[3], a.chain[7], overlap);
        a.link(a.chain[6], a.chain[4], overlap);
    } => "";
    // A chain that looks right, of another gene; and if segments are changed, their overlaps
    // no longer agree.
    |a| a.gene.bases[60] ^= 1 => "from base 60 on";
    |a| {
        let segment = a.left.slots[a.chain[4]] as usize - 1;
        a.packed[segment] ^= 3;
    } => "does not agree";
};

#[test]
fn what_the_kernels_left_is_refused_with_any_word_or_overlap_changed() {
    let right = Assembled::right();
    refused(SPOILS, || right.clone(), Assembled::wrong);
    let is_refused = |what: &str, change: &dyn Fn(&mut Assembled)| {
        let mut changed = right.clone();
        change(&mut changed);
        assert!(changed.wrong().is_some(), "{what}");
    };
    for entry in 0..right.left.slots.len() {
        is_refused("slots", &|a| {
            a.left.slots[entry] = u32::from(a.left.slots[entry] == 0);
        });
    }
    for (k, &entry) in right.chain.iter().enumerate() {
        is_refused("prevs", &|a| a.left.prevs[entry] ^= 1);
        let Some((overlap, next)) = link_of(right.left.nexts[entry]) else {
            continue;
        };
        for other in (0..=right.gene.segment).filter(|&other| other != overlap) {
            let what = format!("{entry}: {other}, not {overlap}");
            is_refused(&what, &|a| a.link(entry, next as usize, other));
        }
        // The neighbour skipped: it begins a chain of its own.
        if let Some(&second) = right.chain.get(k + 2) {
            is_refused("skipped", &|a| {
                a.left.prevs[next as usize] = 0;
                a.link(entry, second, overlap);
            });
        }
    }
}

/// A run, followed launch by launch, observed or neither, and how often it was reported.
fn run(followed: bool, observed: bool) -> (Launched, usize) {
    let (cpu, shape) = (Cpu::new(), Launch::new(1, 1));
    let mut stm = Stm::new(&cpu, shape, StmConfig::default()).unwrap();
    let rows = ProfileRows::new(&cpu, shape).unwrap();
    if observed {
        stm.observe(rows.probe());
    }
    let mut data = GENOME.prepare(&cpu, MadeFor::new(4, 60)).unwrap();
    GENOME.reset(&mut data).unwrap();
    let mut reported = 0;
    let mut count = |_: Duration, _: &Statistics| {
        reported += 1;
        Ok(())
    };
    let mut launcher = Launcher::new(&cpu, &mut stm);
    if followed {
        launcher = launcher.followed_by(&mut count);
    }
    GENOME
        .run::<_, HvSorting>(&mut data, &mut launcher, 60)
        .unwrap();
    let done = launcher.done;
    GENOME.verify(&mut data, 60).unwrap();
    (done, reported)
}

#[test]
fn launches_are_enqueued_unless_somebody_follows_or_observes_them_and_their_sums_are_the_same() {
    let segment = u64::from(GENOME.segment);
    let (alone, reported) = run(true, false);
    // The set once, and the links of all overlaps but the longest.
    assert_eq!(reported as u64, 1 + segment - 1);
    assert_eq!(alone.us_enqueued(), None);
    assert_eq!(run(false, true).0.enqueued, 0);
    let (in_order, _) = run(false, false);
    assert_eq!(in_order.enqueued, 2 * segment - 1);
    assert!(in_order.us_enqueued() > Some(0.0));
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
