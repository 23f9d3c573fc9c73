//! The ways of filling tables that are measured, with one line for each in [`SCHEMES`]. From it come
//! the points, the help, and what measures a point.

use super::Inputs;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::measure::timed;
use crate::numbers::bytes;
use std::time::Duration;
use stm_align::align::LastRow;
use stm_align::dataflow::Strips;
use stm_align::diagonals::{Cut, Tables, TileKernel};

/// The launches that are timed, after one that is not.
pub(super) const REPEAT: usize = 5;

/// A way of filling tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheme {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fill: Fill,
}

/// How a scheme fills the tables of some pairs, again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fill {
    /// It takes tables as they are. Every part of the benchmark measures it.
    Whole(fn(&AnyDevice, &Inputs) -> Result<Filled>),
    /// It cuts them into tiles, for whose side and the width of a warp the first function returns
    /// the kernel; parts name the schemes and the sides that they measure.
    Tiles(
        fn(u32, u32) -> TileKernel,
        fn(&AnyDevice, &Inputs, Cut) -> Result<Filled>,
    ),
}

/// What a scheme has filled.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) times: Vec<Duration>,
    /// The last row of each table.
    pub(crate) rows: Vec<LastRow>,
    /// What it took beside the time, as a phrase that ends with bytes.
    pub(crate) took: String,
}

const fn scheme(name: &'static str, fill: Fill, about: &'static str) -> Scheme {
    Scheme { name, about, fill }
}

#[rustfmt::skip]
pub(crate) const SCHEMES: &[Scheme] = &[
    scheme("dataflow", Fill::Whole(dataflow), "one launch, in which warps hand values on through channels of tagged words"),
    scheme("diagonals", Fill::Tiles(TileKernel::tiles, launched), "a launch for each diagonal of tiles"),
    scheme("graph", Fill::Tiles(TileKernel::tiles, recorded), "the same launches as a CUDA graph"),
    scheme("locks", Fill::Tiles(|_, _| TileKernel::Locks, launched), "the same launches; in a tile a thread for each cell, which waits for locks"),
    scheme("cells", Fill::Tiles(|_, _| TileKernel::Cells, launched), "the same with tagged words in place of locks"),
];

pub(crate) fn named(name: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

/// Returns the names of the schemes that take tables as they are.
pub(crate) fn whole() -> impl Iterator<Item = &'static str> {
    let all = SCHEMES.iter();
    all.filter(|scheme| matches!(scheme.fill, Fill::Whole(_)))
        .map(|scheme| scheme.name)
}

/// Fills tables by dataflow.
fn dataflow(device: &AnyDevice, inputs: &Inputs) -> Result<Filled> {
    let passes = inputs.passes();
    let mut strips = Strips::new(device, &passes, &inputs.scoring)?;
    Ok(Filled {
        times: timed(REPEAT, || strips.fill())?,
        rows: strips.last_rows(&passes)?,
        took: format!(
            "{} of a warp, {}",
            counted(strips.blocks(), "block", "blocks"),
            bytes(strips.bytes())
        ),
    })
}

/// Fills tables by a launch for each diagonal of tiles.
fn launched(device: &AnyDevice, inputs: &Inputs, cut: Cut) -> Result<Filled> {
    tiled(device, inputs, cut, |tables| {
        timed(REPEAT, || Ok(tables.fill()?))
    })
}

/// Fills tables by the same launches, recorded.
fn recorded(device: &AnyDevice, inputs: &Inputs, cut: Cut) -> Result<Filled> {
    tiled(device, inputs, cut, |tables| {
        let mut graph = tables.recorded()?;
        timed(REPEAT, || Ok(graph.replay()?))
    })
}

/// Fills tables that are cut so, as often as `times` says.
fn tiled(
    device: &AnyDevice,
    inputs: &Inputs,
    cut: Cut,
    times: impl FnOnce(&Tables<AnyDevice>) -> Result<Vec<Duration>>,
) -> Result<Filled> {
    let passes = inputs.passes();
    let tables = Tables::new(device, cut, &passes, &inputs.scoring)?;
    let times = times(&tables)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_named_as_one() {
        assert_eq!(counted(1, "block", "blocks"), "1 block");
        assert_eq!(counted(132, "block", "blocks"), "132 blocks");
    }
}
