//! The ways of filling tables that are measured, with a line for each in [`SCHEMES`], from which come
//! the points and the help; and one point, measured and verified.

use super::reduction::{self, HOPS, REDUCTION};
use super::{Case, Inputs};
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
pub(super) const REPEAT: usize = 5;

/// The times, the last row of each table, and what it took beside the time, as a phrase that ends with
/// bytes.
pub(super) type Filled = (Vec<Duration>, Vec<LastRow>, String);

/// How a scheme fills tables.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// As they are, again and again. Every part of the benchmark measures it.
    Whole(fn(&AnyDevice, &Inputs) -> Result<Filled>),
    /// Cut into tiles, by a launch for each diagonal. For a tile's side and the width of a warp the
    /// function returns the kernel; parts name the schemes and the sides that they measure.
    Tiles(fn(u32, u32) -> TileKernel),
    /// By the same launches, recorded.
    Graph,
}

/// The schemes: the name, the way, and what it is.
#[rustfmt::skip]
pub(crate) const SCHEMES: &[(&str, Way, &str)] = &[
    ("dataflow", Way::Whole(dataflow), "one launch, in which warps hand values on through channels of tagged words"),
    ("diagonals", Way::Tiles(TileKernel::tiles), "a launch for each diagonal of tiles"),
    ("graph", Way::Graph, "the same launches as a CUDA graph"),
    ("locks", Way::Tiles(|_, _| TileKernel::Locks), "the same launches; in a tile a thread for each cell, which waits for locks"),
    ("cells", Way::Tiles(|_, _| TileKernel::Cells), "the same with tagged words in place of locks"),
];

/// Returns the names of the schemes that take tables as they are.
pub(super) fn whole() -> impl Iterator<Item = &'static str> {
    let all = SCHEMES.iter();
    all.filter_map(|&(name, way, _)| matches!(way, Way::Whole(_)).then_some(name))
}

pub(super) fn named(name: &str) -> Option<Way> {
    let mut schemes = SCHEMES.iter();
    schemes.find_map(|&(known, way, _)| (known == name).then_some(way))
}

/// Returns how the tables of a point are cut, if tiles compute them.
pub(super) fn cut(asked: &Asked, warp_width: u32) -> Option<Cut> {
    let side = u32::try_from(*asked.parameters.get("side")?).ok()?;
    let kernel = match named(&asked.implementation)? {
        Way::Whole(_) => return None,
        Way::Tiles(kernel) => kernel(side, warp_width),
        Way::Graph => TileKernel::tiles(side, warp_width),
    };
    Some(Cut { kernel, side })
}

fn dataflow(device: &AnyDevice, inputs: &Inputs) -> Result<Filled> {
    let passes = inputs.passes();
    let mut strips = Strips::new(device, &passes, &inputs.scoring)?;
    let times = timed(REPEAT, || strips.fill())?;
    let blocks = counted(strips.blocks(), "block", "blocks");
    let took = format!("{blocks} of a warp, {}", bytes(strips.bytes()));
    Ok((times, strips.last_rows(&passes)?, took))
}

/// Fills the tables of some pairs again and again, cut so.
fn tiled(device: &AnyDevice, inputs: &Inputs, is_graph: bool, cut: Cut) -> Result<Filled> {
    let passes = inputs.passes();
    let tables = Tables::new(device, cut, &passes, &inputs.scoring)?;
    let times = if is_graph {
        let mut graph = tables.recorded()?;
        timed(REPEAT, || graph.replay())?
    } else {
        timed(REPEAT, || tables.fill())?
    };
    let launches = counted(tables.launch_count(), "launch", "launches");
    let took = format!("{launches}, {}", bytes(tables.bytes()));
    Ok((times, tables.last_rows(&passes)?, took))
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
        let fill: &dyn Fn(&Inputs) -> _ = match (named(&asked.implementation), cut) {
            (Some(Way::Whole(fill)), _) => &move |inputs| fill(device, inputs),
            (Some(way), Some(cut)) => {
                &move |inputs| tiled(device, inputs, matches!(way, Way::Graph), cut)
            }
            _ => {
                let name = &asked.implementation;
                let why = format!("there is no implementation {name:?} of nw");
                return Err(Error::Usage(why));
            }
        };
        let is_right = |kept: &Kept| kept.case == case && (kept.by.is_none() || kept.by != cut);
        let kept = match self.kept.take().filter(is_right) {
            Some(kept) => kept,
            None => self.made(&case, cut)?,
        };
        let kept = self.kept.insert(kept);
        let (times, rows, took) = fill(&kept.inputs)?;
        let ms: Vec<f64> = times.into_iter().map(ms).collect();
        let mut found = Point::timed(asked, case.cells(), &ms, wrong(&rows, &kept.expected));
        if found.verified {
            let by = match kept.by {
                None => "the host's".to_owned(),
                Some(by) => format!("with tiles of {}", by.side),
            };
            found.note = Some(format!("{took} of memory, the same rows as {by}"));
        }
        Ok(found)
    }

    /// Returns the sequences of a case and what its tables must come to, by the host or by
    /// tiles that are cut in another way than these, if they are cut.
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
