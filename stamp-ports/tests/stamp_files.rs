//! Labyrinth and genome at the command line: what `generate` writes `run`
//! reads, and what cannot be carried out is refused on one line with status 2.

mod common;

use common::{has, help, json, refused_rows, right};
use serde_json::Value;
use std::fs;
use std::path::Path;

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
    let told = right(&generate);
    assert_eq!(fs::read_to_string(&path).unwrap(), told);
    assert_eq!(told.matches("\np ").count(), 12);
    assert_eq!(told.matches("\nw ").count(), 7);

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
fn sizes_that_make_no_sense_are_refused() {
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
        run ra -n 5 => -n 5 | genome and labyrinth
        "#,
    );
    // Nothing of `all` runs before everything is known to make sense.
    refused_rows(
        "
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
        ",
    );
}

#[test]
fn bad_files_are_refused_with_file_line_and_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.txt");
    let file = path.to_str().unwrap();
    let cases: [(&[u8], &str, &str); 5] = [
        (b"d 4 4 1\np 0 0 0 1 0", "line 2", "line break"),
        (b"d 4 4 1\np 0 0 0 9 0 0\n", "line 2", "less than 4 4 1"),
        (b"d 4 4 1\np 1 0 0 1 0 0\n", "line 2", "expected two places"),
        (b"\x89PNG\r\n\x1a\n", "line 1", "byte 0x89"),
        (b"", "line 1", "d X Y Z"),
    ];
    for (content, line, expected) in cases {
        fs::write(&path, content).unwrap();
        refused_rows(&format!(
            "run labyrinth --device cpu --input {file} => bad.txt | {line} | {expected}"
        ));
    }
    let directory = folder.path().to_str().unwrap();
    for none in ["no/such/file", directory] {
        refused_rows(&format!(
            "run labyrinth --device cpu --input {none} => cannot read | {none} | --input"
        ));
    }
}

#[test]
fn nothing_is_left_of_a_file_that_cannot_be_written() {
    refused_rows(
        "
        generate labyrinth --out no/such/folder/maze.txt => no/such/folder | make it first
        ",
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("maze.txt");
    let file = path.to_str().unwrap();
    refused_rows(&format!(
        "generate labyrinth -x 1 -y 1 -z 1 --out {file} => has 1"
    ));
    assert!(!Path::new(file).exists());
    refused_rows(
        "
        generate labirinth => 'labirinth'
        generate => stamp generate --help
        ",
    );
}

#[test]
fn help_fits_eighty_columns_and_names_every_option() {
    for command in ["run", "tune", "generate", "generate labyrinth"] {
        help(command, "");
    }
    let help = help("run labyrinth,genome", "");
    for option in ["-x", "-y", "-z", "-n", "-g", "-s", "-i, --input", "--walls"] {
        assert!(help.contains(&format!("{option} <")), "{option}:\n{help}");
    }
}
