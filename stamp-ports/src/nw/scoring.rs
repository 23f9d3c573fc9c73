//! The score of an alignment: that of each pair of letters, less the cost of gaps.

use super::matrix::Matrix;

/// What a gap costs, in positive numbers: `k` letters cost `open + k * extend`. A linear
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
            letters => i64::from(self.open) + letters as i64 * i64::from(self.extend),
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

/// Room left above and below all scores, so that the sum of two does not overflow.
const ROOM: i64 = 1 << 28;

impl Scoring {
    /// Refuses costs that are negative, and lengths whose scores 32 bits do not hold.
    ///
    /// # Errors
    /// One line that names the cost or the lengths.
    pub fn check(&self, a: usize, b: usize) -> Result<(), String> {
        let Gap { open, extend } = self.gap;
        if open < 0 || extend < 0 {
            return Err(format!(
                "a gap costs {open} to open and {extend} for each letter: give positive numbers"
            ));
        }
        let (most, least) = self.matrix.range();
        let pairs = a.min(b) as i64;
        let highest = pairs * i64::from(most.max(0));
        let lowest = self.gap.cost(a) + self.gap.cost(b) + pairs * i64::from(-least.min(0));
        if highest.max(lowest) >= i64::from(i32::MAX) - ROOM {
            return Err(format!(
                "the score of sequences of {a} and {b} letters does not fit 32 bits: give shorter \
                 ones, or smaller scores"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scoring(open: i32, extend: i32) -> Scoring {
        Scoring {
            matrix: Matrix::of_match(b"ACGT", 5, -4).unwrap(),
            gap: Gap { open, extend },
        }
    }

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
