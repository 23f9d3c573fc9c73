//! k-means with every variant on the CPU: where everything collides, on STAMP's
//! own file, and through the program with good and bad files. Every run checks
//! each of its passes, as `stamp_ports::workloads::kmeans` says.

mod common;

use common::{
    Memory, Shape, aborted, additions_do_not_conflict, ended, holds, list, number, objects,
    of_lines, refused_rows, right, workload,
};
use serde_json::{Value, json};
use stamp_ports::measure::run_report::RunReport;
use std::fs;

/// Runs every variant in each of these shapes and memories, up to six passes, each of which has a
/// transaction a point.
fn kmeans(options: &str, shapes: &[Shape], memories: &[Memory]) -> Vec<RunReport> {
    let kmeans = workload(&format!("kmeans -t 0 --passes-max 6 {options}"), 7);
    let reports = common::all_variants(kmeans, 11, shapes, memories, 0);
    for report in &reports {
        let passes: u64 = list(&report.observed["passes"]).iter().map(number).sum();
        let points = number(&report.parameters["points"]);
        assert!(
            passes > 0 && report.commits == passes * points,
            "{report:?}"
        );
    }
    reports
}

#[test]
fn no_addition_is_lost_whatever_the_sizes() {
    // Few clusters and few locks.
    for clusters in ["--centres 1", "--centres 4 -n 2"] {
        let memories = [(1, 4), (2, 4), (16, 4), (2, 16), (16, 16)];
        let of = format!("--points 300 --dims 3 {clusters}");
        kmeans(&of, &[(2, 8)], &memories);
    }
    // Points and centres that no batch, warp or block divides.
    let shapes = [(1, 1), (5, 3), (1, 16), (7, 2), (30, 10)];
    kmeans("--points 203 --dims 9 --centres 7", &shapes, &[(64, 4)]);
    // Points of one coordinate, and of more than go to memory together.
    for dims in [1, 7, 8, 64] {
        let of = format!("--points 120 --dims {dims} --centres 3");
        kmeans(&of, &[(2, 4)], &[(256, 4)]);
    }
    // As many clusters as points.
    kmeans("--points 40 --dims 2 --centres 40", &[(2, 4)], &[(64, 4)]);
}

#[test]
fn transactions_that_only_add_lose_nothing_and_do_not_conflict() {
    // Rows that fit the stack of a lane, and rows that do not.
    for size in [
        "--points 1000 --dims 3",
        "--points 300 --dims 32",
        "--points 60 --dims 100",
    ] {
        let of = format!("--adds {size} --centres 3 -n 1");
        additions_do_not_conflict(&kmeans(&of, &[(2, 8)], &[(1, 4), (16, 16)]));
    }
}

#[test]
fn points_that_are_all_the_same_leave_clusters_empty_or_make_ties_that_are_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("points.txt");
    let same = |coordinate: &str| {
        let points = format!("1 {coordinate} {coordinate}\n").repeat(100);
        fs::write(&path, points).expect("a file");
        let of = format!("--input {} --no-normalise -m 3", path.display());
        kmeans(&of, &[(2, 4)], &[(64, 4)])
    };
    for report in same("0.5") {
        assert_eq!(report.observed["passes"], json!([2]));
        assert_eq!(report.observed["ties"], 0);
    }
    // 100 times 0.1 is not 10 in f32, so the centre leaves its points, and
    // they go to the next one, which is where the first was.
    for report in same("0.1") {
        assert!(number(&report.observed["ties"]) >= 100);
    }
}

#[test]
fn these_runs_do_collide() {
    let reports = kmeans("--points 8000 --dims 8 --centres 2", &[(2, 8)], &[(16, 4)]);
    assert!(
        aborted(&reports) > 0,
        "no attempt aborted: this tests nothing"
    );
}

