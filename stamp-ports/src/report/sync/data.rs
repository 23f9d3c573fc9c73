//! What figures, claims and targets ask of the document: one point, its time, its rate, its
//! fairness.
//!
//! A point whose result was wrong has no time here, so that nothing can rest on it.

use crate::points::Point;
pub use crate::report::points::counts;
use crate::sync::bench::Bench;
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
