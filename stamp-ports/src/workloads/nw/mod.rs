//! Alignment of two sequences: a transaction for each cell of the matrix, which waits for its
//! neighbours. `bench nw` measures what does the same without transactions.

use crate::workloads::prelude::*;
use stm_align::matrix::{Gap, Matrix as Scores, Scoring};
use stm_kernels::nw::layout::transformed_scores;
use stm_kernels::nw::transactions::{Matrix, MatrixWork};
use stm_kernels::nw::{score, word};

sizes! {
    /// Two random sequences of nucleotides, aligned with linear gaps. The default is a size of Li et al. 2015
    /// (Table 3) with 246,016 cells.
    Nw, options of "nw" {
        letters: u32 = 496, count "Letters of each of the two sequences" ["496"],
            when Occasion::Quick | Occasion::Recording(_) => 62;
    } takes []
}

/// The most letters: 64 M cells.
const LETTERS_MAX: u32 = 8192;

pub const NUCLEOTIDES: u32 = 4;

/// Returns a random sequence of codes of an alphabet, number `which` of a seed.
pub fn random_codes(seed: u64, which: u64, letters: u32, alphabet: u32) -> Vec<u8> {
    let code = |i| below(draw(seed, i, which as u32), alphabet) as u8;
    (0..u64::from(letters)).map(code).collect()
}

/// Returns a scoring with linear gaps: 5 for equal letters, -4 for others, and 8 for each letter of a gap.
pub fn linear_nucleotides() -> Scoring {
    let matrix = Scores::of_match(b"ACGT", 5, -4);
    let matrix = matrix.unwrap_or_else(|never| unreachable!("four letters: {never}"));
    let gap = Gap { open: 0, extend: 8 };
    Scoring { matrix, gap }
}

impl Nw {
    pub fn sequences(&self, seed: u64) -> [Vec<u8>; 2] {
        [0, 1].map(|which| random_codes(seed, which, self.letters, NUCLEOTIDES))
    }

    /// Returns the cells of a side, with the border.
    const fn side(&self) -> usize {
        self.letters as usize + 1
    }

    /// Returns the cells in the order of their diagonals: the row in the upper half of a word, the column in
    /// the lower.
    fn order(&self) -> Vec<u32> {
        let n = self.letters;
        let diagonal = |sum: u32| {
            let rows = sum.saturating_sub(n).max(1)..=(sum - 1).min(n);
            rows.map(move |row| (row << 16) | (sum - row))
        };
        (2..=2 * n).flat_map(diagonal).collect()
    }

    /// Returns the cells before a launch, and those after it.
    fn cells(&self, seed: u64) -> [Vec<u32>; 2] {
        let (side, [a, b]) = (self.side(), self.sequences(seed));
        let scoring = linear_nucleotides();
        let mut border = vec![0; side * side];
        for i in 0..side {
            // Transformed scores outside of the matrix are 0 with linear gaps.
            (border[i], border[i * side]) = (word(0), word(0));
        }
        let mut scores = vec![0; side * side];
        for row in 1..side {
            for column in 1..side {
                let at = row * side + column;
                let pair = scoring.matrix.score(a[row - 1], b[column - 1]);
                let matched = scores[at - side - 1] + pair + 2 * scoring.gap.extend;
                scores[at] = matched.max(scores[at - side]).max(scores[at - 1]);
            }
        }
        [border, scores.into_iter().map(word).collect()]
    }
}

impl Sizes for Nw {
    fn facts(&self, _: u64) -> Facts {
        Facts {
            summary: format!("{0} x {0} letters", self.letters),
            capacity: sets(3, 1, 0),
            transactions: Some(u64::from(self.letters).pow(2)),
            shared_words: (self.side() as u64).pow(2),
            verifies: Covers::FinalState
                .that("the whole table is equal, so each cell saw its neighbours"),
            ..Facts::of(self.named())
        }
    }

