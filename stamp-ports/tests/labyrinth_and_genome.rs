//! Labyrinth with every variant on the CPU: STAMP's inputs, and grids in which
//! routers are in each other's way. Every routing is checked cell by cell.
//!
//! Genome with every variant on the CPU: few segments with holes filled, many that repeat, one
//! chain whose links all meet. Every rebuilt gene is compared with the generated one.
//!
//! Labyrinth and genome at the command line: what `generate` writes `run`
//! reads, and what cannot be carried out is refused on one line with status 2.

mod common;

use common::{Setting, has, json, refused_rows, right};
use serde_json::Value;
use stamp_ports::devices::AnyDevice;
use stamp_ports::error::Error;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::genome::Genome;
use stamp_ports::workloads::labyrinth::{Claim, Coordinate, Labyrinth, Maze, Request};
use std::fs;
use std::path::Path;
use std::time::Duration;
use stm_core::algorithm::Variant;
use stm_core::host::Capacity;
use stm_kernels::labyrinth::GridSize;

/// Routes with every variant; all routings were checked.
fn all_variants(labyrinth: &Labyrinth, shape: (u32, u32), memory: (u64, u64)) -> Vec<RunReport> {
    common::all_variants(labyrinth.clone(), [Setting::of(1, shape, memory)])
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
        let (GridSize { x, y, z }, n) = (maze.size, maze.requests.len());
        assert_eq!(name, format!("labyrinth-random-x{x}-y{y}-z{z}-n{n}.txt"));
        assert!(maze.walls.is_empty(), "{name}");
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
    let at = |x, y| Coordinate { x, y, z: 0 };
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
    let at = |x| Coordinate { x, y: 0, z: 0 };
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

/// Assembles with every variant; all genes were compared.
fn genome_variants(genome: Genome, seed: u64, shape: (u32, u32), locks: u64) -> Vec<RunReport> {
    common::all_variants(genome, [Setting::of(seed, shape, (locks, 4))])
}

const fn genome(bases: u32, segment: u32, segments: u32) -> Genome {
    Genome {
        bases,
        segment,
        segments,
    }
}

#[test]
fn genes_are_rebuilt_whatever_the_sizes() {
    // Segments that end within a word, at its end, just behind it, and in the
    // third; covered many times, and hardly at all.
    for (bases, segment) in [(300, 16), (300, 31), (300, 32), (300, 33), (300, 90)] {
        for segments in [1, 40, 3000] {
            genome_variants(genome(bases, segment, segments), 3, (2, 4), 1 << 12);
        }
    }
    // One segment that is the gene, and two.
    for bases in [32, 33] {
        genome_variants(genome(bases, 32, 5), 1, (2, 2), 16);
    }
}

#[test]
fn links_that_meet_at_the_ends_of_chains_lose_nothing() {
    let mut aborted = 0;
    // Threads that meet are a matter of luck: on until some have.
    for seed in 0..60 {
        if seed >= 3 && aborted > 0 {
            break;
        }
        let (locks, shape) = [(1, (2, 8)), (4, (5, 3)), (1 << 12, (2, 8))][seed as usize % 3];
        // Every place of the gene has a segment: all links are of one overlap.
        for report in genome_variants(genome(1024, 32, 20_000), seed, shape, locks) {
            aborted += report.aborts.values().sum::<u64>();
            assert_eq!(report.observed["distinct_segments"], 993);
            assert_eq!(report.commits, 20_000 + 992);
        }
    }
    assert!(aborted > 0, "no attempt aborted: this tests nothing");
}

#[test]
fn the_kernels_are_told_apart_in_the_report() {
    for report in genome_variants(genome(300, 32, 500), 1, (2, 1), 1 << 10) {
        let of = |name: &str| {
            let found = report.kernels.iter().find(|k| k.kernel.starts_with(name));
            found.unwrap_or_else(|| panic!("{name} in {:?}", report.kernels))
        };
        assert_eq!(report.kernels.len(), 3);
        assert_eq!((of("gn1_").launches, of("gn2_").launches), (1, 31));
        assert_eq!(of("gn_match").launches, 32);
        let segments = report.observed["segments"].as_u64();
        assert_eq!(Some(of("gn1_").commits), segments);
        assert_eq!(of("gn1_").commits + of("gn2_").commits, report.commits);
        let sum: f64 = report.kernels.iter().map(|k| k.time_ms).sum();
        assert!((sum / report.time_ms.median - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_time_limit_holds_for_all_launches_together() {
    // Two threads need a few hundred times the limit for them, so that a watch which wakes late
    // still stops the first launch.
    const SEGMENTS: u32 = 4_000_000;
    let (cpu, genome) = (
        AnyDevice::cpu(),
        AnyWorkload::from(genome(4096, 64, SEGMENTS)),
    );
    let mut runner = Runner::new(&cpu, &genome, 1, SEGMENTS.into()).expect("data");
    let mut spec = Setting::of(1, (2, 1), (1 << 12, 4)).spec(&genome, Variant::HvSorting.into());
    let limit = Duration::from_millis(2);
    spec.config.time_limit = Some(limit);
    let stopped = runner.measure(&spec).expect("a report");
    assert!(!stopped.verified, "{} commits", stopped.commits);
    assert!(
        stopped.commits < u64::from(SEGMENTS),
        "{} commits",
        stopped.commits
    );
    has(&stopped.error.expect("what is wrong"), "time limit of 2ms");
    // And the same memory and data go on.
    spec.config.time_limit = None;
    assert!(runner.measure(&spec).expect("time enough").verified);
}

fn one_run(options: &str) -> Value {
    let run = json(&format!("run {options} --json"));
    assert_eq!(run["verified"], true);
    run
}

const SMALL: &str = "-x 20 -y 10 -z 2 -n 12";

#[test]
fn a_generated_file_is_what_a_generated_run_routes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maze.txt");
    let file = path.display();
    let generate = format!("generate labyrinth {SMALL} --walls 7 --seed 5");
    assert_eq!(right(&format!("{generate} --out {file}")), "");
    let answer = right(&generate);
    assert_eq!(fs::read_to_string(&path).unwrap(), answer);
    assert_eq!(answer.matches("\np ").count(), 12);
    assert_eq!(answer.matches("\nw ").count(), 7);

    let base = "labyrinth --device cpu --blocks 1 --threads 1";
    let from_file = one_run(&format!("{base} -i {file}"));
    let drawn = one_run(&format!("{base} {SMALL} --walls 7 --seed 5"));
    // One router alone takes the requests in their order.
    for count in ["claims", "routed", "unrouted", "path_cells", "longest_path"] {
        assert!(drawn["observed"][count].is_u64(), "{count}");
        assert_eq!(from_file["observed"][count], drawn["observed"][count]);
    }
    assert_eq!(from_file["parameters"]["input"], "maze.txt");
    assert_eq!(drawn["parameters"].get("input"), None);
    for (name, n) in [("x", 20), ("y", 10), ("z", 2), ("paths", 12), ("walls", 7)] {
        assert_eq!(from_file["parameters"][name], n);
        assert_eq!(drawn["parameters"][name], n);
    }
    assert_eq!(drawn["commits"], drawn["observed"]["routed"]);
}

#[test]
fn genome_takes_the_letters_of_stamp() {
    let run = one_run("genome --device cpu -g 1024 -s 32 -n 65536");
    for (name, n) in [("g", 1024), ("s", 32), ("n", 65536)] {
        assert_eq!(run["parameters"][name], n);
    }
    assert_eq!(run["observed"]["distinct_segments"], 993);
    assert_eq!(run["commits"], 65536 + 992);
    assert_eq!(run["kernels"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_tables_name_the_sizes() {
    let out = right(&format!("run labyrinth --device cpu {SMALL}"));
    has(&out, "labyrinth: 20 x 10 x 2 cells, 12 paths");
    let out = right("run genome --device cpu -g 300 -s 32 -n 1K");
    has(&out, "genome: 300 bases, 1K segments, 32 bases a segment");
}

#[test]
fn a_launch_can_be_searched_for() {
    let document = json(&format!(
        "tune labyrinth --device cpu --variant hv-sorting --json {SMALL}"
    ));
    assert_eq!(document["runs"][0]["verified"], true);
    assert_eq!(document["runs"][0]["transactions"], 12);
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_left_of_a_file() {
    refused_rows(
        r#"
        run labyrinth --device cpu -x 0 => 0 x 512 x 7 | -x, -y or -z
        run labyrinth --device cpu -z 9999 => 512 x 512 x 9999 | too large
        run labyrinth --device cpu -n 0 => -n 0 | 1 or more
        run labyrinth --device cpu -x 3 -y 3 -z 1 -n 5 => 10 places | has 9 | smaller -n
        run labyrinth --device cpu -x three => "three" | 2^20
        run labyrinth --device cpu --transactions 5 => --transactions 5 | ra and ht | leave it out
        run labyrinth --device cpu -g 5 => -g 5 | genome | leave it out
        run labyrinth --device cpu -i a.txt -x 5 => -x 5 | --input
        run labyrinth --device cpu -i a.txt -n 5 => -n 5 | --input
        run labyrinth --device cpu -i no/such/file => cannot read | no/such/file | --input
        run labyrinth --device cpu -i src => cannot read | src | --input
        run ra -n 5 => -n 5 | genome and labyrinth
        // Nothing of `all` runs before everything is known to make sense.
        run all --device cpu -x 0 => 0 x 512 x 7
        run all --device cpu -s 1 => -s 1 | 2 or more
        run all -n 5 => -n 5 | name one instead of all
        run genome --device cpu -s 1 => -s 1 | 2 or more
        run genome --device cpu -g 20 -s 32 => -g 20 | -s 32
        run genome --device cpu -g 2^30 => -g 1073741824 | at most 268435456
        run genome --device cpu -n 0 => -n 0 | 1 or more
        run genome --device cpu -n 4294967295 => -n 4294967295 | at most
        run genome --device cpu -g 1K -s 6 => -s 6 | too short | or more
        run genome --device cpu -g 1K -s 32 -n 100 --write-capacity 3 => CapacityExceeded | write set of 3 | --write-capacity 4
        generate labyrinth --out no/such/folder/maze.txt => no/such/folder | make it first
        generate labirinth => 'labirinth'
        generate => stamp generate --help
        "#,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maze.txt");
    let file = path.display();
    // Which bytes are refused with what, the tests of the reader say.
    for (content, parts) in [
        (&b"d 4 4 1\np 0 0 0 1 0"[..], "line 2 | line break"),
        (b"\x89PNG\r\n\x1a\n", "line 1 | byte 0x89"),
        (b"", "line 1 | d X Y Z"),
    ] {
        fs::write(&path, content).unwrap();
        refused_rows(&format!(
            "run labyrinth --device cpu --input {file} => maze.txt | {parts}"
        ));
    }
    fs::remove_file(&path).unwrap();
    refused_rows(&format!(
        "generate labyrinth -x 1 -y 1 -z 1 --out {file} => has 1"
    ));
    assert!(!path.exists());
}
