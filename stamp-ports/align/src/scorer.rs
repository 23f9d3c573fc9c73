//! What fills the tables of alignments: a device, or the host.
//!
//! All cores of the host fill a table as dataflow: the rows are cut into bands, and a band gets the row above
//! it from the band before in pieces, through a channel. Workers take bands from the top down, so the
//! uppermost one that is not finished has, or will get, every piece that it waits for.

use crate::align::{LastRow, Table, last_row};
use crate::matrix::Scoring;
use crate::{Pass, Result};
use std::mem::replace;
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
        let (letters, gap) = (scoring.matrix.alphabet.size(), scoring.gap);
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

/// Returns the last row of each table, given the best scores and those in a gap; empty if it was not filled.
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

/// Returns the last row of each table, of which `fill` fills those without an empty sequence.
pub(super) fn fill_whole(
    passes: &[Pass<'_>],
    scoring: &Scoring,
    fill: impl FnOnce(&[Pass<'_>]) -> Result<Vec<LastRow>>,
) -> Result<Vec<LastRow>> {
    let is_whole = |pass: &&Pass<'_>| !pass.a.is_empty() && !pass.b.is_empty();
    let whole: Vec<Pass<'_>> = passes.iter().filter(is_whole).copied().collect();
    let filled = (!whole.is_empty()).then(|| fill(&whole)).transpose()?;
    let mut filled = filled.into_iter().flatten();
    let rows = passes.iter().map(|pass| {
        let filled = is_whole(&pass).then(|| filled.next().unwrap_or_default());
        filled.unwrap_or_else(|| last_row(pass, scoring))
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
        let last = |row: &LastRow| row.best.last().map_or(0, |&score| score.into());
        Ok(rows.iter().map(last).collect())
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

/// Applies a function to each item, on all cores, and returns the results in the order of the items.
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

/// A band: its first row, and where pieces of the rows above it come from and of its last row go to.
type Band = (usize, Receiver<LastRow>, Sender<LastRow>);

/// Returns the last row of a table, which all cores fill.
fn last_row_in_bands(pass: &Pass<'_>, scoring: &Scoring) -> LastRow {
    let table = Table::of(pass, scoring);
    let (top, mut above) = channel();
    for (from, piece) in (0..).step_by(COLUMNS).zip(table.b.chunks(COLUMNS)) {
        let piece = table.above(from..from + piece.len());
        top.send(piece).expect(ABOVE);
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
    use crate::matrix::tests::{drawn, scoring};

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
