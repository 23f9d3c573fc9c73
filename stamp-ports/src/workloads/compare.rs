//! What a run left, compared with what it must have left.

/// The first of two arrays' differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<T> {
    /// The index where they differ first.
    pub at: usize,
    /// What was found there.
    pub found: T,
    /// What is right there.
    pub expected: T,
    /// How many elements differ besides.
    pub more: usize,
}

impl<T: Copy + PartialEq> Difference<T> {
    /// Returns the first difference of two arrays of one length, if they differ.
    pub fn first(found: &[T], expected: &[T]) -> Option<Self> {
        let mut wrong = found
            .iter()
            .zip(expected)
            .enumerate()
            .filter(|(_, (found, expected))| found != expected);
        let (at, (&found, &expected)) = wrong.next()?;
        Some(Self {
            at,
            found,
            expected,
            more: wrong.count(),
        })
    }
}

/// Says whether two totals agree, in a clause.
pub fn totals<T: PartialEq + std::fmt::Display>(found: &T, expected: &T) -> String {
    if found == expected {
        "the total is right".into()
    } else {
        format!("the total is {found}, not {expected}")
    }
}

/// What a run of a number of transactions must leave. It is computed once and
/// kept for the repeats.
#[derive(Clone, Debug)]
pub struct Expectation<T> {
    kept: Option<(u64, T)>,
}

impl<T> Default for Expectation<T> {
    fn default() -> Self {
        Self { kept: None }
    }
}

impl<T> Expectation<T> {
    /// Returns the expectation after `transactions`, by `replay` if another or
    /// none is kept. The kept one is dropped first: both may not fit the memory.
    pub fn after(&mut self, transactions: u64, replay: impl FnOnce() -> T) -> &T {
        if self.kept.as_ref().is_some_and(|(n, _)| *n != transactions) {
            self.kept = None;
        }
        &self.kept.get_or_insert_with(|| (transactions, replay())).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found_and_the_others_are_counted() {
        let difference = Difference::first(&[1, 2, 3, 4], &[1, 5, 3, 6]);
        let expected = Difference {
            at: 1,
            found: 2,
            expected: 5,
            more: 1,
        };
        assert_eq!(difference, Some(expected));
        assert_eq!(Difference::first(&[1, 2], &[1, 2]), None);
        assert_eq!(totals(&3, &3), "the total is right");
        assert_eq!(totals(&3, &4), "the total is 3, not 4");
    }

    #[test]
    fn an_expectation_is_computed_once_for_each_number_of_transactions() {
        let mut expectation = Expectation::default();
        assert_eq!(*expectation.after(5, || "five"), "five");
        assert_eq!(*expectation.after(5, || unreachable!()), "five");
        assert_eq!(*expectation.after(6, || "six"), "six");
    }
}
