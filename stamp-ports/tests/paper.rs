//! `stamp bench paper`: what it measures, that it goes on after an interruption, and what it refuses.

mod prelude;

use prelude::*;
use serde_json::{Value, json};
use stamp_ports::paper::document::Paper;
use stamp_ports::store::Document;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The variants that are measured.
const VARIANTS: usize = 9;

#[test]
#[ignore = "takes half a minute: `cargo xtask ci --all` runs it"]
fn the_quick_run_measures_and_verifies_everything() {
    cases(include_str!("paper-whole.txt"));
}

#[test]
fn a_document_goes_on_or_is_refused() {
    cases(include_str!("paper.txt"));
}

/// The records of a section that have these fields.
fn those<'v>(paper: &'v Value, section: &str, fields: &Value) -> Vec<&'v Value> {
    let fields = fields.as_object().expect("fields");
    let meets = |record: &&Value| fields.iter().all(|(name, value)| record[name] == *value);
    list(&paper[section]).iter().filter(meets).collect()
}

/// The units of a document's pieces.
fn units(paper: &Value) -> Value {
    let pieces = paper["pieces"].as_array().into_iter().flatten();
    pieces.map(|piece| piece["units"].clone()).collect()
}

#[test]
fn a_killed_run_loses_a_unit_which_is_measured_again_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(Paper::FILE_NAME);
    let part = "--quick --workload ra,ht --only fig2 --out";
    let line = format!("bench paper {part} {}", folder.path().display());
    let text = || fs::read_to_string(&path);
    let document =
        || -> Value { serde_json::from_str(&text().expect("a document")).expect("JSON") };
    let mut child = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(words(&line))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("stamp starts");
    let began = Instant::now();
    let points = || {
        Paper::parse(&text().ok()?).expect("whole at any time");
        Some(list(&document()["speedups"]).len())
    };
    // Within the unit of ht, after that of ra.
    while points().is_none_or(|n| n < VARIANTS + 2) {
        assert!(began.elapsed() < Duration::from_mins(2), "no point in time");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it ran");
    child.wait().expect("it ended");
    let before = document();
    let speedups = list(&before["speedups"]);
    let whole = speedups.len() == 2 * VARIANTS && before["critical_sections"] != json!([]);
    assert!(!whole, "it was killed too late");
    assert_eq!(units(&before), json!([["fig2 ra"]]));
    assert_eq!(ended(0, &line).1.lines().count(), VARIANTS + 1);
    let after = document();
    assert_eq!(units(&after), json!([["fig2 ra"], ["fig2 ht"]]));
    let measured = list(&after["speedups"]);
    assert_eq!(measured.len(), 2 * VARIANTS);
    assert_eq!(measured[..VARIANTS], speedups[..VARIANTS]);
    assert!(after["seconds"].as_f64() > before["seconds"].as_f64());
    // What was lost left nothing behind; each was measured once.
    for s in measured {
        let of = json!({"workload": s["workload"], "variant": s["variant"]});
        assert_eq!(those(&after, "speedups", &of).len(), 1);
        assert!(those(&after, "search", &of).len() <= 4);
    }
}
