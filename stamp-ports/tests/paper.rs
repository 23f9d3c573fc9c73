//! `stamp bench paper`: what it measures, that it goes on after an interruption,
//! and what it refuses.

mod prelude;

use prelude::*;
use serde_json::{Value, json};
use stamp_ports::paper::document::Paper;
use stamp_ports::store::Document;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::WORKLOADS;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The variants that are measured.
const VARIANTS: usize = 9;

/// The quick form, in a folder of its own.
fn quick() -> Bench {
    Bench::new("bench paper --quick --out", Paper::FILE_NAME)
}

/// Runs it with options more: the lines on standard error.
#[track_caller]
fn lines(bench: &Bench, status: i32, more: &str) -> Vec<String> {
    let (_, errors) = bench.ended(status, more);
    errors.lines().map(String::from).collect()
}

/// The records of a section that have these fields.
fn those<'v>(paper: &'v Value, section: &str, fields: &Value) -> Vec<&'v Value> {
    let fields = fields.as_object().expect("fields");
    let meets = |record: &&Value| fields.iter().all(|(name, value)| record[name] == *value);
    list(&paper[section]).iter().filter(meets).collect()
}

fn real(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
#[ignore = "takes half a minute: `cargo xtask ci --all` runs it"]
fn the_quick_run_measures_and_verifies_everything() {
    let bench = quick();
    let lines = lines(&bench, 0, "");
    let paper = bench.json();
    assert!(paper["complete"] == true && paper["quick"] == true);
    let workloads = WORKLOADS.len();
    assert_eq!(AskedVariant::all().len(), VARIANTS);
    assert_eq!(list(&paper["speedups"]).len(), workloads * VARIANTS);
    for s in list(&paper["speedups"]) {
        let launch = json!({"workload": s["workload"], "variant": s["resolved"],
            "blocks": s["blocks"], "threads": s["threads"]});
        let searched = !those(&paper, "search", &launch).is_empty();
        let right = s["verified"] == true && s["error"].is_null();
        let counts = ["commits", "metadata_bytes", "launches", "tried"];
        let counted = counts.iter().all(|name| number(&s[name]) > 0);
        let rates = ["tx_per_s_min", "tx_per_s", "tx_per_s_max"].map(|name| real(&s[name]));
        let right = right && rates.is_sorted() && real(&s["over_cgl"]) > 0.0;
        assert!(searched && right && counted, "{s:?}");
    }
    let sections = "ra ht bank eigenbench genome/gn1 genome/gn2 kmeans queue";
    for workload in sections.split(' ') {
        let of = json!({"workload": workload});
        let section = those(&paper, "critical_sections", &of)[0];
        let rate = real(&section["tx_per_s"]);
        let counts = section["verified"] == true && rate > 0.0;
        assert!(counts && number(&section["tried"]) > 0, "{section:?}");
        for s in those(&paper, "speedups", &of) {
            let ratio = real(&s["over_critical_section"]);
            assert!((ratio * rate / real(&s["tx_per_s"]) - 1.0).abs() < 1e-9);
        }
    }
    assert!(list(&paper["threads"]).len() >= workloads * (VARIANTS - 1) * 2);
    assert!(list(&paper["eigenbench"]).len() >= 8);
    for (workload, reads) in [("ra", 16.0), ("kmeans", 8.0)] {
        let row = those(&paper, "characteristics", &json!({"workload": workload}))[0];
        assert!((real(&row["reads_per_tx"]) - reads).abs() < 1e-9, "{row:?}");
    }
    for kernel in ["genome/gn1", "genome/gn2"] {
        let rows = those(&paper, "characteristics", &json!({"workload": kernel}));
        assert_eq!(rows.len(), 1, "{kernel}");
    }
    // One line a point, with the time left in all but the last.
    let last = lines.len() - 1;
    assert!(
        (0..=last).all(|i| lines[i].contains(" left") == (i < last)),
        "{lines:?}"
    );
    assert_eq!(fs::read_dir(bench.folder()).expect("a folder").count(), 1);
}

#[test]
fn a_second_command_adds_to_the_document_and_keeps_what_is_there() {
    let bench = quick();
    let part = "--workload ra --only fig2";
    lines(&bench, 0, part);
    let first = bench.json();
    let counts = ["speedups", "threads"].map(|section| list(&first[section]).len());
    assert_eq!(counts, [VARIANTS, 0]);
    assert_eq!(first["complete"], false);
    assert_eq!(lines(&bench, 0, part), [""; 0]);
    let answer = lines(&bench, 0, "--workload ra --only fig3");
    let second = bench.json();
    for same in ["speedups", "search", "started"] {
        assert_eq!(second[same], first[same]);
    }
    assert_eq!(list(&second["threads"]).len(), answer.len());
    assert!(!answer.is_empty());
}

/// The units of a document's pieces.
fn units(paper: &Value) -> Value {
    let pieces = paper["pieces"].as_array().into_iter().flatten();
    pieces.map(|piece| piece["units"].clone()).collect()
}

#[test]
fn a_killed_run_loses_a_unit_which_is_measured_again_whole() {
    let bench = quick();
    let part = "--workload ra,ht --only fig2";
    let mut child = Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(words(&bench.line(part)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("stamp starts");
    let began = Instant::now();
    let points = || {
        let text = fs::read_to_string(bench.path()).ok()?;
        Paper::parse(&text).expect("whole at any time");
        Some(list(&bench.json()["speedups"]).len())
    };
    // Within the unit of ht, after that of ra.
    while points().is_none_or(|n| n < VARIANTS + 2) {
        assert!(began.elapsed() < Duration::from_mins(2), "no point in time");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it ran");
    child.wait().expect("it ended");
    let before = bench.json();
    let speedups = list(&before["speedups"]);
    let whole = speedups.len() == 2 * VARIANTS && before["critical_sections"] != json!([]);
    assert!(!whole, "it was killed too late");
    assert_eq!(units(&before), json!([["fig2 ra"]]));
    assert_eq!(lines(&bench, 0, part).len(), VARIANTS + 1);
    let after = bench.json();
    assert_eq!(units(&after), json!([["fig2 ra"], ["fig2 ht"]]));
    let measured = list(&after["speedups"]);
    assert_eq!(measured.len(), 2 * VARIANTS);
    assert_eq!(measured[..VARIANTS], speedups[..VARIANTS]);
    assert!(real(&after["seconds"]) > real(&before["seconds"]));
    // What was lost left nothing behind; each was measured once.
    for s in measured {
        let of = json!({"workload": s["workload"], "variant": s["variant"]});
        assert_eq!(those(&after, "speedups", &of).len(), 1);
        assert!(those(&after, "search", &of).len() <= 4);
    }
}

#[test]
fn a_piece_ends_after_its_time_and_the_next_goes_on() {
    let bench = quick();
    let part = "--workload ra,ht --only fig5,table1";
    assert_eq!(lines(&bench, 0, &format!("{part} --for 0")), [""; 0]);
    assert_eq!(units(&bench.json()), json!([]));
    lines(&bench, 0, &format!("{part} --for 600"));
    let found = bench.json();
    assert_eq!(list(&found["pieces"]).len(), 1);
    assert_eq!(list(&units(&found)[0]).len(), 4, "{}", found["pieces"]);
    assert_eq!(found["pieces"][0]["ptx"], found["ptx"]);
    // A bar of a full launch and one of a thread alone.
    for workload in ["ra", "ht"] {
        let bars = those(&found, "breakdown", &json!({"workload": workload}));
        let is_alone = |b: &&Value| b["blocks"] == 1 && b["threads"] == 1;
        assert_eq!(bars.len(), 2, "{workload}");
        assert!(bars.iter().any(is_alone), "{workload}");
    }
    let row = those(&found, "characteristics", &json!({"workload": "ra"}))[0];
    assert_eq!(
        (real(&row["reads_per_tx"]), real(&row["writes_per_tx"])),
        (16.0, 16.0)
    );
    let bars = list(&found["breakdown"]);
    assert!(bars.iter().all(|b| number(&b["transactions"]) > 0));
}

#[test]
fn a_document_of_another_build_or_driver_is_refused_with_the_reason() {
    let bench = quick();
    let part = "--workload ht --only table1";
    lines(&bench, 0, part);
    let whole = bench.json();
    for (field, value, parts) in [
        ("/ptx", "77", "other kernels | 77"),
        ("/driver", "580", "another driver: 580, not none"),
        ("/device/name", "GPU X", "another device | GPU X"),
        ("/settings/program", "5", "another build of the program"),
        ("/pieces/0/commit", "77", "the piece of | 77"),
    ] {
        let mut other = whole.clone();
        *other.pointer_mut(field).expect(field) = value.into();
        bench.write(&other.to_string());
        bench.refused(&format!("{part} => {parts} | --fresh"));
    }
    // Other settings are refused by name until a fresh start.
    bench.write(&whole.to_string());
    let other = format!("{part} --seed 2");
    bench.refused(&format!("{other} => --seed | \"1\", not \"2\" | --fresh"));
    lines(&bench, 0, &format!("{other} --fresh"));
    assert_eq!(bench.json()["seed"], 2);
}

#[test]
fn a_file_that_is_no_document_is_left_alone() {
    let bench = quick();
    for bad in ["", "{\"format\": \"stamp-paper/9\"}", "\u{1}\u{2}"] {
        bench.write(bad);
        refused(&bench.line(""), &format!("{} | --fresh", Paper::FILE_NAME));
        assert_eq!(bench.text(), bad);
    }
}

#[test]
fn a_failed_measurement_is_made_again_if_that_is_asked_for() {
    let bench = quick();
    let part = "--workload ra --only fig2";
    lines(&bench, 0, part);
    let mut spoilt = bench.json();
    spoilt["speedups"][3]["verified"] = false.into();
    spoilt["speedups"][3]["error"] = "spoilt".into();
    bench.write(&spoilt.to_string());
    // It is a result, until somebody asks for another one.
    assert_eq!(lines(&bench, 1, part), [""; 0]);
    let retried = lines(&bench, 0, &format!("{part} --retry"));
    assert_eq!(retried.len(), VARIANTS + 1, "{retried:?}");
    let mended = bench.json();
    assert_eq!(list(&mended["speedups"]).len(), VARIANTS);
    let is_right = json!({"verified": true});
    assert_eq!(those(&mended, "speedups", &is_right).len(), VARIANTS);
}
