//! Alignments of batches of pairs, of which a [`Scorer`] fills the large tables.
//!
//! A part is divided where its best alignment crosses the middle row (Hirschberg 1975; with affine gaps Myers
//! and Miller 1988), so an alignment takes twice the time of its score, and memory for a few rows. The parts
//! of all pairs are divided together, in rounds, by two tables of half the size for each; what is small by
//! the host, on all cores.

use super::align::{Alignment, LastRow, Op, crossing, last_row, score_of, single};
use super::scorer::{Scorer, on_all_cores};
use crate::fasta::{Record, Sequence, is_input, read, shown};
use crate::matrix::{Matrix, Scoring, one_with};
use crate::{Error, Pass, Result};
use std::ops::Range;
use std::path::Path;

/// A part with more cells than this goes to the scorer: 4 M, which take the host some milliseconds.
pub const LARGE: u64 = 4 << 20;

/// Returns whether an alignment of so many letters is divided by tables that the scorer fills.
pub const fn is_large(a: usize, b: usize, limit: u64) -> bool {
    a > 1 && a as u64 * b as u64 > limit
}

/// A part to align: of which pair, and which letters.
struct Part {
    pair: usize,
    a: Range<usize>,
    b: Range<usize>,
    /// What gaps that touch its ends cost to open, as in [`single`].
    open: [i32; 2],
}

impl Part {
    fn whole(pair: usize, (a, b): (&[u8], &[u8]), scoring: &Scoring) -> Self {
        let (a, b, open) = (0..a.len(), 0..b.len(), [scoring.gap.open; 2]);
        Self { pair, a, b, open }
    }

    fn is_large(&self, limit: u64) -> bool {
        is_large(self.a.len(), self.b.len(), limit)
    }

    /// Returns the tables above and below the middle.
    fn passes<'s>(&self, pairs: &[(&'s [u8], &'s [u8])]) -> [Pass<'s>; 2] {
        let (a, b) = pairs[self.pair];
        let b = &b[self.b.clone()];
        let (above, below) = a[self.a.clone()].split_at(self.a.len() / 2);
        let [first, last] = self.open;
        [(above, false, first), (below, true, last)].map(|(a, backward, first)| Pass {
            a,
            b,
            backward,
            first,
        })
    }

    /// Returns its parts, by the last rows of its tables, and its score. Between the two to align further are
    /// the letters of A around the middle, if they are in a gap.
    fn divided(&self, rows: &[LastRow], scoring: &Scoring) -> ([Self; 3], i64) {
        let (column, through, score) = crossing(&rows[0], &rows[1], scoring.gap);
        let middle = self.a.start + self.a.len() / 2;
        let column = self.b.start + column;
        // A gap through the crossing was opened once, by neither part.
        let open = if through { 0 } else { scoring.gap.open };
        let kept = usize::from(through);
        let (above, below) = (middle - kept, middle + kept);
        let pair = self.pair;
        let part = |a, b, open| Self { pair, a, b, open };
        let (b, [first, last]) = (&self.b, self.open);
        let parts = [
            part(self.a.start..above, b.start..column, [first, open]),
            part(above..below, column..column, [open; 2]),
            part(below..self.a.end, column..b.end, [open, last]),
        ];
        (parts, score)
    }
}

