//! What figures, tables and rules ask of the document.

use crate::nw::bench::plan::{Case, HOPS, REDUCTION};
use crate::nw::bench::reduction::cost;
use crate::points::{Asked, Point};
use crate::report::formula::{Answer, Source};
use crate::report::points::{counts, record};
use crate::report::records::Sets;
use crate::sync::bench::Bench;

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

    /// Returns the records of the document: its points, and those of single hops.
    pub fn sets(self) -> Sets {
        let of = |point: &Point| {
            let record = record(point).with("is_affine", u64::from(case(point).affine));
            record.with("side_or_0", side(point))
        };
        let points = &self.bench.points;
        let hops = points.iter().filter(|p| p.part == HOPS && counts(p));
        let sets = [
            ("points", points.iter().map(of).collect()),
            ("hops", hops.map(of).collect()),
        ];
        Sets(sets.into())
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
    const CALLS: &'static [&'static str] = &["cycles", "ms", "cost"];

    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
        let n = |text: &str| text.parse().ok();
        match (name, arguments) {
            ("cycles", [scheme, warps]) => self.cycles(scheme, n(warps)?),
            ("ms", [kind, letters]) => self.ms(kind, n(letters)?, None),
            ("ms", [kind, letters, side]) => self.ms(kind, n(letters)?, Some(n(side)?)),
            _ => None,
        }
    }

    /// `cost` is the shared memory of a scheme of the reduction with 16 warps.
    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        let cost = cost(arguments.first().filter(|_| name == "cost")?);
        let words = cost.map(|(all, each)| format!("{all}, {each} a warp"));
        Some(Answer::Words(Ok(words.into_iter().collect())))
    }
}
