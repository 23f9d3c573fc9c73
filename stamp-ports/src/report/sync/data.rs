//! What figures, claims and targets ask of the document: one point, its time, its rate, its
//! fairness.
//!
//! A point whose result was wrong has no time here, so that nothing can rest on it.
//!
//! Here are also the sizes at which a claim is judged: those of the paper, and those of this machine.

use crate::points::Point;
pub use crate::report::records::counts;
use crate::sync::Bench;
use std::collections::BTreeSet;

/// The name of the counter's points.
pub const COUNTER: &str = "counter";
/// The name of the hash table's points.
pub const TABLE: &str = "table";
/// The name of the sorted list's points.
pub const LIST: &str = "list";
/// The name of the points of Gattani and Anickode's sections.
pub const SECTIONS: &str = "sections";
/// The name of the points of one mutex.
pub const MUTEX: &str = "mutex";
/// The name of the barriers' points.
pub const BARRIER: &str = "barrier";
/// The name of the semaphores' points.
pub const SEMAPHORE: &str = "semaphore";

/// The parts in the order of the page.
pub const PARTS: [&str; 7] = [COUNTER, TABLE, LIST, BARRIER, MUTEX, SEMAPHORE, SECTIONS];

/// The threads of a block in Stuart and Owens' benchmarks (section 6).
pub const BLOCK_OF_STUART: u32 = 128;

/// The place of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell<'a> {
    /// The part.
    pub part: &'a str,
    /// The implementation.
    pub kind: &'a str,
    /// The blocks.
    pub blocks: u32,
    /// The threads of a block, unless any number will do.
    pub threads: Option<u32>,
    /// A parameter that the point must have.
    pub parameter: Option<(&'a str, u64)>,
}

impl<'a> Cell<'a> {
    /// Returns the place of a kind in a part, by the blocks and the threads of each.
    pub const fn at(
        part: &'a str,
        kind: &'a str,
        (blocks, threads): (u32, Option<u32>),
        parameter: Option<(&'a str, u64)>,
    ) -> Self {
        Self {
            part,
            kind,
            blocks,
            threads,
            parameter,
        }
    }

    /// Returns whether a point of the part is at this place.
    fn is_of(&self, point: &Point) -> bool {
        point.implementation == self.kind
            && point.blocks == self.blocks
            && self.threads.is_none_or(|threads| point.threads == threads)
            && self
                .parameter
                .is_none_or(|(name, value)| point.parameters.get(name) == Some(&value))
    }
}

/// The document, as it is asked.
#[derive(Clone, Copy, Debug)]
pub struct Data<'b> {
    bench: &'b Bench,
}

/// Returns a number of blocks in words; 0 stands for the most, of which there are none.
pub fn blocks(n: u32) -> String {
    match n {
        0 => "the most blocks".into(),
        1 => "1 block".into(),
        n => format!("{n} blocks"),
    }
}

/// Returns the ratio of two measurements, if there are both.
pub fn over(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?)
}

/// Returns the largest of some measurements over the smallest, if there are all.
pub fn spread(values: &[Option<f64>]) -> Option<f64> {
    over(largest(values), smallest(values))
}

/// Returns the smallest of some measurements, if there are all.
pub fn smallest(values: &[Option<f64>]) -> Option<f64> {
    let all: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    all.into_iter().reduce(f64::min)
}

/// Returns the largest of some measurements, if there are all.
pub fn largest(values: &[Option<f64>]) -> Option<f64> {
    let all: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    all.into_iter().reduce(f64::max)
}

impl<'b> Data<'b> {
    /// Asks a document.
    pub const fn new(bench: &'b Bench) -> Self {
        Self { bench }
    }

    /// Returns the document.
    pub const fn bench(&self) -> &'b Bench {
        self.bench
    }

    /// Returns the multiprocessors of the device.
    pub fn processors(&self) -> u32 {
        self.bench.head.device.processors.max(1)
    }

    /// Returns the points of a part, those without a time too.
    pub fn points<'a>(&self, part: &'a str) -> impl Iterator<Item = &'b Point> + use<'a, 'b> {
        self.bench.points.iter().filter(move |p| p.part == part)
    }

    /// Returns the point at a place, if its time counts; of several, the one with the most
    /// operations.
    pub fn find(&self, cell: &Cell<'_>) -> Option<&'b Point> {
        let here = self.points(cell.part).filter(|p| cell.is_of(p));
        here.filter(|p| counts(p)).max_by_key(|p| p.operations)
    }

    /// Returns whether a place was measured with a wrong result.
    pub fn is_wrong(&self, cell: &Cell<'_>) -> bool {
        let mut here = self.points(cell.part).filter(|p| cell.is_of(p));
        here.any(|p| !p.verified && p.repeat > 0)
    }

    /// Returns a time in milliseconds.
    pub fn time(&self, cell: &Cell<'_>) -> Option<f64> {
        self.find(cell).map(|point| point.ms)
    }

    /// Returns a rate in operations a second.
    pub fn rate(&self, cell: &Cell<'_>) -> Option<f64> {
        self.find(cell).map(|point| point.per_s)
    }

    /// Returns the rate of a mutex or a semaphore, of which one thread a block asks, or of a
    /// barrier with [`BLOCK_OF_STUART`] threads a block.
    pub fn operations(
        &self,
        part: &str,
        kind: &str,
        blocks: u32,
        count: Option<u64>,
    ) -> Option<f64> {
        let threads = (part == BARRIER).then_some(BLOCK_OF_STUART);
        let parameter = count.map(|count| ("count", count));
        self.rate(&Cell::at(part, kind, (blocks, threads), parameter))
    }

    /// Returns the sections of the block that made the most over those of the block that
    /// made the fewest; infinite if a block made none.
    pub fn unfairness(&self, kind: &str, blocks: u32) -> Option<f64> {
        let point = self.find(&Cell::at(MUTEX, kind, (blocks, None), None))?;
        Some(point.most? as f64 / point.fewest? as f64)
    }

    /// Returns the numbers of blocks at which all these kinds of a part have a time.
    pub fn blocks_of_all(&self, part: &str, kinds: &[&str], count: Option<u64>) -> Vec<u32> {
        let all: BTreeSet<u32> = self.points(part).map(|p| p.blocks).collect();
        let there = |blocks: &u32| {
            let mut kinds = kinds.iter();
            kinds.all(|kind| self.operations(part, kind, *blocks, count).is_some())
        };
        all.into_iter().filter(there).collect()
    }
}

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
