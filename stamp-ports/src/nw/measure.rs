//! The ways of filling tables that are measured, with a line for each in [`SCHEMES`], from which come
//! the points and the help; and one point, measured and verified.

use super::plan::{HOPS, REDUCTION};
use super::{Case, Inputs, reduction};
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::measure::{ms, timed};
use crate::numbers::bytes;
use crate::points::{Asked, Point};
use crate::sync::sections::transactions;
use crate::variants::parse_variants;
use crate::workloads::AnyWorkload;
use crate::workloads::nw::Nw;
use std::time::Duration;
use stm_align::align::LastRow;
use stm_align::dataflow::Strips;
use stm_align::diagonals::{Cut, Tables, TileKernel};
use stm_align::scorer::{Host, Scorer};
use stm_core::host::Device;

/// The launches that are timed, after one that is not.
const REPEAT: usize = 5;

/// A way of filling tables.
pub(crate) struct Scheme {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    way: Way,
}

/// How a scheme fills tables.
#[derive(Clone, Copy)]
enum Way {
    /// As they are, by dataflow. Every part of the benchmark measures it.
    Whole,
    /// Cut into tiles, by a launch for each diagonal. For a tile's side and the width of a warp the
    /// function returns the kernel; parts name the schemes and the sides that they measure.
    Tiles(fn(u32, u32) -> TileKernel),
    /// By the same launches, recorded.
    Graph,
}

const fn scheme(name: &'static str, way: Way, about: &'static str) -> Scheme {
    Scheme { name, about, way }
}

#[rustfmt::skip]
pub(crate) const SCHEMES: &[Scheme] = &[
    scheme("dataflow", Way::Whole, "one launch, in which warps hand values on through channels of tagged words"),
    scheme("diagonals", Way::Tiles(TileKernel::tiles), "a launch for each diagonal of tiles"),
    scheme("graph", Way::Graph, "the same launches as a CUDA graph"),
    scheme("locks", Way::Tiles(|_, _| TileKernel::Locks), "the same launches; in a tile a thread for each cell, which waits for locks"),
    scheme("cells", Way::Tiles(|_, _| TileKernel::Cells), "the same with tagged words in place of locks"),
];

pub(super) fn named(name: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

/// Returns the names of the schemes that take tables as they are.
pub(super) fn whole() -> impl Iterator<Item = &'static str> {
    let all = SCHEMES.iter();
    all.filter(|scheme| matches!(scheme.way, Way::Whole))
        .map(|scheme| scheme.name)
}

/// Returns how the tables of a point are cut, if tiles compute them.
pub(super) fn cut(asked: &Asked, warp_width: u32) -> Option<Cut> {
    let side = u32::try_from(*asked.parameters.get("side")?).ok()?;
    let kernel = match named(&asked.implementation)?.way {
        Way::Whole => return None,
        Way::Tiles(kernel) => kernel(side, warp_width),
        Way::Graph => TileKernel::tiles(side, warp_width),
    };
    Some(Cut { kernel, side })
}

/// What a scheme has filled.
struct Filled {
    times: Vec<Duration>,
    /// The last row of each table.
    rows: Vec<LastRow>,
    /// What it took beside the time, as a phrase that ends with bytes.
    took: String,
}

/// Fills the tables of some pairs again and again.
fn fill(device: &AnyDevice, inputs: &Inputs, way: Way, cut: Option<Cut>) -> Result<Filled> {
    let passes = inputs.passes();
    let Some(cut) = cut else {
        let mut strips = Strips::new(device, &passes, &inputs.scoring)?;
        return Ok(Filled {
            times: timed(REPEAT, || strips.fill())?,
            rows: strips.last_rows(&passes)?,
            took: format!(
                "{} of a warp, {}",
                counted(strips.blocks(), "block", "blocks"),
                bytes(strips.bytes())
            ),
        });
    };
    let tables = Tables::new(device, cut, &passes, &inputs.scoring)?;
    let times = if matches!(way, Way::Graph) {
        let mut graph = tables.recorded()?;
        timed(REPEAT, || graph.replay())?
    } else {
        timed(REPEAT, || tables.fill())?
    };
    let launches = counted(tables.launch_count(), "launch", "launches");
    Ok(Filled {
        times,
        rows: tables.last_rows(&passes)?,
        took: format!("{launches}, {}", bytes(tables.bytes())),
    })
}

/// Returns a number of things with their name.
fn counted(count: u32, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

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
    pub(crate) fn measure(&mut self, asked: &Asked) -> Result<Point> {
        let measured = self.measured(asked);
        Point::or_note(asked, measured)
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
        let way = match named(&asked.implementation).map(|scheme| scheme.way) {
            Some(way) if matches!(way, Way::Whole) || cut.is_some() => way,
            _ => {
                let name = &asked.implementation;
                let why = format!("there is no implementation {name:?} of nw");
                return Err(Error::Usage(why));
            }
        };
        let kept = self.kept(&case, cut)?;
        let filled = fill(device, &kept.inputs, way, cut)?;
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
            let is_of_values = [REDUCTION, HOPS].contains(&asked.part.as_str());
            assert_eq!(point.cycles.is_some(), is_of_values, "{point:?}");
            if !is_of_values {
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
    fn one_is_named_as_one() {
        assert_eq!(counted(1, "block", "blocks"), "1 block");
        assert_eq!(counted(132, "block", "blocks"), "132 blocks");
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
