//! `stamp bench against` from outside: what is as fast holds, what is slow or hangs in this program
//! is a failure, and what the other program does not know or finish is named and not judged.
#![cfg(unix)]

mod prelude;

use prelude::*;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program under test, which is honest.
const STAMP: &str = env!("CARGO_BIN_EXE_stamp");

/// A ratio that noise of a busy machine does not reach.
const LENIENT: &str = "0.02";

/// Writes a shell script, whose first line is `first` and whose last runs the honest program.
fn script(folder: &Path, name: &str, first: &str) -> PathBuf {
    let path = folder.join(name);
    // Another process writes it: a child of another test's thread might hold this one's file open,
    // and a file that is open for writing cannot be run.
    let write = "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"";
    let written = Command::new("sh")
        .args(["-c", write, "sh"])
        .arg(format!("#!/bin/sh\n{first}\nexec {STAMP} \"$@\"\n"))
        .arg(&path)
        .status();
    assert!(written.expect("a shell").success());
    path
}

/// The quick points on the CPU.
fn against(other: &Path, more: &str) -> String {
    let other = other.display();
    format!("bench against {other} --quick --device cpu --at-least {LENIENT} {more}")
}

#[test]
fn the_same_program_is_as_fast_and_the_document_has_both_runs_of_every_point() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("against.json");
    let more = format!("--json --out {}", out.display());
    let (printed, errors) = ended(0, &against(Path::new(STAMP), &more));
    assert_eq!(fs::read_to_string(&out).expect("a document"), printed);
    let document: Value = serde_json::from_str(&printed).expect("JSON");
    holds!(document, {"format": "stamp-against/1", "holds": true, "complete": true});
    let command = document["command"].as_str().expect("a command");
    assert!(
        command.starts_with("stamp bench against stamp "),
        "{command}"
    );
    for program in ["this", "other"] {
        let (version, ptx) = (env!("CARGO_PKG_VERSION"), &document["ptx"]);
        holds!(document[program], {"version": version, "ptx": ptx});
    }
    let points = list(&document["points"]);
    assert_eq!(points.len(), 6, "{printed}");
    for point in points {
        let name = point["point"].as_str().expect("a name");
        has(&errors, name);
        assert_eq!(point["verdict"], "holds", "{point}");
        let number = |value: &Value| value.as_f64().expect("a number");
        let (lowest, highest) = (number(&point["lowest"]), number(&point["highest"]));
        let ratio = number(&point["ratio"]);
        assert!(lowest <= ratio && ratio <= highest, "{point}");
        for run in ["this", "other"] {
            let run = &point[run];
            assert!(number(&run["wall_s"]) > 0.0 && number(&run["done"]["tx_per_s"]) > 0.0);
            assert_eq!(run["done"]["verified"], true);
        }
    }
}

#[test]
fn a_program_that_became_slow_or_hangs_or_is_wrong_is_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let edit = |name: &str, sed: &str| {
        let first = format!("[ \"$1\" = run ] && {{ {STAMP} \"$@\" | sed -E '{sed}'; exit; }}");
        script(folder.path(), name, &first)
    };
    let slow = edit("slow", r#"s/"tx_per_s":[0-9.e+-]+/"tx_per_s":1.5/"#);
    let wrong = edit("wrong", r#"s/"verified":true/"verified":false/"#);
    let hangs = "[ \"$1\" = run ] && exec sleep 60";
    let hangs = script(folder.path(), "hangs", hangs);
    let refuses = "[ \"$1\" = run ] && { echo error: no such >&2; exit 2; }";
    let refuses = script(folder.path(), "refuses", refuses);
    for (this, part) in [
        (slow, "BELOW: counter@default: 0.000"),
        (wrong, "FAILED: counter@default: this is not verified"),
        (
            hangs,
            "FAILED: counter@default: this did not finish within 4 s",
        ),
        (refuses, "FAILED: counter@default: this refused: no such"),
    ] {
        let this = this.display();
        let more = format!("--only counter@default --time-limit 4 --this {this}");
        let (table, _) = ended(1, &against(Path::new(STAMP), &more));
        has(&table, &format!("{part} | 1 of 1 points"));
        assert!(table.lines().all(|line| line.len() <= 80), "{table}");
    }
}

#[test]
fn what_the_other_program_does_not_know_or_finish_is_named_and_not_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = "case \"$1 $2\" in\n\
                 \"run ra\") exec sleep 60;;\n\
                 \"run counter\") echo error: unknown workload >&2; exit 2;;\n\
                 esac";
    let other = script(folder.path(), "earlier", first);
    let unknown = "--time-limit 4 --only ra-1k@default,bank@default,bank,counter@2x2";
    refused(&against(&other, unknown), "bank@default");
    let only = "--time-limit 4 --only ra-1k@default,bank,counter@2x2";
    let (table, _) = ended(0, &against(&other, only));
    has(
        &table,
        "NOT judged: ra-1k@default: other did not finish within 4 s | \
         NOT judged: counter@2x2: other refused: unknown workload | \
         All 2 points that were judged",
    );
    // Where nothing is judged nothing holds.
    let (table, _) = ended(1, &against(&other, "--only counter"));
    has(&table, "No point was judged");
}

#[test]
fn what_is_no_stamp_is_refused_with_its_path_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("text");
    fs::write(&file, "no program").expect("a file");
    let silent = script(folder.path(), "silent", "exit 0");
    let first = "[ \"$1\" = run ] && { echo '{}'; exit 0; }";
    let liar = script(folder.path(), "liar", first);
    let missing = folder.path().join("missing");
    for (other, part) in [
        (missing.as_path(), "No such file"),
        (folder.path(), "it is a folder"),
        (&file, "cannot be started"),
        (&silent, "is no `stamp`"),
        (&liar, "no JSON as that of `stamp run --json`"),
    ] {
        let program = other.display();
        let line = format!("bench against {program} --quick --device cpu --only counter");
        let parts = format!("{program} | {part} | an earlier commit");
        if other == liar {
            has(&ended(2, &line).1, &parts);
        } else {
            refused(&line, &parts);
        }
    }
    for row in [
        " --device cpu => --quick",
        " --only rx,ra => \"rx\" | ra-8m | vacation | 528x256",
        " --at-least fast => --at-least | \"fast\" | 0.97",
        " --at-least 97 => --at-least | \"97\" | from 0 to 2, such as 0.97",
        " --at-least=-0.1 => --at-least | \"-0.1\" | from 0 to 2",
    ] {
        refused_rows(&format!("bench against {STAMP}{row}"));
    }
    refused_rows("bench against => OTHER");
}

#[test]
fn no_file_but_an_earlier_document_of_the_command_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = script(folder.path(), "earlier", "true");
    let out = folder.path().join("out.json");
    let line = |out: &Path| {
        let more = format!("--only counter@2x2 --out {}", out.display());
        against(&other, &more)
    };
    let text = |path: &Path| fs::read_to_string(path).expect("a file");
    let before = text(&other);
    refused(&line(&other), "earlier: it is OTHER | name another file");
    assert_eq!(text(&other), before);
    for foreign in ["notes\n", "{\"format\": \"stamp-tune/1\"}"] {
        fs::write(&out, foreign).expect("a file");
        refused(&line(&out), "out.json: it is there, and no document");
        assert_eq!(text(&out), foreign);
    }
    fs::write(&out, "").expect("an empty file");
    for _ in 0..2 {
        ended(0, &line(&out));
        has(&text(&out), "stamp-against/1");
    }
}
