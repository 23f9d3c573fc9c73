//! The program `verify`: exit status, one-line errors, and what it prints.

#[path = "opacity/common.rs"]
#[allow(dead_code)] // it serves the tests of `opacity`
mod histories;

use histories::history_of;
use std::process::{Command, Output};
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;
use verify::program::directed::Directed;
use verify::program::{self, FailureKind};

fn verify(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_verify"))
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn ends(status: i32, arguments: &[&str]) -> String {
    let output = verify(arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    text(&output.stdout) + &error
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn bad_input_gives_one_line_and_status_2() {
    let dir = tempfile::tempdir().unwrap();
    let foreign = dir.path().join("foreign");
    std::fs::write(&foreign, "no history").unwrap();
    let foreign = foreign.to_str().unwrap();
    let rows = include_str!("cli.txt").lines();
    let rows: Vec<_> = rows.filter_map(|row| row.split_once(" => ")).collect();
    assert_eq!(rows.len(), 17);
    for (line, part) in rows {
        let line = line.replace("FOREIGN", foreign);
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let error = ends(2, &arguments);
        assert!(error.contains(part), "{line}: {error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    }
}

#[test]
fn a_defect_is_found_shrunk_and_replayed_by_the_line_printed() {
    let arguments =
        "fuzz --variant hv-sorting --mutant locked-stripe-read --transactions 10M --json";
    let output = verify(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let line = report["violation"]["replay"].as_str().unwrap();
    let replayed = verify(&["replay", "--json", line]);
    assert_eq!(replayed.status.code(), Some(1));
    let replayed: serde_json::Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert_eq!(replayed["text"], report["violation"]["text"]);
    // Without the defect the same run is right.
    let right = line.replace("!locked-stripe-read", "");
    ends(0, &["replay", &right]);
}

#[test]
fn fuzzing_writes_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("fuzz.txt");
    let path = log.to_str().unwrap();
    ends(0, &["fuzz", "--transactions", "5K", "--log", path]);
    let written = std::fs::read_to_string(log).unwrap();
    assert!(
        written.contains("hv-backoff") && written.contains("0 violations"),
        "{written}"
    );
}

#[test]
fn a_history_in_violation_gives_status_1_and_an_explanation() {
    // One of two words that were written together.
    let history = history_of("update 0 0 1 1 x=1 y=1; read_only 1 0 1 x?0 y?1");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("torn.history");
    history.save(&path).unwrap();
    let said = ends(1, &["check", path.to_str().unwrap()]);
    assert!(
        said.contains("NOT opaque") && said.contains("2 of its 2 reads"),
        "{said}"
    );
}

#[test]
fn pages_show_what_a_replay_a_check_and_a_recording_have_judged() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let page = file("page.html");
    let shown = || std::fs::read_to_string(&page).unwrap();
    let torn = Directed::named("torn-pair").unwrap();
    let failing = (1..5000)
        .map(|seed| torn.case(Variant::HvSorting, Some(Mutant::LockedStripeRead), seed))
        .find(|case| program::run(case).is_err_and(|f| f.kind == FailureKind::NotOpaque))
        .unwrap();
    ends(1, &["replay", &failing.to_string(), "--page", &page]);
    assert!(shown().contains("<h1>Not opaque</h1>"), "{failing}");
    assert!(shown().contains("words[") && shown().contains("transaction 0"));
    let silent = Directed::named("silent-torn-pair").unwrap();
    let silent = silent.case(Variant::Fast, None, 1).to_string();
    let refused = ends(2, &["replay", &silent, "--page", &page]);
    assert!(refused.contains("the case is silent"));
    let line = "fast 2x1 each u32 init=0,0 : r0 w1=1 / r1 w0=1 : sim:w1,random,weak50,seed=0x2a";
    ends(0, &["replay", line, "--page", &page]);
    assert!(shown().contains("<h1>Opaque</h1>") && shown().contains("narrow words[1]"));
    // A history from a file has no names.
    let history = file("one.history");
    let one = history_of("update 0 0 1 1 x=1");
    one.save(std::path::Path::new(&history)).unwrap();
    ends(0, &["check", &history, "--page", &page]);
    assert!(shown().contains("<h1>Opaque</h1>") && shown().contains("word 0x"));
    let two = ends(2, &["check", &history, &history, "--page", &page]);
    assert!(two.contains("give one file"));
}
