//! What the tests of alignments share.

use super::matrix::{Gap, Matrix, Scoring};
use stm_kernels::draw::{below, draw};

/// Nucleotides that score 5 and -4, and a gap that costs so much.
pub(super) fn scoring(open: i32, extend: i32) -> Scoring {
    Scoring {
        matrix: Matrix::of_match(b"ACGT", 5, -4).expect("four letters"),
        gap: Gap { open, extend },
    }
}

/// Draws the codes of a sequence of nucleotides.
pub(super) fn drawn(seed: u64, len: usize) -> Vec<u8> {
    let letter = |i| below(draw(seed, i, 0), 4) as u8;
    (0..len as u64).map(letter).collect()
}
