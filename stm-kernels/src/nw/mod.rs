//! Needleman-Wunsch: scores of the best global alignments (1970), with linear gaps or affine ones (Gotoh
//! 1982).
//!
//! | module | computes the matrix |
//! | --- | --- |
//! | [`strips`] | by dataflow: a warp for each strip, in one launch |
//! | [`tiles`] | tile after tile, by a launch for each diagonal of tiles |
//! | [`points`] | by the same launches, and within a tile a thread for each cell, which waits for its neighbours (Li et al. 2015) |
//! | [`transactions`] | a transaction for each cell, which waits for its neighbours |
//!
//! [`frame`] is common to the second and the third, and `layout` is what the host prepares.
//!
//! # Transformed scores
//!
//! A cell holds its score plus `extend` for each row and each column, where a gap of `k` letters costs
//! `open + k * extend`. Then an extension costs nothing and a gap `open`, 0 with linear gaps. The letters'
//! scores have `2 * extend` added.
//!
//! # Cells outside the matrix
//!
//! A matrix that is no whole number of tiles has *rows of padding* above it and columns behind it, of a
//! letter [`PADDING`], whose score is 0 with itself and [`NEVER`] with others. So the same code computes it,
//! and what enters the matrix is as in the recurrence: row 0 is `-open`, column 0 is `-left`, their common
//! cell 0.

pub mod frame;
#[cfg(not(target_arch = "nvptx64"))]
pub mod layout;
pub mod points;
pub mod strips;
pub mod tiles;
pub mod transactions;

use stm_core::{Lane, TArray};

/// The letter of cells outside the matrix.
pub const PADDING: u32 = 0;
/// A score that no alignment takes, far from overflow.
pub const NEVER: i32 = -(1 << 29);

/// Loads an element that nobody writes during the launch; 0 past the end, where a right host has none.
#[inline(always)]
fn constant<L: Lane>(lane: &L, array: &TArray<u32>, i: u64) -> u32 {
    // SAFETY: in range of a live array that nothing writes.
    array
        .get(i)
        .map_or(0, |at| unsafe { lane.load_constant_32(at) })
}

/// The mask of a full warp, a constant on a GPU; the host launches no other.
#[inline(always)]
fn full_warp<L: Lane>(lane: &L) -> u32 {
    u32::MAX >> (32 - lane.warp_width())
}

/// What a word of a cell has beside its score, so that 0 says that the score is not there.
const THERE: u32 = 1 << 31;

#[inline(always)]
pub const fn word(score: i32) -> u32 {
    THERE | (score.cast_unsigned() & (THERE - 1))
}

#[inline(always)]
pub const fn score(word: u32) -> Option<i32> {
    if word & THERE == 0 {
        return None;
    }
    Some((word << 1).cast_signed() >> 1)
}
