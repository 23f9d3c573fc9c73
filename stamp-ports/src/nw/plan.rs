//! The points of a device, in the order in which they are measured: those of the paper first, and last what
//! takes long.

use super::reduction::{self, CLUSTER, GLOBAL, HOPS, Memory, REDUCTION, SHARED, measure_hops};
use super::{Case, Measure, Planned, SCHEMES, STM, Way, tiled};
use crate::points::prelude::*;
use stm_align::diagonals::Cut;

/// The parts of the measurement, and what each shows.
#[rustfmt::skip]
pub(crate) const PARTS: [(&str, &str); 8] = [
    (REDUCTION, "values handed from warp to warp (Li et al. 2015, Figure 4)"),
    (HOPS, "a value handed from thread to thread, in each memory that has channels"),
    ("table3", "one pair of 31 to 1,984 letters (Li et al. 2015, Table 3)"),
    ("sizes", "one pair of 4 K to 100 K letters"),
    ("tiles", "the graph at 32 K letters, with tiles of 32 to 1,024"),
    ("affine", "one pair with affine gaps"),
    ("protein", "one pair of proteins, with linear and affine gaps"),
    ("batch", "10 K pairs of 300 letters"),
];

/// The schemes that parts name: see [`SCHEMES`].
pub(crate) const DIAGONALS: &str = "diagonals";
/// The launches of [`DIAGONALS`] as a graph.
pub(crate) const GRAPH: &str = "graph";
/// Those with a thread for each cell, which waits for its neighbours.
const POINTS: [&str; 2] = ["locks", "cells"];

struct Plan {
    warp_width: u32,
    stm: Shape,
    all: Vec<Planned>,
}

impl Plan {
    /// Adds the points of a case by the schemes that take whole tables, and by these with each side of tiles.
    fn add_all(&mut self, part: &str, case: Case, sides: &[u64], of_each: &[&str]) {
        for (name, way, _) in SCHEMES {
            if matches!(way, Way::Whole(_)) {
                self.add(part, name, case, 0);
            }
        }
        for &side in sides {
            for name in of_each {
                self.add(part, name, case, side);
            }
        }
    }

    /// Adds a point of a scheme, or of transactions; `side` is that of a tile, if there are any.
    fn add(&mut self, part: &str, implementation: &str, case: Case, side: u64) {
        let mut parameters = vec![
            ("letters", case.letters),
            ("pairs", case.pairs),
            ("affine", u64::from(case.affine)),
            ("protein", u64::from(case.protein)),
        ];
        let width = self.warp_width;
        let scheme = SCHEMES.iter().find(|scheme| scheme.0 == implementation);
        let measure: Measure;
        let shape = match scheme.map(|scheme| scheme.1) {
            None => {
                assert_eq!(implementation, STM, "a name of no scheme");
                measure = Box::new(move |of, asked| of.transactions(asked, case));
                self.stm
            }
            Some(Way::Whole(fill)) => {
                measure = Box::new(move |of, asked| of.tables(asked, case, None, fill));
                // The number of blocks is in the point's note.
                (0, width)
            }
            Some(Way::Tiles(kernel, again)) => {
                parameters.push(("side", side));
                // Those of the largest launch.
                let tiles = case.letters.div_ceil(side);
                let blocks = match case.pairs {
                    1 => tiles,
                    pairs => pairs * tiles.next_power_of_two(),
                };
                let side = side as u32;
                let kernel = kernel(side, width);
                let cut = Cut { kernel, side };
                measure = Box::new(move |of, asked| {
                    let fill = |device: &_, inputs: &_| tiled(device, inputs, cut, again);
                    of.tables(asked, case, Some(cut), fill)
                });
                (blocks as u32, kernel.threads(side))
            }
        };
        let asked = Asked::new(part, implementation, shape, &parameters);
        self.all.push((asked, measure));
    }
}

/// How many sides, from the smallest on, are compared with other gaps and letters.
const SIDES_COMPARED: usize = 4;

