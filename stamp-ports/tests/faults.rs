//! The command `faults`, on the CPU.

mod common;

use common::{ended, has, right};
use serde_json::Value;

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
