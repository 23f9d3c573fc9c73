//! The command `bench sync`: what it measures, how it goes on, and what it refuses.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `bench sync` on the CPU with these arguments.
fn sync(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["bench", "sync", "--quick", "--out"])
        .arg(folder.join("out"))
        .args(arguments)
        .output()
        .expect("stamp starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

fn document(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("out/sync.json")).expect("a document");
    serde_json::from_str(&text).expect("JSON")
}

fn points(document: &Value) -> &Vec<Value> {
    document["points"].as_array().expect("points")
}

#[test]
fn the_same_command_goes_on_and_other_parts_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // No time for any point.
    let none = sync(here, &["--only", "sections", "--for", "0"]);
    assert!(none.status.success(), "{}", text(&none.stderr));
    assert!(points(&document(here)).is_empty());
    let first = sync(here, &["--only", "sections"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert!(text(&first.stdout).contains("Not all points are in it yet"));
    let before = document(here);
    assert!(!points(&before).is_empty() && before["complete"] == false);
    for point in points(&before) {
        assert_eq!(
            (&point["part"], &point["verified"]),
            (&"sections".into(), &true.into())
        );
    }
    // Nothing is left to do, and nothing changes but the time.
    let again = sync(here, &["--only", "sections"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(document(here)["points"], before["points"]);
    let more = sync(here, &["--only", "barrier,sections"]);
    assert!(more.status.success(), "{}", text(&more.stderr));
    let after = document(here);
    let there = points(&before).len();
    assert_eq!(points(&after)[..there], points(&before)[..]);
    assert!(
        points(&after)[there..]
            .iter()
            .all(|p| p["part"] == "barrier")
    );
    // The page is made of what there is.
    let out = here.join("out");
    let report = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .arg("report")
        .arg(&out)
        .output();
    assert!(report.expect("stamp starts").status.success());
    assert!(out.join("report.html").is_file() && out.join("claims-sync.json").is_file());
}

#[test]
fn other_settings_and_unknown_parts_are_refused_and_the_document_stays() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let first = sync(here, &["--only", "sections", "--for", "0"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let before = fs::read_to_string(here.join("out/sync.json")).unwrap();
    for (arguments, named) in [
        (
            &["--seed", "7"][..],
            &["--seed", "\"1\"", "\"7\"", "--fresh"][..],
        ),
        (&["--only", "mutx"], &["mutx", "mutex", "barrier"]),
        (&["--device", "cudda"], &["cudda"]),
    ] {
        let refused = sync(here, arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let told = text(&refused.stderr);
        assert_eq!(told.trim_end().lines().count(), 1, "{told}");
        for word in named {
            assert!(told.contains(word), "{arguments:?}: {told}");
        }
        let after = fs::read_to_string(here.join("out/sync.json")).unwrap();
        assert_eq!(after, before, "{arguments:?}");
    }
}
