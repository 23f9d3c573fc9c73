//! The best global alignment on the host, which judges what a device finds, in two rows (Gotoh 1982). From
//! the last rows above and below the middle follows where it crosses this, by which [`crate::divide`] divides
//! it.

use crate::Pass;
use crate::fasta::Sequence;
use crate::matrix::{Gap, Scoring};
use std::borrow::Cow;
use std::mem::replace;
use std::ops::Range;

/// What an alignment does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Puts a letter of A above a letter of B.
    Pair,
    /// Puts a letter of A above a gap.
    OnlyA,
    /// Puts a gap above a letter of B.
    OnlyB,
}

/// An alignment of two whole sequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Its score.
    pub score: i64,
    /// What it does, from the beginning.
    pub ops: Vec<Op>,
}

/// The last row of the table of the alignments of a sequence A with all beginnings of a sequence B.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastRow {
    /// The best score of all of A with the first `j` letters of B, `j` from 0.
    pub best: Vec<i32>,
    /// The best score of those that end in a gap below a letter of A; needless if gaps are linear.
    pub in_gap: Vec<i32>,
}

/// Returns the best score of two sequences of codes that [`Scoring::check`] admits.
pub fn score(a: &[u8], b: &[u8], scoring: &Scoring) -> i64 {
    i64::from(last_row(&scoring.pass(a, b), scoring).best[b.len()])
}

/// Returns the score of an alignment; panics if it has other numbers of letters than these sequences.
pub fn score_of(ops: &[Op], a: &[u8], b: &[u8], scoring: &Scoring) -> i64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    for run in ops.chunk_by(|x, y| x == y) {
        match run[0] {
            Op::Pair => {
                for _ in run {
                    sum += i64::from(scoring.matrix.score(a[i], b[j]));
                    (i, j) = (i + 1, j + 1);
                }
            }
            gap => {
                sum -= scoring.gap.cost(run.len());
                *(if gap == Op::OnlyA { &mut i } else { &mut j }) += run.len();
            }
        }
    }
    let lengths = (a.len(), b.len());
    assert_eq!((i, j), lengths, "an alignment of other sequences");
    sum
}

/// A table that the host fills, with the letters in the order in which it does.
pub(super) struct Table<'s> {
    pub(super) a: Cow<'s, [u8]>,
    pub(super) b: Cow<'s, [u8]>,
    first: i32,
    scoring: &'s Scoring,
}

