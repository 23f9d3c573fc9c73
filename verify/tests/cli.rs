//! The program `verify`: exit status, one-line errors, and what it prints and writes.

#[path = "opacity/common.rs"]
#[allow(dead_code)] // it serves the tests of `opacity`
mod histories;

use histories::history_of;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;
use verify::program::directed::Directed;
use verify::program::{self, FailureKind};

/// Calls the program, which must end with this status; what it printed, and its errors.
#[track_caller]
fn ended(status: i32, arguments: &[&str]) -> (String, String) {
    let mut verify = Command::new(env!("CARGO_BIN_EXE_verify"));
    let output = verify.args(arguments).output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    (out, error)
}

#[test]
fn a_command_ends_with_its_status_and_prints_and_writes_what_its_row_says() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("foreign"), "no history").unwrap();
    fs::write(dir.path().join("linked.html"), "before").unwrap();
    symlink("linked.html", dir.path().join("link")).unwrap();
    for (name, attempts) in [
        ("one", "update 0 0 1 1 x=1"),
        // One of two words that were written together.
        ("torn", "update 0 0 1 1 x=1 y=1; read_only 1 0 1 x?0 y?1"),
        ("impossible", "update 0 0 1 1 x=1; update 1 0 1 1 y=1"),
    ] {
        history_of(attempts).save(&dir.path().join(name)).unwrap();
    }
    let case = |name: &str, variant, mutant, seed| {
        let directed = Directed::named(name).unwrap();
        directed.case(variant, mutant, seed)
    };
    let silent = case("silent-torn-pair", Variant::Fast, None, 1);
    let (variant, mutant) = (Variant::HvSorting, Some(Mutant::LockedStripeRead));
    let mut failing = (1..5000).map(|seed| case("torn-pair", variant, mutant, seed));
    let failing = failing
        .find(|case| program::run(case).is_err_and(|f| f.kind == FailureKind::NotOpaque))
        .unwrap();
    let rows = include_str!("cli.txt").lines();
    let rows: Vec<_> = rows.filter_map(|row| row.split_once(" => ")).collect();
    assert_eq!(rows.len(), 52);
    for (command, parts) in rows {
        let (status, line) = command.split_once(' ').unwrap_or((command, ""));
        let (line, case) = line.split_once(" CASE ").unwrap_or((line, ""));
        let line = line.replace("DIR", dir.path().to_str().unwrap());
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        let case = case.replace("FAILING", &failing.to_string());
        let case = case.replace("SILENT", &silent.to_string());
        let case = case.replace("NESTED", &"( ".repeat(20_000));
        arguments.extend((!case.is_empty()).then_some(&*case));
        let (out, error) = ended(status.parse().unwrap(), &arguments);
        let is_alone = out.is_empty() || command.contains("--page");
        let is_line = is_alone && error.trim_end().lines().count() == 1;
        assert!(status != "2" || is_line, "{command}: {out}{error}");
        let (said, written) = parts.split_once(" ; ").unwrap_or((parts, ""));
        let has = |text: &str, parts: &str| parts.split(" | ").all(|part| text.contains(part));
        assert!(has(&(out + &error), said), "{command}: {error}");
        if let Some((file, parts)) = written.split_once(": ") {
            let text = fs::read_to_string(dir.path().join(file)).unwrap();
            assert!(has(&text, parts), "{command}: {text}");
        }
    }
}

#[test]
fn a_defect_is_found_shrunk_and_replayed_by_the_line_printed() {
    let arguments =
        "fuzz --variant hv-sorting --mutant locked-stripe-read --transactions 10M --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let violation = &json(&ended(1, &arguments).0)["violation"];
    let line = violation["replay"].as_str().unwrap();
    let replayed = json(&ended(1, &["replay", "--json", line]).0);
    assert_eq!(replayed["text"], violation["text"]);
    // Without the defect the same run is right.
    let right = line.replace("!locked-stripe-read", "");
    ended(0, &["replay", &right]);
}
