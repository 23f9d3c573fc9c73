//! What fills the tables of alignments: a device, or the host.
//!
//! All cores of the host fill a table as dataflow: the rows are cut into bands, of which a worker
//! takes the next when it has done one, and a band gets the row above it from the band before in
//! pieces, through a channel. Bands are taken from the top down, so the uppermost one that is not
//! finished has, or will get, every piece that it waits for.

use super::Pass;
use crate::Result;
use crate::align::LastRow;
use crate::matrix::{Gap, Scoring};
use std::borrow::Cow;
use std::mem::replace;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use stm_kernels::nw::layout::transformed_scores;
use stm_machine::host::{Buffer, Device, in_ranges};

/// A scoring as kernels take it.
pub(super) struct Costs<D: Device> {
    pub(super) scores: Buffer<D, u32>,
    /// The number of codes, with one for no letter.
    pub(super) alphabet: u32,
    pub(super) affine: bool,
    pub(super) open: i32,
    pub(super) extend: i32,
}

impl<D: Device> Costs<D> {
    pub(super) fn new(device: &D, scoring: &Scoring) -> Result<Self> {
        let (letters, gap) = (scoring.matrix.alphabet.len(), scoring.gap);
        let scores = transformed_scores(&scoring.matrix.scores, letters, gap.extend);
        Ok(Self {
            scores: Buffer::from_slice(device, &scores, "scores of letters")?,
            alphabet: letters as u32 + 1,
            affine: !gap.is_linear(),
            open: -gap.open,
            extend: gap.extend,
        })
    }
}

