//! The score of an alignment: that of each pair of letters, less the cost of gaps.

use super::matrix::Matrix;

/// What a gap costs, in numbers from 0 on: `k` letters cost `open + k * extend`. A linear
/// gap costs nothing to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What a gap costs whatever its length.
    pub open: i32,
    /// What each letter of it costs.
    pub extend: i32,
}

impl Gap {
    /// Returns the cost of a gap of so many letters.
    pub fn cost(self, letters: usize) -> i64 {
        match letters {
            0 => 0,
            letters => i64::from(self.extend)
                .saturating_mul(letters as i64)
                .saturating_add(i64::from(self.open)),
        }
    }

    /// Returns whether the cost is in proportion to the length.
    pub const fn is_linear(self) -> bool {
        self.open == 0
    }
}

/// A matrix and the cost of gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scoring {
    /// The scores of pairs.
    pub matrix: Matrix,
    /// The cost of gaps.
    pub gap: Gap,
}

/// All scores are less than this and more than its negative, also with the costs of both
/// sequences in gaps added, as kernels compute them. So most of the range of 32 bits is
/// left, for a score that is less than all others and for the costs taken off it.
pub const SCORE_LIMIT: i64 = 1 << 29;

impl Scoring {
    /// Refuses costs that are negative, and lengths whose scores do not stay below
    /// [`SCORE_LIMIT`].
    ///
    /// # Errors
    /// One line that names the cost or the lengths.
    pub fn check(&self, a: usize, b: usize) -> Result<(), String> {
        let Gap { open, extend } = self.gap;
        if open < 0 || extend < 0 {
            return Err(format!(
                "a gap costs {open} to open and {extend} for each letter: give 0 or more"
            ));
        }
        let (most, least) = self.matrix.range();
        let pairs = a.min(b) as i64;
        let highest = pairs.saturating_mul(i64::from(most.max(0)));
        let mismatches = pairs.saturating_mul(-i64::from(least.min(0)));
        // One gap more is opened and extended before it is found to be worse.
        let gaps = [self.gap.cost(a), self.gap.cost(b), self.gap.cost(1)];
        let lowest = gaps.into_iter().fold(mismatches, i64::saturating_add);
        if highest.saturating_add(lowest) >= SCORE_LIMIT {
            return Err(format!(
                "the score of sequences of {a} and {b} letters may exceed 2^29, which is the \
                 limit of its type: give shorter sequences, smaller scores or smaller costs"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::scoring;

    #[test]
    fn costs_and_lengths_are_checked() {
        scoring(10, 1).check(100_000, 100_000).unwrap();
        assert!(
            scoring(-1, 1)
                .check(1, 1)
                .unwrap_err()
                .contains("-1 to open")
        );
        let error = scoring(0, 8).check(400_000_000, 1).unwrap_err();
        assert!(error.contains("400000000"), "{error}");
        assert_eq!(scoring(10, 2).gap.cost(3), 16);
        assert_eq!(scoring(10, 2).gap.cost(0), 0);
    }
}
