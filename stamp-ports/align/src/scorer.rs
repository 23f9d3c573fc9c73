//! What fills the tables of alignments: a device, or the host.

use super::Pass;
use super::align::{LastRow, last_row};
use super::bands;
use crate::Result;
use crate::matrix::Scoring;
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
        let mut row = LastRow::default();
        if is_empty(pass) {
            // Nothing is to be computed, and the order of the letters is all the same.
            last_row(pass.a.iter(), &pass.b.iter(), scoring, pass.first, &mut row);
        } else if let Some(next) = filled.next() {
            row = next;
        }
        row
    });
    Ok(rows.collect())
}

/// Something that fills tables.
pub trait Scorer {
    /// Returns what it is, for a document: `host`, or the device's identifier.
    fn name(&self) -> String;

    /// Returns the last row of each table. The scoring admits all of them
    /// ([`Scoring::check`]).
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
    fn last_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>>;

    /// Returns what [`Scorer::last_rows`] does, inside a span that says what is filled where.
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
    fn traced_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>> {
        let cells: u64 = passes.iter().map(Pass::cells).sum();
        let (on, tables) = (self.name(), passes.len());
        let _span = tracing::info_span!("fill tables", on, tables, cells).entered();
        self.last_rows(passes, scoring)
    }

    /// Returns the score of each pair of sequences.
    ///
    /// # Errors
    /// Too little memory, or an error of the device.
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
                .map(|pass| bands::last_row(pass, scoring, cores))
                .collect());
        }
        Ok(on_all_cores(passes, |pass| {
            let mut row = LastRow::default();
            if pass.backward {
                let (a, b) = (pass.a.iter().rev(), pass.b.iter().rev());
                last_row(a, &b, scoring, pass.first, &mut row);
            } else {
                last_row(pass.a.iter(), &pass.b.iter(), scoring, pass.first, &mut row);
            }
            row
        }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::score;
    use crate::testing::scoring;

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
}
