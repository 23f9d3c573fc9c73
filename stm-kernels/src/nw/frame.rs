//! What kernels by tiles have in common: which tile a block computes, and where its borders are.
//!
//! Only borders are kept in memory: a row of values for each matrix, handed down, and a column, handed to the
//! right. So the memory is linear in the lengths, and at the end the row is the last row of the matrix.

use super::{NEVER, constant};
use crate::prelude::*;

/// Words that describe a matrix.
pub const MATRIX_WORDS: u64 = 8;

/// A matrix, as the host describes it in [`MATRIX_WORDS`] words.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// The letter of the first row, a multiple of 4.
    pub rows_at: u32,
    /// The letter of the first column, a multiple of 4.
    pub columns_at: u32,
    /// The numbers of rows and of columns of tiles.
    pub tile_rows: u32,
    pub tile_columns: u32,
    /// The first word of the row of values: a score for each column, and behind them, with
    /// affine gaps, the best score in a vertical gap for each.
    pub row_at: u32,
    /// The first word of the column of values: for each row of tiles the score above its last column, the
    /// score of each row, and with affine gaps as many for horizontal gaps, of which the first is not used.
    pub column_at: u32,
    pub padding: u32,
    /// What a gap at the left border costs beside its extension, negated: the score of column 0.
    pub left: i32,
}

