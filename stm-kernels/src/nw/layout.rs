//! What the host prepares for the kernels that compute tiles, and reads from what they leave.

use super::frame::{MATRIX_WORDS, Matrix};
use super::{NEVER, PADDING};
use std::{vec, vec::Vec};

/// A matrix to compute: two sequences of codes from 0.
#[derive(Clone, Copy, Debug)]
pub struct Table<'s> {
    /// The codes of the rows.
    pub a: &'s [u8],
    /// The codes of the columns, at least one.
    pub b: &'s [u8],
    /// Whether both are read from their ends.
    pub backward: bool,
    /// What a gap at the left border costs when it begins.
    pub first: i32,
}

/// Returns the transformed scores of letters, given those of a square matrix and what each
/// letter of a gap costs. Letter 0 is padding, and code `i` becomes letter `i + 1`.
pub fn transformed_scores(scores: &[i32], alphabet: usize, extend: i32) -> Vec<u32> {
    let size = alphabet + 1;
    let mut transformed = vec![NEVER.cast_unsigned(); size * size];
    transformed[0] = 0;
    for (i, &score) in scores.iter().enumerate() {
        let at = (i / alphabet + 1) * size + i % alphabet + 1;
        transformed[at] = (score + 2 * extend).cast_unsigned();
    }
    transformed
}

/// Matrices laid out for tiles of a side.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The descriptions of all matrices.
    pub matrices: Vec<u32>,
    /// The letters of all sequences.
    pub letters: Vec<u32>,
    /// Words of the rows of values.
    pub row_words: usize,
    /// Words of the columns of values.
    pub column_words: usize,
    /// Diagonals of tiles: launches.
    pub diagonals: u32,
    /// The binary logarithm of the number of blocks of a launch for each matrix.
    pub blocks_log2: u32,
    /// The number of matrices.
    pub count: u32,
    kinds: u32,
    side: u32,
    places: Vec<Matrix>,
}

/// Adds letters, from which codes and padding are made, and returns the place of the first.
fn add(letters: &mut Vec<u8>, above: u32, table: &[u8], backward: bool, behind: u32) -> u32 {
    let at = letters.len() as u32;
    let pad = |n: u32| core::iter::repeat_n(PADDING as u8, n as usize);
    letters.extend(pad(above));
    if backward {
        letters.extend(table.iter().rev().map(|code| code + 1));
    } else {
        letters.extend(table.iter().map(|code| code + 1));
    }
    letters.extend(pad(behind));
    // The next begins with a word.
    letters.extend(pad((letters.len() as u32).wrapping_neg() % 4));
    at
}

impl Layout {
    /// Lays matrices out for tiles whose side is a power of two.
    ///
    /// # Panics
    /// It panics if they need 2^32 letters or words.
    pub fn new(tables: &[Table<'_>], side: u32, affine: bool) -> Self {
        let kinds = if affine { 2 } else { 1 };
        let (mut letters, mut places) = (Vec::new(), Vec::with_capacity(tables.len()));
        let (mut row_words, mut column_words) = (0u64, 0u64);
        let (mut diagonals, mut blocks) = (0, 1);
        for table in tables {
            let tiles = |len: usize| (len.max(1) as u32).div_ceil(side);
            let (tile_rows, tile_columns) = (tiles(table.a.len()), tiles(table.b.len()));
            let padding = tile_rows * side - table.a.len() as u32;
            let behind = tile_columns * side - table.b.len() as u32;
            places.push(Matrix {
                rows_at: add(&mut letters, padding, table.a, table.backward, 0),
                columns_at: add(&mut letters, 0, table.b, table.backward, behind),
                tile_rows,
                tile_columns,
                row_at: row_words as u32,
                column_at: column_words as u32,
                padding,
                left: -table.first,
            });
            row_words += u64::from(kinds * tile_columns) * u64::from(side);
            column_words += u64::from(kinds * tile_rows) * u64::from(side + 1);
            diagonals = diagonals.max(tile_rows + tile_columns - 1);
            blocks = blocks.max(tile_rows.min(tile_columns));
        }
        let most = row_words.max(column_words).max(letters.len() as u64);
        assert!(u32::try_from(most).is_ok(), "2^32 letters or values");
        let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Self {
            matrices: places.iter().flat_map(Matrix::words).collect(),
            letters: letters.chunks_exact(4).map(word).collect(),
            row_words: row_words as usize,
            column_words: column_words as usize,
            diagonals,
            blocks_log2: blocks.next_power_of_two().trailing_zeros(),
            count: places.len() as u32,
            kinds,
            side,
            places,
        }
    }

    /// Returns the blocks of the launch for a diagonal: of a single matrix as many as the
    /// diagonal has tiles.
    pub fn blocks(&self, diagonal: u32) -> u32 {
        match &self.places[..] {
            [one] => {
                let shorter = one.tile_rows.min(one.tile_columns);
                shorter.min(diagonal + 1).min(self.diagonals - diagonal)
            }
            _ => self.count << self.blocks_log2,
        }
    }

    /// Returns the last row of a matrix, and with affine gaps the best scores in a vertical
    /// gap of that row, of which the first has no gap. `rows` is what the kernels left in the
    /// rows of values, and `extend` what each letter of a gap costs.
    pub fn last_row(
        &self,
        i: usize,
        table: &Table<'_>,
        rows: &[u32],
        extend: i32,
    ) -> [Vec<i32>; 2] {
        let place = &self.places[i];
        let len = table.a.len() as i32;
        let edge = place.left - extend * len;
        let values = |from: u32, first: i32| {
            let from = (place.row_at + from) as usize;
            let values = rows[from..from + table.b.len()].iter().zip(1..);
            let plain = values.map(|(v, j)| v.cast_signed() - extend * (len + j));
            core::iter::once(first).chain(plain).collect()
        };
        let gaps = if self.kinds == 2 {
            values(place.tile_columns * self.side, edge)
        } else {
            Vec::new()
        };
        [values(0, edge), gaps]
    }
}

// A description has as many words as it has fields.
const _: () = assert!(size_of::<Matrix>() as u64 == 4 * MATRIX_WORDS);
