//! `stamp record`: exit status, one-line errors, histories that are kept and judged.
//!
//! `stamp isolation`: verdicts in a document of `stamp bench paper`, and what is refused.
//!
//! The commands `soak` and `faults`, on the CPU.

use common::{Bench, ended, has, objects, right};
use serde_json::{Value, json};
use stamp_ports::devices::AnyDevice;
use stamp_ports::paper::document::Paper;
use stamp_ports::paper::plan::Section;
use stamp_ports::paper::run::{PaperSpec, paper};
use stamp_ports::store::{BenchSpec, Document};
use std::fs;
use std::path::Path;
use stm_core::algorithm::Variant;

mod common;

#[test]
fn bad_input_gives_one_line_and_status_2() {
    // Some print a table before they fail.
    let rows = r#"
        record ra --transactions 0 => --transactions
        record ra --reads 4 --writes 16 => --writes 16
        record ra --locks 3 => 3 locks
        record ra --buffer-bytes 64 => needs
        record bank --words 4 => --words 4
        record all -n 9 => -n 9
        record kmeans -m 9 --points 4 => -m 9
        record labyrinth -i no-such-maze => no-such-maze
        record genome --buffer-bytes 100 => needs
        // Room for a few of the points of a pass, and never for all.
        record kmeans --buffer-bytes 100K => is full
        record rx => "rx": did you mean ra?
        record ra, => ""
        record ra --device gpu => "gpu"
        record ra --variant optimized => optimized is
        record ra --mutant no-e9 => "no-e9"
        record ra --mutant all => --device cuda
    "#;
    let rows = rows.lines().map(str::trim);
    for (arguments, part) in rows.filter_map(|row| row.split_once(" => ")) {
        let (_, error) = ended(2, arguments);
        has(&error, part);
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn recorded_histories_are_kept_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display();
    for workload in ["ra", "ht"] {
        let rows = objects(&format!(
            "record {workload} --variant all --transactions 4K --words 256 --buckets 64 \
             --out {out} --check --json"
        ));
        assert_eq!(rows.len(), Variant::ALL.len(), "{rows:?}");
        for row in rows {
            assert_eq!(row["transactions"], 4096, "{row}");
            assert_eq!(row["violations"], 0, "{row}");
            assert_eq!(row["attempts_checked"], row["attempts"], "{row}");
        }
    }
    let files: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(files.len(), 16);
    for file in &files {
        let verdict = stm_history::opacity::check_file(file.as_ref()).unwrap();
        assert!(verdict.is_opaque(), "{file}");
    }
}

#[test]
fn every_workload_is_opaque_and_verified_with_every_variant() {
    let rows = objects("record --json all --transactions 200");
    let expected = stamp_ports::workloads::WORKLOADS.len() * Variant::ALL.len();
    assert_eq!(rows.len(), expected);
    for row in rows {
        assert!(row["transactions"].as_u64() >= Some(200), "{row}");
        assert_eq!(row["violations"], 0, "{row}");
        assert_eq!(row["wrong_state"], serde_json::Value::Null, "{row}");
        assert_eq!(row["attempts_checked"], row["attempts"], "{row}");
        // Each pass of k-means is a history.
        let histories = row["launches"].as_u64().unwrap();
        let runs = row["runs"].as_u64().unwrap();
        assert_eq!(row["workload"] == "kmeans", histories > runs, "{row}");
    }
}

#[test]
fn a_run_whose_records_do_not_fit_is_made_again_with_more_room() {
    // A lane commits a thousand points, with room for a thousand attempts.
    let repeated = (1..20).any(|seed| {
        let rows = objects(&format!(
            "record kmeans --variant hv-sorting --attempts 1 --centres 2 --seed {seed} \
             --transactions 1 --json"
        ));
        assert_eq!(rows[0]["violations"], 0, "{rows:?}");
        assert_eq!(rows[0]["runs"], 1, "{rows:?}");
        rows[0]["launches_repeated"].as_u64() > Some(0)
    });
    assert!(repeated, "no attempt of any run aborted");
}

#[test]
fn a_launch_whose_lanes_have_too_little_room_each_gets_fewer_blocks() {
    // One transaction of 32 lanes does not fit, one of 16 lanes does.
    let rows = objects(
        "record ra --variant fast --transactions 200 --blocks 8 --threads 4 --attempts 1 \
         --buffer-bytes 10K --json",
    );
    assert!(rows[0]["blocks"].as_u64() < Some(8), "{rows:?}");
    assert_eq!(rows[0]["violations"], 0, "{rows:?}");
    assert!(rows[0]["transactions"].as_u64() >= Some(200), "{rows:?}");
}

#[test]
fn histories_have_turns_alone_where_these_come_after_few_conflicts() {
    let with_turns = (1..40).any(|seed| {
        let rows = objects(&format!(
            "record counter --variant fast --rounds 50 --items 4K --transactions 4K --queue-after 1 \
             --blocks 2 --threads 8 --seed {seed} --json"
        ));
        assert_eq!(rows[0]["violations"], 0, "{rows:?}");
        rows[0]["turns"].as_u64() > Some(0)
    });
    assert!(with_turns, "no transaction of any run got a turn alone");
}

fn read(bench: &Bench) -> Paper {
    Paper::parse(&bench.text()).expect("a document")
}

/// Figure 2 of two workloads, small.
fn spec(folder: &Path) -> PaperSpec {
    PaperSpec {
        bench: BenchSpec {
            device: None,
            quick: true,
            seconds: None,
            seed: 1,
            out: folder.into(),
            fresh: false,
        },
        only: vec![Section::Fig2],
        workload: vec!["ra", "kmeans"],
        retry: false,
    }
}

#[test]
fn each_result_gets_the_verdict_on_a_recorded_run_and_other_builds_are_refused() {
    let bench = Bench::new("isolation", Paper::FILE_NAME);
    let spec = spec(&bench.folder());
    paper(&AnyDevice::cpu(), &spec, "stamp bench paper").expect("it is measured");
    let before = bench.text();
    bench.ended(0, "--for 0.000000001");
    assert_eq!(before, bench.text());

    // One workload, and then the rest.
    bench.ended(0, "--workload ra");
    for result in &read(&bench).speedups {
        let is_ra = result.workload == "ra";
        assert_eq!(result.isolation.is_some(), is_ra, "{result:?}");
    }
    bench.ended(0, "");
    let whole = read(&bench);
    for result in &whole.speedups {
        let verdict = result.isolation.as_ref().expect("a verdict");
        assert_eq!(verdict.opaque, Some(true), "{result:?}");
        assert!(verdict.transactions > 0 && verdict.attempts >= verdict.transactions);
    }
    let units: Vec<&String> = whole.pieces.iter().flat_map(|piece| &piece.units).collect();
    let expected = ["fig2 ra", "fig2 kmeans", "isolation ra", "isolation kmeans"];
    assert_eq!(units, expected);

    // A buffer for less than all.
    let mut less = whole.clone();
    less.speedups
        .retain(|s| s.workload == "ra" && s.variant == "fast");
    less.speedups[0].isolation = None;
    bench.write(&less.to_text().expect("text"));
    bench.ended(0, "--buffer-bytes 1M");
    let fewer = read(&bench).speedups[0].isolation.clone();
    let made = fewer.expect("a verdict").transactions;
    assert!(0 < made && made < 16 << 10, "{made}");

    let mut other = less.clone();
    other.head.ptx = Some("77".into());
    bench.write(&other.to_text().expect("text"));
    bench.refused("=> other kernels | 77");
    bench.write("{");
    bench.refused("=> not JSON");
}

/// A short soak, in a folder of its own.
fn soak() -> Bench {
    Bench::new("soak --device cpu --minutes 0.03 --out", "soak.json")
}

#[test]
fn a_soak_goes_on_where_it_was_and_what_was_wrong_stays_wrong() {
    let soak = soak();
    let resume = format!("--resume {}", soak.path().display());
    let first = soak.done("--seed 7");
    assert!(first["seed"] == 7 && first["sessions"] == 1);
    let number = |state: &Value, key: &str| state[key].as_u64().expect("a number");
    assert!(number(&first, "next_step") > 0 && number(&first, "commits") > 0);

    let mut second = soak.done(&resume);
    assert!(second["seed"] == 7 && second["sessions"] == 2);
    for key in ["next_step", "commits", "service_launches"] {
        assert!(number(&second, key) > number(&first, key), "{key}");
    }
    let log = fs::read_to_string(soak.folder().join("soak.txt")).expect("a log");
    has(&log, "seed 7, 2 sessions | wrong: 0");

    // Another seed is another soak.
    soak.refused(&format!("{resume} --seed 8 => the seed was 7 and is 8"));
    // What was wrong before decides the exit status of every later session.
    second["wrong_count"] = 1.into();
    soak.write(&second.to_string());
    soak.ended(1, &resume);
}

#[test]
fn a_state_that_is_none_is_refused_and_left_as_it_is() {
    let soak = soak();
    for content in ["", "{\"seed\": 1}", "[]"] {
        soak.write(content);
        let resume = format!("--resume {}", soak.path().display());
        soak.refused(&format!("{resume} => no state of a soak | --resume"));
    }
}

#[test]
fn a_soak_of_some_steps_makes_no_others() {
    let soak = soak();
    let made = soak.done("--only transfers --chunk 1K");
    let launches = made["service_launches"].as_u64().expect("a number");
    assert!(launches > 0);
    assert_eq!(made["commits"], 1024 * launches);
    for others in ["runs", "faults", "refused"] {
        assert_eq!(made[others], json!({}));
    }
    let faulty = soak.done("--only faults");
    let seen = faulty["faults"].as_object().expect("faults");
    assert!(seen.len() > 3 && faulty["commits"].as_u64() > Some(0));
    assert_eq!(faulty["service_launches"], 0);
    soak.refused("--only transfer => \"transfer\" | memories, transfers");
}

#[test]
fn every_fault_that_a_cpu_can_show_is_seen_as_it_should_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("a log");
    let out = folder.path().display();
    right(&format!("faults --device cpu --out {out}"));
    let log = read("faults.txt");
    let found: Value = serde_json::from_str(&read("faults.json")).expect("JSON");
    let faults = found["faults"].as_array().expect("a list");
    assert_eq!(faults.len(), 9, "{log}");
    for fault in faults {
        assert_eq!(fault["passed"], true, "{log}");
        assert!(
            !fault["seen"].as_array().expect("lines").is_empty(),
            "{log}"
        );
    }
    assert_eq!(found["skipped"].as_array().expect("a list").len(), 5);
    has(
        &log,
        "write set of 40 entries | array of 4096 elements | cell 7 of the words | killed",
    );
}

#[test]
fn a_fault_that_is_not_known_is_refused_with_those_that_are() {
    for arguments in [
        "faults --out never-made --only none,nothing",
        "faults --case nothing --device cpu",
    ] {
        has(&ended(2, arguments).1, "nothing");
    }
    assert!(!std::path::Path::new("never-made").exists());
    ended(2, "faults");
}
