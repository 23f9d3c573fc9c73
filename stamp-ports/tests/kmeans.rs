//! k-means with every variant on the CPU: where everything collides, on STAMP's
//! own file, and through the program with good and bad files. Every run checks
//! each of its passes, as `stamp_ports::workloads::kmeans` says.

mod common;

use common::{Setting, ended, help, objects, of_lines, refused_rows, right};
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

/// Runs every variant, and returns the reports, all of which were verified.
fn all_variants(kmeans: &Kmeans, shape: (u32, u32), memory: (u64, u64)) -> Vec<RunReport> {
    let points = kmeans.points.len() as u64;
    let reports = common::all_variants(kmeans.clone(), Setting::of(11, shape, memory));
    for report in &reports {
        let passes = report.observed["passes"].as_array().expect("a list");
        let passes: u64 = passes.iter().filter_map(Value::as_u64).sum();
        assert!(passes > 0, "{}", report.variant);
        assert_eq!(report.commits, passes * points, "{}", report.variant);
    }
    reports
}

#[test]
fn few_clusters_and_few_locks_lose_no_addition() {
    for clusters in [(1, 1), (2, 4)] {
        let kmeans = kmeans(300, 3, clusters);
        for memory in [(1, 4), (2, 4), (16, 4), (2, 16), (16, 16)] {
            all_variants(&kmeans, (2, 8), memory);
        }
    }
}

#[test]
fn launches_of_any_shape_reach_every_point_once() {
    // Points and centres that no batch, warp or block divides.
    let kmeans = kmeans(203, 9, (7, 7));
    for shape in [(1, 1), (5, 3), (1, 16), (7, 2), (30, 10)] {
        all_variants(&kmeans, shape, (64, 4));
    }
}

#[test]
fn points_of_one_coordinate_and_of_more_than_go_to_memory_together_are_verified() {
    for dims in [1, 7, 8, 64] {
        all_variants(&kmeans(120, dims, (3, 3)), (2, 4), (256, 4));
    }
}

#[test]
fn transactions_that_only_add_lose_nothing_and_do_not_conflict() {
    // Rows that fit the stack of a lane, and rows that do not.
    for (points, dims) in [(1000, 3), (300, 32), (60, 100)] {
        for memory in [(1, 4), (16, 16)] {
            let kmeans = Kmeans {
                adds: true,
                ..kmeans(points, dims, (1, 3))
            };
            for report in all_variants(&kmeans, (2, 8), memory) {
                if ["fast", "fast-table"].contains(&report.variant) {
                    let aborted: u64 = report.aborts.values().sum();
                    assert_eq!(aborted, 0, "{}: additions conflict", report.variant);
                }
            }
        }
    }
}

#[test]
fn as_many_clusters_as_points_are_verified() {
    all_variants(&kmeans(40, 2, (40, 40)), (2, 4), (64, 4));
}

#[test]
fn points_that_are_all_the_same_leave_the_other_clusters_empty() {
    let mut kmeans = kmeans(100, 2, (3, 3));
    kmeans.points = Points::new(2, vec![0.5; 200]);
    for report in all_variants(&kmeans, (2, 4), (64, 4)) {
        assert_eq!(report.observed["passes"], serde_json::json!([2]));
        assert_eq!(report.observed["ties"], 0);
    }
}

#[test]
fn a_centre_moved_by_rounding_alone_makes_ties_that_are_counted_and_accepted() {
    // 100 times 0.1 is not 10 in f32, so the centre leaves its points, and
    // they go to the next one, which is where the first was.
    let mut kmeans = kmeans(100, 2, (3, 3));
    kmeans.points = Points::new(2, vec![0.1; 200]);
    for report in all_variants(&kmeans, (2, 4), (64, 4)) {
        assert!(report.observed["ties"].as_u64() >= Some(100));
    }
}

