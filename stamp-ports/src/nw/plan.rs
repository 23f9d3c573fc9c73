//! The points of a device, in the order in which they are measured: those of the paper
//! first, and last what takes long.

use super::Case;
use super::measure::{cut, named, whole};
use super::reduction::{self, HOPS, REDUCTION};
use crate::devices::{AnyDevice, DeviceKind};
use crate::points::Asked;
use stm_core::host::Device;

/// The parts of the measurement, and what each shows.
pub(crate) const PARTS: [(&str, &str); 8] = [
    (
        REDUCTION,
        "values handed from warp to warp (Li et al. 2015, Figure 4)",
    ),
    (
        HOPS,
        "a value handed from thread to thread, in each memory that has channels",
    ),
    (
        "table3",
        "one pair of 31 to 1,984 letters (Li et al. 2015, Table 3)",
    ),
    ("sizes", "one pair of 4 K to 100 K letters"),
    (
        "tiles",
        "the graph at 32 K letters, with tiles of 32 to 1,024",
    ),
    ("affine", "one pair with affine gaps"),
    (
        "protein",
        "one pair of proteins, with linear and affine gaps",
    ),
    ("batch", "10 K pairs of 300 letters"),
];

/// The schemes that parts name: see [`super::measure`].
pub(crate) const DIAGONALS: &str = "diagonals";
/// The launches of [`DIAGONALS`] as a graph.
pub(crate) const GRAPH: &str = "graph";
/// Those with a thread for each cell, which waits for its neighbours.
const POINTS: [&str; 2] = ["locks", "cells"];
/// A transaction for each cell.
pub(crate) const STM: &str = "stm:fast";

struct Plan {
    warp_width: u32,
    /// The launch of transactions.
    stm: (u32, u32),
    all: Vec<Asked>,
}

impl Plan {
    /// Adds the points of a case by the schemes that take tables as they are, and with tiles of each
    /// of these sides by each of these.
    fn add_all(&mut self, part: &str, case: Case, sides: &[u64], of_each: &[&str]) {
        for name in whole() {
            self.add(part, name, case, 0);
        }
        for &side in sides {
            for name in of_each {
                self.add(part, name, case, side);
            }
        }
    }

    /// Adds a point; `side` is that of a tile, or 0 where there are none.
    fn add(&mut self, part: &str, implementation: &str, case: Case, side: u64) {
        let parameters = [
            ("letters", case.letters),
            ("pairs", case.pairs),
            ("affine", u64::from(case.affine)),
            ("protein", u64::from(case.protein)),
        ];
        let mut asked = Asked::new(part, implementation, self.stm, &parameters);
        if side != 0 {
            asked.parameters.insert("side".to_owned(), side);
        }
        if let Some(cut) = cut(&asked, self.warp_width) {
            // Those of the largest launch.
            let tiles = case.letters.div_ceil(side);
            let blocks = match case.pairs {
                1 => tiles,
                pairs => pairs * tiles.next_power_of_two(),
            };
            asked.blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
            asked.threads = cut.kernel.threads(cut.side);
        } else if named(implementation).is_some() {
            // The number of blocks is in the point's note.
            (asked.blocks, asked.threads) = (0, self.warp_width);
        }
        self.all.push(asked);
    }
}

struct Sizes {
    warps: &'static [u32],
    /// Hops: the memory, blocks, warps of a block, and the threads that a value goes round.
    hops: &'static [(&'static str, u32, u32, u64)],
    table3: &'static [u64],
    long: &'static [u64],
    /// The most letters of implementations with a thread for each cell.
    points_max: u64,
    /// Where tiles, gaps and proteins are compared.
    compared: u64,
    sides: &'static [u64],
    /// The side of tiles of dataflow with a thread for each cell.
    points_side: u64,
    batch: (u64, u64),
}

