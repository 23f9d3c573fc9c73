//! Work of the host's cores on one thing: what verification does with millions of
//! transactions.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// The least work that is worth a thread.
const WORTH: u64 = 1 << 15;

/// Splits the numbers below `count` into ranges, one for each core if there are many, works
/// on all of them at the same time, and returns the results in the order of the ranges.
pub(in crate::workloads) fn in_ranges<R: Send>(
    count: u64,
    work: impl Fn(Range<u64>) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    let parts = cores.min(count / WORTH).max(1);
    let range = |part: u64| count * part / parts..count * (part + 1) / parts;
    if parts == 1 {
        return vec![work(range(0))];
    }
    thread::scope(|scope| {
        let work = &work;
        let started = (0..parts).map(|part| scope.spawn(move || work(range(part))));
        let started: Vec<_> = started.collect();
        let results = started.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}

/// Words to which all cores add.
#[derive(Debug)]
pub(in crate::workloads) struct SharedWords(Vec<AtomicU32>);

impl SharedWords {
    /// Begins with these words.
    pub(in crate::workloads) fn new(words: Vec<u32>) -> Self {
        Self(words.into_iter().map(AtomicU32::new).collect())
    }

    /// Adds to a word, wrapping around.
    pub(in crate::workloads) fn add(&self, word: u32, amount: u32) {
        self.0[word as usize].fetch_add(amount, Ordering::Relaxed);
    }

    /// Returns the words.
    pub(in crate::workloads) fn into_words(self) -> Vec<u32> {
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_one_range_and_additions_are_not_lost() {
        for count in [0, 1, WORTH, 5 * WORTH + 3] {
            let words = SharedWords::new(vec![u32::MAX, 0]);
            let sums = in_ranges(count, |range| {
                range.clone().for_each(|i| words.add((i % 2) as u32, 1));
                range.count() as u64
            });
            assert_eq!(sums.iter().sum::<u64>(), count);
            let even = count.div_ceil(2) as u32;
            let expected = vec![u32::MAX.wrapping_add(even), count as u32 - even];
            assert_eq!(words.into_words(), expected);
        }
    }
}