impl<'s> Table<'s> {
    pub(super) fn of(pass: &Pass<'s>, scoring: &'s Scoring) -> Self {
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

    /// Returns the best score of the first letters of A with none of B, which fits 32 bits, as was checked.
    pub(super) fn edge(&self, row: usize) -> i32 {
        match row {
            0 => 0,
            row => -self.first - self.scoring.gap.extend * row as i32,
        }
    }

    /// Returns what is above the first row in some columns of letters.
    pub(super) fn above(&self, columns: Range<usize>) -> LastRow {
        let Gap { open, .. } = self.scoring.gap;
        let best = columns.map(|j| -self.scoring.gap.cost(j + 1) as i32);
        let best: Vec<i32> = best.collect();
        let in_gap = best.iter().map(|score| score - open).collect();
        LastRow { best, in_gap }
    }

    /// Returns the column before the first: the best scores, and for the column behind it those in a gap.
    pub(super) fn before(&self, rows: Range<usize>) -> Vec<(i32, i32)> {
        let edges = rows.map(|row| self.edge(row + 1));
        let Gap { open, extend } = self.scoring.gap;
        edges.map(|edge| (edge, edge - open - extend)).collect()
    }

    /// Fills the block of some rows and of these letters of columns. `left` and the last argument are the
    /// column and the row before it, and become its last; `corner` is the best score of the cell before both.
    pub(super) fn fill(
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

    pub(super) fn last_row(&self, pieces: impl IntoIterator<Item = LastRow>) -> LastRow {
        let corner = self.edge(self.a.len());
        let (mut best, mut in_gap) = (vec![corner], vec![corner]);
        for piece in pieces {
            best.extend(piece.best);
            in_gap.extend(piece.in_gap);
        }
        LastRow { best, in_gap }
    }
}

/// Returns the last row of a table, which one core fills.
pub(super) fn last_row(pass: &Pass<'_>, scoring: &Scoring) -> LastRow {
    let table = Table::of(pass, scoring);
    let (rows, mut row) = (0..table.a.len(), table.above(0..table.b.len()));
    let mut left = table.before(rows.clone());
    table.fill(rows, &table.b, table.edge(0), &mut left, &mut row);
    table.last_row([row])
}

/// Finds where a best alignment crosses from the upper part of A to the lower, by the last rows of the upper
/// and, from the end, of the lower. Returns the number of letters of B in the upper part, whether a gap below
/// letters of A goes through, and the score of the whole.
pub(super) fn crossing(above: &LastRow, below: &LastRow, gap: Gap) -> (usize, bool, i64) {
    let columns = above.best.len() - 1;
    let at = |column| {
        let sum = |a: &[i32], b: &[i32]| i64::from(a[column]) + i64::from(b[columns - column]);
        let apart = sum(&above.best, &below.best);
        // One gap on both sides is opened once. A linear gap has nothing to open, and the
        // best of each side is at least as good as the best in a gap.
        let through = if gap.is_linear() {
            apart
        } else {
            sum(&above.in_gap, &below.in_gap) + i64::from(gap.open)
        };
        (column, through > apart, apart.max(through))
    };
    let all = (0..=columns).map(at);
    all.max_by_key(|&(.., score)| score).expect("a column")
}

/// Returns the best alignment of a part that has at most one letter of A, or none of B. A gap below it that
/// touches the beginning costs `open[0]` to open, one that touches the end `open[1]`: nothing where it goes
/// on beyond.
pub(super) fn single(a: &[u8], b: &[u8], scoring: &Scoring, open: [i32; 2]) -> Vec<Op> {
    let only_b = |n: usize| std::iter::repeat_n(Op::OnlyB, n);
    let &[letter] = a else {
        let only_a = std::iter::repeat_n(Op::OnlyA, a.len());
        return only_a.chain(only_b(b.len())).collect();
    };
    let gap = scoring.gap;
    let alone = -i64::from(open[0].min(open[1]) + gap.extend) - gap.cost(b.len());
    let paired = (0..b.len()).map(|j| {
        let score = i64::from(scoring.matrix.score(letter, b[j]));
        (score - gap.cost(j) - gap.cost(b.len() - 1 - j), j)
    });
    let (op, before) = match paired.max().filter(|(score, _)| *score >= alone) {
        Some((_, j)) => (Op::Pair, j),
        None if open[0] <= open[1] => (Op::OnlyA, 0),
        None => (Op::OnlyA, b.len()),
    };
    let after = b.len() - before - usize::from(op == Op::Pair);
    only_b(before).chain([op]).chain(only_b(after)).collect()
}

/// Returns an alignment of codes in CIGAR: runs of equal letters (`=`), of other pairs (`X`), of letters of A
/// alone (`I`) and of B alone (`D`), each with its length.
pub fn cigar(ops: &[Op], a: &[u8], b: &[u8]) -> String {
    let columns = columns(ops, a, b);
    let runs = columns.chunk_by(|x, y| x.0 == y.0);
    let runs = runs.map(|run| format!("{}{}", run.len(), run[0].0));
    runs.collect::<Vec<_>>().concat()
}

/// A column of an alignment: the symbol, and the places of a letter of each sequence.
type Column = (char, Option<usize>, Option<usize>);

fn columns(ops: &[Op], a: &[u8], b: &[u8]) -> Vec<Column> {
    let (mut of_a, mut of_b) = (0..a.len(), 0..b.len());
    let column = |op: &Op| match op {
        Op::Pair => {
            let (at, other) = (of_a.next(), of_b.next());
            let is_equal = at.map(|at| a[at]) == other.map(|at| b[at]);
            (if is_equal { '=' } else { 'X' }, at, other)
        }
        Op::OnlyA => ('I', of_a.next(), None),
        Op::OnlyB => ('D', None, of_b.next()),
    };
    ops.iter().map(column).collect()
}

/// The longest name that stands before a line whole.
const NAME_MAX: usize = 24;

/// Returns a name, or its beginning if it is long.
fn label(name: &str) -> String {
    match name.char_indices().nth(NAME_MAX - 3) {
        Some((end, _)) if name.chars().count() > NAME_MAX => format!("{}...", &name[..end]),
        _ => name.to_owned(),
    }
}

/// Returns an alignment for people: lines of `width` columns, each with the places of its first and last
/// letters, and `|` between letters that are equal.
pub fn lines(ops: &[Op], of_a: &Sequence, of_b: &Sequence, width: usize) -> String {
    let columns = columns(ops, &of_a.codes, &of_b.codes);
    let (a, b) = (&of_a.record, &of_b.record);
    let (name_a, name_b) = (label(&a.name), label(&b.name));
    let names = name_a.chars().count().max(name_b.chars().count());
    let digits = a.letters.len().max(b.letters.len()).to_string().len();
    let (mut at_a, mut at_b) = (0, 0);
    let row = |name: &str, letters: &[u8], places: Vec<Option<usize>>, at: &mut usize| {
        let letter = |at: &Option<usize>| at.map_or('-', |at| char::from(letters[at]));
        let shown: String = places.iter().map(letter).collect();
        // The place of the first letter, or of the one before if there is none.
        let mut there = places.into_iter().flatten().map(|place| place + 1);
        let first = there.next().unwrap_or(*at);
        *at = there.next_back().unwrap_or(first);
        format!("{name:names$} {first:>digits$} {shown} {at}\n")
    };
    let blocks = columns.chunks(width.max(1)).map(|chunk| {
        let mark = |c: &Column| if c.0 == '=' { '|' } else { ' ' };
        let marks: String = chunk.iter().map(mark).collect();
        let (of_a, of_b) = chunk.iter().map(|c| (c.1, c.2)).unzip();
        let above = row(&name_a, &a.letters, of_a, &mut at_a);
        let below = row(&name_b, &b.letters, of_b, &mut at_b);
        let marks = marks.trim_end();
        format!("{above}{:names$} {:digits$} {marks}\n{below}", "", "")
    });
    blocks.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divide::align;
    use crate::matrix::tests::{drawn, scoring};
    use Op::{OnlyA, OnlyB, Pair};
    use stm_kernels::draw::{below, draw};

    /// The best score, by trying everything.
    fn tried((a, b): (&[u8], &[u8]), scoring: &Scoring, ops: &[Op], (i, j): (usize, usize)) -> i64 {
        if (i, j) == (a.len(), b.len()) {
            return score_of(ops, a, b, scoring);
        }
        let steps = [(Pair, i + 1, j + 1), (OnlyA, i + 1, j), (OnlyB, i, j + 1)].into_iter();
        let fit = steps.filter(|&(_, i, j)| i <= a.len() && j <= b.len());
        let tried = fit.map(|(op, i, j)| tried((a, b), scoring, &[ops, &[op]].concat(), (i, j)));
        tried.max().expect("a step")
    }

    #[test]
    fn short_sequences_have_the_best_of_all_alignments() {
        for seed in 0..200 {
            let length = |i| below(draw(seed, i, 1), 6) as usize;
            let (a, b) = (drawn(seed, length(0)), drawn(seed + 1000, length(1)));
            for gap in [(0, 3), (6, 1), (2, 2), (0, 0), (12, 0)] {
                let scoring = scoring(gap.0, gap.1);
                let best = tried((&a, &b), &scoring, &[], (0, 0));
                assert_eq!(score(&a, &b, &scoring), best, "{a:?} {b:?} {gap:?}");
                assert_eq!(align(&a, &b, &scoring).score, best, "{a:?} {b:?} {gap:?}");
            }
        }
    }
}
