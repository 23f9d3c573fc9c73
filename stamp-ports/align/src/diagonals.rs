//! Tables filled on a device by a launch for each diagonal of tiles.

use super::align::LastRow;
use super::scorer::{Costs, last_rows};
use crate::matrix::Scoring;
use crate::{Error, Pass, Result};
use std::time::Duration;
use stm_kernels::nw::frame::DiagonalParams;
use stm_kernels::nw::layout::TileLayout;
use stm_kernels::nw::points::{Cells, Locks, shared_words_of_cells, shared_words_of_locks};
use stm_kernels::nw::tiles::{Tiles, shared_words};
use stm_machine::Kernel;
use stm_machine::host::{Buffer, Device, Launch, Replay};

/// What computes a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileKernel {
    /// Lanes with so many rows each: 1, 2 or 4.
    Tiles(u32),
    /// A thread for each cell, which waits for locks; linear gaps only.
    Locks,
    /// A thread for each cell, which waits for tagged words; linear gaps only.
    Cells,
}

impl TileKernel {
    /// Returns the kernel that suits a side: with as many rows a lane as let one warp compute a tile, up to 4.
    pub const fn tiles(side: u32, warp_width: u32) -> Self {
        Self::Tiles(match side / warp_width {
            0 | 1 => 1,
            2 | 3 => 2,
            _ => 4,
        })
    }

    /// Returns the threads of a block.
    pub const fn threads(self, side: u32) -> u32 {
        match self {
            Self::Tiles(rows) => side / rows,
            Self::Locks | Self::Cells => side * side,
        }
    }

    const fn shared_words(self, alphabet: u32, side: u32, affine: bool) -> u32 {
        match self {
            Self::Tiles(_) => shared_words(alphabet, side, affine),
            Self::Locks => shared_words_of_locks(side),
            Self::Cells => shared_words_of_cells(side),
        }
    }
}

/// How tables are cut, and what computes the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The kernel.
    pub kernel: TileKernel,
    /// The side of a tile, a power of two, at least 4.
    pub side: u32,
}

/// What fills tables by the launches of a kernel, and what records these.
type Filling<D> = (
    fn(&Tables<D>) -> Result<Duration>,
    for<'t> fn(&'t Tables<D>) -> Result<Box<dyn Replay + 't>>,
);

fn of<D: Device, K: Kernel<Params = DiagonalParams>>() -> Filling<D> {
    (Tables::enqueue::<K>, Tables::record::<K>)
}

/// Tables in a device's memory.
pub struct Tables<D: Device> {
    device: D,
    cut: Cut,
    layout: TileLayout,
    costs: Costs<D>,
    matrices: Buffer<D, u32>,
    letters: Buffer<D, u32>,
    rows: Buffer<D, u32>,
    columns: Buffer<D, u32>,
}

