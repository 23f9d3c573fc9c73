//! Alignment of two sequences: a transaction for each cell of the matrix, which waits for its
//! neighbours, and the same by tiles.
//!
//! The alignment by diagonals of tiles is what data-parallel programs do, and the dataflow of
//! Li et al. 2015 inside of tiles.

use super::contender::ContenderKind::Excluding;
use super::contender::PreparedContender;
use crate::workloads::prelude::*;
use stm_align::Pass;
use stm_align::align::LastRow;
use stm_align::dataflow::Strips;
use stm_align::diagonals::{Cut, Tables, TileKernel};
use stm_align::matrix::{Gap, Matrix as Scores, Scoring};
use stm_align::scorer::{Host, Scorer};
use stm_kernels::draw::{below, draw};
use stm_kernels::nw::layout::transformed_scores;
use stm_kernels::nw::points::{Cells, Locks};
use stm_kernels::nw::strips::LinearStrips;
use stm_kernels::nw::tiles::Tiles1;
use stm_kernels::nw::transactions::{Matrix, MatrixParams, score, word};

sizes! {
    /// The alignment's parameters: two random sequences of nucleotides, which are aligned with
    /// linear gaps. The default is a size of Li et al. 2015 (Table 3) with 246,016 cells.
    Nw, options of "nw" {
        letters: u32 = 496, json "letters", count letters "Letters of each of the two sequences" ["496"],
            when Occasion::Quick | Occasion::Recording(_) => 62;
    }
}

/// The most letters: 64 M cells.
const LETTERS_MAX: u32 = 8192;

/// Letters of a nucleotide.
const NUCLEOTIDES: u32 = 4;

/// Returns a random sequence of codes of an alphabet, number `which` of a seed.
pub fn random_codes(seed: u64, which: u64, letters: u32, alphabet: u32) -> Vec<u8> {
    let code = |i| below(draw(seed, i, which as u32), alphabet) as u8;
    (0..u64::from(letters)).map(code).collect()
}

/// Returns the scoring of nucleotides with linear gaps: 5 for equal letters, -4 for others,
/// and 8 for each letter of a gap.
pub fn linear_nucleotides() -> Scoring {
    let letters = b"ACGT";
    let scores = |same: i32, other: i32| Scores::of_match(letters, same, other);
    let matrix = match scores(5, -4) {
        Ok(matrix) => matrix,
        Err(never) => unreachable!("four letters: {never}"),
    };
    let gap = Gap { open: 0, extend: 8 };
    Scoring { matrix, gap }
}

impl Nw {
    /// Returns both sequences.
    pub fn sequences(&self, seed: u64) -> [Vec<u8>; 2] {
        [0, 1].map(|which| random_codes(seed, which, self.letters, NUCLEOTIDES))
    }

    /// Returns the letters of a side of the matrix of cells, with the border.
    const fn side(&self) -> usize {
        self.letters as usize + 1
    }
}

impl Input for Nw {
    is_its_workload!(sized);
    type Options = Options;

    const TAKES: &'static [SharedOption] = &[];

    fn with(self, options: &Self::Options, _shared: &SharedOptions) -> Result<Self> {
        Ok(self.given(options))
    }
}

impl Sizes for Nw {
    fn parameters(&self) -> Vec<(&'static str, Value)> {
        self.named()
    }

    fn summary(&self) -> String {
        format!("{0} x {0} letters", self.letters)
    }

    fn capacity(&self) -> Capacity {
        sets(3, 1, 0)
    }

    fn transactions(&self) -> Option<u64> {
        Some(u64::from(self.letters).pow(2))
    }

    fn shared_words(&self, _transactions: u64) -> u64 {
        (self.side() as u64).pow(2)
    }

