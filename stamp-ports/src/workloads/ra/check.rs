//! What the random array must hold afterwards.
//!
//! What a transaction adds depends on the seed and its number only, and
//! additions commute: so the host replays all transactions in any order and
//! compares every word. A lost or doubled update changes a word; a torn or
//! stale one changes it too.

use super::input::Ra;
use crate::workloads::compare::{Difference, totals};
use crate::workloads::parallel::{SharedWords, in_ranges};
use stm_kernels::draw::draw;

impl Ra {
    /// The array before a launch: a number drawn for each word, so that a
    /// store to a wrong word shows.
    pub(super) fn initial(&self, seed: u64) -> Vec<u32> {
        (0..u64::from(self.words))
            .map(|w| draw(seed, w, u32::MAX) as u32)
            .collect()
    }

    /// The array after all of `transactions`.
    pub fn replay(&self, seed: u64, transactions: u64) -> Vec<u32> {
        let array = SharedWords::new(self.initial(seed));
        let plan = self.plan(seed);
        in_ranges(transactions, |range| {
            for i in range {
                let transaction = plan.transaction(i);
                for k in 0..self.writes {
                    array.add(transaction.word(k), transaction.delta(k));
                }
            }
        });
        array.into_words()
    }
}

/// What is wrong with `found`, if anything.
pub(super) fn difference(found: &[u32], expected: &[u32]) -> Option<String> {
    let sum = |words: &[u32]| words.iter().fold(0u32, |sum, w| sum.wrapping_add(*w));
    let wrong = Difference::first(found, expected)?;
    Some(format!(
        "word {} is {}, not {}, and {} more words differ; {}",
        wrong.at,
        wrong.found,
        wrong.expected,
        wrong.more,
        totals(&sum(found), &sum(expected))
    ))
}