/// Returns the last row of each table, given the best scores and those in a gap that its launches have
/// left. One that they have not filled is empty, by which it differs from any right one.
pub(super) fn last_rows(
    passes: &[Pass<'_>],
    row: impl Fn(usize, &Pass<'_>) -> Option<[Vec<i32>; 2]>,
) -> Vec<LastRow> {
    let rows = passes.iter().enumerate().map(|(i, pass)| {
        let [best, in_gap] = row(i, pass).unwrap_or_default();
        LastRow { best, in_gap }
    });
    rows.collect()
}

/// Returns the last row of each table, of which `fill` fills those without an empty sequence,
/// if there are any.
pub(super) fn fill_whole(
    passes: &[Pass<'_>],
    scoring: &Scoring,
    fill: impl FnOnce(&[Pass<'_>]) -> Result<Vec<LastRow>>,
) -> Result<Vec<LastRow>> {
    let is_whole = |pass: &&Pass<'_>| !pass.a.is_empty() && !pass.b.is_empty();
    let whole: Vec<Pass<'_>> = passes.iter().filter(is_whole).copied().collect();
    let filled = if whole.is_empty() {
        Vec::new()
    } else {
        fill(&whole)?
    };
    let mut filled = filled.into_iter();
    let rows = passes.iter().map(|pass| {
        if is_whole(&pass) {
            filled.next().unwrap_or_default()
        } else {
            last_row(pass, scoring)
        }
    });
    Ok(rows.collect())
}

const fn cells(pass: &Pass<'_>) -> u64 {
    pass.a.len() as u64 * pass.b.len() as u64
}

/// Something that fills tables.
pub trait Scorer {
    /// Returns what it is, for a document: `host`, or the device's identifier.
    fn name(&self) -> String;

    /// Returns the last row of each table. The scoring admits all of them ([`Scoring::check`]).
    fn last_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>>;

    /// Returns what [`Scorer::last_rows`] does, inside a span that says what is filled where.
    fn traced_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>> {
        let cells: u64 = passes.iter().map(cells).sum();
        let (on, tables) = (self.name(), passes.len());
        let _span = tracing::info_span!("fill tables", on, tables, cells).entered();
        self.last_rows(passes, scoring)
    }

    /// Returns the score of each pair of sequences.
    fn scores(&mut self, pairs: &[(&[u8], &[u8])], scoring: &Scoring) -> Result<Vec<i64>> {
        let passes: Vec<_> = pairs.iter().map(|(a, b)| scoring.pass(a, b)).collect();
        let rows = self.traced_rows(&passes, scoring)?;
        let last = |row: &LastRow| row.best.last().copied().unwrap_or(0);
        Ok(rows.iter().map(|row| i64::from(last(row))).collect())
    }
}

/// A table with more cells than this is filled by all cores, if there are few tables.
const BANDS: u64 = 1 << 20;

/// The host, with a thread for each core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl Scorer for Host {
    fn name(&self) -> String {
        "host".to_owned()
    }

    fn last_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        // Bands hand pieces on, which pays only if most cores had nothing to do otherwise.
        if cores > 2 * passes.len() && passes.iter().any(|p| cells(p) > BANDS) {
            let rows = passes.iter().map(|pass| last_row_in_bands(pass, scoring));
            return Ok(rows.collect());
        }
        Ok(on_all_cores(passes, |pass| last_row(pass, scoring)))
    }
}

/// Applies a function to each item, on all cores, each of which takes the next item when it has
/// done one, and returns the results in the order of the items.
pub(super) fn on_all_cores<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = in_ranges(1, items.len() as u64, |_| {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = taken.map_while(|i| Some((i, of(items.get(i)?))));
        taken.collect::<Vec<_>>()
    });
    let mut done: Vec<(usize, R)> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Rows of a band, whose values at its left edge stay in the first cache.
const ROWS: usize = 512;

/// Columns of a piece of a row: enough to make a message cheap.
const COLUMNS: usize = 2048;

/// A band: its first row, and where pieces of the rows above it and of its last row come from and go
/// to. A piece has no column before its first.
type Band = (usize, Receiver<LastRow>, Sender<LastRow>);

/// A table that the host fills, with the letters in the order in which it does.
struct Table<'s> {
    a: Cow<'s, [u8]>,
    b: Cow<'s, [u8]>,
    first: i32,
    scoring: &'s Scoring,
}

impl<'s> Table<'s> {
    fn of(pass: &Pass<'s>, scoring: &'s Scoring) -> Self {
        let in_order = |letters: &'s [u8]| {
            if pass.backward {
                letters.iter().rev().copied().collect()
            } else {
                Cow::Borrowed(letters)
            }
        };
        Self {
            a: in_order(pass.a),
            b: in_order(pass.b),
            first: pass.first,
            scoring,
        }
    }

    /// Returns the best score of the first letters of A with none of B. Costs fit 32 bits, as the
    /// scoring was checked.
    fn edge(&self, row: usize) -> i32 {
        match row {
            0 => 0,
            row => -self.first - self.scoring.gap.extend * row as i32,
        }
    }

    /// Returns what is above the first row in some columns of letters.
    fn above(&self, columns: Range<usize>) -> LastRow {
        let Gap { open, .. } = self.scoring.gap;
        let best = columns.map(|j| -self.scoring.gap.cost(j + 1) as i32);
        let best: Vec<i32> = best.collect();
        let in_gap = best.iter().map(|score| score - open).collect();
        LastRow { best, in_gap }
    }

    /// Returns the column before the first in some rows: the best scores, and for the column behind it
    /// the best of those that end in a gap above a letter of B.
    fn before(&self, rows: Range<usize>) -> Vec<(i32, i32)> {
        let edges = rows.map(|row| self.edge(row + 1));
        let Gap { open, extend } = self.scoring.gap;
        edges.map(|edge| (edge, edge - open - extend)).collect()
    }

    /// Fills the block of some rows and of these letters of columns. `left` is the column before it
    /// and becomes its last; `piece` is the row above it and becomes its last, and `corner` is the best
    /// score of the cell above `left`.
    fn fill(
        &self,
        rows: Range<usize>,
        letters: &[u8],
        corner: i32,
        left: &mut [(i32, i32)],
        LastRow { best, in_gap }: &mut LastRow,
    ) {
        let Gap { open, extend } = self.scoring.gap;
        let mut next = corner;
        for (&letter, (before, only_b)) in self.a[rows].iter().zip(left) {
            let mut diagonal = replace(&mut next, *before);
            for ((&other, best), in_gap) in letters.iter().zip(&mut *best).zip(&mut *in_gap) {
                *in_gap = (*in_gap).max(*best - open) - extend;
                let score = diagonal + self.scoring.matrix.score(letter, other);
                let score = score.max(*in_gap);
                diagonal = *best;
                *best = score.max(*only_b);
                // To go on with a gap costs no more than to open one behind it.
                *only_b = (*only_b).max(score - open) - extend;
            }
            *before = best.last().copied().unwrap_or(*before);
        }
    }

    /// Returns the last row, given its pieces.
    fn last_row(&self, pieces: impl IntoIterator<Item = LastRow>) -> LastRow {
        let corner = vec![self.edge(self.a.len())];
        let mut row = LastRow {
            best: corner.clone(),
            in_gap: corner,
        };
        for piece in pieces {
            row.best.extend(piece.best);
            row.in_gap.extend(piece.in_gap);
        }
        row
    }
}

/// Returns the last row of a table, which one core fills.
pub(super) fn last_row(pass: &Pass<'_>, scoring: &Scoring) -> LastRow {
    let table = Table::of(pass, scoring);
    let mut row = table.above(0..table.b.len());
    for i in 0..table.a.len() {
        let (rows, corner) = (i..i + 1, table.edge(i));
        let mut left = table.before(rows.clone());
        table.fill(rows, &table.b, corner, &mut left, &mut row);
    }
    table.last_row([row])
}

/// Returns the last row of a table, which all cores fill.
fn last_row_in_bands(pass: &Pass<'_>, scoring: &Scoring) -> LastRow {
    let table = Table::of(pass, scoring);
    let (top, mut above) = channel();
    for (from, piece) in (0..).step_by(COLUMNS).zip(table.b.chunks(COLUMNS)) {
        top.send(table.above(from..from + piece.len()))
            .expect(ABOVE);
    }
    drop(top);
    let bands = (0..table.a.len()).step_by(ROWS).map(|first_row| {
        let (below, next) = channel();
        Mutex::new(Some((first_row, replace(&mut above, next), below)))
    });
    let bands: Vec<Mutex<Option<Band>>> = bands.collect();
    on_all_cores(&bands, |band| {
        let band = band.lock().ok().and_then(|mut band| band.take());
        let (first_row, above, below) = band.expect("one worker takes a band");
        let rows = first_row..table.a.len().min(first_row + ROWS);
        let mut left = table.before(rows.clone());
        let mut corner = table.edge(first_row);
        // If the worker above panics there are fewer pieces, and its panic is the program's.
        for (mut piece, letters) in above.iter().zip(table.b.chunks(COLUMNS)) {
            let next = piece.best.last().copied().unwrap_or(corner);
            table.fill(rows.clone(), letters, corner, &mut left, &mut piece);
            corner = next;
            below.send(piece).expect(ABOVE);
        }
    });
    // All bands are filled, so the last one's pieces are there.
    table.last_row(above)
}

/// Why a piece can be sent.
const ABOVE: &str = "the end of the channel is with the band below";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::score;
    use crate::matrix::tests::{drawn, scoring};

    #[test]
    fn results_keep_the_order_of_the_items() {
        for count in [0, 1, 2, 3, 100] {
            let items: Vec<u64> = (0..count).collect();
            let squares: Vec<u64> = items.iter().map(|i| i * i).collect();
            assert_eq!(on_all_cores(&items, |i| i * i), squares);
        }
    }

    #[test]
    fn scores_are_the_ends_of_last_rows_and_backward_is_the_same() {
        let scoring = scoring(4, 2);
        let pairs: [(&[u8], &[u8]); 3] = [(&[0, 1, 2], &[0, 2]), (&[], &[3]), (&[1; 40], &[1; 9])];
        let scores = Host.scores(&pairs, &scoring).unwrap();
        for ((a, b), found) in pairs.iter().zip(scores) {
            assert_eq!(found, score(a, b, &scoring));
            let mut pass = scoring.pass(a, b);
            pass.backward = true;
            let rows = Host.last_rows(&[pass], &scoring).unwrap();
            assert_eq!(rows[0].best.last().map(|&s| i64::from(s)), Some(found));
        }
    }

    #[test]
    fn bands_and_pieces_give_the_row_that_one_core_gives() {
        let (over, two) = ((ROWS + 1, COLUMNS + 1), (3 * ROWS - 1, 2 * COLUMNS + 3));
        for (rows, columns) in [(0, 5), (5, 0), (1, 1), (ROWS, COLUMNS), over, two] {
            let (a, b) = (drawn(1, rows), drawn(2, columns));
            for (open, extend) in [(0, 3), (7, 2), (4, 0)] {
                let scoring = scoring(open, extend);
                for (backward, first) in [(false, open), (true, 0), (false, 0)] {
                    let mut pass = scoring.pass(&a, &b);
                    (pass.backward, pass.first) = (backward, first);
                    let found = last_row_in_bands(&pass, &scoring);
                    let what = format!("{rows} {columns} {open} {extend} {backward} {first}");
                    assert_eq!(found, last_row(&pass, &scoring), "{what}");
                }
            }
        }
    }
}