    fn verifies(&self) -> Verifies {
        Verifies::final_state("the whole table is equal, so each cell saw its neighbours")
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

    fn contenders<D: Device + 'static>() -> Vec<Contender<Self, D>> {
        let contender = |name, entry, kernel, recorded| {
            let prepare = move |of: &Nw, device: &D, seed, _| {
                Filled::by_tiles(of, device, seed, (kernel, recorded))
            };
            Contender::of_launches(Excluding, name, entry, ("cells", |_: &Nw| 1.0), prepare)
        };
        let flowing = |of: &Nw, device: &D, seed, _| {
            Filled::new(of, seed, |passes, scoring| {
                Ok(Filler::Strips(Strips::new(device, passes, scoring)?))
            })
        };
        let cells = ("cells", (|_: &Nw| 1.0) as fn(&Nw) -> f64);
        let tiles = TileKernel::Tiles(1);
        vec![
            Contender::of_launches(Excluding, "dataflow", LinearStrips::ENTRY, cells, flowing),
            contender("diagonals", Tiles1::ENTRY, tiles, false),
            contender("graph", Tiles1::ENTRY, tiles, true),
            contender("locks", Locks::ENTRY, TileKernel::Locks, false),
            contender("cells", Cells::ENTRY, TileKernel::Cells, false),
        ]
    }

