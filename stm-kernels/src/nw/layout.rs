//! What the host prepares for the kernels that compute tiles and strips, and reads from what they leave.

use super::frame::Matrix;
use super::strips::{COLUMNS, ROWS, Strip, margin};
use super::{NEVER, PADDING};
use std::{vec, vec::Vec};

/// A matrix to compute: two sequences of codes from 0.
#[derive(Clone, Copy, Debug)]
pub struct Table<'s> {
    /// The codes of the rows.
    pub a: &'s [u8],
    /// Of the columns; at least one.
    pub b: &'s [u8],
    /// Whether both are read from their ends.
    pub backward: bool,
    /// What a gap at the left border costs when it begins.
    pub first: i32,
}

impl Table<'_> {
    /// Returns the last row of plain scores, and with affine gaps the best in a vertical gap of that row, of
    /// which the first has none. `value` returns the transformed one of a kind in a column, and `extend` is
    /// what a gap's letter costs.
    fn last_row(
        &self,
        kinds: u32,
        extend: i32,
        value: impl Fn(usize, usize) -> Option<u32>,
    ) -> Option<[Vec<i32>; 2]> {
        let len = self.a.len() as i32;
        let row = |kind| {
            let values = (0..self.b.len()).map(|j| value(kind, j)).zip(1..);
            let plain = values.map(|(v, j)| Some(v?.cast_signed() - extend * (len + j)));
            let edge = core::iter::once(Some(-self.first - extend * len));
            edge.chain(plain).collect::<Option<Vec<i32>>>()
        };
        let gaps = if kinds == 2 { row(1)? } else { Vec::new() };
        Some([row(0)?, gaps])
    }
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

#[derive(Default)]
struct Letters(Vec<u8>);

impl Letters {
    /// Adds those of codes between padding, and returns the place of the first, which begins a word.
    fn add(&mut self, above: u32, codes: &[u8], backward: bool, behind: u32) -> u32 {
        let Self(letters) = self;
        let at = letters.len();
        letters.resize(at + above as usize, PADDING as u8);
        letters.extend(codes.iter().map(|code| code + 1));
        if backward {
            letters[at + above as usize..].reverse();
        }
        let end = (letters.len() + behind as usize).next_multiple_of(COLUMNS as usize);
        letters.resize(end, PADDING as u8);
        at as u32
    }

    /// Returns them as words of four, if 32 bits number them and the other values.
    fn words(self, values: u64) -> Vec<u32> {
        let most = values.max(self.0.len() as u64);
        assert!(u32::try_from(most).is_ok(), "2^32 letters or values");
        let words = self.0.as_chunks().0.iter();
        words.map(|four| u32::from_le_bytes(*four)).collect()
    }
}

/// Matrices laid out for tiles of a side.
#[derive(Clone, Debug)]
pub struct TileLayout {
    /// The descriptions of all matrices.
    pub matrices: Vec<u32>,
    pub letters: Vec<u32>,
    pub row_words: usize,
    pub column_words: usize,
    /// Diagonals of tiles: launches.
    pub diagonals: u32,
    /// The binary logarithm of the number of blocks of a launch for each matrix.
    pub blocks_log2: u32,
    pub count: u32,
    kinds: u32,
    side: u32,
    places: Vec<Matrix>,
}

