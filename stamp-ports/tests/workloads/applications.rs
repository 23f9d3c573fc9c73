//! STAMP's applications with every variant on the CPU, beyond the rows of `contention.rs`: k-means on
//! STAMP's own file, each of whose passes is checked; labyrinth on STAMP's inputs and in grids in
//! which routers are in each other's way, checked cell by cell; genome with one chain whose links all
//! meet, compared with the generated gene.
//!
//! And at the command line: what `generate` writes `run` reads, and what cannot be carried out is
//! refused on one line with status 2.

use crate::prelude::*;
use serde_json::{Value, json};
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::runner::Runner;
use std::fs;
use std::path::Path;
use std::time::Duration;
use stm_core::algorithm::Variant;

/// Runs every variant in one shape with one memory; all results were checked.
fn reports(line: &str, seed: u64, shape: Shape, memory: Memory) -> Vec<RunReport> {
    all_variants(line, seed, &[shape], &[memory], 0)
}

fn observed(report: &RunReport, name: &str) -> u64 {
    number(&report.observed[name])
}

#[test]
fn points_that_are_all_the_same_leave_clusters_empty_or_make_ties_that_are_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("points.txt");
    let same = |coordinate: &str| {
        let points = format!("1 {coordinate} {coordinate}\n").repeat(100);
        fs::write(&path, points).expect("a file");
        let of = format!("kmeans -t 0 --input {} --no-normalise -m 3", path.display());
        reports(&of, 11, (2, 4), (64, 4))
    };
    for report in same("0.5") {
        assert_eq!(report.observed["passes"], json!([2]));
        assert_eq!(report.observed["ties"], 0);
    }
    // 100 times 0.1 is not 10 in f32, so the centre leaves its points, and
    // they go to the next one, which is where the first was.
    for report in same("0.1") {
        assert!(observed(&report, "ties") >= 100);
    }
}

#[test]
fn every_input_of_stamp_is_routed_with_every_variant() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stamp");
    let mut files = 0;
    for file in fs::read_dir(folder).expect("the inputs") {
        let path = file.expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if !name.starts_with("labyrinth-") {
            continue;
        }
        files += 1;
        let of = format!("labyrinth -i {}", path.display());
        for report in reports(&of, 1, (3, 4), (1 << 16, 4)) {
            let n = |of: &str| number(&report.parameters[of]);
            let (x, y, z, paths) = (n("x"), n("y"), n("z"), n("paths"));
            let expected = format!("labyrinth-random-x{x}-y{y}-z{z}-n{paths}.txt");
            assert_eq!(name, expected);
            assert_eq!((n("walls"), paths), (0, report.transactions));
            assert_eq!(report.parameters["input"], *name);
            let routed = observed(&report, "routed");
            assert!(2 * routed > paths && routed == report.commits, "{name}");
        }
    }
    assert!(files >= 4, "{files} inputs");
}

#[test]
fn crowded_grids_are_routed_with_few_locks_and_wide_stripes() {
    let (mut cancelled, mut unrouted) = (0, 0);
    // Routers that meet are a matter of luck: on until some have.
    for seed in 0..64 {
        if seed >= 4 && cancelled > 0 {
            break;
        }
        // A quarter of the cells are ends or walls.
        let claim = ["warp", "block"][seed as usize % 2];
        let of = format!("labyrinth -x 12 -y 12 -z 2 -n 24 --walls 24 --claim {claim}");
        // Every kind of table meets every shape within three seeds.
        let shapes = [(8, 1), (4, 3), (2, 8)];
        for (k, memory) in [(1, 4), (4, 16), (1 << 10, 64)].into_iter().enumerate() {
            let shape = shapes[(k + seed as usize) % shapes.len()];
            for report in reports(&of, seed, shape, memory) {
                cancelled += report.aborts["user"];
                unrouted += observed(&report, "unrouted");
            }
        }
    }
    assert!(cancelled > 0, "no claim met a taken cell");
    assert!(unrouted > 0, "all were routed");
}

