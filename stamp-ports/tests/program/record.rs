//! `stamp record`: exit status, one-line errors, histories that are kept and judged.
//!
//! `stamp isolation`: verdicts in a document of `stamp bench paper`, and what is refused.
//!
//! The commands `soak` and `faults`, on the CPU.

use crate::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::Path;
use stm_core::algorithm::Variant;

#[test]
fn bad_input_gives_one_line_and_status_2() {
    // Some print a table before they fail.
    let table = r#"
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
    for (arguments, part) in rows(table).filter_map(|row| row.split_once(" => ")) {
        let (_, error) = ended(2, arguments);
        has(&error, part);
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn recorded_histories_are_kept_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display();
    let rows = objects(&format!(
        "record ra,ht --variant all --transactions 4K --words 256 --buckets 64 \
         --out {out} --check --json"
    ));
    assert_eq!(rows.len(), 2 * Variant::ALL.len(), "{rows:?}");
    for row in &rows {
        let attempts = &row["attempts"];
        holds!(*row, {"transactions": 4096, "violations": 0, "attempts_checked": attempts});
    }
    let files = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), rows.len());
    for file in &files {
        let verdict = stm_history::opacity::check_file(file).unwrap();
        assert!(verdict.is_opaque(), "{}", file.display());
    }
}

#[test]
fn every_workload_is_opaque_and_verified_with_every_variant() {
    let rows = objects("record --json all --transactions 200");
    let expected = stamp_ports::workloads::WORKLOADS.len() * Variant::ALL.len();
    assert_eq!(rows.len(), expected);
    for row in rows {
        assert!(number(&row["transactions"]) >= 200, "{row}");
        let attempts = &row["attempts"];
        holds!(row, {"violations": 0, "wrong_state": null, "attempts_checked": attempts});
        // Each pass of k-means is a history.
        let is_several = number(&row["launches"]) > number(&row["runs"]);
        assert_eq!(row["workload"] == "kmeans", is_several, "{row}");
    }
}

/// Records one history, which must be opaque.
fn recorded(arguments: &str) -> Value {
    let row = objects(&format!("record {arguments} --json")).remove(0);
    assert_eq!(row["violations"], 0, "{row}");
    row
}

#[test]
fn a_run_whose_records_do_not_fit_is_made_again_with_more_room() {
    // A lane commits a thousand points, with room for a thousand attempts.
    let of = "kmeans --variant hv-sorting --attempts 1 --centres 2 --transactions 1";
    let repeated = (1..20).any(|seed| {
        let row = recorded(&format!("{of} --seed {seed}"));
        assert_eq!(row["runs"], 1, "{row}");
        number(&row["launches_repeated"]) > 0
    });
    assert!(repeated, "no attempt of any run aborted");
}

#[test]
fn a_launch_whose_lanes_have_too_little_room_each_gets_fewer_blocks() {
    // One transaction of 32 lanes does not fit, one of 16 lanes does.
    let shape = "--blocks 8 --threads 4 --attempts 1 --buffer-bytes 10K";
    let row = recorded(&format!("ra --variant fast --transactions 200 {shape}"));
    assert!(
        number(&row["blocks"]) < 8 && number(&row["transactions"]) >= 200,
        "{row}"
    );
}

#[test]
fn histories_have_turns_alone_where_these_come_after_few_conflicts() {
    let of = "counter --variant fast --rounds 50 --items 4K --transactions 4K --queue-after 1";
    let with_turns = (1..40).any(|seed| {
        let row = recorded(&format!("{of} --blocks 2 --threads 8 --seed {seed}"));
        number(&row["turns"]) > 0
    });
    assert!(with_turns, "no transaction of any run got a turn alone");
}

#[test]
fn each_result_gets_the_verdict_on_a_recorded_run_and_other_builds_are_refused() {
    let bench = Bench::new("isolation", "paper.json");
    let out = bench.folder().display().to_string();
    right(&format!(
        "bench paper --quick --only fig2 --workload ra,kmeans --out {out}"
    ));
    let before = bench.text();
    bench.ended(0, "--for 0.000000001");
    assert_eq!(before, bench.text());

    // One workload, and then the rest.
    bench.ended(0, "--workload ra");
    for result in list(&bench.json()["speedups"]) {
        let is_ra = result["workload"] == "ra";
        assert_eq!(result.get("isolation").is_some(), is_ra, "{result:?}");
    }
    let whole = bench.done("");
    for result in list(&whole["speedups"]) {
        let verdict = &result["isolation"];
        assert_eq!(verdict["opaque"], true, "{result:?}");
        let [made, attempts] = ["transactions", "attempts"].map(|n| number(&verdict[n]));
        assert!(made > 0 && attempts >= made);
    }
    let units = list(&whole["pieces"])
        .iter()
        .flat_map(|piece| list(&piece["units"]));
    let expected = ["fig2 ra", "fig2 kmeans", "isolation ra", "isolation kmeans"];
    assert!(units.eq(expected));

    // A buffer for less than all.
    let mut less = whole.clone();
    let of = list(&whole["speedups"]).iter();
    let mut of = of
        .filter(|s| s["workload"] == "ra" && s["variant"] == "fast")
        .cloned();
    less["speedups"] = vec![of.next()].into();
    less["speedups"][0]["isolation"].take();
    bench.write(&less.to_string());
    let fewer = bench.done("--buffer-bytes 1M");
    let made = number(&fewer["speedups"][0]["isolation"]["transactions"]);
    assert!(0 < made && made < 16 << 10, "{made}");

    less["ptx"] = "77".into();
    bench.write(&less.to_string());
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
    holds!(first, {"seed": 7, "sessions": 1});
    assert!(number(&first["next_step"]) > 0 && number(&first["commits"]) > 0);

    let mut second = soak.done(&resume);
    holds!(second, {"seed": 7, "sessions": 2});
    for key in ["next_step", "commits", "service_launches"] {
        assert!(number(&second[key]) > number(&first[key]), "{key}");
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
    let launches = number(&made["service_launches"]);
    assert!(launches > 0);
    assert_eq!(made["commits"], 1024 * launches);
    for others in ["runs", "faults", "refused"] {
        assert_eq!(made[others], serde_json::json!({}));
    }
    let faulty = soak.done("--only faults");
    let seen = faulty["faults"].as_object().expect("faults");
    assert!(seen.len() > 3 && number(&faulty["commits"]) > 0);
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
    let faults = list(&found["faults"]);
    assert_eq!(faults.len(), 9, "{log}");
    let is_seen = |f: &Value| f["passed"] == true && !list(&f["seen"]).is_empty();
    assert!(faults.iter().all(is_seen), "{log}");
    assert_eq!(list(&found["skipped"]).len(), 5);
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
    assert!(!Path::new("never-made").exists());
    ended(2, "faults");
}