    fn check(&self, _transactions: u64) -> Result<()> {
        refuse! {
            !(1..=LETTERS_MAX).contains(&self.letters) =>
                "--letters {} does not suit an alignment by transactions: give from 1 to \
                 {LETTERS_MAX}", self.letters;
        }
        Ok(())
    }
}

data! {
    pub Data of Nw: |of, device, MadeFor { seed, .. }| {
        let cells = (of.side() as u64).pow(2);
        check_memory(device, "nw", 12 * cells, 16 * cells, "use fewer --letters")?;
        let [border, expected] = of.cells(seed);
        // Letter 0 is padding, which cells do not have.
        let letters = of.sequences(seed).concat();
        let letters: Vec<u32> = letters.iter().map(|&code| u32::from(code) + 1).collect();
        let scoring = linear_nucleotides();
        let alphabet = scoring.matrix.alphabet.size();
        let scores = transformed_scores(&scoring.matrix.scores, alphabet, scoring.gap.extend);
    }
    /// The cells before a launch: the border alone.
    border: Vec<u32> = border;
    expected: Vec<u32> = expected;
    cells: TxArray<D, u32> =
        TxArray::from_slice(device, Layout::Plain, &border, "the cells")?, accessed;
    order: Buffer<D, u32> = Buffer::from_slice(device, &of.order(), "the order of the cells")?;
    letters: Buffer<D, u32> = Buffer::from_slice(device, &letters, "the letters")?;
    scores: Buffer<D, u32> = Buffer::from_slice(device, &scores, "the letters' scores")?;
    next: Buffer<D, u64> = Buffer::zeroed(device, 1, "the next cell")?, cleared;
}

impl Workload for Nw {
    type Data<D: Device> = Data<D>;

    fn reset<D: Device>(&self, data: &mut Data<D>) -> Result<()> {
        data.clear()?;
        Ok(data.cells.upload(&data.border)?)
    }

    fn verify<D: Device>(&self, data: &mut Data<D>, _: u64) -> Result<Observed> {
        let found = data.cells.download()?;
        let wrong = first_difference(&found, &data.expected);
        let (at, found, expected, more) = wrong.unwrap_or_default();
        let shown = |word: u32| score(word).map_or("nothing".into(), |s| s.to_string());
        wrong! {
            wrong.is_some() =>
                "row {}, column {} has {}, not {}, and {more} more are wrong",
                at / self.side(), at % self.side(), shown(found), shown(expected);
        }
        Ok(Observed::new())
    }

    kernels! {
        of, data, run => Matrix<A>, run.on(views! { data => MatrixWork {
            cells by A, order, letters, scores, next;
            transactions: run.transactions, rows: of.letters, columns: of.letters,
            alphabet: linear_nucleotides().matrix.alphabet.size() as u32 + 1
        } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stm_align::align;

    #[test]
    fn every_cell_is_in_the_order_once_and_after_its_neighbours() {
        for letters in [1, 2, 7] {
            let of = Nw { letters };
            let order = of.order();
            assert_eq!(order.len(), letters.pow(2) as usize);
            let place = |row: u32, column: u32| {
                let at = order.iter().position(|&cell| cell == (row << 16) | column);
                at.expect("a cell")
            };
            for row in 1..=letters {
                for column in 1..=letters {
                    let here = place(row, column);
                    assert!(row == 1 || place(row - 1, column) < here);
                    assert!(column == 1 || place(row, column - 1) < here);
                }
            }
        }
    }

    #[test]
    fn the_last_cell_is_the_score() {
        let of = Nw { letters: 40 };
        let [_, cells] = of.cells(3);
        let [a, b] = of.sequences(3);
        let scoring = linear_nucleotides();
        let transformed = score(cells[cells.len() - 1]).expect("a score");
        let plain = i64::from(transformed - 80 * scoring.gap.extend);
        assert_eq!(plain, align::score(&a, &b, &scoring));
    }
}
