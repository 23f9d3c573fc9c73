//! The figures: times of small tables beside the paper's, rates of large ones, and rates by
//! the side of a tile.

use super::data::{SCHEMES, Times, case, side};
use crate::nw::bench::plan::{CELLS, Case, DATAFLOW, DIAGONALS, GRAPH, LOCKS, REDUCTION, STM};
use crate::points::Point;
use crate::report::palette;
use crate::report::points::{self, CYCLES, Drawn, Quantity, RATE, Series, Shown, TIME, figure};

/// The implementations, in the order of their looks.
const NAMES: [&str; 6] = [DATAFLOW, GRAPH, DIAGONALS, CELLS, LOCKS, STM];

/// Returns a line of a part and an implementation over what `place` says.
fn series<'b>(
    times: &Times<'b>,
    part: &str,
    (name, shown, slot): (&str, String, usize),
    place: impl Fn(&Point) -> Option<u64>,
) -> Series<'b> {
    let place = |p: &Point| place(p).map(|x| x as f64);
    let line = points::series(
        &times.bench().points,
        (part, name),
        palette::line(slot),
        place,
    );
    Series {
        name: shown,
        ..line
    }
}

/// Returns a panel of every implementation over the letters of a sequence.
fn by_letters<'b>(times: &Times<'b>, part: &str, title: &str, quantity: Quantity) -> Shown<'b> {
    let lines = NAMES.into_iter().enumerate().map(|(slot, name)| {
        let shown = if name == GRAPH && part == "sizes" {
            format!("{name}, best tile")
        } else {
            name.to_owned()
        };
        series(times, part, (name, shown, slot), |p| Some(case(p).letters))
    });
    let mut lines: Vec<Series<'b>> = lines.collect();
    if part == "sizes" {
        let of_32 = |p: &Point| (side(p) == 32).then(|| case(p).letters);
        let name = (GRAPH, format!("{GRAPH}, tiles of 32"), NAMES.len());
        lines.push(series(times, part, name, of_32));
    }
    Shown {
        title: title.to_owned(),
        x: "letters",
        quantity,
        series: lines,
    }
}

/// Returns a panel of the graph over the side of a tile.
fn by_side<'b>(times: &Times<'b>, part: &str, title: &str, wanted: fn(&Case) -> bool) -> Shown<'b> {
    let of = |p: &Point| wanted(&case(p)).then(|| side(p));
    Shown {
        title: title.to_owned(),
        x: "letters a tile's side",
        quantity: RATE,
        series: vec![series(times, part, (GRAPH, GRAPH.to_owned(), 1), of)],
    }
}

/// Returns a panel of every scheme of the reduction over the number of warps.
fn by_warps<'b>(times: &Times<'b>) -> Shown<'b> {
    let of = |p: &Point| p.parameters.get("warps").copied();
    let lines = SCHEMES
        .iter()
        .enumerate()
        .map(|(slot, (name, ..))| series(times, REDUCTION, (name, (*name).to_owned(), slot), of));
    Shown {
        title: "Cycles of a round".to_owned(),
        x: "warps",
        quantity: CYCLES,
        series: lines.collect(),
    }
}

/// Draws every figure, in the order of the page.
pub fn all(times: &Times<'_>) -> Vec<Drawn> {
    let small = vec![by_letters(times, "table3", "Time of a table", TIME)];
    let large = vec![by_letters(times, "sizes", "Cells a second", RATE)];
    let tiles = vec![
        by_side(times, "tiles", "Nucleotides, linear gaps", |_| true),
        by_side(times, "affine", "Nucleotides, affine gaps", |_| true),
        by_side(times, "protein", "Proteins, linear gaps", |c| !c.affine),
        by_side(times, "protein", "Proteins, affine gaps", |c| c.affine),
        by_side(times, "batch", "Many short pairs", |_| true),
    ];
    let reduction = vec![by_warps(times)];
    vec![
        Drawn {
            parts: &[REDUCTION],
            figure: figure("figure-1", "The reduction", reduction, false),
            theirs: "Li et al., Figure 4, with 16 warps: tiny locks are 4.0\u{d7} as fast as a spin lock a lane, named \
                     barriers 2.6\u{d7}, votes 2.0\u{d7}, and a spin lock a warp 0.8\u{d7}.",
        },
        Drawn {
            parts: &["table3"],
            figure: figure("figure-2", "Small tables", small, false),
            theirs: "Li et al., Table 3, on a GTX 570: from 31 to 1,984 letters, locks of atomics take 175 \u{b5}s to \
                     48.8 ms, launches 57 to 80 \u{b5}s, and tiny locks 49 to 165 \u{b5}s.",
        },
        Drawn {
            parts: &["sizes"],
            figure: figure("figure-3", "Large tables", large, false),
            theirs: "The paper stops at 1,984 letters.",
        },
        Drawn {
            parts: &["tiles", "affine", "protein", "batch"],
            figure: figure("figure-4", "Tiles, gaps and letters", tiles, false),
            theirs: "The paper has tiles of 32 x 32 threads, linear gaps and nucleotides.",
        },
    ]
}