impl TileLayout {
    /// Lays matrices out for tiles whose side is a power of two.
    ///
    /// # Panics
    /// It panics if they need 2^32 letters or words.
    pub fn new(tables: &[Table<'_>], side: u32, affine: bool) -> Self {
        let kinds = 1 + u32::from(affine);
        let (mut letters, mut places) = (Letters::default(), Vec::with_capacity(tables.len()));
        let (mut row_words, mut column_words) = (0u64, 0u64);
        let (mut diagonals, mut blocks) = (0, 1);
        for table in tables {
            let tiles = |len: usize| (len.max(1) as u32).div_ceil(side);
            let (tile_rows, tile_columns) = (tiles(table.a.len()), tiles(table.b.len()));
            let padding = tile_rows * side - table.a.len() as u32;
            let behind = tile_columns * side - table.b.len() as u32;
            places.push(Matrix {
                rows_at: letters.add(padding, table.a, table.backward, 0),
                columns_at: letters.add(0, table.b, table.backward, behind),
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
        Self {
            matrices: places.iter().flat_map(Matrix::words).collect(),
            letters: letters.words(row_words.max(column_words)),
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

    /// Returns the blocks of the launch for a diagonal: of a single matrix as many as the diagonal has tiles.
    pub fn blocks(&self, diagonal: u32) -> u32 {
        match &self.places[..] {
            [one] => {
                let shorter = one.tile_rows.min(one.tile_columns);
                shorter.min(diagonal + 1).min(self.diagonals - diagonal)
            }
            _ => self.count << self.blocks_log2,
        }
    }

    /// Returns the last rows of matrix `i`, made of `table`: the best scores, and with affine gaps those in
    /// vertical gaps. `rows` is what kernels left in the rows of values, and `extend` what a gap's letter
    /// costs.
    pub fn last_row(
        &self,
        i: usize,
        table: &Table<'_>,
        rows: &[u32],
        extend: i32,
    ) -> Option<[Vec<i32>; 2]> {
        let place = &self.places[i];
        let columns = (place.tile_columns * self.side) as usize;
        let rows = &rows[place.row_at as usize..];
        table.last_row(self.kinds, extend, |kind, j| Some(rows[kind * columns + j]))
    }
}

/// Matrices laid out in strips for warps of a width.
#[derive(Clone, Debug)]
pub struct StripLayout {
    /// The descriptions of all strips.
    pub strips: Vec<u32>,
    pub letters: Vec<u32>,
    pub channels: usize,
    pub count: u32,
    /// The most strips of a matrix, by which the tags of two launches differ.
    pub tags: u32,
    kinds: u32,
    /// The last strip of each matrix.
    last: Vec<Strip>,
}

impl StripLayout {
    /// Lays matrices out in strips. Each has at least one row and one column.
    ///
    /// # Panics
    /// It panics if they need 2^32 channels or letters.
    pub fn new(tables: &[Table<'_>], width: u32, affine: bool) -> Self {
        let (kinds, rows) = (1 + u32::from(affine), width * ROWS);
        let (mut strips, mut letters, mut last) = (Vec::new(), Letters::default(), Vec::new());
        let (mut channels, mut count, mut tags) = (0u64, 0, 0);
        let margin = COLUMNS * margin(width);
        for table in tables {
            let of_matrix = (table.a.len() as u32).div_ceil(rows);
            let padding = of_matrix * rows - table.a.len() as u32;
            let blocks = (table.b.len() as u32).div_ceil(COLUMNS);
            let behind = blocks * COLUMNS - table.b.len() as u32 + margin;
            let rows_at = letters.add(padding, table.a, table.backward, margin) / COLUMNS;
            let columns_at = letters.add(0, table.b, table.backward, behind) / COLUMNS;
            let strip = |number: u32| Strip {
                rows_at: rows_at + number * width,
                columns_at,
                blocks,
                row_at: channels as u32,
                takes: number,
                puts: number + 1,
                padding: if number == 0 { padding } else { 0 },
                left: -table.first,
            };
            strips.extend((0..of_matrix).flat_map(|number| strip(number).words()));
            last.push(strip(of_matrix - 1));
            channels += u64::from(blocks * COLUMNS) * u64::from(kinds);
            count += of_matrix;
            tags = tags.max(of_matrix);
        }
        Self {
            strips,
            letters: letters.words(channels),
            channels: channels as usize,
            count,
            tags,
            kinds,
            last,
        }
    }

    /// Returns what [`TileLayout::last_row`] does, by what the launch with the tag `tag` left in the
    /// channels, `found`; `None` if it has not put all of the row.
    pub fn last_row(
        &self,
        i: usize,
        table: &Table<'_>,
        (tag, found): (u32, &[(u32, u32)]),
        extend: i32,
    ) -> Option<[Vec<i32>; 2]> {
        let strip = &self.last[i];
        let row = &found[strip.row_at as usize..];
        table.last_row(self.kinds, extend, |kind, j| {
            let (of, value) = row[self.kinds as usize * j + kind];
            (of == tag + strip.puts).then_some(value)
        })
    }
}
