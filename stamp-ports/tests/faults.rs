//! The command `faults`, on the CPU.

mod common;

use common::{has, stamp, text};
use serde_json::Value;

#[test]
fn every_fault_that_a_cpu_can_show_is_seen_as_it_should_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("a path");
    let output = stamp(&["faults", "--device", "cpu", "--out", out]);
    let log = std::fs::read_to_string(folder.path().join("faults.txt")).expect("a log");
    assert_eq!(output.status.code(), Some(0), "{log}");
    let json = std::fs::read_to_string(folder.path().join("faults.json")).expect("a log");
    let found: Value = serde_json::from_str(&json).expect("JSON");
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
        &["faults", "--out", "never-made", "--only", "none,nothing"][..],
        &["faults", "--case", "nothing", "--device", "cpu"],
    ] {
        let output = stamp(arguments);
        assert_eq!(output.status.code(), Some(2));
        has(&text(&output.stderr), "nothing");
    }
    assert!(!std::path::Path::new("never-made").exists());
    assert_eq!(stamp(&["faults"]).status.code(), Some(2));
}
