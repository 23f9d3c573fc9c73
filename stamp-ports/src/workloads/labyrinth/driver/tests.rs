//! What a run left is judged, as it is and spoilt.

use super::super::maze::Maze;
use super::*;
use crate::workloads::workload::Sizes;
use stm_core::algorithm::HvSorting;
use stm_core::host::{Cpu, Launch, Stm, StmConfig};
use stm_kernels::labyrinth::{FREE, GridSize, cell_of_path};

/// A small maze, and its data as a right run leaves it.
fn routed() -> (Labyrinth, LabyrinthData<Cpu>) {
    let size = GridSize { x: 9, y: 8, z: 2 };
    let labyrinth = Labyrinth {
        maze: Maze::generate(2, size, 8, 12).unwrap(),
        file: None,
        claim: Claim::Warp,
    };
    let cpu = Cpu::new();
    let launch = Launch {
        shared_bytes: labyrinth.shared_bytes(),
        ..Launch::new(2, 3)
    };
    let config = StmConfig {
        capacity: labyrinth.capacity(),
        ..StmConfig::default()
    };
    let mut stm = Stm::new(&cpu, launch, config).unwrap();
    let mut data = labyrinth.prepare(&cpu, 0, 8).unwrap();
    labyrinth.reset(&mut data).unwrap();
    let mut launcher = Launcher::new(&cpu, &mut stm);
    labyrinth
        .run::<_, HvSorting>(&mut data, &mut launcher, 8)
        .unwrap();
    let commits = launcher.finish().statistics.commits;
    let expected = labyrinth.commits_expected(&data, 8).unwrap();
    assert_eq!(Some(commits), expected);
    assert_eq!(labyrinth.verify(&mut data, 8).unwrap(), None);
    assert!(data.routed.routed > 4, "{:?}", data.routed);
    (labyrinth, data)
}

fn refused(change: impl FnOnce(&mut LabyrinthData<Cpu>), part: &str) {
    let (labyrinth, mut data) = routed();
    change(&mut data);
    let what = labyrinth.verify(&mut data, 8).unwrap().expect("refused");
    assert!(what.contains(part), "{what} lacks {part}");
}

#[test]
fn what_a_kernel_left_is_refused_with_one_cell_freed_or_taken() {
    let change = |from: u32, to: u32| {
        move |data: &mut LabyrinthData<Cpu>| {
            let mut grid = data.grid.download().unwrap();
            let at = grid.iter().position(|&word| word == from).unwrap();
            grid[at] = to;
            data.grid.upload(&grid).unwrap();
        }
    };
    refused(change(FREE, cell_of_path(3)), "should be free");
    refused(
        change(stm_kernels::labyrinth::WALL, FREE),
        "should be a wall",
    );
    let (_, data) = routed();
    let results = data.results.download().unwrap();
    let path = results.iter().position(|&r| r != UNROUTED).unwrap() as u32;
    refused(change(cell_of_path(path), FREE), "should be on path");
}

#[test]
fn what_a_kernel_left_is_refused_with_another_result() {
    refused(
        |data| {
            let mut results = data.results.download().unwrap();
            let routed = results.iter().position(|&r| r != UNROUTED).unwrap();
            results[routed] -= 1;
            data.results.upload(&results).unwrap();
        },
        "the path of request",
    );
    refused(|data| data.results.clear().unwrap(), "not settled");
}

#[test]
fn each_path_was_claimed_and_its_time_is_part_of_the_routers() {
    let (_, data) = routed();
    assert!(data.claims.count >= data.routed.routed, "{:?}", data.claims);
    assert!(data.claims.ticks > 0 && data.claims.ticks < data.claims.worked);
    let claims = Claims::of(&[30, 2, 100, 10, 3, 400]);
    assert_eq!((claims.count, claims.ticks), (5, 40));
    // 400 ticks in 800 us: 2 us a tick, 8 ticks a claim.
    let us = claims.microseconds(Duration::from_micros(800));
    assert!((us - 16.0).abs() < 1e-9 && (claims.share() - 0.08).abs() < 1e-9);
}

#[test]
fn a_second_run_finds_the_first_state_again() {
    let (labyrinth, mut data) = routed();
    labyrinth.reset(&mut data).unwrap();
    assert_eq!(data.grid.download().unwrap(), initial_grid(&labyrinth.maze));
    let what = labyrinth.verify(&mut data, 8).unwrap();
    assert!(what.is_some_and(|w| w.contains("not settled")));
}
