//! Verdicts. Histories with a known one: each anomaly beside its innocent twin, with the whole
//! explanation (`must_reject.txt`), and histories too long to be written down; what a verdict says
//! beside its violations.

use crate::asserts::assert_is;
use crate::common::{
    X, Y, aborted, header, history, history_of, push, read, read_only, update, write,
};
use std::collections::BTreeMap;
use verify::error::Error;
use verify::history::{Event, History, InitialMemory, Rest};
use verify::opacity::brute::{self, Orders};
use verify::opacity::report::{Finding, Interval, ReadEvidence, Verdict, Violation};
use verify::opacity::{EXPLAINED_MAX, check};

fn accept(history: &History) {
    let verdict = check(history).unwrap();
    assert!(verdict.is_opaque(), "{verdict}");
    assert!(brute::is_opaque(history, Orders::RealTime));
}

/// The one violation of a history, which must be of attempt `at_fault`.
fn reject(history: &History, at_fault: usize) -> Violation {
    assert!(!brute::is_opaque(history, Orders::Witness));
    let verdict = check(history).unwrap();
    assert_eq!(verdict.violations_total, 1, "{verdict}");
    assert_eq!(verdict.violations[0].attempt.attempt, at_fault, "{verdict}");
    assert!(verdict.to_string().contains("NOT opaque"));
    verdict.violations.into_iter().next().unwrap()
}

#[test]
fn anomalies_are_rejected_with_their_explanation_their_twins_accepted_and_the_impossible_refused() {
    let mut seen = BTreeMap::new();
    let mut lines = include_str!("must_reject.txt").lines().peekable();
    while let Some(line) = lines.next() {
        let (sign, attempts) = line.split_once(' ').unwrap_or_default();
        let explanation = match sign {
            "+" => {
                accept(&history_of(attempts));
                String::new()
            }
            "!" | "-" => {
                let (at_fault, attempts) = attempts.split_once(' ').unwrap();
                let history = history_of(attempts);
                let in_some_order = brute::is_opaque(&history, Orders::RealTime);
                assert_eq!(in_some_order, sign == "-", "{line}");
                reject(&history, at_fault.parse().unwrap()).to_string()
            }
            "*" => {
                let error = check(&history_of(attempts)).unwrap_err();
                assert_is!(error, Error::Impossible { file: None, .. });
                error.to_string()
            }
            _ => continue,
        };
        *seen.entry(sign).or_insert(0) += 1;
        let expected = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("    ")));
        let expected: Vec<&str> = expected.map(|line| &line[4..]).collect();
        assert_eq!(explanation.trim_end(), expected.join("\n"), "{line}");
    }
    let all = [("!", 18), ("*", 10), ("+", 24), ("-", 8)];
    assert_eq!(seen, all.into());
}

/// Where the attempt may stand, and the reads that contradict.
fn conflict(violation: &Violation) -> (Interval, &[ReadEvidence]) {
    match &violation.finding {
        Finding::NoCommonPoint { points, reads, .. } => (*points, reads),
        Finding::OwnWriteLost { .. } => panic!("{violation}"),
    }
}

fn between(from: u64, to: u64) -> Interval {
    Interval { from, to: Some(to) }
}

#[test]
fn an_own_write_is_read_back_in_attempts_with_many_writes() {
    let mut events: Vec<Event> = (0..100).map(|i| write(0x100 + 4 * i, i)).collect();
    events.extend((0..100).map(|i| write(0x100 + 4 * i, 1000 + i)));
    events.extend((0..100).map(|i| read(0x100 + 4 * i, 1000 + i)));
    accept(&history(&[(update(0, 0, 1, 1), &events)]));
    events[240] = read(0x100 + 4 * 40, 40);
    let violation = reject(&history(&[(update(0, 0, 1, 1), &events)]), 0);
    let lost = Finding::OwnWriteLost {
        event: 240,
        word: 0x100 + 4 * 40,
        wrote: 1040,
        read: 40,
    };
    assert_eq!(violation.finding, lost);
}

