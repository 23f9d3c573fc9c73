//! What figures, tables and rules ask of the document.

use crate::nw::bench::plan::{Case, HOPS, REDUCTION};
use crate::points::{Asked, Point};
use crate::report::formula::Source;
use crate::report::points::counts;
pub use crate::report::sync::data::over;
use crate::sync::bench::Bench;

/// The sizes of the paper's Table 3, and its times in microseconds: with locks of atomics,
/// data-parallel, and with tiny locks.
pub const TABLE3: [(u64, [f64; 3]); 7] = [
    (31, [175.0, 57.0, 49.0]),
    (62, [466.0, 58.0, 49.0]),
    (124, [1050.0, 58.0, 50.0]),
    (248, [2285.0, 59.0, 51.0]),
    (496, [5052.0, 72.0, 79.0]),
    (992, [14757.0, 79.0, 109.0]),
    (1984, [48808.0, 80.0, 165.0]),
];

/// The schemes of the reduction, and what the paper gives for them: how much faster than the
/// first (Table 2), the bytes of shared memory a warp, and what else they use (Table 1).
pub const SCHEMES: [(&str, &str, Option<f64>, &str); 6] = [
    (
        "atom-lock",
        "atom_lock: a spin lock a lane",
        Some(1.0),
        "128 bytes a warp",
    ),
    (
        "shrd-lock",
        "shrd_lock: a spin lock a warp",
        Some(0.8),
        "4 bytes a warp",
    ),
    (
        "warp-barr",
        "warp_barr: bar.sync and bar.arrive",
        Some(2.6),
        "a named barrier a warp, 16 in all",
    ),
    (
        "warp-vote",
        "warp_vote: one lock bit a warp, and a vote",
        Some(2.0),
        "1 of 1,024 lock bits a warp",
    ),
    ("counted-barr", "none: the mbarrier of sm_90", None, "-"),
    (
        "tagged",
        "tiny_lock: a lock bit a lane; here a tag in the word of the value",
        Some(4.0),
        "32 of 1,024 lock bits a warp",
    ),
];

/// The document, asked for times.
#[derive(Clone, Copy, Debug)]
pub struct Times<'b> {
    bench: &'b Bench,
}

/// Returns the case of a point that was measured.
pub fn case(point: &Point) -> Case {
    Case::of(&Asked {
        part: point.part.clone(),
        implementation: point.implementation.clone(),
        blocks: point.blocks,
        threads: point.threads,
        parameters: point.parameters.clone(),
    })
}

/// Returns the side of a point's tiles, or 0 where there are none.
pub fn side(point: &Point) -> u64 {
    point.parameters.get("side").copied().unwrap_or(0)
}

impl<'b> Times<'b> {
    /// Asks a document.
    pub const fn new(bench: &'b Bench) -> Self {
        Self { bench }
    }

    /// Returns the document.
    pub const fn bench(&self) -> &'b Bench {
        self.bench
    }

    /// Returns whether it was measured on a GPU, which targets and claims are about.
    pub const fn is_of_gpu(&self) -> bool {
        self.bench.head.device.gpu.is_some()
    }

    /// Returns the points of an implementation that count, of any part, with this case.
    pub fn of(self, implementation: &str, wanted: Case) -> impl Iterator<Item = &'b Point> {
        let own = self.bench.points.iter().filter(|p| counts(p));
        let own: Vec<&Point> = own
            .filter(|p| p.implementation == implementation && case(p) == wanted)
            .collect();
        own.into_iter()
    }

    /// Returns the points of single hops that count.
    pub fn hops(self) -> impl Iterator<Item = &'b Point> {
        let points = self.bench.points.iter();
        points.filter(|p| p.part == HOPS && counts(p))
    }

    /// Returns the cycles of a round of the reduction under a scheme with so many warps.
    pub fn cycles(self, scheme: &str, warps: u64) -> Option<f64> {
        let own = self.bench.points.iter().filter(|p| counts(p));
        let mut own = own.filter(|p| p.part == REDUCTION && p.implementation == scheme);
        let point = own.find(|p| p.parameters.get("warps") == Some(&warps))?;
        point.cycles.map(|cycles| cycles as f64)
    }

    /// Returns the shortest time of an implementation with one pair of nucleotides, linear
    /// gaps, and tiles of this side where one is given, in milliseconds.
    pub fn ms(self, implementation: &str, letters: u64, of_side: Option<u64>) -> Option<f64> {
        let own = self.of(implementation, Case::nucleotides(letters));
        own.filter(|p| of_side.is_none_or(|wanted| side(p) == wanted))
            .map(|p| p.ms)
            .reduce(f64::min)
    }
}

impl Source for Times<'_> {
    const CALLS: &'static [&'static str] = &["cycles", "ms"];

    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
        let n = |text: &str| text.parse().ok();
        match (name, arguments) {
            ("cycles", [scheme, warps]) => self.cycles(scheme, n(warps)?),
            ("ms", [kind, letters]) => self.ms(kind, n(letters)?, None),
            ("ms", [kind, letters, side]) => self.ms(kind, n(letters)?, Some(n(side)?)),
            _ => None,
        }
    }
}
