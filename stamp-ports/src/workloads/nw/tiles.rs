//! The alignment by diagonals of tiles: what data-parallel programs do, and the dataflow of
//! Li et al. 2015 inside of tiles.

use super::{Nw, linear_nucleotides};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::nw::align::LastRow;
use crate::nw::dataflow::Strips;
use crate::nw::diagonals::{Cut, Tables, TileKernel};
use crate::nw::pass::Pass;
use crate::nw::scorer::{Host, Scorer};
use crate::workloads::compare::Difference;
use crate::workloads::contender::ContenderKind::Excluding;
use crate::workloads::contender::{Contender, PreparedContender};
use crate::workloads::workload::Verdict;
use std::time::Duration;
use stm_core::Kernel;
use stm_core::host::Device;
use stm_kernels::nw::points::{Cells, Locks};
use stm_kernels::nw::strips::LinearStrips;
use stm_kernels::nw::tiles::Tiles1;

/// The two sequences, and their table.
struct Tiled {
    a: Vec<u8>,
    b: Vec<u8>,
    tables: Tables<AnyDevice>,
    /// Whether the launches are recorded.
    recorded: bool,
    expected: LastRow,
}

/// Returns the pass over two sequences.
fn pass<'s>(a: &'s [u8], b: &'s [u8]) -> Pass<'s> {
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

impl PreparedContender for Tiled {
    fn transactions(&self, _asked: u64) -> u64 {
        self.a.len() as u64 * self.b.len() as u64
    }

    /// Launches blocks as the tiles have it, whatever the shape.
    fn launch(
        &mut self,
        _: &AnyDevice,
        _shape: (u32, u32),
        _transactions: u64,
    ) -> Result<Duration> {
        if self.recorded {
            return Ok(self.tables.recorded()?.replay()?);
        }
        self.tables.fill()
    }

    fn verify(&mut self, _: u64) -> Verdict {
        let found = self.tables.last_rows(&[pass(&self.a, &self.b)])?;
        Ok(difference(&found[0], &self.expected))
    }

    fn note(&self) -> Result<Option<String>> {
        Ok(Some(format!("{} launches", self.tables.launch_count())))
    }
}

/// The two sequences, and their table by dataflow.
struct Flowing {
    a: Vec<u8>,
    b: Vec<u8>,
    strips: Strips<AnyDevice>,
    expected: LastRow,
}

impl PreparedContender for Flowing {
    fn transactions(&self, _asked: u64) -> u64 {
        self.a.len() as u64 * self.b.len() as u64
    }

    /// Launches a block for each warp that finds work, whatever the shape.
    fn launch(
        &mut self,
        _: &AnyDevice,
        _shape: (u32, u32),
        _transactions: u64,
    ) -> Result<Duration> {
        self.strips.fill()
    }

    fn verify(&mut self, _: u64) -> Verdict {
        let found = self.strips.last_rows(&[pass(&self.a, &self.b)])?;
        Ok(difference(&found[0], &self.expected))
    }

    fn note(&self) -> Result<Option<String>> {
        Ok(Some(format!("{} blocks of a warp", self.strips.blocks())))
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
        let prepare = move |of: &Nw, device: &AnyDevice, seed: u64, _: u64| {
            let [a, b] = of.sequences(seed);
            let scoring = linear_nucleotides();
            let passes = [pass(&a, &b)];
            let tables = Tables::new(device, cut_of_paper(device, kernel), &passes, &scoring)?;
            let mut rows = Host.last_rows(&passes, &scoring)?;
            Ok(Tiled {
                tables,
                recorded,
                expected: rows.remove(0),
                a,
                b,
            })
        };
        Contender::of_launches(Excluding, name, entry, ("cells", |_: &Nw| 1.0), prepare)
    };
    let flowing = move |of: &Nw, device: &AnyDevice, seed: u64, _: u64| {
        let [a, b] = of.sequences(seed);
        let scoring = linear_nucleotides();
        let passes = [pass(&a, &b)];
        let mut rows = Host.last_rows(&passes, &scoring)?;
        Ok(Flowing {
            strips: Strips::new(device, &passes, &scoring)?,
            expected: rows.remove(0),
            a,
            b,
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
        let prepare = |seed| {
            let [a, b] = of.sequences(seed);
            let cut = cut_of_paper(&device, TileKernel::Tiles(1));
            let scoring = linear_nucleotides();
            let tables = Tables::new(&device, cut, &[pass(&a, &b)], &scoring).unwrap();
            let expected = Host.last_rows(&[pass(&a, &b)], &scoring).unwrap().remove(0);
            Tiled {
                a,
                b,
                tables,
                recorded: true,
                expected,
            }
        };
        let (mut first, second) = (prepare(1), prepare(2));
        first.launch(&device, (1, 1), 0).unwrap();
        first.expected = second.expected;
        assert!(
            first
                .verify(0)
                .unwrap()
                .unwrap()
                .contains("of the last row")
        );
    }
}