impl<D: Device> Tables<D> {
    /// Makes the tables of passes without empty sequences; refuses a block that is no whole number of warps.
    pub fn new(device: &D, cut: Cut, passes: &[Pass<'_>], scoring: &Scoring) -> Result<Self> {
        let (threads, width) = (cut.kernel.threads(cut.side), device.limits().warp_width);
        if matches!(cut.kernel, TileKernel::Tiles(_)) && !threads.is_multiple_of(width) {
            return Err(Error::Usage(format!(
                "a tile of side {} takes a block of {threads} threads, and a warp has {width}: \
                 take a larger side, or fewer rows a thread",
                cut.side
            )));
        }
        let costs = Costs::new(device, scoring)?;
        let layout = TileLayout::new(passes, cut.side, costs.affine);
        Ok(Self {
            costs,
            matrices: Buffer::from_slice(device, &layout.matrices, "matrices")?,
            letters: Buffer::from_slice(device, &layout.letters, "letters of sequences")?,
            rows: Buffer::zeroed(device, layout.row_words, "rows of scores")?,
            columns: Buffer::zeroed(device, layout.column_words, "columns of scores")?,
            device: device.clone(),
            cut,
            layout,
        })
    }

    /// Returns the launches, in order, and their parameters.
    pub fn launches(&self) -> Vec<(Launch, DiagonalParams)> {
        let Cut { kernel, side } = self.cut;
        let (alphabet, affine) = (self.costs.alphabet, self.costs.affine);
        let on_cpu = self.device.limits().warp_width == 1;
        let params = DiagonalParams {
            matrices: self.matrices.tarray(),
            letters: self.letters.tarray(),
            scores: self.costs.scores.tarray(),
            rows: self.rows.tarray(),
            columns: self.columns.tarray(),
            count: self.layout.count,
            alphabet,
            blocks_log2: self.layout.blocks_log2,
            side_log2: side.trailing_zeros(),
            open: self.costs.open,
            diagonal: 0,
            // Threads of the CPU are more than its cores, so they must yield.
            pause_ns: u32::from(on_cpu),
        };
        let launches = (0..self.layout.diagonals).map(|diagonal| {
            let launch = Launch {
                shared_bytes: 4 * kernel.shared_words(alphabet, side, affine),
                ..Launch::new(self.layout.blocks(diagonal), kernel.threads(side))
            };
            (launch, DiagonalParams { diagonal, ..params })
        });
        launches.collect()
    }

    /// Makes the launches of kernel `K` one after the other, without a wait in between.
    fn enqueue<K: Kernel<Params = DiagonalParams>>(&self) -> Result<Duration> {
        let launches = self.launches();
        let of_launch = launches[0].0.probe.observation();
        self.device.prepare::<K>(of_launch)?;
        let mut laps = self.device.laps(2)?;
        laps.lap()?;
        for (launch, params) in &launches {
            // SAFETY: the parameters are views of buffers that live until the launches have been waited for,
            // which nothing else uses meanwhile.
            unsafe { self.device.enqueue::<K>(launch, params)? };
        }
        laps.lap()?;
        self.device.wait(None)?;
        Ok(laps.read()?.into_iter().sum())
    }

    fn record<K: Kernel<Params = DiagonalParams>>(&self) -> Result<Box<dyn Replay + '_>> {
        // SAFETY: the parameters are views of buffers that live as long as what is returned, and which
        // nothing changes meanwhile.
        Ok(unsafe { self.device.record::<K>(&self.launches())? })
    }

    fn filling(&self) -> Filling<D> {
        match (self.cut.kernel, self.costs.affine) {
            (TileKernel::Tiles(1), false) => of::<D, Tiles<1, false>>(),
            (TileKernel::Tiles(1), true) => of::<D, Tiles<1, true>>(),
            (TileKernel::Tiles(2), false) => of::<D, Tiles<2, false>>(),
            (TileKernel::Tiles(2), true) => of::<D, Tiles<2, true>>(),
            (TileKernel::Tiles(_), false) => of::<D, Tiles<4, false>>(),
            (TileKernel::Tiles(_), true) => of::<D, Tiles<4, true>>(),
            (TileKernel::Locks, _) => of::<D, Locks>(),
            (TileKernel::Cells, _) => of::<D, Cells>(),
        }
    }

    /// Fills the tables, and returns the time from the beginning of the first launch to the end of the last.
    pub fn fill(&self) -> Result<Duration> {
        self.filling().0(self)
    }

    /// Records the launches, each replay of which fills the tables.
    pub fn recorded(&self) -> Result<Box<dyn Replay + '_>> {
        self.filling().1(self)
    }

    /// Returns the number of launches.
    pub const fn launch_count(&self) -> u32 {
        self.layout.diagonals
    }

    /// Returns the bytes that the tables and the sequences take of the device's memory.
    pub fn bytes(&self) -> u64 {
        let (of_pairs, scores) = ([&self.matrices, &self.letters], &self.costs.scores);
        let of_cells = [&self.rows, &self.columns, scores];
        let words = of_pairs.into_iter().chain(of_cells);
        words.map(|buffer| 4 * buffer.len() as u64).sum()
    }

    /// Returns the last rows of the tables of these passes, which have been filled.
    pub fn last_rows(&self, passes: &[Pass<'_>]) -> Result<Vec<LastRow>> {
        let rows = self.rows.download()?;
        Ok(last_rows(passes, |i, pass| {
            self.layout.last_row(i, pass, &rows, self.costs.extend)
        }))
    }
}