impl Matrix {
    #[cfg(not(target_arch = "nvptx64"))]
    pub const fn words(&self) -> [u32; MATRIX_WORDS as usize] {
        // SAFETY: fields of 32 bits each, in this order, and as many (`repr(C)`).
        unsafe { core::mem::transmute(*self) }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DiagonalParams {
    /// The matrices, [`MATRIX_WORDS`] words each; constant.
    pub matrices: TArray<u32>,
    /// The letters of all sequences, four a word, the first in the lowest bits; constant.
    pub letters: TArray<u32>,
    /// The transformed score of letter `i` of the rows with letter `j` of the columns, at
    /// `i * alphabet + j`; constant.
    pub scores: TArray<u32>,
    pub rows: TArray<u32>,
    pub columns: TArray<u32>,
    pub count: u32,
    pub alphabet: u32,
    /// The binary logarithm of the number of blocks for each matrix.
    pub blocks_log2: u32,
    pub side_log2: u32,
    /// What a gap costs when it begins, negated; 0 with linear gaps.
    pub open: i32,
    /// The diagonal: the sum of the numbers of a tile's row and column of tiles.
    pub diagonal: u32,
    /// How long the threads of kernels that poll pause between polls, in nanoseconds.
    pub pause_ns: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// The parameters, as a copy: a reference keeps them in a thread's memory.
    p: DiagonalParams,
    matrix: Matrix,
    row: u32,
    column: u32,
    /// The row of values, from its first column on.
    values: *mut u32,
    /// The column of values of its row of tiles.
    beside: *mut u32,
}

#[stm_core::inlined]
impl Tile {
    /// Returns the tile of the caller's block, if it has one. All threads of the block get the same result.
    pub(super) fn of<L: Lane, const AFFINE: bool>(lane: &L, p: &DiagonalParams) -> Option<Self> {
        let block = lane.block_index();
        let (number, tile) = (block >> p.blocks_log2, block & ((1 << p.blocks_log2) - 1));
        if number >= p.count {
            return None;
        }
        let at = u64::from(number) * MATRIX_WORDS;
        let words = spelled!(I of 8 => constant(lane, &p.matrices, at + u64::from(I)));
        // SAFETY: fields of 32 bits each, in this order, and as many (`repr(C)`).
        let matrix = unsafe { core::mem::transmute::<[u32; 8], Matrix>(words) };
        let first = (p.diagonal + 1).saturating_sub(matrix.tile_columns);
        let row = first + tile;
        if row >= matrix.tile_rows || row > p.diagonal {
            return None;
        }
        let column = p.diagonal - row;
        let kinds = if AFFINE { 2 } else { 1 };
        let side = 1u64 << p.side_log2;
        let in_row = u64::from(matrix.tile_columns) * side;
        let of_tiles = (side + 1) * kinds;
        let values = part(&p.rows, u64::from(matrix.row_at), in_row * kinds)?;
        let beside = u64::from(matrix.column_at) + u64::from(row) * of_tiles;
        let beside = part(&p.columns, beside, of_tiles)?;
        let _ = part(&p.scores, 0, u64::from(p.alphabet) * u64::from(p.alphabet))?;
        Some(Self {
            p: *p,
            matrix,
            row,
            column,
            values: values.wrapping_add((u64::from(column) * side) as usize),
            beside,
        })
    }

    pub(super) fn side(&self) -> u32 {
        1 << self.p.side_log2
    }

    /// Returns four letters of its columns, from letter `4 * i` on.
    pub(super) fn column_letters<L: Lane>(&self, lane: &L, i: u32) -> u32 {
        let first = self.matrix.columns_at + (self.column << self.p.side_log2);
        constant(lane, &self.p.letters, u64::from((first >> 2) + i))
    }

    pub(super) fn row_letter<L: Lane>(&self, lane: &L, r: u32) -> u32 {
        let at = self.matrix.rows_at + (self.row << self.p.side_log2) + r;
        constant(lane, &self.p.letters, u64::from(at >> 2)) >> (8 * (at & 3)) & 0xFF
    }

    pub(super) fn score<L: Lane>(&self, lane: &L, of_row: u32, of_column: u32) -> u32 {
        self.pair(lane, of_row * self.p.alphabet + of_column)
    }

    pub(super) fn pair<L: Lane>(&self, lane: &L, i: u32) -> u32 {
        constant(lane, &self.p.scores, u64::from(i))
    }

    pub(super) fn above<L: Lane>(&self, lane: &L, c: u32) -> i32 {
        if self.row == 0 {
            return self.p.open;
        }
        // SAFETY: in range (`of`), and no block of this launch writes it before the caller's has read it.
        unsafe { lane.load_relaxed_32(self.values.wrapping_add(c as usize)) }.cast_signed()
    }

    /// Returns the best score in a vertical gap above its column `c`.
    pub(super) fn gap_above<L: Lane>(&self, lane: &L, c: u32) -> i32 {
        if self.row == 0 {
            return NEVER;
        }
        // SAFETY: as above.
        unsafe { lane.load_relaxed_32(self.gaps().wrapping_add(c as usize)) }.cast_signed()
    }

    /// The best scores in vertical gaps, which follow those of all columns.
    fn gaps(&self) -> *mut u32 {
        let columns = self.matrix.tile_columns << self.p.side_log2;
        self.values.wrapping_add(columns as usize)
    }

    /// Returns the score to the left of the row before its row `r`: that of the corner, if `r` is 0.
    pub(super) fn corner<L: Lane>(&self, lane: &L, r: u32) -> i32 {
        if self.column == 0 {
            let row = (self.row << self.p.side_log2) + r;
            return if row <= self.matrix.padding {
                0
            } else {
                self.matrix.left
            };
        }
        // SAFETY: as above.
        unsafe { lane.load_relaxed_32(self.beside.wrapping_add(r as usize)) }.cast_signed()
    }

    pub(super) fn left<L: Lane>(&self, lane: &L, r: u32) -> i32 {
        self.corner(lane, r + 1)
    }

    /// Returns the best score in a horizontal gap to the left of its row `r`.
    pub(super) fn gap_left<L: Lane>(&self, lane: &L, r: u32) -> i32 {
        if self.column == 0 {
            return NEVER;
        }
        let at = self.beside.wrapping_add((self.side() + 2 + r) as usize);
        // SAFETY: as above.
        unsafe { lane.load_relaxed_32(at) }.cast_signed()
    }

    /// Hands the score of the last row in column `c` down.
    pub(super) fn put_below<L: Lane>(&self, lane: &L, c: u32, score: i32) {
        // SAFETY: in range (`of`); only this block accesses it in this launch.
        // Relaxed: the next launch reads it.
        unsafe {
            lane.store_relaxed_32(self.values.wrapping_add(c as usize), score.cast_unsigned());
        }
    }

    /// Hands the best score in a vertical gap of the last row in column `c` down.
    pub(super) fn put_gap_below<L: Lane>(&self, lane: &L, c: u32, score: i32) {
        // SAFETY: as above.
        unsafe {
            lane.store_relaxed_32(self.gaps().wrapping_add(c as usize), score.cast_unsigned());
        }
    }

    /// Hands the score of row `r` in the last column to the right, or with `r` 0 the
    /// score above the last column, where the rows count from 1.
    pub(super) fn put_right<L: Lane>(&self, lane: &L, r: u32, score: i32) {
        // SAFETY: as above.
        unsafe {
            lane.store_relaxed_32(self.beside.wrapping_add(r as usize), score.cast_unsigned());
        }
    }

    /// Hands the best score in a horizontal gap of row `r` to the right, where the rows count from 1.
    pub(super) fn put_gap_right<L: Lane>(&self, lane: &L, r: u32, score: i32) {
        let at = self.beside.wrapping_add((self.side() + 1 + r) as usize);
        // SAFETY: as above.
        unsafe { lane.store_relaxed_32(at, score.cast_unsigned()) };
    }
}

/// Returns the address of element `at`, if the array has `len` elements from there on.
#[inline(always)]
fn part(array: &TArray<u32>, at: u64, len: u64) -> Option<*mut u32> {
    array.get(at).filter(|_| at + len <= array.len())
}