#[test]
fn these_runs_do_collide() {
    let kmeans = kmeans(8000, 8, (2, 2));
    let reports = all_variants(&kmeans, (2, 8), (16, 4));
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
    let file = path.to_str().expect("UTF-8");
    let cases: [(&[u8], &str); 9] = [
        (b"", "line 1 | no points | expected"),
        (
            b"1 0.5 1\n2 0.25 0.",
            "line 2 | ends inside | expected a line break",
        ),
        (b"1 0.5 1\n2 0.25\n", "line 2 | 1 coordinates | expected 2"),
        (b"1 0.5\n2 0.25 3\n", "line 2 | 2 coordinates | expected 1"),
        (b"1 0.5\n2 NaN\n", "line 2 | \"NaN\" | expected a number"),
        (b"1 0.5\n2 -inf\n", "line 2 | \"-inf\" | expected a number"),
        (b"1\n", "line 1 | no coordinates | expected one or more"),
        (
            b"1 2\n\xff\xfe\x00\x01",
            "line 2 | 0xff | expected a point's number",
        ),
        (b"points\n", "line 1 | \"points\" | expected a whole number"),
    ];
    for (bytes, parts) in cases {
        fs::write(&path, bytes).expect("a file");
        refused_rows(&format!(
            "run kmeans --device cpu --input {file} => {parts} | bad.txt"
        ));
    }
    refused_rows(
        "
        run kmeans --device cpu --input no/such/file => no/such/file | --input
        run kmeans --device cpu --input . => cannot read .
        ",
    );
}

#[test]
fn cluster_numbers_that_do_not_fit_are_refused() {
    refused_rows(
        "
        run kmeans --device cpu --points 10 --dims 2 -m 0 => -m 0 | 1 or more
        run kmeans --device cpu --points 10 --dims 2 -n 0 -m 2 => -n 0 | 1 or more
        run kmeans --device cpu --points 10 --dims 2 -m 11 => -m 11 | 10 | or less
        run kmeans --device cpu --points 10 --dims 2 -n 5 -m 3 => -n 5 | -m 3
        ",
    );
    let of_file = format!("run kmeans --device cpu --input {}", stamps());
    let name = "kmeans-random-n2048-d16-c16.txt";
    refused_rows(&format!("{of_file} -m 2049 => -m 2049 | {name} | 2048"));
    refused_rows(&format!("{of_file} --dims 4 => --dims 4 | --input"));
    refused_rows(
        "
        run kmeans --device cpu --points 0 => --points 0 | 1 or more
        run kmeans --device cpu --dims 0 => --dims 0 | 1 or more
        run kmeans --device cpu --dims 2M => --dims 2097152 | at most 1048575
        run kmeans --device cpu --centres 0 => --centres 0 | 1 or more
        run kmeans --device cpu --points 4G => --points | too large
        run kmeans --device cpu --points 3G --dims 512K => --points | available
        run kmeans --device cpu --points 10 --dims 2 --passes-max 0 => --passes-max 0 | 1 or more
        ",
    );
    for bad in ["nan", "-1", "1.5", "inf", "x", ""] {
        refused_rows(&format!(
            "run kmeans --device cpu -t={bad} => threshold | from 0 to 1"
        ));
    }
}

#[test]
fn options_of_other_workloads_are_refused() {
    refused_rows(
        "
        run kmeans --device cpu --words 5 => --words 5 | for ra | leave it out
        run kmeans --device cpu --transactions 5 => --transactions 5 | leave it out
        ",
    );
    for option in ["-m", "-n", "-t", "--points", "--passes-max"] {
        refused_rows(&format!(
            "run ra --device cpu {option} 1 => {option} | kmeans | leave it out"
        ));
    }
    refused_rows(
        "
        run ht --device cpu --no-normalise => --no-normalise | kmeans | leave it out
        run ht --device cpu --adds => --adds | kmeans | leave it out
        ",
    );
}

#[test]
fn a_file_that_cannot_be_written_is_refused_and_leaves_nothing() {
    refused_rows(
        "
        generate kmeans --points 9 --out no/such/x.txt => no/such | make it first
        generate kmeans --points 0 => --points 0 | 1 or more
        generate kmean => 'kmean'
        ",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.txt");
    let file = path.to_str().expect("UTF-8");
    refused_rows(&format!(
        "generate kmeans --points 3G --dims 512K --out {file} => available"
    ));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn help_fits_eighty_columns_and_names_every_option() {
    help("generate", "");
    help("generate kmeans", "");
    help(
        "run kmeans",
        "--input | --points | --dims | --centres | -m, | -n | -t, | --passes-max | --no-normalise",
    );
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
