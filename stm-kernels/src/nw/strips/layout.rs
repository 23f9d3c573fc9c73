//! What the host prepares for strips, and reads from their channels.

use super::{super::PADDING, super::layout::Table, COLUMNS, ROWS, Strip, margin};
use std::vec::Vec;

/// Matrices laid out in strips for warps of a width.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The descriptions of all strips.
    pub strips: Vec<u32>,
    /// The letters of all sequences.
    pub letters: Vec<u32>,
    /// The channels of all rows.
    pub channels: usize,
    /// The number of strips.
    pub count: u32,
    /// The most strips of a matrix, by which the tags of two launches differ.
    pub tags: u32,
    kinds: usize,
    /// The last strip of each matrix.
    last: Vec<Strip>,
}

/// Adds words of letters, and returns the place of the first. Codes become letters from 1
/// on, with `above` letters of padding before them.
fn add(words: &mut Vec<u32>, above: usize, codes: &[u8], backward: bool) -> u32 {
    let at = words.len() as u32;
    let letter = |i: usize| match i.checked_sub(above) {
        Some(i) if i < codes.len() => {
            let code = codes[if backward { codes.len() - 1 - i } else { i }];
            u32::from(code) + 1
        }
        _ => PADDING,
    };
    let count = (above + codes.len()).div_ceil(COLUMNS as usize);
    words.extend((0..count).map(|word| {
        (0..COLUMNS as usize).fold(0, |four, k| four | letter(4 * word + k) << (8 * k))
    }));
    at
}

impl Layout {
    /// Lays matrices out in strips. Each has at least one row and one column.
    ///
    /// # Panics
    /// It panics if they need 2^32 channels or words.
    pub fn new(tables: &[Table<'_>], width: u32, affine: bool) -> Self {
        let (kinds, rows) = (if affine { 2 } else { 1 }, (width * ROWS) as usize);
        let (mut strips, mut letters, mut last) = (Vec::new(), Vec::new(), Vec::new());
        let (mut channels, mut count, mut tags) = (0u64, 0, 0);
        let pad =
            |letters: &mut Vec<u32>| letters.resize(letters.len() + margin(width) as usize, 0);
        for table in tables {
            let of_matrix = table.a.len().div_ceil(rows) as u32;
            let padding = of_matrix as usize * rows - table.a.len();
            let rows_at = add(&mut letters, padding, table.a, table.backward);
            pad(&mut letters);
            let columns_at = add(&mut letters, 0, table.b, table.backward);
            pad(&mut letters);
            let blocks = table.b.len().div_ceil(COLUMNS as usize) as u32;
            let strip = |number: u32| Strip {
                rows_at: rows_at + number * width,
                columns_at,
                blocks,
                row_at: channels as u32,
                takes: number,
                puts: number + 1,
                padding: if number == 0 { padding as u32 } else { 0 },
                left: -table.first,
            };
            strips.extend((0..of_matrix).flat_map(|number| strip(number).words()));
            last.push(strip(of_matrix - 1));
            channels += u64::from(blocks * COLUMNS) * kinds;
            count += of_matrix;
            tags = tags.max(of_matrix);
        }
        let most = channels.max(letters.len() as u64);
        assert!(u32::try_from(most).is_ok(), "2^32 letters or values");
        Self {
            strips,
            letters,
            channels: channels as usize,
            count,
            tags,
            kinds: kinds as usize,
            last,
        }
    }

    /// Returns the last row of a matrix, and with affine gaps the best scores in a vertical gap of
    /// that row, of which the first has no gap; `None` if the launch with the tag `tag` has not put
    /// it. `found` is what it left in the channels, and `extend` what each letter of a gap costs.
    pub fn last_row(
        &self,
        i: usize,
        table: &Table<'_>,
        (tag, found): (u32, &[(u32, u32)]),
        extend: i32,
    ) -> Option<[Vec<i32>; 2]> {
        let strip = &self.last[i];
        let len = table.a.len() as i32;
        let edge = strip.left - extend * len;
        let from = strip.row_at as usize;
        let values = |kind: usize| {
            let of_kind = found[from + kind..].iter().step_by(self.kinds);
            let plain = of_kind.take(table.b.len()).zip(1..).map(|(&(t, v), j)| {
                (t == tag + strip.puts).then(|| v.cast_signed() - extend * (len + j))
            });
            core::iter::once(Some(edge))
                .chain(plain)
                .collect::<Option<Vec<i32>>>()
        };
        let gaps = if self.kinds == 2 {
            values(1)?
        } else {
            Vec::new()
        };
        Some([values(0)?, gaps])
    }
}
