//! The sizes at which a claim is judged: those of the paper, and those of this machine.

use super::data::{COUNTER, Cell, Data, LIST, SECTIONS, TABLE};
use std::collections::BTreeSet;

/// The grids of one judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether they are those of the papers.
    pub of_paper: bool,
    /// The four grids of the counter; the first has one block.
    pub counter: [u32; 4],
    /// The grid of the hash table, of 256 threads a block.
    pub table: u32,
    /// The grid of the sorted list.
    pub list: u32,
    /// The grid of the sections, of 1,024 threads a block.
    pub sections: u32,
}

impl Shape {
    /// The papers' grids: Grote 2020, sections 5.2 and 5.3; Gattani and Anickode 2024.
    pub const PAPER: Self = Self {
        of_paper: true,
        counter: [1, 8, 16, 32],
        table: 30,
        list: 30,
        sections: 512,
    };

    /// Returns the grids for a device of so many multiprocessors.
    pub const fn machine(processors: u32) -> Self {
        Self {
            of_paper: false,
            counter: [1, processors.div_ceil(2), processors, 2 * processors],
            table: processors,
            list: processors,
            sections: processors,
        }
    }
}

/// A document at one shape.
#[derive(Clone, Copy, Debug)]
pub struct At<'b> {
    /// The document.
    pub data: Data<'b>,
    /// The shape.
    pub shape: Shape,
}

impl<'b> At<'b> {
    /// Asks a document at a shape.
    pub const fn new(data: Data<'b>, shape: Shape) -> Self {
        Self { data, shape }
    }

    /// Returns the counter's time with the grid of this index.
    pub fn counter(&self, kind: &str, grid: usize, threads: u32) -> Option<f64> {
        let shape = (*self.shape.counter.get(grid)?, Some(threads));
        self.data.time(&Cell::at(COUNTER, kind, shape, None))
    }

    /// Returns the block sizes, from one warp on, at which all these kinds have the counter's
    /// time with all these grids.
    pub fn sizes(&self, kinds: &[&str], grids: &[usize]) -> Vec<u32> {
        let sizes: BTreeSet<u32> = self.data.points(COUNTER).map(|p| p.threads).collect();
        let there = |threads: &u32| {
            let mut all = kinds.iter().flat_map(|k| grids.iter().map(move |g| (k, g)));
            all.all(|(kind, grid)| self.counter(kind, *grid, *threads).is_some())
        };
        sizes.into_iter().filter(|t| *t >= 32 && there(t)).collect()
    }

    /// Returns the hash table's time.
    pub fn table(&self, kind: &str, buckets: u64) -> Option<f64> {
        let (shape, buckets) = ((self.shape.table, Some(256)), Some(("buckets", buckets)));
        self.data.time(&Cell::at(TABLE, kind, shape, buckets))
    }

    /// Returns the list's time with 128 threads a block; `kind` is the whole name.
    pub fn list(&self, kind: &str, entries: u64) -> Option<f64> {
        self.list_of(kind, entries, 128)
    }

    /// Returns the list's time with so many threads a block.
    pub fn list_of(&self, kind: &str, entries: u64, threads: u32) -> Option<f64> {
        let (shape, entries) = ((self.shape.list, Some(threads)), ("entry-points", entries));
        self.data.time(&Cell::at(LIST, kind, shape, Some(entries)))
    }

    /// Returns the block sizes at which all these kinds have the list's time.
    pub fn list_sizes(&self, kinds: &[&str], entries: u64) -> Vec<u32> {
        let sizes: BTreeSet<u32> = self.data.points(LIST).map(|p| p.threads).collect();
        let there = |t: &u32| {
            let mut kinds = kinds.iter();
            kinds.all(|kind| self.list_of(kind, entries, *t).is_some())
        };
        sizes.into_iter().filter(there).collect()
    }

    /// Returns the time of the sections with so many rounds.
    pub fn sections(&self, kind: &str, rounds: u64) -> Option<f64> {
        self.data.time(&self.section(kind, rounds))
    }

    /// Returns the place of the sections with so many rounds.
    pub const fn section<'a>(&self, kind: &'a str, rounds: u64) -> Cell<'a> {
        let shape = (self.shape.sections, Some(1024));
        Cell::at(SECTIONS, kind, shape, Some(("rounds", rounds)))
    }

    /// Returns the rate of one operation, as [`Data::operations`].
    pub fn rate(&self, part: &str, kind: &str, blocks: u32, count: Option<u64>) -> Option<f64> {
        self.data.operations(part, kind, blocks, count)
    }

    /// Returns the number of blocks that fills the machine: the paper's on that device (`tesla`,
    /// the GTX 295 with 30 multiprocessors of 8 blocks, or `fermi`, the GTX 580 with 16) or its
    /// `sixty`, or the largest at which all these kinds were measured; 0 if there is none.
    pub fn full(&self, then: &str, part: &str, kinds: &[&str], count: Option<u64>) -> u32 {
        match then {
            "tesla" if self.shape.of_paper => 240,
            "fermi" if self.shape.of_paper => 128,
            "sixty" if self.shape.of_paper => 64,
            _ => {
                let all = self.data.blocks_of_all(part, kinds, count);
                all.last().copied().unwrap_or(0)
            }
        }
    }

    /// Returns the numbers of blocks from `from` on at which all these kinds were measured, of
    /// those on the paper's larger axis, or of all.
    pub fn axis(&self, part: &str, kinds: &[&str], from: u32, count: Option<u64>) -> Vec<u32> {
        let all = self.data.blocks_of_all(part, kinds, count).into_iter();
        let own = all.filter(|b| *b >= from && (!self.shape.of_paper || *b <= 240));
        own.collect()
    }
}