#[test]
fn a_value_is_found_far_ahead_among_many_commits_of_a_word() {
    // More commits than are looked through one by one.
    let mut all = history(&[]);
    for version in 1..=5_000 {
        all.push(
            update(0, version - 1, version, version),
            &[write(X, version), write(Y, version)],
        )
        .unwrap();
    }
    let mut good = all.clone();
    good.push(aborted(1, 0, 5_000), &[read(X, 4_321), read(Y, 4_321)])
        .unwrap();
    assert!(check(&good).unwrap().is_opaque());
    all.push(aborted(1, 0, 5_000), &[read(X, 4_321), read(Y, 4_322)])
        .unwrap();
    all.push(aborted(2, 0, 4_000), &[read(X, 4_321)]).unwrap();
    let verdict = check(&all).unwrap();
    assert_eq!(verdict.violations_total, 2);
    assert_eq!(
        conflict(&verdict.violations[0]).1[0].holds[0].points,
        between(4_321, 4_321)
    );
    assert_eq!(
        conflict(&verdict.violations[1]).1[0].elsewhere[0].points,
        between(4_321, 4_321)
    );
}

#[test]
fn a_value_is_found_at_every_distance() {
    let mut all = history(&[]);
    for version in 1..=200 {
        let commit = [write(X, version)];
        all.push(update(0, version - 1, version, version), &commit)
            .unwrap();
    }
    for value in 0..=200 {
        all.push(aborted(1 + value as u32, 0, 200), &[read(X, value)])
            .unwrap();
    }
    let verdict = check(&all).unwrap();
    assert!(verdict.is_opaque(), "{verdict}");
}

#[test]
fn initial_memory_may_be_given_or_inferred() {
    let with = |initial| {
        let mut history = History::new(crate::common::header(), initial);
        push(
            &mut history,
            "read_only 0 0 0 x?5; update 1 0 1 1 x=6; aborted 2 0 0 x?4 y?9",
        );
        check(&history).unwrap()
    };
    let given = with(InitialMemory::of([(X, 4)], Rest::Value(9)));
    assert_eq!(
        (given.violations_total, given.violations[0].attempt.attempt),
        (1, 0)
    );
    assert_eq!((given.initial.given, given.initial.inferred), (2, 0));
    // The committed read is believed, not the aborted one.
    let inferred = with(InitialMemory::INFERRED);
    assert_eq!(
        (
            inferred.violations_total,
            inferred.violations[0].attempt.attempt
        ),
        (1, 2)
    );
    assert_eq!((inferred.initial.given, inferred.initial.inferred), (0, 2));
}

#[test]
fn only_the_first_violations_are_explained_and_all_are_counted() {
    let mut all = history(&[]);
    for lane in 0..100 {
        all.push(read_only(lane, 0, 0), &[read(X, 1)]).unwrap();
    }
    let verdict = check(&all).unwrap();
    assert_eq!(
        (verdict.violations_total, verdict.violations.len()),
        (100, EXPLAINED_MAX)
    );
    assert!(verdict.to_string().ends_with("and 84 more\n"), "{verdict}");
}

#[test]
fn a_verdict_is_json_with_the_contradiction_in_it() {
    let all = history_of("update 3 0 1 1 x=1 y=1; aborted 4 0 1 x?0 y?1");
    let verdict: Verdict = check(&all).unwrap();
    let json = serde_json::to_value(&verdict).unwrap();
    assert_eq!(json["violations_total"], 1);
    let violation = &json["violations"][0];
    assert_eq!(violation["attempt"]["lane"], 4);
    assert_eq!(violation["attempt"]["outcome"]["kind"], "aborted");
    assert_eq!(violation["finding"]["kind"], "no_common_point");
    assert_eq!(
        violation["finding"]["reads"][1]["holds"][0]["set_by"]["lane"],
        3
    );
}

fn is_opaque(history: &History) -> bool {
    check(history).expect("a possible history").is_opaque()
}

fn is_right(attempts: &str) -> bool {
    is_opaque(&history_of(attempts))
}

#[test]
fn words_whose_values_nobody_knows_are_not_judged_and_the_others_are() {
    assert!(is_right(
        "update 0 0 1 1 x~ y+1; read_only 1 1 1 x?12345 y?1"
    ));
    assert!(!is_right(
        "update 0 0 1 1 x~ y+1; read_only 1 1 1 x?12345 y?2"
    ));
    // Added to, and nobody says what was there before.
    let mut unknown = History::new(header(), InitialMemory::of([(Y, 7)], Rest::Inferred));
    push(
        &mut unknown,
        "update 0 0 1 1 x+1 y+1; read_only 0 1 1 x?99 y?8",
    );
    assert!(is_opaque(&unknown));
    push(&mut unknown, "read_only 0 1 1 y?7");
    assert!(!is_opaque(&unknown));
}
