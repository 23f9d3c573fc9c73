//! The alignment by transactions: the host's side.

use super::input::{Nw, linear_nucleotides};
use crate::error::Result;
use crate::workloads::compare::Difference;
use crate::workloads::contender::Contender;
use crate::workloads::memory::{Accessed, check_memory};
use crate::workloads::workload::Workload;
use stm_core::StmRef;
use stm_core::algorithm::Algorithm;
use stm_core::array::Layout;
use stm_core::host::{Buffer, Device, TxArray};
use stm_kernels::nw::layout::transformed_scores;
use stm_kernels::nw::transactions::{Matrix, MatrixParams, score, word};

/// The cells, the order in which they are computed, and what they must be.
pub struct NwData<D: Device> {
    cells: TxArray<D, u32>,
    order: Buffer<D, u32>,
    letters: Buffer<D, u32>,
    scores: Buffer<D, u32>,
    next: Buffer<D, u64>,
    /// The cells before a launch: the border alone.
    border: Vec<u32>,
    /// The cells after it.
    expected: Vec<u32>,
}

impl Nw {
    /// Returns the cells in the order of their diagonals: the row in the upper half of a
    /// word, the column in the lower.
    fn order(&self) -> Vec<u32> {
        let n = self.letters;
        (2..=2 * n)
            .flat_map(|sum| {
                let rows = sum.saturating_sub(n).max(1)..=(sum - 1).min(n);
                rows.map(move |row| (row << 16) | (sum - row))
            })
            .collect()
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

impl Workload for Nw {
    type Data<D: Device> = NwData<D>;
    type Kernel<A: Algorithm> = Matrix<A>;

    fn contenders() -> Vec<Contender<Self>> {
        super::tiles::contenders()
    }

    fn prepare<D: Device>(
        &self,
        device: &D,
        seed: u64,
        _transactions_max: u64,
    ) -> Result<NwData<D>> {
        let cells = (self.side() as u64).pow(2);
        check_memory(device, "nw", 12 * cells, 16 * cells, "use fewer --letters")?;
        let [border, expected] = self.cells(seed);
        // Letter 0 is padding, which cells do not have.
        let letters = self.sequences(seed).concat();
        let letters: Vec<u32> = letters.iter().map(|&code| u32::from(code) + 1).collect();
        let scoring = linear_nucleotides();
        let alphabet = scoring.matrix.alphabet.len();
        let scores = transformed_scores(scoring.matrix.scores(), alphabet, scoring.gap.extend);
        Ok(NwData {
            cells: TxArray::from_slice(device, Layout::Plain, &border, "the cells")?,
            order: Buffer::from_slice(device, &self.order(), "the order of the cells")?,
            letters: Buffer::from_slice(device, &letters, "the letters")?,
            scores: Buffer::from_slice(device, &scores, "the letters' scores")?,
            next: Buffer::zeroed(device, 1, "the next cell")?,
            border,
            expected,
        })
    }

    fn accessed<'d, D: Device>(&self, data: &'d mut NwData<D>) -> Vec<&'d mut dyn Accessed<D>> {
        vec![&mut data.cells]
    }

    fn reset<D: Device>(&self, data: &mut NwData<D>) -> Result<()> {
        data.next.clear()?;
        Ok(data.cells.upload(&data.border)?)
    }

    fn verify<D: Device>(&self, data: &mut NwData<D>, _: u64) -> Result<Option<String>> {
        let found = data.cells.download()?;
        let wrong = Difference::first(&found, &data.expected);
        Ok(wrong.map(|wrong| {
            let (row, column) = (wrong.at / self.side(), wrong.at % self.side());
            let shown = |word: u32| score(word).map_or("nothing".into(), |s| s.to_string());
            format!(
                "row {row}, column {column} has {}, not {}, and {} more are wrong",
                shown(wrong.found),
                shown(wrong.expected),
                wrong.more
            )
        }))
    }

    fn params<D: Device, A: Algorithm>(
        &self,
        data: &NwData<D>,
        stm: StmRef<A>,
        transactions: u64,
    ) -> MatrixParams<A> {
        MatrixParams {
            stm,
            cells: data.cells.view::<A>(),
            order: data.order.tarray(),
            letters: data.letters.tarray(),
            scores: data.scores.tarray(),
            next: data.next.tarray(),
            transactions,
            rows: self.letters,
            columns: self.letters,
            alphabet: linear_nucleotides().matrix.alphabet.len() as u32 + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nw::align;

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
