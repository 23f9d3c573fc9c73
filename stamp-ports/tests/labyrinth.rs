//! Labyrinth with every variant on the CPU: STAMP's inputs, and grids in which
//! routers are in each other's way. Every routing is checked cell by cell.

mod common;

use common::Setting;
use stamp_ports::devices::AnyDevice;
use stamp_ports::error::Error;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::labyrinth::{Claim, Labyrinth, Maze, Place, Request};
use std::path::Path;
use stm_core::Capacity;
use stm_core::algorithm::Variant;
use stm_kernels::labyrinth::GridSize;

/// Routes with every variant; all routings were checked.
fn all_variants(labyrinth: &Labyrinth, shape: (u32, u32), memory: (u64, u64)) -> Vec<RunReport> {
    common::all_variants(labyrinth.clone(), Setting::of(1, shape, memory))
}

/// The labyrinth of a maze that is drawn.
const fn of(maze: Maze) -> Labyrinth {
    Labyrinth {
        maze,
        file: None,
        claim: Claim::Warp,
    }
}

fn generated(seed: u64, size: (u32, u32, u32), paths: u32, walls: u32) -> Labyrinth {
    let (x, y, z) = size;
    of(Maze::generate(seed, GridSize { x, y, z }, paths, walls).expect("a maze"))
}

fn observed(report: &RunReport, name: &str) -> u64 {
    report.observed[name].as_u64().expect("a count")
}

#[test]
fn every_input_of_stamp_is_routed_with_every_variant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stamp");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("the inputs") {
        let path = entry.expect("a file").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("labyrinth-") {
            continue;
        }
        files += 1;
        let maze = Maze::read(&path).expect("STAMP's format");
        // labyrinth-random-xX-yY-zZ-nN.txt
        let number = |letter: char| -> u32 {
            let part = name.split(['-', '.']).find(|p| {
                p.starts_with(letter) && p[1..].chars().all(|c| c.is_ascii_digit()) && p.len() > 1
            });
            part.expect("in the name")[1..].parse().expect("a number")
        };
        let size = GridSize {
            x: number('x'),
            y: number('y'),
            z: number('z'),
        };
        assert_eq!((maze.size, maze.walls.len()), (size, 0), "{name}");
        assert_eq!(maze.requests.len(), number('n') as usize, "{name}");
        let labyrinth = Labyrinth {
            file: Some(name.clone()),
            ..of(maze)
        };
        for report in all_variants(&labyrinth, (3, 4), (1 << 16, 4)) {
            assert_eq!(report.parameters["input"], name.as_str());
            assert!(2 * observed(&report, "routed") > report.transactions);
            assert_eq!(observed(&report, "routed"), report.commits);
        }
    }
    assert!(files >= 4, "{files} inputs");
}

#[test]
fn crowded_grids_are_routed_with_few_locks_and_wide_stripes() {
    let mut cancelled = 0;
    let mut unrouted = 0;
    // Routers that meet are a matter of luck: on until some have.
    for seed in 0..64 {
        if seed >= 4 && cancelled > 0 {
            break;
        }
        // A quarter of the cells are ends or walls.
        let mut labyrinth = generated(seed, (12, 12, 2), 24, 24);
        if seed % 2 == 1 {
            labyrinth.claim = Claim::Block;
        }
        // Every kind of table meets every shape within three seeds.
        let shapes = [(8, 1), (4, 3), (2, 8)];
        for (k, memory) in [(1, 4), (4, 16), (1 << 10, 64)].into_iter().enumerate() {
            let shape = shapes[(k + seed as usize) % shapes.len()];
            for report in all_variants(&labyrinth, shape, memory) {
                cancelled += report.aborts["user"];
                unrouted += observed(&report, "unrouted");
            }
        }
    }
    assert!(
        cancelled > 0,
        "no claim met a taken cell: this tests little"
    );
    assert!(unrouted > 0, "all were routed: this tests little");
}

#[test]
fn two_requests_for_one_corridor_leave_one_unrouted() {
    let at = |x, y| Place { x, y, z: 0 };
    // A cross of two corridors, each three cells long.
    let corners = [at(0, 0), at(2, 0), at(0, 2), at(2, 2)];
    let request = |source, destination| Request {
        source,
        destination,
    };
    let labyrinth = of(Maze {
        size: GridSize { x: 3, y: 3, z: 1 },
        walls: corners.to_vec(),
        requests: vec![
            request(at(0, 1), at(2, 1)),
            request(at(1, 0), at(1, 2)),
            // Ends of others are no way through, and may be shared.
            request(at(0, 1), at(1, 0)),
        ],
    });
    for report in all_variants(&labyrinth, (3, 2), (16, 4)) {
        assert_eq!(observed(&report, "routed"), 1);
        assert_eq!(observed(&report, "unrouted"), 2);
        assert_eq!(observed(&report, "longest_path"), 3);
    }
}

#[test]
fn neighbours_are_joined_and_more_blocks_than_paths_do_no_harm() {
    let at = |x| Place { x, y: 0, z: 0 };
    let labyrinth = of(Maze {
        size: GridSize { x: 2, y: 1, z: 1 },
        walls: Vec::new(),
        requests: vec![Request {
            source: at(1),
            destination: at(0),
        }],
    });
    for report in all_variants(&labyrinth, (7, 3), (16, 4)) {
        assert_eq!(observed(&report, "path_cells"), 2);
    }
}

#[test]
fn a_path_longer_than_the_sets_is_refused_with_what_is_enough() {
    let labyrinth = generated(1, (40, 1, 1), 1, 0);
    let needed = {
        let request = labyrinth.maze.requests[0];
        request.source.x.abs_diff(request.destination.x) + 1
    };
    assert!(needed > 2);
    let (cpu, labyrinth) = (AnyDevice::cpu(), AnyWorkload::from(labyrinth));
    let mut runner = Runner::new(&cpu, &labyrinth, 1, 1).expect("data");
    for (reads, writes) in [(needed, needed), (needed - 1, needed), (needed, needed - 1)] {
        let mut spec = Setting::of(1, (1, 1), (16, 4)).spec(&labyrinth, Variant::HvSorting.into());
        spec.config.capacity = Capacity {
            reads,
            writes,
            actions: 0,
        };
        let result = runner.measure(&spec);
        if reads.min(writes) == needed {
            assert!(result.expect("fits").verified);
            continue;
        }
        let option = if writes < reads {
            "--write-capacity"
        } else {
            "--read-capacity"
        };
        match result {
            Err(Error::Capacity {
                limit,
                option: named,
                needed: enough,
                ..
            }) => {
                assert_eq!((limit, named, enough), (needed - 1, option, 40));
            }
            other => panic!("{other:?}"),
        }
    }
}