pub(crate) fn points(device: &AnyDevice, quick: bool) -> Vec<Planned> {
    let on_cpu = device.kind() == DeviceKind::Cpu;
    // Each size is for the full run, and for the small one.
    let i = usize::from(quick || on_cpu);
    let table3: &[u64] = [&[31, 62, 124, 248, 496, 992, 1984][..], &[31, 62]][i];
    let long: &[u64] = [&[4096, 8192, 16_384, 32_768, 65_536, 100_000][..], &[200]][i];
    let all_sides: &[u64] = [&[32, 64, 128, 256, 512, 1024][..], &[32, 64]][i];
    // The most letters of implementations with a thread for each cell, and the side of their tiles.
    let (points_max, points_side) = [(8192, 32), (62, 4)][i];
    // Where tiles, gaps and proteins are compared.
    let compared = Case::nucleotides([32_768, 150][i]);
    let (pairs, letters) = [(10_000, 300), (20, 30)][i];
    let mut plan = Plan {
        warp_width: device.limits().warp_width,
        stm: [(device.limits().processors, 32), (1, 2)][usize::from(on_cpu)],
        all: hand_overs(device.limits().warp_width, i),
    };
    for &letters in table3 {
        let case = Case::nucleotides(letters);
        // The side of the paper, and all that are not larger than the table needs.
        let sides = all_sides.iter().copied();
        let sides: Vec<u64> = sides.filter(|&s| s == 32 || s < 2 * letters).collect();
        plan.add_all("table3", case, &sides, &[DIAGONALS, GRAPH]);
        for name in POINTS {
            plan.add("table3", name, case, points_side);
        }
        plan.add("table3", STM, case, 0);
    }
    plan.add_all("tiles", compared, all_sides, &[GRAPH]);
    for &letters in long {
        let case = Case::nucleotides(letters);
        plan.add_all("sizes", case, all_sides, &[GRAPH]);
        plan.add("sizes", DIAGONALS, case, 32);
        for name in POINTS.into_iter().filter(|_| letters <= points_max) {
            plan.add("sizes", name, case, points_side);
        }
    }
    let with = |affine, protein| Case {
        affine,
        protein,
        ..compared
    };
    let mut batch = Case::nucleotides(letters);
    batch.pairs = pairs;
    for (part, case) in [
        ("affine", with(true, false)),
        ("protein", with(false, true)),
        ("protein", with(true, true)),
        ("batch", batch),
    ] {
        let sides = all_sides.len().min(SIDES_COMPARED);
        plan.add_all(part, case, &all_sides[..sides], &[GRAPH]);
    }
    plan.all
}

/// Returns the points of the reduction and of hops: all, or few.
fn hand_overs(width: u32, few: usize) -> Vec<Planned> {
    let warps: &[u32] = [&[2, 4, 8, 16][..], &[2, 4]][few];
    // The memory, blocks, warps of a block, and the threads that a value goes round.
    let hops: &[(Memory, u32, u32, u64)] = [
        &[
            (SHARED, 1, 2, 2),
            (SHARED, 1, 16, 16),
            (CLUSTER, 2, 1, 2),
            (CLUSTER, 8, 1, 8),
            (GLOBAL, 2, 1, 2),
            (GLOBAL, 132, 1, 132),
        ][..],
        &[(SHARED, 1, 2, 2), (CLUSTER, 2, 1, 2), (GLOBAL, 2, 1, 2)],
    ][few];
    let mut all: Vec<Planned> = Vec::new();
    for &warps in warps {
        for scheme in reduction::SCHEMES {
            let parameters = [("warps", u64::from(warps))];
            let asked = Asked::new(REDUCTION, scheme.name, (1, warps * width), &parameters);
            let measure: Measure =
                Box::new(move |of, asked| reduction::measure(of.device, asked, scheme));
            all.push((asked, measure));
        }
    }
    for &((memory, _, hops), blocks, warps, round) in hops {
        let asked = Asked::new(HOPS, memory, (blocks, warps * width), &[("round", round)]);
        let measure: Measure = Box::new(move |of, asked| measure_hops(of.device, asked, hops));
        all.push((asked, measure));
    }
    all
}
