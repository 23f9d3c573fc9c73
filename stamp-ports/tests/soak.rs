//! The command `soak`, on the CPU.
//!
//! The command `faults`, on the CPU.

mod common;

use common::{Bench, ended, has, right};
use serde_json::{Value, json};
use std::fs;

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