    fn prepare<D: Device>(&self, device: &D, seed: u64, _: u64) -> Result<NwData<D>> {
        let cells = (self.side() as u64).pow(2);
        check_memory(device, "nw", 12 * cells, 16 * cells, "use fewer --letters")?;
        let [border, expected] = self.cells(seed);
        // Letter 0 is padding, which cells do not have.
        let letters = self.sequences(seed).concat();
        let letters: Vec<u32> = letters.iter().map(|&code| u32::from(code) + 1).collect();
        let scoring = linear_nucleotides();
        let alphabet = scoring.matrix.alphabet.len();
        let scores = transformed_scores(&scoring.matrix.scores, alphabet, scoring.gap.extend);
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

    accessed!(cells);

    fn reset<D: Device>(&self, data: &mut NwData<D>) -> Result<()> {
        data.next.clear()?;
        Ok(data.cells.upload(&data.border)?)
    }

    fn verify<D: Device>(&self, data: &mut NwData<D>, _: u64) -> Verdict {
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

    fn params<D: Device, A: Algorithm>(&self, data: &NwData<D>, run: Run<A>) -> MatrixParams<A> {
        MatrixParams {
            stm: run.stm,
            cells: data.cells.view::<A>(),
            order: data.order.tarray(),
            letters: data.letters.tarray(),
            scores: data.scores.tarray(),
            next: data.next.tarray(),
            transactions: run.transactions,
            rows: self.letters,
            columns: self.letters,
            alphabet: linear_nucleotides().matrix.alphabet.len() as u32 + 1,
        }
    }
}

/// What fills the table of two sequences.
enum Filler<D: Device> {
    /// Tiles, whose launches are recorded or made anew.
    Tiles(Tables<D>, bool),
    /// Warps that take strips as they find them.
    Strips(Strips<D>),
}

/// The two sequences, and their table.
struct Filled<D: Device> {
    sequences: [Vec<u8>; 2],
    filler: Filler<D>,
    expected: LastRow,
}

impl<D: Device> Filled<D> {
    /// Makes both, with what `filler` makes for their pass.
    fn new(
        of: &Nw,
        seed: u64,
        filler: impl FnOnce(&[Pass<'_>], &Scoring) -> Result<Filler<D>>,
    ) -> Result<Self> {
        let sequences = of.sequences(seed);
        let (passes, scoring) = ([pass(&sequences)], linear_nucleotides());
        Ok(Self {
            filler: filler(&passes, &scoring)?,
            expected: Host.last_rows(&passes, &scoring)?.remove(0),
            sequences,
        })
    }

    /// Makes both with tiles.
    fn by_tiles(
        of: &Nw,
        device: &D,
        seed: u64,
        (kernel, recorded): (TileKernel, bool),
    ) -> Result<Self> {
        Self::new(of, seed, |passes, scoring| {
            let tables = Tables::new(device, cut_of_paper(device, kernel), passes, scoring)?;
            Ok(Filler::Tiles(tables, recorded))
        })
    }
}

/// Returns the pass over two sequences.
fn pass([a, b]: &[Vec<u8>; 2]) -> Pass<'_> {
    Pass {
        a,
        b,
        backward: false,
        first: 0,
    }
}

/// Returns how a device cuts tables, given what computes a tile: with 32 x 32 cells as in the
/// paper, and on the CPU, where each thread is one of the system, with few threads.
pub fn cut_of_paper(device: &impl Device, kernel: TileKernel) -> Cut {
    let width = device.limits().warp_width;
    let side = match kernel {
        TileKernel::Locks | TileKernel::Cells if width == 1 => 4,
        _ => 32,
    };
    let kernel = match kernel {
        TileKernel::Tiles(_) => TileKernel::tiles(side, width),
        dataflow => dataflow,
    };
    Cut { kernel, side }
}

impl<D: Device> PreparedContender<D> for Filled<D> {
    fn transactions(&self, _asked: u64) -> u64 {
        self.sequences
            .iter()
            .map(|side| side.len() as u64)
            .product()
    }

    /// Launches blocks as the tiles have it, or one for each warp that finds work, whatever the
    /// shape.
    fn launch(&mut self, _: &D, _shape: (u32, u32), _: u64) -> Result<Duration> {
        match &mut self.filler {
            Filler::Tiles(tables, true) => Ok(tables.recorded()?.replay()?),
            Filler::Tiles(tables, false) => Ok(tables.fill()?),
            Filler::Strips(strips) => Ok(strips.fill()?),
        }
    }

    fn verify(&mut self, _: u64) -> Verdict {
        let passes = [pass(&self.sequences)];
        let found = match &mut self.filler {
            Filler::Tiles(tables, _) => tables.last_rows(&passes)?,
            Filler::Strips(strips) => strips.last_rows(&passes)?,
        };
        Ok(difference(&found[0], &self.expected))
    }

    fn note(&self) -> Result<Option<String>> {
        Ok(Some(match &self.filler {
            Filler::Tiles(tables, _) => format!("{} launches", tables.launch_count()),
            Filler::Strips(strips) => format!("{} blocks of a warp", strips.blocks()),
        }))
    }
}

/// Says where a last row differs from what it must be.
fn difference(found: &LastRow, expected: &LastRow) -> Option<String> {
    if found.best.len() != expected.best.len() {
        return Some("the last row is not complete".to_owned());
    }
    let wrong = Difference::first(&found.best, &expected.best)?;
    Some(format!(
        "column {} of the last row has {}, not {}",
        wrong.at, wrong.found, wrong.expected
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use crate::workloads::contender;
    use stm_align::align;
    use stm_core::host::Cpu;

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

    #[test]
    fn every_contender_fills_the_table_and_another_seeds_table_is_wrong() {
        let device = Cpu::new();
        let of = Nw { letters: 50 };
        let all = contender::bind(&of, Nw::contenders());
        assert_eq!(all.len(), 5);
        for one in &all {
            let mut made = one.prepare(&device, 7, 0).unwrap();
            assert_eq!(made.transactions(1), 2500);
            made.launch(&device, (1, 1), 2500).unwrap();
            assert_eq!(made.verify(2500).unwrap(), None, "{}", one.name);
        }
        let tiles = (TileKernel::Tiles(1), true);
        let prepare = |seed| Filled::by_tiles(&of, &device, seed, tiles).unwrap();
        let (mut first, second) = (prepare(1), prepare(2));
        first.launch(&device, (1, 1), 0).unwrap();
        first.expected = second.expected;
        has(&first.verify(0).unwrap().unwrap(), "of the last row");
    }
}