#[test]
fn two_requests_for_one_corridor_leave_one_unrouted_and_neighbours_are_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("maze.txt");
    let of = format!("labyrinth -i {}", path.display());
    // A cross of two corridors, each three cells long. Ends of others are no way through, and may
    // be shared.
    let cross = "d 3 3 1\nw 0 0 0\nw 2 0 0\nw 0 2 0\nw 2 2 0\n\
                 p 0 1 0 2 1 0\np 1 0 0 1 2 0\np 0 1 0 1 0 0\n";
    fs::write(&path, cross).expect("a file");
    for report in reports(&of, 1, (3, 2), (16, 4)) {
        let found = ["routed", "unrouted", "longest_path"].map(|name| observed(&report, name));
        assert_eq!(found, [1, 2, 3]);
    }
    // More blocks than paths do no harm.
    fs::write(&path, "d 2 1 1\np 1 0 0 0 0 0\n").expect("a file");
    for report in reports(&of, 1, (7, 3), (16, 4)) {
        assert_eq!(observed(&report, "path_cells"), 2);
    }
}

#[test]
fn a_path_longer_than_the_sets_is_refused_with_what_is_enough() {
    let of = "labyrinth --device cpu -x 40 -y 1 -z 1 -n 1 --variant hv-sorting";
    let path = number(&one_run(of)["observed"]["longest_path"]);
    let capacities =
        |reads, writes| format!("{of} --read-capacity {reads} --write-capacity {writes}");
    one_run(&capacities(path, path));
    let less = path - 1;
    let (reads, writes) = (capacities(less, path), capacities(path, less));
    refused_rows(&format!(
        "run {reads} => CapacityExceeded | read set of {less} | --read-capacity 40
        run {writes} => CapacityExceeded | write set of {less} | --write-capacity 40"
    ));
}

#[test]
fn links_that_meet_at_the_ends_of_chains_lose_nothing() {
    // Threads that meet are a matter of luck: on until some have.
    let mut met = false;
    for seed in 0..60 {
        if seed >= 3 && met {
            break;
        }
        let (locks, shape) = [(1, (2, 8)), (4, (5, 3)), (1 << 12, (2, 8))][seed as usize % 3];
        // Every place of the gene has a segment: all links are of one overlap.
        let reports = reports("genome -g 1024 -s 32 -n 20000", seed, shape, (locks, 4));
        met |= aborted(&reports) > 0;
        for report in reports {
            assert_eq!(report.observed["distinct_segments"], 993);
            assert_eq!(report.commits, 20_000 + 992);
        }
    }
    assert!(met, "no attempt aborted: this tests nothing");
}