const FULL: Sizes = Sizes {
    warps: &[2, 4, 8, 16],
    hops: &[
        (reduction::SHARED, 1, 2, 2),
        (reduction::SHARED, 1, 16, 16),
        (reduction::CLUSTER, 2, 1, 2),
        (reduction::CLUSTER, 8, 1, 8),
        (reduction::GLOBAL, 2, 1, 2),
        (reduction::GLOBAL, 132, 1, 132),
    ],
    table3: &[31, 62, 124, 248, 496, 992, 1984],
    long: &[4096, 8192, 16_384, 32_768, 65_536, 100_000],
    points_max: 8192,
    compared: 32_768,
    sides: &[32, 64, 128, 256, 512, 1024],
    points_side: 32,
    batch: (10_000, 300),
};

const QUICK: Sizes = Sizes {
    warps: &[2, 4],
    hops: &[
        (reduction::SHARED, 1, 2, 2),
        (reduction::CLUSTER, 2, 1, 2),
        (reduction::GLOBAL, 2, 1, 2),
    ],
    table3: &[31, 62],
    long: &[200],
    points_max: 62,
    compared: 150,
    sides: &[32, 64],
    points_side: 4,
    batch: (20, 30),
};

/// How many sides, from the smallest on, are compared with other gaps and letters.
const SIDES_COMPARED: usize = 4;

/// The points of a device.
pub(crate) fn points(device: &AnyDevice, quick: bool) -> Vec<Asked> {
    let on_cpu = device.kind() == DeviceKind::Cpu;
    let sizes = if quick || on_cpu { QUICK } else { FULL };
    let limits = device.limits();
    let mut plan = Plan {
        warp_width: limits.warp_width,
        stm: if on_cpu {
            (1, 2)
        } else {
            (limits.processors, 32)
        },
        all: Vec::new(),
    };
    let width = limits.warp_width;
    for &warps in sizes.warps {
        for scheme in reduction::names() {
            let (shape, warps) = ((1, warps * width), [("warps", u64::from(warps))]);
            plan.all.push(Asked::new(REDUCTION, scheme, shape, &warps));
        }
    }
    for &(memory, blocks, threads, round) in sizes.hops {
        let (shape, round) = ((blocks, threads * width), [("round", round)]);
        plan.all.push(Asked::new(HOPS, memory, shape, &round));
    }
    for &letters in sizes.table3 {
        let case = Case::nucleotides(letters);
        // The side of the paper, and all that are not larger than the table needs.
        let sides = sizes.sides.iter().copied();
        let sides: Vec<u64> = sides.filter(|&s| s == 32 || s < 2 * letters).collect();
        plan.add_all("table3", case, &sides, &[DIAGONALS, GRAPH]);
        for name in POINTS {
            plan.add("table3", name, case, sizes.points_side);
        }
        plan.add("table3", STM, case, 0);
    }
    let compared = Case::nucleotides(sizes.compared);
    plan.add_all("tiles", compared, sizes.sides, &[GRAPH]);
    for &letters in sizes.long {
        let case = Case::nucleotides(letters);
        plan.add_all("sizes", case, sizes.sides, &[GRAPH]);
        plan.add("sizes", DIAGONALS, case, 32);
        if letters <= sizes.points_max {
            for name in POINTS {
                plan.add("sizes", name, case, sizes.points_side);
            }
        }
    }
    let with = |affine, protein| Case {
        affine,
        protein,
        ..compared
    };
    let mut batch = Case::nucleotides(sizes.batch.1);
    batch.pairs = sizes.batch.0;
    for (part, case) in [
        ("affine", with(true, false)),
        ("protein", with(false, true)),
        ("protein", with(true, true)),
        ("batch", batch),
    ] {
        let sides = sizes.sides.len().min(SIDES_COMPARED);
        plan.add_all(part, case, &sizes.sides[..sides], &[GRAPH]);
    }
    plan.all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_points_and_no_point_is_twice() {
        let cpu = AnyDevice::cpu();
        let all = points(&cpu, true);
        for (part, _) in PARTS {
            assert!(all.iter().any(|asked| asked.part == part), "{part}");
        }
        for (i, one) in all.iter().enumerate() {
            assert!(PARTS.iter().any(|(part, _)| *part == one.part));
            assert!(!all[..i].contains(one), "{one:?}");
            let is_of_values = [REDUCTION, HOPS].contains(&one.part.as_str());
            assert!(is_of_values || Case::of(one).cells() > 0);
        }
    }
}