/// Returns a best alignment of each pair of sequences of codes, which the scoring admits
/// ([`Scoring::check`]); tables of more than `limit` cells go to the scorer. Errors are those of the scorer,
/// and alignments with another score than its tables.
pub fn align_all(
    pairs: &[(&[u8], &[u8])],
    scoring: &Scoring,
    scorer: &mut dyn Scorer,
    limit: u64,
) -> Result<Vec<Alignment>> {
    let wrong = |scorer: &dyn Scorer, what| Error::WrongTables {
        scorer: scorer.name(),
        what,
    };
    let whole = pairs.iter().enumerate();
    let whole = whole.map(|(i, pair)| Part::whole(i, *pair, scoring));
    let mut parts: Vec<Part> = whole.collect();
    let mut known: Vec<Option<i64>> = vec![None; pairs.len()];
    loop {
        let large = parts.iter().filter(|part| part.is_large(limit));
        let passes: Vec<_> = large.flat_map(|part| part.passes(pairs)).collect();
        if passes.is_empty() {
            break;
        }
        let rows = scorer.traced_rows(&passes, scoring)?;
        if rows.len() != passes.len() {
            return Err(wrong(scorer, "a table has no last row".to_owned()));
        }
        let mut rows = rows.chunks_exact(2);
        let mut next = Vec::with_capacity(parts.len() + passes.len());
        for part in parts {
            if part.is_large(limit) {
                let two = rows.next().expect("the last rows of every table");
                let (divided, score) = part.divided(two, scoring);
                known[part.pair].get_or_insert(score);
                next.extend(divided);
            } else {
                next.push(part);
            }
        }
        parts = next;
    }
    let cells = |part: &Part| part.a.len() as u64 * part.b.len() as u64;
    let (count, cells) = (parts.len(), parts.iter().map(cells).sum::<u64>());
    let span = tracing::info_span!("align small parts", on = "host", parts = count, cells);
    let aligned = span.in_scope(|| on_all_cores(&parts, |part| align_part(part, pairs, scoring)));
    let mut ops: Vec<Vec<Op>> = vec![Vec::new(); pairs.len()];
    for (part, mut aligned) in parts.iter().zip(aligned) {
        ops[part.pair].append(&mut aligned);
    }
    let of_pairs = pairs.iter().zip(ops).zip(known);
    let alignments = of_pairs.map(|((&(a, b), ops), known)| {
        let score = score_of(&ops, a, b, scoring);
        let wrong = known.filter(|known| *known != score);
        let wrong = wrong.map(|known| format!("its tables have score {known}"));
        let wrong = wrong.map(|what| format!("{what}, and the alignment by them {score}"));
        wrong.map_or(Ok(Alignment { score, ops }), Err)
    });
    let alignments: Result<_, String> = alignments.collect();
    alignments.map_err(|what| wrong(scorer, what))
}

/// Returns a best alignment of a part, all by one core of the host.
fn align_part(part: &Part, pairs: &[(&[u8], &[u8])], scoring: &Scoring) -> Vec<Op> {
    if !part.is_large(0) {
        let (a, b) = pairs[part.pair];
        return single(&a[part.a.clone()], &b[part.b.clone()], scoring, part.open);
    }
    let rows = part.passes(pairs).map(|pass| last_row(&pass, scoring));
    let (parts, _) = part.divided(&rows, scoring);
    let aligned = parts.iter().map(|part| align_part(part, pairs, scoring));
    aligned.flatten().collect()
}

/// Returns a best alignment of two sequences of codes that [`Scoring::check`] admits, by one core of the host.
pub fn align(a: &[u8], b: &[u8], scoring: &Scoring) -> Alignment {
    let ops = align_part(&Part::whole(0, (a, b), scoring), &[(a, b)], scoring);
    let score = score_of(&ops, a, b, scoring);
    Alignment { score, ops }
}

/// Two sequences to align.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The one whose letters are rows.
    pub a: Sequence,
    /// The one whose letters are columns.
    pub b: Sequence,
}

impl Pair {
    /// Returns the codes of both.
    pub fn codes(&self) -> (&[u8], &[u8]) {
        (&self.a.codes, &self.b.codes)
    }
}

/// Reads two files and pairs their records in order. Errors are files that cannot be read or are not FASTA,
/// different numbers of records, letters that the alphabet lacks, lengths whose scores are too large.
pub fn read_pairs(a: &Path, b: &Path, scoring: &Scoring) -> Result<Vec<Pair>> {
    if is_input(a) && is_input(b) {
        let why = "both files are `-`: standard input can be one of them";
        return Err(Error::Usage(why.to_owned()));
    }
    let (of_a, of_b) = (read(a)?, read(b)?);
    if of_a.len() != of_b.len() {
        let [first, second] = [(a, of_a.len()), (b, of_b.len())].map(|(path, count)| {
            let more = if count == 1 { "" } else { "s" };
            format!("{} has {count} sequence{more}", shown(path))
        });
        return Err(Error::Usage(format!(
            "{first} and {second}: the i-th sequence of one is aligned with the i-th of the other, \
             so give files with as many"
        )));
    }
    let sequence = |record: Record, path: &Path| {
        let Matrix { name, alphabet, .. } = &scoring.matrix;
        let codes = alphabet.codes(&record.name, &record.letters);
        let codes = codes.map_err(|wrong| {
            let none = "no built-in matrix has all of its letters: give --matrix a FILE that has";
            let give = |other| format!("give --matrix {other}, which has all of its letters");
            let fix = one_with(&record.letters, name).map_or_else(|| none.into(), give);
            Error::Usage(format!("{}: {wrong}: {fix}", shown(path)))
        })?;
        Ok::<_, Error>(Sequence { record, codes })
    };
    let pairs = of_a.into_iter().zip(of_b).map(|(of_a, of_b)| {
        let (a, b) = (sequence(of_a, a)?, sequence(of_b, b)?);
        let checked = scoring.check(a.codes.len(), b.codes.len());
        checked.map_err(|wrong| {
            let (a, b) = (&a.record.name, &b.record.name);
            Error::Usage(format!("{a} and {b}: {wrong}"))
        })?;
        Ok(Pair { a, b })
    });
    pairs.collect()
}

