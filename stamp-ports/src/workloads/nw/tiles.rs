//! The alignment by diagonals of tiles: what data-parallel programs do, and the dataflow of
//! Li et al. 2015 inside of tiles.

use super::{Nw, linear_nucleotides};
use crate::workloads::contender::ContenderKind::Excluding;
use crate::workloads::contender::PreparedContender;
use crate::workloads::prelude::*;
use stm_align::align::LastRow;
use stm_align::dataflow::Strips;
use stm_align::diagonals::{Cut, Tables, TileKernel};
use stm_align::pass::Pass;
use stm_align::scorer::{Host, Scorer};
use stm_align::scoring::Scoring;
use stm_kernels::nw::points::{Cells, Locks};
use stm_kernels::nw::strips::LinearStrips;
use stm_kernels::nw::tiles::Tiles1;

/// What fills the table of two sequences.
enum Filler {
    /// Tiles, whose launches are recorded or made anew.
    Tiles(Tables<AnyDevice>, bool),
    /// Warps that take strips as they find them.
    Strips(Strips<AnyDevice>),
}

/// The two sequences, and their table.
struct Filled {
    sequences: [Vec<u8>; 2],
    filler: Filler,
    expected: LastRow,
}

impl Filled {
    /// Makes both, with what `filler` makes for their pass.
    fn new(
        of: &Nw,
        seed: u64,
        filler: impl FnOnce(&[Pass<'_>], &Scoring) -> Result<Filler>,
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
        device: &AnyDevice,
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
pub fn cut_of_paper(device: &AnyDevice, kernel: TileKernel) -> Cut {
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

impl PreparedContender for Filled {
    fn transactions(&self, _asked: u64) -> u64 {
        self.sequences
            .iter()
            .map(|side| side.len() as u64)
            .product()
    }

    /// Launches blocks as the tiles have it, or one for each warp that finds work, whatever the
    /// shape.
    fn launch(&mut self, _: &AnyDevice, _shape: (u32, u32), _: u64) -> Result<Duration> {
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

/// The contenders.
pub(super) fn contenders() -> Vec<Contender<Nw>> {
    let contender = |name, entry, kernel, recorded| {
        let prepare = move |of: &Nw, device: &AnyDevice, seed, _| {
            Filled::by_tiles(of, device, seed, (kernel, recorded))
        };
        Contender::of_launches(Excluding, name, entry, ("cells", |_: &Nw| 1.0), prepare)
    };
    let flowing = |of: &Nw, device: &AnyDevice, seed, _| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::has;
    use crate::workloads::contender;

    #[test]
    fn every_contender_fills_the_table_and_another_seeds_table_is_wrong() {
        let device = AnyDevice::cpu();
        let of = Nw { letters: 50 };
        let all = contender::bind(&of, contenders());
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
