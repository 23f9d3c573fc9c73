//! Verdicts. Histories with a known one: each anomaly beside its innocent twin, with the whole explanation
//! (`must_reject.txt`), and histories too long to be written down; what a verdict says beside its violations.

use crate::common::{
    X, Y, Z, aborted, commits, header, history, history_of, push, read, read_only, update, write,
};
use std::collections::BTreeMap;
use stm_core_tests::assert_is;
use verify::error::Error;
use verify::history::left::Left;
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

fn conflict(violation: &Violation) -> &[ReadEvidence] {
    match &violation.finding {
        Finding::NoCommonPoint { reads, .. } => reads,
        Finding::OwnWriteLost { .. } => panic!("{violation}"),
    }
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
fn a_value_is_found_at_every_distance_and_far_ahead_among_many_commits_of_a_word() {
    let mut near = commits(200, &[X]);
    for value in 0..=200 {
        let lane = 1 + value as u32;
        near.push(aborted(lane, 0, 200), &[read(X, value)]).unwrap();
    }
    assert!(is_opaque(&near));
    // More commits than are looked through one by one.
    let mut all = commits(5_000, &[X, Y]);
    let both = |y| [read(X, 4_321), read(Y, y)];
    all.push(aborted(1, 0, 5_000), &both(4_321)).unwrap();
    assert!(is_opaque(&all));
    all.push(aborted(2, 0, 5_000), &both(4_322)).unwrap();
    all.push(aborted(3, 0, 4_000), &both(4_321)[..1]).unwrap();
    let verdict = check(&all).unwrap();
    assert_eq!(verdict.violations_total, 2);
    let (from, to) = (4_321, Some(4_321));
    let first = [0, 1].map(|i| &conflict(&verdict.violations[i])[0]);
    assert_eq!(first[0].holds[0].points, Interval { from, to });
    assert_eq!(first[1].elsewhere[0].points, Interval { from, to });
}

/// Returns the history of attempts on memory of which some words are known.
fn on(initial: InitialMemory, attempts: &str) -> History {
    let mut history = History::new(header(), initial);
    push(&mut history, attempts);
    history
}

#[test]
fn initial_memory_may_be_given_or_inferred() {
    let attempts = "read_only 0 0 0 x?5; update 1 0 1 1 x=6; aborted 2 0 0 x?4 y?9";
    for (initial, at_fault, given, inferred) in [
        (InitialMemory::of([(X, 4)], Rest::Value(9)), 0, 2, 0),
        // The committed read is believed, not the aborted one.
        (InitialMemory::INFERRED, 2, 0, 2),
    ] {
        let verdict = check(&on(initial, attempts)).unwrap();
        assert_eq!(verdict.violations_total, 1);
        assert_eq!(verdict.violations[0].attempt.attempt, at_fault);
        let found = (verdict.initial.given, verdict.initial.inferred);
        assert_eq!(found, (given, inferred));
    }
}

#[test]
fn commits_leave_what_the_last_of_them_wrote_and_aborts_nothing() {
    let initial = InitialMemory::of([(X, u64::from(u32::MAX)), (Z, 5)], Rest::Inferred);
    for (attempts, expected) in [
        // By their versions, and 32 bits wrap around.
        (
            "update 0 0 2 9 z=8 x+3; update 0 0 1 9 z=7 y=1; aborted 0 0 9 y=9",
            "2 1 8",
        ),
        // Nobody knows what it held before, or in which order floats were added.
        ("aborted 0 0 9 y=9", "4294967295 ? 5"),
        ("update 0 0 3 9 z~ y+1", "4294967295 ? ?"),
    ] {
        let left = Left::by(&on(initial.clone(), attempts));
        let value = |word| {
            left.value(word)
                .map_or("?".into(), |value| value.to_string())
        };
        assert_eq!([X, Y, Z].map(value).join(" "), expected, "{attempts}");
        let updates = || {
            attempts
                .split("; ")
                .filter(|text| text.starts_with("update"))
        };
        let writes = |word| updates().any(|text| text.contains(&format!(" {word}")));
        let written = ["x", "y", "z"].map(writes);
        assert_eq!([X, Y, Z].map(|word| left.is_written(word)), written);
    }
}

/// Smaller conflicts are those that `brute.rs` finds to be smallest.
#[test]
fn a_conflict_among_many_reads_has_none_to_spare() {
    // Word k is 0 but at point k, so all 30 reads of these are needed. There are more reads than pairs
    // are tried for, most of words that nobody writes.
    let mut history = on(InitialMemory::of([(0, 1)], Rest::Value(0)), "");
    for k in 1..30 {
        let writes = [write(k - 1, 0), write(k, 1)];
        history.push(update(0, k - 1, k, k), &writes).unwrap();
    }
    let words = (0..300).map(|k| if k % 10 == 9 { k / 10 } else { 1000 + k });
    let reads: Vec<Event> = words.map(|word| read(word, 0)).collect();
    history.push(read_only(1, 0, 29), &reads).unwrap();
    let verdict = check(&history).unwrap();
    let events = conflict(&verdict.violations[0])
        .iter()
        .map(|read| read.event);
    assert!(events.eq((0..30).map(|k| 10 * k + 9)), "{verdict}");
}

#[test]
fn only_the_first_violations_are_explained_and_all_are_counted() {
    let mut all = history(&[]);
    for lane in 0..100 {
        all.push(read_only(lane, 0, 0), &[read(X, 1)]).unwrap();
    }
    let verdict = check(&all).unwrap();
    let (total, explained) = (verdict.violations_total, verdict.violations.len());
    assert_eq!((total, explained), (100, EXPLAINED_MAX));
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
    let holds = &violation["finding"]["reads"][1]["holds"][0];
    assert_eq!(holds["set_by"]["lane"], 3);
}

fn is_opaque(history: &History) -> bool {
    check(history).expect("a possible history").is_opaque()
}

#[test]
fn words_whose_values_nobody_knows_are_not_judged_and_the_others_are() {
    for (y, right) in [(1, true), (2, false)] {
        let reader = format!("update 0 0 1 1 x~ y+1; read_only 1 1 1 x?12345 y?{y}");
        assert_eq!(is_opaque(&history_of(&reader)), right);
    }
    // Added to, and nobody says what was there before.
    let initial = || InitialMemory::of([(Y, 7)], Rest::Inferred);
    let attempts = "update 0 0 1 1 x+1 y+1; read_only 0 1 1 x?99 y?8";
    assert!(is_opaque(&on(initial(), attempts)));
    let wrong = format!("{attempts}; read_only 0 1 1 y?7");
    assert!(!is_opaque(&on(initial(), &wrong)));
}
