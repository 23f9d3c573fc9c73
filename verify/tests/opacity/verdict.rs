//! What a verdict says beside its violations, and what is refused instead of
//! judged.

use crate::common::{aborted, history, read, read_only, running, update, write};
use verify::error::{Contradiction, Error};
use verify::history::{Attempt, Event, History, InitialMemory, Rest};
use verify::opacity::report::Verdict;
use verify::opacity::{EXPLAINED_MAX, check};

const X: u64 = 0x1000;
const Y: u64 = 0x2001;

#[test]
fn initial_memory_may_be_given_or_inferred() {
    let with = |initial| {
        let mut history = History::new(crate::common::header(), initial);
        history.push(read_only(0, 0, 0), &[read(X, 5)]).unwrap();
        history.push(update(1, 0, 1, 1), &[write(X, 6)]).unwrap();
        history
            .push(aborted(2, 0, 0), &[read(X, 4), read(Y, 9)])
            .unwrap();
        check(&history).unwrap()
    };
    let given = with(InitialMemory {
        words: vec![(X, 4)],
        rest: Rest::Value(9),
    });
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
    let all = history(&[
        (update(3, 0, 1, 1), &[write(X, 1), write(Y, 1)]),
        (aborted(4, 0, 1), &[read(X, 0), read(Y, 1)]),
    ]);
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

/// What makes the attempts an impossible history.
fn contradiction(attempts: &[(Attempt, &[Event])]) -> (usize, Contradiction) {
    match check(&history(attempts)) {
        Err(Error::Impossible { file: None, what }) => (what.attempt, what.why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn impossible_histories_are_refused_and_not_judged() {
    use Contradiction as C;
    let w: &[Event] = &[write(X, 1)];
    assert_eq!(
        contradiction(&[(update(0, 0, 1, 1), w), (update(1, 0, 1, 1), w)]),
        (
            1,
            C::DuplicateVersion {
                version: 1,
                other: 0,
                other_lane: 0
            }
        )
    );
    assert_eq!(
        contradiction(&[(update(0, 0, 0, 1), w)]),
        (0, C::VersionZero)
    );
    assert_eq!(
        contradiction(&[(update(0, 0, 3, 2), w)]),
        (0, C::VersionBeyondEnd { version: 3, end: 2 })
    );
    assert_eq!(
        contradiction(&[(update(0, 2, 2, 4), w)]),
        (
            0,
            C::VersionBeforeBegin {
                version: 2,
                begin: 2
            }
        )
    );
    assert_eq!(
        contradiction(&[(aborted(0, 2, 1), w)]),
        (0, C::EndBeforeBegin { begin: 2, end: 1 })
    );
    assert_eq!(
        contradiction(&[(update(0, 0, 1, 1), &[])]),
        (0, C::UpdateWithoutWrites { version: 1 })
    );
    assert_eq!(
        contradiction(&[(read_only(0, 0, 1), w)]),
        (0, C::ReadOnlyWithWrites { word: X })
    );
    assert_eq!(
        contradiction(&[
            (aborted(5, 0, 2), w),
            (aborted(6, 0, 1), w),
            (aborted(5, 1, 2), w)
        ]),
        (
            2,
            C::LaneOrder {
                before: 0,
                end: 2,
                begin: 1
            }
        )
    );
    assert_eq!(
        contradiction(&[(running(0, 0), w), (aborted(0, 1, 2), w)]),
        (1, C::AfterRunning { before: 0 })
    );
}
