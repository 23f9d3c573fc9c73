//! What a verdict says beside its violations.

use crate::common::{X, history, push, read, read_only, told};
use verify::history::{History, InitialMemory, Rest};
use verify::opacity::report::Verdict;
use verify::opacity::{EXPLAINED_MAX, check};

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
    let all = told("update 3 0 1 1 x=1 y=1; aborted 4 0 1 x?0 y?1");
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
