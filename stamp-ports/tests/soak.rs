//! The command `soak`, on the CPU.

mod common;

use common::{has, stamp, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn soak(out: &Path, more: &[&str]) -> (Option<i32>, String) {
    let out = out.to_str().expect("a path");
    let mut arguments = vec!["soak", "--device", "cpu", "--minutes", "0.03"];
    arguments.extend(["--out", out]);
    arguments.extend(more);
    let output = stamp(&arguments);
    (output.status.code(), text(&output.stderr))
}

fn read(folder: &Path) -> Value {
    let json = fs::read_to_string(folder.join("soak.json")).expect("a state");
    serde_json::from_str(&json).expect("JSON")
}

#[test]
fn a_soak_goes_on_where_it_was_and_what_was_wrong_stays_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("soak.json");
    let file = file.to_str().expect("a path");
    let (status, errors) = soak(folder.path(), &["--seed", "7"]);
    assert_eq!(status, Some(0), "{errors}");
    let first = read(folder.path());
    assert_eq!((&first["seed"], &first["sessions"]), (&7.into(), &1.into()));
    let number = |state: &Value, key: &str| state[key].as_u64().expect("a number");
    assert!(number(&first, "next_step") > 0 && number(&first, "commits") > 0);

    let (status, errors) = soak(folder.path(), &["--resume", file]);
    assert_eq!(status, Some(0), "{errors}");
    let second = read(folder.path());
    assert_eq!(
        (&second["seed"], &second["sessions"]),
        (&7.into(), &2.into())
    );
    for key in ["next_step", "commits", "service_launches"] {
        assert!(number(&second, key) > number(&first, key), "{key}");
    }
    let log = fs::read_to_string(folder.path().join("soak.txt")).expect("a log");
    has(&log, "seed 7, 2 sessions | wrong: 0");

    // Another seed is another soak.
    let (status, errors) = soak(folder.path(), &["--resume", file, "--seed", "8"]);
    assert_eq!(status, Some(2));
    has(&errors, "the seed was 7 and is 8");
    // What was wrong before decides the exit status of every later session.
    let mut wrong = second;
    wrong["wrong_count"] = 1.into();
    fs::write(file, wrong.to_string()).expect("a file");
    let (status, errors) = soak(folder.path(), &["--resume", file]);
    assert_eq!(status, Some(1), "{errors}");
}

#[test]
fn a_state_that_is_none_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("soak.json");
    for (content, part) in [
        ("", "no state of a soak"),
        ("{\"seed\": 1}", "no state of a soak"),
        ("[]", "no state of a soak"),
    ] {
        fs::write(&file, content).expect("a file");
        let path = file.to_str().expect("a path");
        let (status, errors) = soak(folder.path(), &["--resume", path]);
        assert_eq!(status, Some(2), "{errors}");
        has(&errors, part);
        has(&errors, "--resume");
        assert_eq!(fs::read_to_string(&file).expect("a file"), content);
    }
}

#[test]
fn a_soak_of_some_steps_makes_no_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let (status, errors) = soak(folder.path(), &["--only", "transfers", "--chunk", "1K"]);
    assert_eq!(status, Some(0), "{errors}");
    let made = read(folder.path());
    let launches = made["service_launches"].as_u64().expect("a number");
    assert!(launches > 0);
    assert_eq!(made["commits"], 1024 * launches);
    for others in ["runs", "faults", "refused"] {
        assert_eq!(made[others], Value::Object(serde_json::Map::new()));
    }
    let (status, errors) = soak(folder.path(), &["--only", "faults"]);
    assert_eq!(status, Some(0), "{errors}");
    let faulty = read(folder.path());
    let seen = faulty["faults"].as_object().expect("faults");
    assert!(seen.len() > 3 && faulty["commits"].as_u64() > Some(0));
    assert_eq!(faulty["service_launches"], 0);
    let (status, errors) = soak(folder.path(), &["--only", "transfer"]);
    assert_eq!(status, Some(2));
    has(&errors, "\"transfer\" | memories, transfers");
}
