//! The sequences and the scorings of a point.

use super::case::Case;
use crate::error::{Error, Result};
use crate::workloads::nw::{linear_nucleotides, random_codes};
use stm_align::matrix::Matrix;
use stm_align::pass::Pass;
use stm_align::scoring::{Gap, Scoring};

/// Letters of proteins that sequences are drawn from: the amino acids, which published
/// matrices name first.
const AMINO_ACIDS: u32 = 20;
/// Letters of nucleotides.
const NUCLEOTIDES: u32 = 4;

/// Sequences, and how they score.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The pairs.
    pub pairs: Vec<[Vec<u8>; 2]>,
    /// The scoring.
    pub scoring: Scoring,
}

impl Inputs {
    /// Draws the sequences of a case from a seed: all letters alike, independent of each other.
    ///
    /// # Errors
    /// Lengths whose scores are too large.
    pub fn new(case: &Case, seed: u64) -> Result<Self> {
        let scoring = scoring(case)?;
        let letters = u32::try_from(case.letters).unwrap_or(u32::MAX);
        let length = letters as usize;
        scoring.check(length, length).map_err(Error::Usage)?;
        let alphabet = if case.protein {
            AMINO_ACIDS
        } else {
            NUCLEOTIDES
        };
        let drawn = |which| random_codes(seed, which, letters, alphabet);
        let pairs = (0..case.pairs).map(|i| [drawn(2 * i), drawn(2 * i + 1)]);
        Ok(Self {
            pairs: pairs.collect(),
            scoring,
        })
    }

    /// Returns the passes over all pairs.
    pub fn passes(&self) -> Vec<Pass<'_>> {
        let passes = self.pairs.iter().map(|[a, b]| Pass {
            a,
            b,
            backward: false,
            first: self.scoring.gap.open,
        });
        passes.collect()
    }
}

/// The scoring of a case. Nucleotides score 5 and -4, and proteins by BLOSUM62; a linear gap
/// costs 8 for each letter, and an affine one 10 and 1 for each letter, or with proteins
/// 11 and 1.
fn scoring(case: &Case) -> Result<Scoring> {
    let linear = linear_nucleotides();
    let matrix = match Matrix::named("blosum62") {
        Some(matrix) if case.protein => matrix.map_err(Error::Usage)?,
        _ => linear.matrix,
    };
    let gap = match (case.affine, case.protein) {
        (false, _) => linear.gap,
        (true, protein) => Gap {
            open: if protein { 11 } else { 10 },
            extend: 1,
        },
    };
    Ok(Scoring { matrix, gap })
}