/// STAMP's file.
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
fn a_generated_file_is_the_same_input_as_generating_in_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("points.txt");
    let file = path.display();
    let shape = "--points 300 --dims 5 --centres 6";
    let generate = format!("generate kmeans --seed 4 {shape}");
    assert_eq!(right(&format!("{generate} --out {file}")), "");
    let written = fs::read_to_string(&path).expect("the file");
    assert_eq!(right(&generate), written);
    assert_eq!(written.lines().count(), 300);
    let row = written.lines().nth(299).expect("a line");
    assert!(
        row.starts_with("300 ") && row.split(' ').count() == 6,
        "{row}"
    );
    let one = &runs(&format!("--seed 4 -t 0 {shape}"))[0];
    let other = &runs(&format!("--seed 4 -t 0 --input {file} -m 6"))[0];
    assert_eq!(one["observed"], other["observed"]);
    assert_eq!(one["commits"], other["commits"]);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn bad_files_are_refused_with_file_line_and_what_was_expected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.txt");
    // Which bytes are refused with what, the tests of the reader say.
    for (bytes, parts) in [
        (&b""[..], "line 1 | no points | expected"),
        (b"1 0.5\n2 NaN\n", "line 2 | \"NaN\" | expected a number"),
        (
            b"1 2\n\xff\xfe\x00\x01",
            "line 2 | 0xff | expected a point's number",
        ),
    ] {
        fs::write(&path, bytes).expect("a file");
        let line = format!("run kmeans --device cpu --input {}", path.display());
        refused_rows(&format!("{line} => {parts} | bad.txt"));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused_rows(
        "
        run kmeans --device cpu --input no/such/file => no/such/file | --input
        run kmeans --device cpu --input . => cannot read .
        run kmeans --device cpu --points 10 --dims 2 -m 0 => -m 0 | 1 or more
        run kmeans --device cpu --points 10 --dims 2 -n 0 -m 2 => -n 0 | 1 or more
        run kmeans --device cpu --points 10 --dims 2 -m 11 => -m 11 | 10 | or less
        run kmeans --device cpu --points 10 --dims 2 -n 5 -m 3 => -n 5 | -m 3
        run kmeans --device cpu --points 0 => --points 0 | 1 or more
        run kmeans --device cpu --dims 0 => --dims 0 | 1 or more
        run kmeans --device cpu --dims 2M => --dims 2097152 | at most 1048575
        run kmeans --device cpu --centres 0 => --centres 0 | 1 or more
        run kmeans --device cpu --points 4G => --points | too large
        run kmeans --device cpu --points 3G --dims 512K => --points | available
        run kmeans --device cpu --points 10 --dims 2 --passes-max 0 => --passes-max 0 | 1 or more
        run kmeans --device cpu --words 5 => --words 5 | for ra | leave it out
        run kmeans --device cpu --transactions 5 => --transactions 5 | leave it out
        run ht --device cpu --no-normalise => --no-normalise | kmeans | leave it out
        run ht --device cpu --adds => --adds | kmeans | leave it out
        generate kmeans --points 9 --out no/such/x.txt => no/such | make it first
        generate kmeans --points 0 => --points 0 | 1 or more
        generate kmean => 'kmean'
        ",
    );
    refused_rows(&format!(
        "run kmeans --device cpu --input {STAMPS} -m 2049 => -m 2049 | c16.txt | 2048
        run kmeans --device cpu --input {STAMPS} --dims 4 => --dims 4 | --input"
    ));
    for bad in ["nan", "-1", "1.5", "inf", "x", ""] {
        let line = format!("run kmeans --device cpu -t={bad}");
        refused_rows(&format!("{line} => threshold | from 0 to 1"));
    }
    for option in ["-m", "-n", "-t", "--points", "--passes-max"] {
        let line = format!("run ra --device cpu {option} 1");
        refused_rows(&format!("{line} => {option} | kmeans | leave it out"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.txt");
    let line = format!(
        "generate kmeans --points 3G --dims 512K --out {}",
        file.display()
    );
    refused_rows(&format!("{line} => available"));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_time_limit_ends_a_run_of_every_variant() {
    let (out, _) = ended(
        1,
        "run kmeans --device cpu --points 64K --dims 31 --variant all --json \
         --blocks 2 --threads 4 --time-limit 0.02",
    );
    let runs = of_lines(&out);
    assert_eq!(runs.len(), 9, "{out}");
    for run in runs {
        assert_eq!(run["verified"], false, "{run}");
        assert!(
            run["error"]
                .as_str()
                .is_some_and(|why| why.contains("time limit")),
            "{run}"
        );
        assert!(number(&run["commits"]) < 64 << 10, "{run}");
    }
}
