//! What a run left, compared with what it must have left, on all cores of the host.

use crate::error::{Error, Result};
use crate::external_prelude::*;
use std::iter::zip;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use stm_kernels::draw::draw;

/// What is wrong with what a run left, on one line; `None` if it is right.
pub type Verdict = Result<Option<String>>;

/// Tells a wrong result from a failure to look at it.
pub(super) fn verdict(checked: Result<()>) -> Verdict {
    match checked {
        Err(Error::Wrong(what)) => Ok(Some(what)),
        other => other.map(|()| None),
    }
}

/// Tells a structure that a run left spoilt from a failure to copy it.
pub(super) fn whole<T>(copied: Result<T, host::Error>) -> Result<T> {
    use host::Error::{Corrupt, LockMisused, LockTimeout, PoolCount};
    copied.map_err(|error| match error {
        Corrupt { what } => Error::Wrong(what),
        PoolCount { .. } | LockMisused { .. } | LockTimeout { .. } => error.to_string().into(),
        error => error.into(),
    })
}

/// Returns the first place at which two arrays differ, what is found and expected there, and how many more
/// differ.
pub(super) fn first_difference<T: Copy + PartialEq>(
    found: &[T],
    expected: &[T],
) -> Option<(usize, T, T, usize)> {
    let pairs = zip(found, expected).enumerate();
    let mut wrong = pairs.filter(|(_, (found, expected))| found != expected);
    let (at, (&found, &expected)) = wrong.next()?;
    Some((at, found, expected, wrong.count()))
}

/// Refuses an array that differs from another: says where first, by what `place` makes of the element's
/// number and of what is found, and whether their totals agree.
pub(super) fn same<T: Copy + PartialEq + Display, S: PartialEq + Display>(
    place: impl Fn(usize, T) -> String,
    found: &[T],
    expected: &[T],
    total: impl Fn(&[T]) -> S,
) -> Result<()> {
    let Some((at, value, right, more)) = first_difference(found, expected) else {
        return Ok(());
    };
    let totals = match (total(found), total(expected)) {
        (found, expected) if found == expected => "the total is right".into(),
        (found, expected) => format!("the total is {found}, not {expected}"),
    };
    let place = place(at, value);
    Err(Error::Wrong(format!(
        "{place}, not {right}, and {more} more differ; {totals}"
    )))
}

/// Returns `n` words, each drawn: so a store to a wrong word shows. `stream` tells arrays apart.
pub(super) fn drawn(seed: u64, n: u64, stream: u32) -> Vec<u32> {
    (0..n).map(|w| draw(seed, w, stream) as u32).collect()
}

pub(super) fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// What a run of a number of transactions must leave, kept for the repeats.
pub type Expectation<T> = Option<(u64, T)>;

/// Returns the expectation after `transactions`, by `replay` if another or none is kept: that is dropped
/// first, as both may not fit the memory.
pub fn expected<T>(kept: &mut Expectation<T>, transactions: u64, replay: impl FnOnce() -> T) -> &T {
    if kept.as_ref().is_some_and(|(n, _)| *n != transactions) {
        *kept = None;
    }
    &kept.get_or_insert_with(|| (transactions, replay())).1
}

/// The least transactions whose replay is worth a thread.
pub(super) const WORTH: u64 = 1 << 15;

/// Works on ranges of the transactions below `count`, as
/// [`host::in_ranges`](stm_core::internal::host::in_ranges) does.
pub(super) fn in_ranges<R: Send>(count: u64, work: impl Fn(Range<u64>) -> R + Sync) -> Vec<R> {
    stm_core::internal::host::in_ranges(WORTH, count, work)
}

#[derive(Debug)]
pub(super) struct SharedWords(Vec<AtomicU32>);

impl SharedWords {
    pub(super) fn new(words: Vec<u32>) -> Self {
        Self(words.into_iter().map(AtomicU32::new).collect())
    }

    pub(super) fn add(&self, word: u32, amount: u32) {
        self.0[word as usize].fetch_add(amount, Ordering::Relaxed);
    }

    pub(super) fn into_words(self) -> Vec<u32> {
        self.0.into_iter().map(AtomicU32::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_computed_once_for_each_number_of_transactions() {
        let mut kept = None;
        assert_eq!(*expected(&mut kept, 5, || "five"), "five");
        assert_eq!(*expected(&mut kept, 5, || unreachable!()), "five");
        assert_eq!(*expected(&mut kept, 6, || "six"), "six");
    }

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
