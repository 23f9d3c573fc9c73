//! The program `verify`: exit status, one-line errors, and what it prints.

use std::process::{Command, Output};
use stm_core::algorithm::Variant;
use stm_core::observe::Mutant;
use verify::program::directed::Directed;
use verify::program::{self, FailureKind};

fn verify(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_verify"))
        .args(arguments)
        .output()
        .unwrap()
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
    for (arguments, part) in [
        (&["check", foreign][..], "offset 0"),
        (&["check", "no-such-file"], "no-such-file"),
        (&["fuzz"], "--minutes"),
        (&["fuzz", "--mutant", "x"], "\"x\""),
        (&["replay", "x"], "VARIANT"),
        (
            &["record", "--workload", "ra", "--transactions", "0"],
            "--transactions",
        ),
        (
            &[
                "record",
                "--workload",
                "ra",
                "--reads",
                "4",
                "--writes",
                "16",
            ],
            "--writes 16",
        ),
        (&["record", "--workload", "ra", "--locks", "3"], "3 locks"),
        (
            &["record", "--workload", "ra", "--buffer-bytes", "64"],
            "needs",
        ),
        (
            &["record", "--workload", "bank", "--words", "4"],
            "--words 4",
        ),
        (&["record", "--workload", "all", "-n", "9"], "-n 9"),
        (
            &["record", "--workload", "kmeans", "-m", "9", "--points", "4"],
            "-m 9",
        ),
        (
            &["record", "--workload", "labyrinth", "-i", "no-such-maze"],
            "no-such-maze",
        ),
        (
            &["record", "--workload", "genome", "--buffer-bytes", "100"],
            "needs",
        ),
        (
            // Room for a few of the points of a pass, and never for all.
            &["record", "--workload", "kmeans", "--buffer-bytes", "100K"],
            "is full",
        ),
        (&["frob"], "frob"),
        (&[], "no command"),
    ] {
        let output = verify(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(part), "{arguments:?}: {error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    }
}

#[test]
fn a_defect_is_found_shrunk_and_replayed_by_the_line_printed() {
    let output = verify(&[
        "fuzz",
        "--variant",
        "hv-sorting",
        "--mutant",
        "locked-stripe-read",
        "--transactions",
        "10M",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let line = report["violation"]["replay"].as_str().unwrap();
    let replayed = verify(&["replay", "--json", line]);
    assert_eq!(replayed.status.code(), Some(1));
    let replayed: serde_json::Value = serde_json::from_slice(&replayed.stdout).unwrap();
    assert_eq!(replayed["text"], report["violation"]["text"]);
    // Without the defect the same run is right.
    let right = line.replace("!locked-stripe-read", "");
    assert_eq!(verify(&["replay", &right]).status.code(), Some(0));
}

#[test]
fn fuzzing_writes_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("fuzz.txt");
    let output = verify(&[
        "fuzz",
        "--transactions",
        "5K",
        "--log",
        log.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let written = std::fs::read_to_string(log).unwrap();
    assert!(
        written.contains("hv-backoff") && written.contains("0 violations"),
        "{written}"
    );
}

#[test]
fn recorded_histories_are_kept_and_judged() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    for workload in ["ra", "ht"] {
        let output = verify(&[
            "record",
            "--workload",
            workload,
            "--variant",
            "all",
            "--transactions",
            "4K",
            "--words",
            "256",
            "--buckets",
            "64",
            "--out",
            out,
            "--check",
            "--json",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let rows = text(&output.stdout);
        assert_eq!(rows.lines().count(), 8, "{rows}");
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            assert_eq!(row["transactions"], 4096, "{row}");
            assert_eq!(row["violations"], 0, "{row}");
            assert_eq!(row["attempts_checked"], row["attempts"], "{row}");
        }
    }
    let files: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(files.len(), 16);
    for file in &files {
        let output = verify(&["check", "--json", file]);
        assert_eq!(output.status.code(), Some(0));
        let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(verdict["opaque"], true);
    }
}

#[test]
fn a_history_in_violation_gives_status_1_and_an_explanation() {
    use verify::history::{Attempt, Event, Header, History, InitialMemory, Outcome};
    let mut history = History::new(Header::default(), InitialMemory::ZERO);
    let write = |word| Event::Write { word, value: 1 };
    let read = |word, value| Event::Read { word, value };
    let attempt = |lane, outcome| Attempt {
        lane,
        begin: 0,
        end: 1,
        outcome,
    };
    let commit = Outcome::Committed { version: 1 };
    history
        .push(attempt(0, commit), &[write(8), write(16)])
        .unwrap();
    // One of two words that were written together.
    let torn = [read(8, 0), read(16, 1)];
    history
        .push(attempt(1, Outcome::CommittedReadOnly), &torn)
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("torn.history");
    history.save(&path).unwrap();
    let output = verify(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(
        said.contains("NOT opaque") && said.contains("2 of its 2 reads"),
        "{said}"
    );
}

/// The rows that `record --json` prints.
fn recorded(arguments: &[&str]) -> Vec<serde_json::Value> {
    let output = verify(&[&["record", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rows = text(&output.stdout);
    let rows = rows.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_workload_is_opaque_and_verified_with_every_variant() {
    let rows = recorded(&["--workload", "all", "--transactions", "200"]);
    let expected = stamp_ports::workloads::WORKLOADS.len() * Variant::ALL.len();
    assert_eq!(rows.len(), expected);
    for row in rows {
        assert!(row["transactions"].as_u64() >= Some(200), "{row}");
        assert_eq!(row["violations"], 0, "{row}");
        assert_eq!(row["wrong_state"], serde_json::Value::Null, "{row}");
        assert_eq!(row["attempts_checked"], row["attempts"], "{row}");
        // Each pass of k-means is a history.
        let histories = row["launches"].as_u64().unwrap();
        let runs = row["runs"].as_u64().unwrap();
        assert_eq!(row["workload"] == "kmeans", histories > runs, "{row}");
    }
}

#[test]
fn a_run_whose_records_do_not_fit_is_made_again_with_more_room() {
    // A lane commits a thousand points, with room for a thousand attempts.
    let repeated = (1..20).any(|seed| {
        let rows = recorded(&[
            "--workload",
            "kmeans",
            "--variant",
            "hv-sorting",
            "--attempts",
            "1",
            "--centres",
            "2",
            "--seed",
            &seed.to_string(),
            "--transactions",
            "1",
        ]);
        assert_eq!(rows[0]["violations"], 0, "{rows:?}");
        assert_eq!(rows[0]["runs"], 1, "{rows:?}");
        rows[0]["launches_repeated"].as_u64() > Some(0)
    });
    assert!(repeated, "no attempt of any run aborted");
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
    let replayed = verify(&["replay", &failing.to_string(), "--page", &page]);
    assert_eq!(
        replayed.status.code(),
        Some(1),
        "{}",
        text(&replayed.stderr)
    );
    assert!(shown().contains("<h1>Not opaque</h1>"), "{failing}");
    assert!(shown().contains("words[") && shown().contains("transaction 0"));
    let silent = Directed::named("silent-torn-pair").unwrap();
    let silent = silent.case(Variant::Fast, None, 1).to_string();
    let refused = verify(&["replay", &silent, "--page", &page]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("the case is silent"));
    let right = verify(&[
        "replay",
        "fast 2x1 each u32 init=0,0 : r0 w1=1 / r1 w0=1 : sim:w1,random,weak50,seed=0x2a",
        "--page",
        &page,
    ]);
    assert_eq!(right.status.code(), Some(0), "{}", text(&right.stderr));
    assert!(shown().contains("<h1>Opaque</h1>") && shown().contains("narrow words[1]"));
    // A history from a file has no names.
    let out = verify(&[
        "record",
        "--workload",
        "ra",
        "--variant",
        "fast",
        "--transactions",
        "200",
        "--out",
        &file("histories"),
    ]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let history = file("histories/ra-fast-0.history");
    let checked = verify(&["check", &history, "--page", &page]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    assert!(shown().contains("<h1>Opaque</h1>") && shown().contains("word 0x"));
    let two = verify(&["check", &history, &history, "--page", &page]);
    assert_eq!(two.status.code(), Some(2));
    assert!(text(&two.stderr).contains("give one file"));
}
