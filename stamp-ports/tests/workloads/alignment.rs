//! The kernels of Needleman-Wunsch by diagonals of tiles: the same tables as the host's, under every
//! schedule of the simulator. The tests of the program have them on the CPU.

use stamp_ports::workloads::nw::{NUCLEOTIDES, linear_nucleotides, random_codes};
use stm_align::Pass;
use stm_align::dataflow::OnDevice;
use stm_align::diagonals::{Cut, TileKernel};
use stm_align::matrix::{Gap, Scoring};
use stm_align::scorer::{Host, Scorer};
use stm_kernels::draw::{below, draw};
use verify::sim::{Schedule, Sim, SimConfig};

fn drawn(seed: u64, len: u32) -> Vec<u8> {
    random_codes(seed, 0, len, NUCLEOTIDES)
}

/// A sequence with some letters of another lost, changed and added.
fn like(a: &[u8], seed: u64) -> Vec<u8> {
    let mut b: Vec<u8> = Vec::new();
    for (i, &letter) in (0..).zip(a) {
        match below(draw(seed, i, 1), 10) {
            0 => {}
            1 => b.push(letter ^ 1),
            2 => b.extend([letter, 3, 3]),
            _ => b.push(letter),
        }
    }
    b
}

/// Fills the tables of sequences of these lengths, forward and backward, and compares their last
/// rows with the host's.
fn same_as_host(scorer: &mut dyn Scorer, lengths: &[(u32, u32)], gap: Gap, what: &str) {
    let scoring = scoring(gap);
    let pairs = (1..).zip(lengths).map(|(seed, &(rows, columns))| {
        let a = drawn(seed, rows);
        let mut b = [like(&a, seed), drawn(seed + 50, columns)].concat();
        b.truncate(columns as usize);
        (a, b)
    });
    let pairs: Vec<(Vec<u8>, Vec<u8>)> = pairs.collect();
    let directions = [(false, gap.open), (true, 0)];
    let passes = pairs.iter().flat_map(|(a, b)| {
        directions.map(|(backward, first)| Pass {
            a,
            b,
            backward,
            first,
        })
    });
    let passes: Vec<Pass<'_>> = passes.collect();
    let expected = Host.last_rows(&passes, &scoring).unwrap();
    // All in one series of launches, and one alone, which has other numbers of blocks.
    for some in [&passes[..], &passes[passes.len() - 1..]] {
        let found = scorer.last_rows(some, &scoring).unwrap();
        assert_eq!(found.len(), some.len());
        let expected = &expected[passes.len() - some.len()..];
        for ((pass, found), expected) in some.iter().zip(found).zip(expected) {
            let what = format!("{what} {gap:?} {} x {}", pass.a.len(), pass.b.len());
            assert_eq!(found.best, expected.best, "{what}");
            if !gap.is_linear() {
                assert_eq!(found.in_gap, expected.in_gap, "{what}");
            }
        }
    }
}

fn scoring(gap: Gap) -> Scoring {
    Scoring {
        gap,
        ..linear_nucleotides()
    }
}

const GAPS: [Gap; 3] = [
    Gap { open: 0, extend: 3 },
    Gap { open: 6, extend: 1 },
    Gap { open: 4, extend: 0 },
];

fn diagonals<D>(device: D, (kernel, side): (TileKernel, u32)) -> OnDevice<D> {
    let cut = Some(Cut { kernel, side });
    OnDevice { device, cut }
}

const SCHEDULES: &str = "lockstep stack its64 starve64 random";

/// Calls a function with a simulation of every schedule with warps of this width, and what it is.
fn under_every_schedule(width: u32, check: impl Fn(Sim, &str)) {
    for (seed, schedule) in (0..).zip(Schedule::named(SCHEDULES)) {
        let config = SimConfig::of(width, schedule).with_stale(50);
        let what = format!("w{width} {schedule:?}");
        check(Sim::new(config.with_seed(seed)), &what);
    }
}

/// Runs the kernels of tiles in simulations with warps of this width.
fn simulated(width: u32, cuts: &[(TileKernel, u32)], lengths: &[(u32, u32)]) {
    for &cut in cuts {
        for gap in GAPS {
            if gap.is_linear() || matches!(cut.0, TileKernel::Tiles(_)) {
                under_every_schedule(width, |sim, what| {
                    let what = format!("{what} {cut:?}");
                    same_as_host(&mut diagonals(sim, cut), lengths, gap, &what);
                });
            }
        }
    }
}

/// Strips wait for values of others, which lanes of another warp put, and warps wait while
/// others have not begun.
#[test]
fn dataflow_is_right_under_every_schedule_with_warps_of_every_width() {
    for (width, lengths) in [
        (1, [(9, 7), (5, 14)]),
        (2, [(17, 7), (8, 9)]),
        (3, [(29, 14), (12, 5)]),
        (4, [(40, 14), (33, 5)]),
        (8, [(70, 20), (33, 9)]),
        (16, [(130, 9), (70, 33)]),
        (32, [(260, 35), (140, 3)]),
    ] {
        for gap in GAPS {
            under_every_schedule(width, |device, what| {
                let what = format!("dataflow {what}");
                let cut = None;
                same_as_host(&mut OnDevice { device, cut }, &lengths, gap, &what);
            });
        }
    }
}

#[test]
fn tiles_are_right_under_every_schedule_with_one_warp_and_several() {
    let tiles = [(1, 8), (2, 16), (4, 32)].map(|(rows, side)| (TileKernel::Tiles(rows), side));
    for width in [1, 2, 4, 8] {
        simulated(width, &tiles, &[(5, 11), (17, 8), (0, 5), (4, 0), (1, 1)]);
    }
    // Threads that wait for one another in a warp are not stuck.
    for width in [1, 4, 16] {
        let cuts = [(TileKernel::Locks, 4), (TileKernel::Cells, 4)];
        simulated(width, &cuts, &[(5, 9), (8, 4)]);
    }
}

#[test]
fn tiles_of_less_than_a_warp_are_refused() {
    let sim = Sim::new(SimConfig::of(16, Schedule::Lockstep));
    let scoring = scoring(GAPS[0]);
    let pass = scoring.pass(&[0, 1], &[2]);
    let mut diagonals = diagonals(sim, (TileKernel::Tiles(2), 16));
    let error = diagonals.last_rows(&[pass], &scoring).unwrap_err();
    let said = "a block of 8 threads, and a warp has 16";
    assert!(error.to_string().contains(said), "{error}");
}

#[test]
fn the_kernel_follows_from_the_side_and_the_width_of_a_warp() {
    for (side, rows, threads) in [(32, 1, 32), (64, 2, 32), (128, 4, 32), (1024, 4, 256)] {
        let kernel = TileKernel::tiles(side, 32);
        assert_eq!(kernel, TileKernel::Tiles(rows));
        assert_eq!(kernel.threads(side), threads);
    }
    assert_eq!(TileKernel::Locks.threads(32), 1024);
}
