//! What a point aligns.

use crate::points::Asked;

/// What a point aligns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Letters of each sequence.
    pub letters: u64,
    /// Pairs.
    pub pairs: u64,
    /// Whether gaps are affine.
    pub affine: bool,
    /// Whether letters are those of proteins, and not of nucleotides.
    pub protein: bool,
}

impl Case {
    /// One pair of nucleotides with linear gaps.
    pub const fn nucleotides(letters: u64) -> Self {
        Self {
            letters,
            pairs: 1,
            affine: false,
            protein: false,
        }
    }

    /// Reads the case of a point.
    pub fn of(asked: &Asked) -> Self {
        let number = |name: &str| asked.parameters.get(name).copied().unwrap_or(0);
        Self {
            letters: number("letters"),
            pairs: number("pairs"),
            affine: number("affine") != 0,
            protein: number("protein") != 0,
        }
    }

    /// Returns the cells of all tables.
    pub const fn cells(&self) -> u64 {
        self.letters * self.letters * self.pairs
    }
}
