//! k-means with every variant on the CPU: where everything collides, on STAMP's
//! own file, and through the program with good and bad files. Every run checks
//! each of its passes, as `stamp_ports::workloads::kmeans` says.

mod common;

use common::{Setting, ended, objects, of_lines, refused_rows, right};
use serde_json::Value;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::workloads::kmeans::{Kmeans, Points};
use std::fs;
use std::path::PathBuf;

fn kmeans(points: u32, dims: u32, clusters: (u32, u32)) -> Kmeans {
    Kmeans {
        clusters_min: clusters.0,
        passes_max: 6,
        ..Kmeans::drawn(7, (points, dims), clusters.1)
    }
}

/// Runs every variant in each of these shapes and memories, and returns the reports, all of which
/// were verified.
fn all_variants(kmeans: &Kmeans, shapes: &[(u32, u32)], memories: &[(u64, u64)]) -> Vec<RunReport> {
    let points = kmeans.points.len() as u64;
    let settings = Setting::each(11, shapes, memories, 0);
    let reports = common::all_variants(kmeans.clone(), settings);
    for report in &reports {
        let passes = report.observed["passes"].as_array().expect("a list");
        let passes: u64 = passes.iter().filter_map(Value::as_u64).sum();
        assert!(passes > 0, "{}", report.variant);
        assert_eq!(report.commits, passes * points, "{}", report.variant);
    }
    reports
}

#[test]
fn no_addition_is_lost_whatever_the_sizes() {
    // Few clusters and few locks.
    for clusters in [(1, 1), (2, 4)] {
        let memories = [(1, 4), (2, 4), (16, 4), (2, 16), (16, 16)];
        all_variants(&kmeans(300, 3, clusters), &[(2, 8)], &memories);
    }
    // Points and centres that no batch, warp or block divides.
    let shapes = [(1, 1), (5, 3), (1, 16), (7, 2), (30, 10)];
    all_variants(&kmeans(203, 9, (7, 7)), &shapes, &[(64, 4)]);
    // Points of one coordinate, and of more than go to memory together.
    for dims in [1, 7, 8, 64] {
        all_variants(&kmeans(120, dims, (3, 3)), &[(2, 4)], &[(256, 4)]);
    }
    // As many clusters as points.
    all_variants(&kmeans(40, 2, (40, 40)), &[(2, 4)], &[(64, 4)]);
}

#[test]
fn transactions_that_only_add_lose_nothing_and_do_not_conflict() {
    // Rows that fit the stack of a lane, and rows that do not.
    for (points, dims) in [(1000, 3), (300, 32), (60, 100)] {
        let kmeans = Kmeans {
            adds: true,
            ..kmeans(points, dims, (1, 3))
        };
        for report in all_variants(&kmeans, &[(2, 8)], &[(1, 4), (16, 16)]) {
            if ["fast", "fast-table"].contains(&report.variant) {
                let aborted: u64 = report.aborts.values().sum();
                assert_eq!(aborted, 0, "{}: additions conflict", report.variant);
            }
        }
    }
}

#[test]
fn points_that_are_all_the_same_leave_clusters_empty_or_make_ties_that_are_accepted() {
    let mut kmeans = kmeans(100, 2, (3, 3));
    kmeans.points = Points::new(2, vec![0.5; 200]);
    for report in all_variants(&kmeans, &[(2, 4)], &[(64, 4)]) {
        assert_eq!(report.observed["passes"], serde_json::json!([2]));
        assert_eq!(report.observed["ties"], 0);
    }
    // 100 times 0.1 is not 10 in f32, so the centre leaves its points, and
    // they go to the next one, which is where the first was.
    kmeans.points = Points::new(2, vec![0.1; 200]);
    for report in all_variants(&kmeans, &[(2, 4)], &[(64, 4)]) {
        assert!(report.observed["ties"].as_u64() >= Some(100));
    }
}

#[test]
fn these_runs_do_collide() {
    let reports = all_variants(&kmeans(8000, 8, (2, 2)), &[(2, 8)], &[(16, 4)]);
    let aborted: u64 = reports.iter().flat_map(|r| r.aborts.values()).sum();
    assert!(aborted > 0, "no attempt aborted: this tests nothing");
}

/// STAMP's file.
fn stamps() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/stamp/kmeans-random-n2048-d16-c16.txt");
    path.to_str().expect("UTF-8").to_owned()
}

/// Runs the program on the CPU, and returns the object of each run.
fn runs(options: &str) -> Vec<Value> {
    objects(&format!("run kmeans --device cpu --json {options}"))
}

#[test]
fn stamps_file_is_clustered_by_every_variant_as_in_its_low_and_high_contention_runs() {
    for clusters in ["40", "15"] {
        let file = stamps();
        let runs = runs(&format!(
            "-m {clusters} -n {clusters} -t 0.05 --variant all --input {file}"
        ));
        assert_eq!(runs.len(), 9);
        for run in runs {
            assert_eq!(run["verified"], true);
            let parameters = &run["parameters"];
            assert_eq!(
                (&parameters["points"], &parameters["dims"]),
                (&2048.into(), &16.into())
            );
            assert_eq!(parameters["clusters_min"].to_string(), clusters);
            assert_eq!(parameters["threshold"], 0.05);
            assert_eq!(parameters["normalised"], true);
            assert_eq!(parameters["input"], "kmeans-random-n2048-d16-c16.txt");
            let passes = run["observed"]["passes"][0].as_u64().expect("passes");
            assert!((2..100).contains(&passes), "{passes}");
            assert_eq!(run["transactions"], 2048);
            assert_eq!(run["commits"], 2048 * passes);
        }
    }
}

#[test]
fn each_number_of_clusters_from_n_to_m_is_run() {
    let runs = runs(&format!("--input {} -n 3 -m 6 --no-normalise", stamps()));
    let passes = runs[0]["observed"]["passes"].as_array();
    assert_eq!(passes.map(Vec::len), Some(4));
    assert_eq!(runs[0]["parameters"]["normalised"], false);
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
        let file = path.display();
        refused_rows(&format!(
            "run kmeans --device cpu --input {file} => {parts} | bad.txt"
        ));
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
    let of_file = format!("run kmeans --device cpu --input {}", stamps());
    let name = "kmeans-random-n2048-d16-c16.txt";
    refused_rows(&format!("{of_file} -m 2049 => -m 2049 | {name} | 2048"));
    refused_rows(&format!("{of_file} --dims 4 => --dims 4 | --input"));
    for bad in ["nan", "-1", "1.5", "inf", "x", ""] {
        refused_rows(&format!(
            "run kmeans --device cpu -t={bad} => threshold | from 0 to 1"
        ));
    }
    for option in ["-m", "-n", "-t", "--points", "--passes-max"] {
        refused_rows(&format!(
            "run ra --device cpu {option} 1 => {option} | kmeans | leave it out"
        ));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.txt");
    let file = file.display();
    refused_rows(&format!(
        "generate kmeans --points 3G --dims 512K --out {file} => available"
    ));
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
        let error = run["error"].as_str().expect("an error");
        assert!(error.contains("time limit"), "{run}");
        let commits = run["commits"].as_u64().expect("a count");
        assert!(commits < 64 << 10, "{run}");
    }
}
