//! One point, measured and verified.

use super::plan::{HOPS, REDUCTION, cut};
use super::schemes::{Fill, Filled, named};
use super::{Case, Inputs, reduction};
use crate::devices::AnyDevice;
use crate::error::{Error, Result, given_up};
use crate::measure::ms;
use crate::points::{Asked, Point};
use crate::sync::sections::transactions;
use crate::variants::parse_variants;
use crate::workloads::AnyWorkload;
use crate::workloads::nw::Nw;
use stm_align::align::LastRow;
use stm_align::diagonals::{Cut, Tables, TileKernel};
use stm_align::scorer::{Host, Scorer};
use stm_core::host::Device;

/// The most cells whose tables the host fills to compare with: 32 K x 32 K, and some more.
const HOST_CELLS_MAX: u64 = 1 << 30;

/// Measures points, and keeps what the last case must come to, as several points have it.
#[derive(Debug)]
pub(crate) struct Measuring<'d> {
    device: &'d AnyDevice,
    seed: u64,
    kept: Option<Kept>,
}

/// A case, its sequences, and its last rows by another implementation.
#[derive(Debug)]
struct Kept {
    case: Case,
    inputs: Inputs,
    expected: Vec<LastRow>,
    /// What filled those tables: `None` for the host.
    by: Option<Cut>,
}

impl Kept {
    /// Makes the point of a case from what a scheme has filled.
    fn point(&self, asked: &Asked, filled: Filled) -> Point {
        let ms: Vec<f64> = filled.times.into_iter().map(ms).collect();
        let wrong = wrong(&filled.rows, &self.expected);
        let mut found = Point::timed(asked, self.case.cells(), &ms, wrong);
        if found.verified {
            let by = match self.by {
                None => "the host's".to_owned(),
                Some(by) => format!("with tiles of {}", by.side),
            };
            found.note = Some(format!("{} of memory, the same rows as {by}", filled.took));
        }
        found
    }
}

impl<'d> Measuring<'d> {
    pub(crate) const fn new(device: &'d AnyDevice, seed: u64) -> Self {
        Self {
            device,
            seed,
            kept: None,
        }
    }

    /// Measures a point. What this point alone cannot do is in its note.
    ///
    /// # Errors
    /// An error after which nothing can run on the device, or a point of an implementation
    /// that there is not.
    pub(crate) fn measure(&mut self, asked: &Asked) -> Result<Point> {
        let found = given_up(self.measured(asked))?;
        Ok(found.unwrap_or_else(|why| Point::without_time(asked, why)))
    }

    fn measured(&mut self, asked: &Asked) -> Result<Point> {
        match asked.part.as_str() {
            REDUCTION => return reduction::measure(self.device, asked),
            HOPS => return reduction::measure_hops(self.device, asked),
            _ => {}
        }
        let case = Case::of(asked);
        if let Some(variant) = asked.implementation.strip_prefix("stm:") {
            let variants = parse_variants(variant)?;
            let of = Nw {
                letters: u32::try_from(case.letters).unwrap_or(u32::MAX),
            };
            let workload = AnyWorkload::from(of);
            let seeded = (self.seed, case.cells());
            return transactions(self.device, &workload, asked, seeded, variants[0]);
        }
        let device = self.device;
        let cut = cut(asked, device.limits().warp_width);
        let fill = named(&asked.implementation).map(|scheme| scheme.fill);
        let kept = self.kept(&case, cut)?;
        let filled = match (fill, cut) {
            (Some(Fill::Whole(fill)), _) => fill(device, &kept.inputs)?,
            (Some(Fill::Tiles(_, fill)), Some(cut)) => fill(device, &kept.inputs, cut)?,
            _ => {
                let name = &asked.implementation;
                let why = format!("there is no implementation {name:?} of nw");
                return Err(Error::Usage(why));
            }
        };
        Ok(kept.point(asked, filled))
    }

    /// Returns the sequences of a case and what its tables must come to, by the host or by
    /// tiles that are cut in another way than these, if they are cut.
    fn kept(&mut self, case: &Case, cut: Option<Cut>) -> Result<&Kept> {
        let other = |by: Option<Cut>| by.is_none() || by != cut;
        let kept = self.kept.take();
        let kept = match kept.filter(|kept| kept.case == *case && other(kept.by)) {
            Some(kept) => kept,
            None => self.made(case, cut)?,
        };
        Ok(self.kept.insert(kept))
    }

    fn made(&self, case: &Case, cut: Option<Cut>) -> Result<Kept> {
        let inputs = Inputs::new(case, self.seed)?;
        let passes = inputs.passes();
        let (expected, by) = if case.cells() <= HOST_CELLS_MAX {
            (Host.last_rows(&passes, &inputs.scoring)?, None)
        } else {
            let width = self.device.limits().warp_width;
            let of = |side| Cut {
                kernel: TileKernel::tiles(side, width),
                side,
            };
            let other = of(if cut == Some(of(64)) { 128 } else { 64 });
            let tables = Tables::new(self.device, other, &passes, &inputs.scoring)?;
            tables.fill()?;
            (tables.last_rows(&passes)?, Some(other))
        };
        Ok(Kept {
            case: *case,
            inputs,
            expected,
            by,
        })
    }
}

/// Returns what is wrong with last rows, if anything.
fn wrong(found: &[LastRow], expected: &[LastRow]) -> Option<String> {
    let pairs = (1..).zip(found.iter().zip(expected));
    let mut wrong = pairs.filter(|(_, (found, expected))| found.best != expected.best);
    let (pair, (found, expected)) = wrong.next()?;
    let more = wrong.count();
    let score = |row: &LastRow| row.best.last().copied().unwrap_or(0);
    Some(format!(
        "the last row of pair {pair} is wrong, whose score is {} and not {}, and {more} more pairs are",
        score(found),
        score(expected)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;
    use crate::testing::has;

    #[test]
    fn every_point_of_a_small_run_is_verified() {
        let device = AnyDevice::cpu();
        let mut measuring = Measuring::new(&device, 3);
        let points = plan::points(&device, true);
        for asked in &points {
            let point = measuring.measure(asked).expect("no error");
            assert!(point.verified, "{asked:?}: {:?}", point.note);
            assert!(point.per_s > 0.0 && point.repeat > 0, "{point:?}");
            if ![REDUCTION, HOPS].contains(&asked.part.as_str()) {
                assert_eq!(point.operations, Case::of(asked).cells());
            }
        }
        // Another implementation is named.
        let mut unknown = points[0].clone();
        unknown.implementation = "grap".into();
        let point = measuring.measure(&unknown).expect("a note");
        assert!(!point.verified && point.note.unwrap().contains("\"grap\""));
    }

    #[test]
    fn rows_that_differ_are_told_with_their_pair_and_scores() {
        let row = |last: i32| LastRow {
            best: vec![0, last],
            in_gap: Vec::new(),
        };
        assert_eq!(wrong(&[row(1), row(2)], &[row(1), row(2)]), None);
        let told = wrong(&[row(1), row(2)], &[row(1), row(3)]).unwrap();
        has(&told, "pair 2 | 2 and not 3");
    }
}
