//! The line that a failure prints, given back by the variable that it names.

use crate::bank::pay;
use std::process::{Command, Output};
use stm_core::algorithm::{Fast, Variant};
use stm_core::observe::Mutant;
use verify::check::{CASES, Check, PAGE, REPLAY};

/// Runs a test of this file in a process of its own.
fn run(test: &str, variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(all).unwrap()
}

#[test]
#[ignore = "fails, as the test below expects"]
fn fails() {
    Check::new(pay::<Fast>).defect(Mutant::LockedByStore).run();
}

#[test]
#[ignore = "the test below runs it"]
fn passes() {
    let report = Check::new(pay::<Fast>).run();
    println!("{report}");
}

#[test]
fn the_line_of_a_failure_replays_it_by_the_variable_and_the_test_that_it_names() {
    let page = tempfile::tempdir().unwrap();
    let page = page.path().join("failure.html");
    let first = run("lines::fails", &[(PAGE, page.to_str().unwrap())]);
    assert!(!first.status.success());
    let message = text(&first);
    let (_, line) = message.split_once("replay: ").unwrap();
    let line = line.lines().next().unwrap();
    let rest = line.strip_prefix(&format!("{REPLAY}='")).unwrap();
    let (case, command) = rest.split_once('\'').unwrap();
    assert!(case.starts_with("fast!locked-by-store "), "{case}");
    assert_eq!(command, " cargo test lines::fails -- --exact");
    assert!(
        message.contains(&format!("page: {}", page.display())),
        "{message}"
    );
    assert!(std::fs::read_to_string(&page).unwrap().contains(case));

    let again = run("lines::fails", &[(REPLAY, case)]);
    assert!(!again.status.success());
    let again = text(&again);
    assert!(again.contains("found by case 1; replay: "), "{again}");
    let explained = |message: &str| {
        let from = message.find("thread 'lines::fails'")?;
        let all = message[from..].lines().skip(1);
        Some(
            all.take_while(|line| !line.contains("replay: "))
                .map(str::to_owned)
                .collect(),
        )
    };
    let of: fn(&str) -> Option<Vec<String>> = explained;
    let mut first = of(&message).unwrap();
    first.retain(|line| !line.starts_with("page: "));
    assert_eq!(of(&again).unwrap(), first);

    // The right code passes under the same line.
    let right = case.replace("!locked-by-store", "");
    let passed = text(&run("lines::passes", &[(REPLAY, &right)]));
    assert!(passed.contains("1 cases with 1 launches"), "{passed}");
    // And under as many cases as one likes.
    let passed = text(&run("lines::passes", &[(CASES, "3")]));
    assert!(passed.contains("3 cases with 3 launches"), "{passed}");
}

#[test]
fn a_line_that_is_none_is_refused_in_words() {
    for (variables, part) in [
        (
            &[(REPLAY, "fast 1x1")][..],
            "`fast 1x1` in the line of a case",
        ),
        (&[(CASES, "many")], "STM_CASES=many"),
    ] {
        let output = run("lines::passes", variables);
        assert!(!output.status.success());
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

#[test]
fn the_seed_decides_the_cases() {
    let cases = |seed| {
        let check = Check::new(pay::<Fast>)
            .algorithms(&[Variant::Fast])
            .defect(Mutant::NoF1Begin)
            .seed(seed);
        let found = check.find().unwrap_err();
        (found.after, found.case)
    };
    assert_eq!(cases(3), cases(3));
    assert_ne!(cases(3).1.sim.seed, cases(4).1.sim.seed);
}
