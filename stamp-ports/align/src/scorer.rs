//! What fills the tables of alignments: a device, or the host.
//!
//! All cores of the host fill a table as dataflow: the rows are cut into bands, which
//! workers take in turns, and a band gets the row above it from the band before in pieces,
//! through a channel. A worker takes its bands from the top down, so the uppermost band that is
//! not finished has, or will get, every piece that it waits for.

use super::Pass;
use super::align::last_row;
use crate::Result;
use crate::align::LastRow;
use crate::matrix::{Gap, Scoring};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Returns the last row of each table, of which `fill` fills those without an empty sequence,
/// if there are any.
pub(super) fn fill_whole(
    passes: &[Pass<'_>],
    scoring: &Scoring,
    fill: impl FnOnce(&[Pass<'_>]) -> Result<Vec<LastRow>>,
) -> Result<Vec<LastRow>> {
    let is_empty = |pass: &Pass<'_>| pass.a.is_empty() || pass.b.is_empty();
    let whole: Vec<Pass<'_>> = passes.iter().copied().filter(|p| !is_empty(p)).collect();
    let filled = if whole.is_empty() {
        Vec::new()
    } else {
        fill(&whole)?
    };
    let mut filled = filled.into_iter();
    let rows = passes.iter().map(|pass| {
        if is_empty(pass) {
            last_row(pass, scoring)
        } else {
            filled.next().unwrap_or_default()
        }
    });
    Ok(rows.collect())
}

/// Something that fills tables.
pub trait Scorer {
    /// Returns what it is, for a document: `host`, or the device's identifier.
    fn name(&self) -> String;

    /// Returns the last row of each table. The scoring admits all of them ([`Scoring::check`]).
    fn last_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>>;

    /// Returns what [`Scorer::last_rows`] does, inside a span that says what is filled where.
    fn traced_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>> {
        let cells: u64 = passes.iter().map(Pass::cells).sum();
        let (on, tables) = (self.name(), passes.len());
        let _span = tracing::info_span!("fill tables", on, tables, cells).entered();
        self.last_rows(passes, scoring)
    }

    /// Returns the score of each pair of sequences.
    fn scores(&mut self, pairs: &[(&[u8], &[u8])], scoring: &Scoring) -> Result<Vec<i64>> {
        let passes: Vec<_> = pairs
            .iter()
            .map(|(a, b)| Pass {
                a,
                b,
                backward: false,
                first: scoring.gap.open,
            })
            .collect();
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
        // A cell of bands takes longer than one of whole rows (3.0 s and 2.3 s for 900 M cells on
        // one core), so it pays only if most cores had nothing to do otherwise.
        if cores > 2 * passes.len() && passes.iter().any(|p| p.cells() > BANDS) {
            return Ok(passes
                .iter()
                .map(|pass| last_row_in_bands(pass, scoring, cores))
                .collect());
        }
        Ok(on_all_cores(passes, |pass| last_row(pass, scoring)))
    }
}

/// Applies a function to each item, on all cores, and returns the results in the order of
/// the items.
pub(super) fn on_all_cores<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(items.len());
    if workers < 2 {
        return items.iter().map(of).collect();
    }
    // Every worker takes one item of `workers`, as neighbours are often alike.
    let mut shares: Vec<_> = thread::scope(|scope| {
        let of = &of;
        let running: Vec<_> = (0..workers)
            .map(|first| {
                scope.spawn(move || {
                    let mine = items.iter().skip(first).step_by(workers);
                    mine.map(of).collect::<Vec<R>>().into_iter()
                })
            })
            .collect();
        let joined = running.into_iter().map(|worker| match worker.join() {
            Ok(share) => share,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    (0..items.len())
        .filter_map(|i| shares[i % workers].next())
        .collect()
}

/// Rows of a band, whose values at its left edge stay in the first cache.
const ROWS: usize = 512;

/// Columns of a piece of a row: enough to make a message cheap.
const COLUMNS: usize = 2048;

/// A piece of a row: for each of its columns the best score, and the best of those in a gap
/// below a letter of A.
#[derive(Debug)]
struct Piece {
    best: Vec<i32>,
    in_gap: Vec<i32>,
}

/// The last cell of a row, as the next piece of columns needs it.
#[derive(Clone, Copy, Debug)]
struct Left {
    best: i32,
    /// The best score of those that end in a gap above a letter of B.
    only_b: i32,
}

/// A table to fill.
struct Bands<'t> {
    a: &'t [u8],
    b: &'t [u8],
    first: i32,
    scoring: &'t Scoring,
}

/// A worker's band, and where its pieces come from and go to; the first band has nothing above.
struct Band {
    first_row: usize,
    above: Option<Receiver<Piece>>,
    below: Sender<Piece>,
}

/// Returns the last row of a table, which so many workers fill.
fn last_row_in_bands(pass: &Pass<'_>, scoring: &Scoring, workers: usize) -> LastRow {
    let reversed = |letters: &[u8]| -> Vec<u8> { letters.iter().rev().copied().collect() };
    let turned = pass.backward.then(|| (reversed(pass.a), reversed(pass.b)));
    let (a, b) = turned.as_ref().map_or((pass.a, pass.b), |(a, b)| (a, b));
    let table = Bands {
        a,
        b,
        first: pass.first,
        scoring,
    };
    table.last_row(workers.max(1))
}

impl Bands<'_> {
    fn last_row(&self, workers: usize) -> LastRow {
        let mut shares: Vec<Vec<Band>> = (0..workers).map(|_| Vec::new()).collect();
        let mut above = None;
        for (band, first_row) in (0..self.a.len()).step_by(ROWS).enumerate() {
            let (below, next) = channel();
            shares[band % workers].push(Band {
                first_row,
                above: above.replace(next),
                below,
            });
        }
        thread::scope(|scope| {
            for share in shares {
                scope.spawn(move || {
                    for band in share {
                        self.fill(&band);
                    }
                });
            }
        });
        // All bands are filled, so the last one's pieces are there.
        let corner = self.edge(self.a.len());
        let mut row = LastRow {
            best: vec![corner],
            in_gap: vec![corner],
        };
        if let Some(pieces) = above {
            for piece in pieces {
                row.best.extend(piece.best);
                row.in_gap.extend(piece.in_gap);
            }
        } else {
            let top = self.top(0, self.b.len());
            row.best.extend(top.best);
            row.in_gap.extend(top.in_gap);
        }
        row
    }

    /// Returns the best score of the first `row` letters of A with none of B.
    fn edge(&self, row: usize) -> i32 {
        match row {
            0 => 0,
            // Costs fit 32 bits, as the scoring was checked.
            row => -self.first - self.scoring.gap.extend * row as i32,
        }
    }

    /// Returns a piece of the row above the first, of the columns behind `from` letters of B.
    fn top(&self, from: usize, to: usize) -> Piece {
        let gap = self.scoring.gap;
        let best: Vec<i32> = (from..to).map(|j| -gap.cost(j + 1) as i32).collect();
        let in_gap = best.iter().map(|score| score - gap.open).collect();
        Piece { best, in_gap }
    }

    /// Fills a band, piece by piece.
    fn fill(&self, band: &Band) {
        let rows = band.first_row..self.a.len().min(band.first_row + ROWS);
        let open = self.scoring.gap.open;
        let left = |row: usize| {
            let best = self.edge(row + 1);
            let only_b = best - open;
            Left { best, only_b }
        };
        let mut left: Vec<Left> = rows.clone().map(left).collect();
        let mut corner = self.edge(band.first_row);
        for from in (0..self.b.len()).step_by(COLUMNS) {
            let to = self.b.len().min(from + COLUMNS);
            let mut piece = match &band.above {
                None => self.top(from, to),
                Some(above) => match above.recv() {
                    Ok(piece) => piece,
                    // The worker above has panicked, which the scope reports.
                    Err(_) => return,
                },
            };
            let next = piece.best.last().copied().unwrap_or(corner);
            let (a, b) = (&self.a[rows.clone()], &self.b[from..to]);
            fill_block((a, b), self.scoring, corner, &mut left, &mut piece);
            corner = next;
            if band.below.send(piece).is_err() {
                return;
            }
        }
    }
}

/// Fills the block of these letters. `left` is the column before it and becomes its last,
/// `piece` is the row above it and becomes its last, and `corner` is the best score of the cell
/// above `left`.
fn fill_block(
    (a, b): (&[u8], &[u8]),
    scoring: &Scoring,
    corner: i32,
    left: &mut [Left],
    Piece { best, in_gap }: &mut Piece,
) {
    let Gap { open, extend } = scoring.gap;
    let mut next = corner;
    for (&letter, left) in a.iter().zip(left) {
        let mut diagonal = std::mem::replace(&mut next, left.best);
        let Left {
            best: mut before,
            mut only_b,
        } = *left;
        for ((&other, best), in_gap) in b.iter().zip(&mut *best).zip(&mut *in_gap) {
            only_b = only_b.max(before - open) - extend;
            *in_gap = (*in_gap).max(*best - open) - extend;
            let pair = diagonal + scoring.matrix.score(letter, other);
            diagonal = *best;
            before = pair.max(*in_gap).max(only_b);
            *best = before;
        }
        *left = Left {
            best: before,
            only_b,
        };
    }
}

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
            let pass = Pass {
                a,
                b,
                backward: true,
                first: 4,
            };
            let rows = Host.last_rows(&[pass], &scoring).unwrap();
            assert_eq!(rows[0].best.last().map(|&s| i64::from(s)), Some(found));
        }
    }

    #[test]
    fn bands_and_pieces_give_the_row_that_one_core_gives() {
        let lengths = [
            (0, 5),
            (5, 0),
            (1, 1),
            (ROWS, COLUMNS),
            (ROWS + 1, COLUMNS + 1),
            (3 * ROWS - 1, 2 * COLUMNS + 3),
        ];
        for ((rows, columns), gap) in lengths
            .into_iter()
            .flat_map(|lengths| [(0, 3), (7, 2), (4, 0)].map(|gap| (lengths, gap)))
        {
            let (a, b) = (drawn(1, rows), drawn(2, columns));
            let (open, extend) = gap;
            let scoring = scoring(open, extend);
            for (backward, first, workers) in [(false, open, 3), (true, 0, 2), (false, 0, 1)] {
                let pass = Pass {
                    a: &a,
                    b: &b,
                    backward,
                    first,
                };
                let found = last_row_in_bands(&pass, &scoring, workers);
                let right = last_row(&pass, &scoring);
                assert_eq!(found, right, "{rows} {columns} {gap:?} {backward} {first}");
            }
        }
    }
}