/// Letters of B in a group of pairs, unless one pair has more: its rows take memory in proportion.
const GROUP_COLUMNS: usize = 16 << 20;

/// Divides pairs into groups that are aligned together.
pub fn groups(mut pairs: &[Pair]) -> impl Iterator<Item = &[Pair]> {
    std::iter::from_fn(move || {
        let mut columns = 0;
        let fit = pairs.iter().take_while(|pair| {
            columns += pair.b.codes.len();
            columns <= GROUP_COLUMNS
        });
        let count = fit.count().max(1).min(pairs.len());
        let (group, left) = pairs.split_at(count);
        pairs = left;
        (!group.is_empty()).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::score;
    use crate::matrix::tests::{drawn, scoring};
    use crate::scorer::Host;

    #[test]
    fn alignments_divided_by_any_limit_have_the_scores_of_whole_tables() {
        let of = |seed: usize| {
            let a = drawn(seed as u64, 1 + 13 * seed);
            let mut b = a.clone();
            let middle = a.len() / 2;
            b.splice(middle..middle, drawn(seed as u64 + 100, 3 * seed));
            b.drain(0..b.len() / 5);
            (a, b)
        };
        let drawn: Vec<(Vec<u8>, Vec<u8>)> = (0..12).map(of).collect();
        let pairs: Vec<(&[u8], &[u8])> = drawn.iter().map(|(a, b)| (&a[..], &b[..])).collect();
        for (open, extend) in [(0, 3), (11, 1), (4, 0), (0, 0)] {
            let scoring = scoring(open, extend);
            for limit in [0, 1, 16, 300, LARGE] {
                let found = align_all(&pairs, &scoring, &mut Host, limit).unwrap();
                for ((a, b), found) in pairs.iter().zip(found) {
                    let what = format!("{open} {extend} {limit} {a:?} {b:?}");
                    assert_eq!(found.score, score(a, b, &scoring), "{what}");
                }
            }
        }
    }

    /// A scorer whose tables are too good by one.
    struct Wrong;

    impl Scorer for Wrong {
        fn name(&self) -> String {
            "wrong".to_owned()
        }

        fn last_rows(&mut self, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Vec<LastRow>> {
            let mut rows = Host.last_rows(passes, scoring)?;
            for best in rows.iter_mut().flat_map(|row| &mut row.best) {
                *best += 1;
            }
            Ok(rows)
        }
    }

    #[test]
    fn tables_that_cannot_be_right_are_an_error() {
        let a = drawn(1, 50);
        let error = align_all(&[(&a, &a)], &scoring(0, 3), &mut Wrong, 100).unwrap_err();
        assert!(error.to_string().contains("score 252"), "{error}");
        assert!(matches!(error, Error::WrongTables { .. }), "{error:?}");
    }

    #[test]
    fn groups_are_all_pairs_in_order_and_none_is_large_unless_of_one() {
        let sequence = |len| {
            let (name, letters) = ("a".to_owned(), Vec::new());
            let (record, codes) = (Record { name, letters }, vec![0; len]);
            Sequence { record, codes }
        };
        let pair = |columns| {
            let (a, b) = (sequence(1), sequence(columns));
            Pair { a, b }
        };
        let lengths = [1, GROUP_COLUMNS - 1, 1, GROUP_COLUMNS + 1, 5, 6];
        let pairs: Vec<Pair> = lengths.into_iter().map(pair).collect();
        let columns = |group: &[Pair]| group.iter().map(|pair| pair.b.codes.len()).collect();
        let groups: Vec<Vec<usize>> = groups(&pairs).map(columns).collect();
        assert_eq!(groups.concat(), lengths);
        let counts: Vec<usize> = groups.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 1, 1, 2]);
    }
}
