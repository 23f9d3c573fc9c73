//! What the arrays of `EigenBench` must hold afterwards.
//!
//! The host replays all transactions. Additions to the hot array commute, so
//! each of its words is known whatever the order: a lost, doubled or torn
//! addition changes a word and the sum. The mild and the cold array have a part
//! for each lane, and a lane runs its transactions in the order of their
//! numbers: so every word is known as well, and with them the checksum over all
//! that the lane has read of its own parts.

use crate::workloads::compare::{Difference, SharedWords, in_ranges};
use std::cell::Cell;
use stm_kernels::draw::draw;
use stm_kernels::eigenbench::{EigenbenchPlan, checksum};

/// The arrays on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrays {
    /// The words that all lanes share.
    pub(super) hot: Vec<u32>,
    /// The parts of the lanes, one after the other.
    pub(super) mild: Vec<u32>,
    /// The parts of the lanes, one after the other.
    pub(super) cold: Vec<u32>,
    /// A checksum a lane.
    pub(super) checksums: Vec<u32>,
}

/// Words of a lane's parts that transactions and the code around them access.
pub(super) fn mild_words(plan: &EigenbenchPlan) -> u64 {
    if plan.mild.is_empty() {
        0
    } else {
        plan.mild_words.into()
    }
}

/// Words of a lane's cold part that transactions and the code around them access.
pub(super) fn cold_words(plan: &EigenbenchPlan) -> u64 {
    if plan.cold_inside.is_empty() && plan.cold_outside.is_empty() {
        0
    } else {
        plan.cold_words.into()
    }
}

/// `n` words, each drawn: so a store to a wrong word shows. `stream` tells the
/// arrays apart.
fn drawn(seed: u64, n: u64, stream: u32) -> Vec<u32> {
    (0..n).map(|w| draw(seed, w, stream) as u32).collect()
}

impl Arrays {
    /// The arrays before a launch on so many lanes.
    pub(super) fn initial(plan: &EigenbenchPlan, lanes: u64) -> Self {
        let seed = plan.seed;
        Self {
            hot: drawn(seed, plan.hot_words.into(), u32::MAX),
            mild: drawn(seed, lanes * mild_words(plan), u32::MAX - 1),
            cold: drawn(seed, lanes * cold_words(plan), u32::MAX - 2),
            checksums: vec![0; lanes as usize],
        }
    }

    /// The arrays after all of `transactions` on so many lanes.
    pub(super) fn replay(plan: &EigenbenchPlan, lanes: u64, transactions: u64) -> Self {
        let mut arrays = Self::initial(plan, lanes);
        let hot = SharedWords::new(std::mem::take(&mut arrays.hot));
        in_ranges(transactions, |range| {
            for i in range {
                let sequence = plan.transaction(i).hot();
                for k in 0..plan.hot.writes {
                    hot.add(sequence.word(k, plan.hot_words), sequence.amount(k));
                }
            }
        });
        arrays.hot = hot.into_words();
        for i in 0..transactions {
            arrays.run_own(plan, i, (i % lanes) as usize);
        }
        arrays
    }

    /// The accesses of transaction `i` to the parts of its lane.
    fn run_own(&mut self, plan: &EigenbenchPlan, i: u64, lane: usize) {
        let transaction = plan.transaction(i);
        let mut found = 0u32;
        let mild = transaction.mild();
        let first = lane * mild_words(plan) as usize;
        for k in 0..plan.mild.words() {
            let word = &mut self.mild[first + mild.word(k, plan.mild_words) as usize];
            found = found.wrapping_add(*word);
            if k < plan.mild.writes {
                *word = word.wrapping_add(mild.amount(k));
            }
        }
        let words = cold_words(plan) as usize;
        let part = &mut self.cold[lane * words..][..words];
        let part = Cell::from_mut(part).as_slice_of_cells();
        let cold = |sequence: stm_kernels::eigenbench::Sequence, accesses, nops| {
            sequence.private_work(
                accesses,
                plan.cold_words,
                nops,
                |word, value| part[word as usize].set(value),
                |word| part[word as usize].get(),
            )
        };
        let inside = cold(
            transaction.cold_inside(),
            plan.cold_inside,
            plan.nops_inside,
        );
        let outside = cold(
            transaction.cold_outside(),
            plan.cold_outside,
            plan.nops_outside,
        );
        let sum = &mut self.checksums[lane];
        *sum = checksum(*sum, found.wrapping_add(inside), outside);
    }

    /// What is wrong with `self`, if anything.
    pub(super) fn difference(&self, expected: &Self) -> Option<String> {
        let lanes = self.checksums.len().max(1);
        let of_lane = |words: &[u32]| (words.len() / lanes).max(1);
        differing("hot word", &self.hot, &expected.hot, usize::MAX)
            .or_else(|| differing("mild word", &self.mild, &expected.mild, of_lane(&self.mild)))
            .or_else(|| differing("cold word", &self.cold, &expected.cold, of_lane(&self.cold)))
            .or_else(|| {
                let what = "the checksum of what was read by lane";
                differing(what, &self.checksums, &expected.checksums, usize::MAX)
            })
    }
}

/// The first difference, how many more, and what became of the sum. Lanes have
/// parts of so many words.
fn differing(what: &str, found: &[u32], expected: &[u32], part: usize) -> Option<String> {
    if found.len() != expected.len() {
        let (n, right) = (found.len(), expected.len());
        return Some(format!("{what}s are {n}, not {right}"));
    }
    let wrong = Difference::first(found, expected)?;
    let place = if part == usize::MAX {
        wrong.at.to_string()
    } else {
        format!("{} of lane {}", wrong.at % part, wrong.at / part)
    };
    let lost = found
        .iter()
        .zip(expected)
        .fold(0u32, |sum, (f, e)| sum.wrapping_add(e.wrapping_sub(*f)));
    let sums = match lost as i32 {
        0 => "the sum is right".to_owned(),
        lost if lost > 0 => format!("the sum lacks {lost}"),
        more => format!("the sum has {} too much", more.unsigned_abs()),
    };
    Some(format!(
        "{what} {place} is {}, not {}, and {} more differ; {sums}",
        wrong.found, wrong.expected, wrong.more
    ))
}
