//! The workload `nw` with every variant, and the command `bench nw`: what it measures, how it
//! goes on, and what it refuses.

mod common;

use common::{Setting, all_variants, has, refused, right, text};
use serde_json::Value;
use stamp_ports::workloads::nw::Nw;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn every_variant_computes_all_cells_while_threads_wait_for_one_another() {
    let setting = Setting {
        seed: 5,
        shape: (2, 3),
        locks: 1 << 10,
        stripe_bytes: 4,
        transactions: 0,
    };
    for report in all_variants(Nw { letters: 23 }, setting) {
        assert_eq!(report.commits, 23 * 23, "{}", report.variant);
    }
}

#[test]
fn letters_are_an_option_and_bounded() {
    let of = |letters| ["run", "nw", "--device", "cpu", "--letters", letters];
    has(&right(&of("40")), "yes");
    refused(&of("0"), &["--letters 0", "1 to"]);
    refused(&of("9000"), &["--letters 9000", "8192"]);
    let listed = right(&["list"]);
    has(&listed, "diagonals | graph | locks | cells");
}

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(["bench", "nw", "--quick", "--out"])
        .arg(folder.join("out"))
        .args(arguments)
        .output()
        .expect("stamp starts")
}

fn document(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("out/nw.json")).expect("a document");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_same_command_goes_on_until_every_point_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let none = bench(here, &["--for", "0"]);
    assert!(none.status.success(), "{}", text(&none.stderr));
    assert_eq!(document(here)["points"], Value::Array(Vec::new()));
    let some = bench(here, &["--only", "table3"]);
    assert!(some.status.success(), "{}", text(&some.stderr));
    let before = document(here);
    let points = |document: &Value| document["points"].as_array().expect("points").clone();
    assert!(!points(&before).is_empty() && before["complete"] == false);
    for point in points(&before) {
        assert_eq!(
            (&point["part"], &point["verified"]),
            (&"table3".into(), &true.into())
        );
    }
    let all = bench(here, &[]);
    assert!(all.status.success(), "{}", text(&all.stderr));
    let after = document(here);
    assert_eq!(points(&after)[..points(&before).len()], points(&before)[..]);
    assert_eq!(
        (&after["complete"], &after["format"]),
        (&true.into(), &"stamp-nw/1".into())
    );
    assert!(after["ptx"].is_string());
    // Nothing is left to do.
    assert!(bench(here, &[]).status.success());
    assert_eq!(document(here)["points"], after["points"]);
    let out = here.join("out");
    right(&["report", out.to_str().expect("UTF-8")]);
    for name in ["report.html", "figure-3.svg", "claims-nw.json"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    // Two documents would make one page.
    fs::write(out.join("sync.json"), "{}").unwrap();
    refused(
        &["report", out.to_str().expect("UTF-8")],
        &["sync.json and nw.json", "a folder of its own"],
    );
}

#[test]
fn other_settings_and_unknown_parts_are_refused_and_the_document_stays() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    assert!(bench(here, &["--for", "0"]).status.success());
    let before = document(here);
    for (arguments, named) in [
        (&["--seed", "7"][..], &["--seed", "\"7\"", "--fresh"][..]),
        (&["--only", "table4"], &["table4", "table3", "batch"]),
    ] {
        let refused = bench(here, arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let told = text(&refused.stderr);
        assert_eq!(told.trim_end().lines().count(), 1, "{told}");
        for word in named {
            assert!(told.contains(word), "{arguments:?}: {told}");
        }
        assert_eq!(document(here), before);
    }
}