#[test]
fn the_kernels_are_told_apart_in_the_report() {
    for report in reports("genome -g 300 -s 32 -n 500", 1, (2, 1), (1 << 10, 4)) {
        let of = |name: &str| {
            let found = report.kernels.iter().find(|k| k.kernel.starts_with(name));
            found.unwrap_or_else(|| panic!("{name} in {:?}", report.kernels))
        };
        assert_eq!(report.kernels.len(), 3);
        assert_eq!((of("gn1_").launches, of("gn2_").launches), (1, 31));
        assert_eq!(of("gn_match").launches, 32);
        assert_eq!(of("gn1_").commits, observed(&report, "segments"));
        assert_eq!(of("gn1_").commits + of("gn2_").commits, report.commits);
        let sum: f64 = report.kernels.iter().map(|k| k.time_ms).sum();
        assert!((sum / report.time_ms.median - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_time_limit_holds_for_all_launches_together() {
    // Two threads need a few hundred times the limit for them, so that a watch which wakes late
    // still stops the first launch.
    let (cpu, setting) = (AnyDevice::cpu(), ((2, 1), (1 << 12, 4)));
    let genome = workload("genome -g 4096 -s 64 -n 4000000", 1);
    let mut runner = Runner::new(&cpu, &genome, 1, 4_000_000).expect("data");
    let mut spec = spec(&genome, Variant::HvSorting.into(), setting, 1);
    spec.config.time_limit = Some(Duration::from_millis(2));
    let stopped = runner.measure(&spec).expect("a report");
    assert!(!stopped.verified && stopped.commits < 4_000_000);
    has(&stopped.error.expect("what is wrong"), "time limit of 2ms");
    // And the same memory and data go on.
    spec.config.time_limit = None;
    assert!(runner.measure(&spec).expect("time enough").verified);
}

/// STAMP's file of points.
const STAMPS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/stamp/kmeans-random-n2048-d16-c16.txt"
);

/// Runs the program on the CPU, and returns the object of each run.
fn runs(options: &str) -> Vec<Value> {
    objects(&format!("run kmeans --device cpu --json {options}"))
}

#[test]
fn stamps_file_is_clustered_by_every_variant_as_in_its_low_and_high_contention_runs() {
    for clusters in [40, 15] {
        let runs = runs(&format!(
            "-m {clusters} -n {clusters} -t 0.05 --variant all --input {STAMPS}"
        ));
        assert_eq!(runs.len(), 9);
        for run in runs {
            let passes = number(&run["observed"]["passes"][0]);
            assert!((2..100).contains(&passes), "{passes}");
            holds!(run, {
                "verified": true,
                "parameters": {
                    "points": 2048, "dims": 16, "clusters_min": clusters, "threshold": 0.05,
                    "normalised": true, "input": "kmeans-random-n2048-d16-c16.txt",
                },
                "transactions": 2048,
                "commits": 2048 * passes,
            });
        }
    }
    // Each number of clusters from n to m is run.
    let run = &runs(&format!("--input {STAMPS} -n 3 -m 6 --no-normalise"))[0];
    assert_eq!(list(&run["observed"]["passes"]).len(), 4);
    assert_eq!(run["parameters"]["normalised"], false);
}

#[test]
fn a_generated_file_is_what_a_generated_run_works_on() {
    for (of, shape, more, lines) in [
        (
            "kmeans --seed 4",
            "--points 300 --dims 5 --centres 6",
            "-t 0 -m 6",
            [("\n", 300), (" ", 1500)],
        ),
        (
            "labyrinth --seed 5",
            "-x 20 -y 10 -z 2 -n 12 --walls 7",
            "",
            [("\np ", 12), ("\nw ", 7)],
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("input.txt");
        let file = path.display();
        let generate = format!("generate {of} {shape}");
        assert_eq!(right(&format!("{generate} --out {file}")), "");
        let written = fs::read_to_string(&path).expect("the file");
        assert_eq!(right(&generate), written);
        for (part, count) in lines {
            assert_eq!(written.matches(part).count(), count, "{part:?}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        // One router alone takes the requests in their order.
        let base = format!("{of} --device cpu --blocks 1 --threads 1 {more}");
        let [drawn, from_file] = [shape, &format!("--input {file}")].map(|input| {
            let mut run = one_run(&format!("{base} {input}"));
            let observed = run["observed"].as_object_mut().expect("what was found");
            observed.retain(|name, _| !name.contains("_ticks") && !name.starts_with("claim_"));
            assert!(observed.len() > 1, "{observed:?}");
            run
        });
        for same in ["commits", "observed"] {
            assert_eq!(drawn[same], from_file[same]);
        }
        let (mut parameters, input) = (drawn["parameters"].clone(), "input.txt");
        assert_eq!(parameters.get("input"), None);
        parameters["input"] = input.into();
        let parameters = parameters.as_object_mut().expect("parameters");
        // A file does not say around how many centres its points were drawn.
        parameters.remove("centres");
        assert_eq!(from_file["parameters"], json!(parameters));
    }
    let table = right("run labyrinth --device cpu -x 20 -y 10 -z 2 -n 12");
    has(&table, "labyrinth: 20 x 10 x 2 cells, 12 paths");
}

#[test]
fn genome_takes_the_letters_of_stamp_and_its_table_names_the_sizes() {
    let run = one_run("genome --device cpu -g 1024 -s 32 -n 4096");
    holds!(run["parameters"], {"g": 1024, "s": 32, "n": 4096});
    let out = right("run genome --device cpu -g 300 -s 32 -n 1K");
    has(&out, "genome: 300 bases, 1K segments, 32 bases a segment");
}

#[test]
fn bad_files_are_refused_with_file_line_and_what_was_expected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.txt");
    // Which bytes are refused with what, the tests of the readers say.
    for (of, bytes, parts) in [
        (
            "kmeans",
            &b"1 0.5\n2 NaN\n"[..],
            "line 2 | \"NaN\" | a number",
        ),
        ("kmeans", b"1 2\n\xff\xfe\x00\x01", "line 2 | 0xff"),
        ("labyrinth", b"", "line 1 | d X Y Z"),
    ] {
        fs::write(&path, bytes).expect("a file");
        let line = format!("run {of} --device cpu --input {}", path.display());
        refused_rows(&format!("{line} => {parts} | bad.txt"));
    }
    // And nothing is left of a file that cannot be generated.
    fs::remove_file(&path).expect("a file");
    let out = format!("--out {}", path.display());
    refused_rows(&format!(
        "generate labyrinth -x 1 -y 1 -z 1 {out} => has 1
        generate kmeans --points 3G --dims 512K {out} => available"
    ));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused_rows(
        r#"
        run kmeans --device cpu --input no/such/file => no/such/file | --input
        run kmeans --device cpu --input . => cannot read .
        run kmeans --device cpu --points 10 --dims 2 {-m,-n,--passes-max} 0 => {} 0 | 1 or more
        run kmeans --device cpu --points 10 --dims 2 -m 11 => -m 11 | 10 | or less
        run kmeans --device cpu --points 10 --dims 2 -n 5 -m 3 => -n 5 | -m 3
        run kmeans --device cpu {--points,--dims,--centres} 0 => {} 0 | 1 or more
        run kmeans --device cpu --dims 2M => --dims 2097152 | at most 1048575
        run kmeans --device cpu --points 4G => --points | too large
        run kmeans --device cpu --points 3G --dims 512K => --points | available
        run kmeans --device cpu --words 5 => --words 5 | for ra | leave it out
        run kmeans --device cpu --transactions 5 => --transactions 5 | leave it out
        run ht --device cpu {--no-normalise,--adds} => {} | kmeans | leave it out
        generate kmeans --points 9 --out no/such/x.txt => no/such | make it first
        generate kmeans --points 0 => --points 0 | 1 or more
        generate kmean => 'kmean'
        run labyrinth --device cpu -x 0 => 0 x 512 x 7 | -x, -y or -z
        run labyrinth --device cpu -z 9999 => 512 x 512 x 9999 | too large
        run labyrinth --device cpu -n 0 => -n 0 | 1 or more
        run labyrinth --device cpu -x 3 -y 3 -z 1 -n 5 => 10 places | has 9 | smaller -n
        run labyrinth --device cpu -x three => "three" | 2^20
        run labyrinth --device cpu --transactions 5 => --transactions 5 | ra and ht | leave it out
        run labyrinth --device cpu -g 5 => -g 5 | genome | leave it out
        run labyrinth --device cpu -i a.txt {-x,-n} 5 => {} 5 | --input
        run labyrinth --device cpu -i {no/such/file,src} => cannot read | {} | --input
        run ra -n 5 => -n 5 | genome and labyrinth
        // Nothing of `all` runs before everything is known to make sense.
        run all --device cpu -x 0 => 0 x 512 x 7
        run {all,genome} --device cpu -s 1 => -s 1 | 2 or more
        run all -n 5 => -n 5 | name one instead of all
        run genome --device cpu -g 20 -s 32 => -g 20 | -s 32
        run genome --device cpu -g 2^30 => -g 1073741824 | at most 268435456
        run genome --device cpu -n 0 => -n 0 | 1 or more
        run genome --device cpu -n 4294967295 => -n 4294967295 | at most
        run genome --device cpu -g 1K -s 6 => -s 6 | too short | or more
        run genome --device cpu -g 1K -s 32 -n 100 --write-capacity 3 => CapacityExceeded | write set of 3 | --write-capacity 4
        generate labyrinth --out no/such/folder/maze.txt => no/such/folder | make it first
        generate labirinth => 'labirinth'
        generate => stamp generate --help
        run kmeans --device cpu -t={nan,-1,1.5,inf,x,} => threshold | from 0 to 1
        run ra --device cpu {-m,-n,-t,--points,--passes-max} 1 => {} | kmeans | leave it out
        "#,
    );
    refused_rows(&format!(
        "run kmeans --device cpu --input {STAMPS} -m 2049 => -m 2049 | c16.txt | 2048
        run kmeans --device cpu --input {STAMPS} --dims 4 => --dims 4 | --input"
    ));
}
