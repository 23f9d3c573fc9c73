//! Histories with a known verdict: each anomaly beside its innocent twin. The
//! explanations are checked as well.

use crate::common::{aborted, history, read, read_only, running, update, write};
use verify::history::{Attempt, Event};
use verify::opacity::brute::{self, Orders};
use verify::opacity::check;
use verify::opacity::report::{Finding, Interval, ReadEvidence, Violation};

const X: u64 = 0x1000;
const Y: u64 = 0x2001;

fn accept(attempts: &[(Attempt, &[Event])]) {
    let history = history(attempts);
    let verdict = check(&history).unwrap();
    assert!(verdict.is_opaque(), "{verdict}");
    assert!(brute::is_opaque(&history, Orders::RealTime));
}

/// The one violation of a history, which must be of attempt `at_fault`.
fn reject(attempts: &[(Attempt, &[Event])], at_fault: usize) -> Violation {
    let history = history(attempts);
    assert!(!brute::is_opaque(&history, Orders::Witness));
    let verdict = check(&history).unwrap();
    println!("{verdict}");
    assert_eq!(verdict.violations_total, 1, "{verdict}");
    assert_eq!(verdict.violations[0].attempt.attempt, at_fault, "{verdict}");
    assert!(verdict.to_string().contains("NOT opaque"));
    verdict.violations.into_iter().next().unwrap()
}

/// An attempt with its events.
type Made<'a> = (Attempt, &'a [Event]);

/// Accepts a history of two commits and an attempt.
fn accept_after([a, b]: [Made<'_>; 2], last: Made<'_>) {
    accept(&[a, b, last]);
}

/// The one violation of a history of two commits and an attempt, which is at fault.
fn reject_after([a, b]: [Made<'_>; 2], last: Made<'_>) -> Violation {
    reject(&[a, b, last], 2)
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
fn a_lost_update_is_rejected() {
    let increment = |seen| [read(X, seen), write(X, seen + 1)];
    accept(&[
        (update(0, 0, 1, 1), &increment(0)),
        (update(1, 1, 2, 2), &increment(1)),
    ]);

    // Both increment from 0.
    let violation = reject(
        &[
            (update(0, 0, 1, 1), &increment(0)),
            (update(1, 0, 2, 2), &increment(0)),
        ],
        1,
    );
    let (points, reads) = conflict(&violation);
    assert_eq!((points, reads.len()), (between(1, 1), 1));
    assert_eq!((reads[0].word, reads[0].value, reads[0].event), (X, 0, 0));
    assert!(reads[0].holds.is_empty());
    let before = &reads[0].elsewhere[0];
    assert_eq!((before.points, before.set_by), (between(0, 0), None));
    let by = before.overwritten_by.unwrap();
    assert_eq!((by.version, by.lane, by.attempt, by.value), (1, 0, 0, 1));
}

#[test]
fn write_skew_is_rejected() {
    let a = [read(X, 0), read(Y, 0), write(X, 1)];
    let b = [read(X, 1), read(Y, 0), write(Y, 1)];
    accept(&[(update(0, 0, 1, 2), &a), (update(1, 0, 2, 2), &b)]);

    // Both read 0, 0 and write one word each.
    let b = [read(X, 0), read(Y, 0), write(Y, 1)];
    let violation = reject(&[(update(0, 0, 1, 2), &a), (update(1, 0, 2, 2), &b)], 1);
    let (points, reads) = conflict(&violation);
    assert_eq!((points, reads.len()), (between(1, 1), 1));
    assert_eq!((reads[0].word, reads[0].value), (X, 0));
    assert_eq!(reads[0].elsewhere[0].overwritten_by.unwrap().version, 1);
}

#[test]
fn a_torn_read_in_an_aborted_attempt_is_rejected() {
    let commit = [write(X, 1), write(Y, 1)];
    for whole in [[read(X, 0), read(Y, 0)], [read(X, 1), read(Y, 1)]] {
        accept(&[(update(0, 0, 1, 1), &commit), (aborted(1, 0, 1), &whole)]);
    }

    let torn = [read(0x10, 0), read(X, 0), read(Y, 1)];
    for attempt in [aborted(1, 0, 1), running(1, 0), read_only(1, 0, 1)] {
        let violation = reject(&[(update(0, 0, 1, 1), &commit), (attempt, &torn)], 1);
        let (points, reads) = conflict(&violation);
        assert_eq!(points.from, 0);
        // The read of the third word has nothing to do with it.
        assert_eq!(reads.iter().map(|r| r.word).collect::<Vec<_>>(), [X, Y]);
        assert_eq!(reads[0].holds[0].points, between(0, 0));
        assert_eq!(reads[0].holds[0].overwritten_by.unwrap().version, 1);
        assert_eq!(reads[1].holds[0].points, Interval { from: 1, to: None });
        assert_eq!(reads[1].holds[0].set_by.unwrap().lane, 0);
    }
}

#[test]
fn a_stale_read_in_a_read_only_commit_is_rejected() {
    let commits: [Made<'_>; 2] = [
        (update(0, 0, 1, 1), &[write(X, 1)]),
        (update(0, 1, 2, 2), &[write(X, 2)]),
    ];
    accept_after(commits, (read_only(1, 0, 2), &[read(X, 0)]));
    accept_after(commits, (read_only(1, 1, 2), &[read(X, 1)]));

    // It began after the second commit.
    let violation = reject_after(commits, (read_only(1, 2, 2), &[read(X, 1)]));
    let (points, reads) = conflict(&violation);
    assert_eq!(points, between(2, 2));
    let before = &reads[0].elsewhere[0];
    assert_eq!(before.points, between(1, 1));
    assert_eq!(before.set_by.unwrap().version, 1);
    assert_eq!(before.overwritten_by.unwrap().version, 2);
}

#[test]
fn a_read_from_before_the_begin_is_a_real_time_violation() {
    let commit = [write(X, 1)];
    accept(&[
        (update(0, 0, 1, 1), &commit),
        (read_only(1, 0, 1), &[read(X, 0)]),
    ]);

    // It began after the commit; serializable, but not in real time.
    let violation = reject(
        &[
            (update(0, 0, 1, 1), &commit),
            (read_only(1, 1, 1), &[read(X, 0)]),
        ],
        1,
    );
    assert_eq!(conflict(&violation).0, between(1, 1));
    let without_real_time = [
        (update(0, 0, 1, 1), &commit[..]),
        (read_only(1, 0, 1), &[read(X, 0)][..]),
    ];
    assert!(brute::is_opaque(
        &history(&without_real_time),
        Orders::RealTime
    ));
}

#[test]
fn a_lanes_next_attempt_may_not_forget_what_the_one_before_saw() {
    let attempts = |second: Event| {
        history(&[
            (update(0, 0, 1, 1), &[write(X, 1)]),
            (read_only(1, 0, 1), &[read(X, 1)]),
            (read_only(1, 1, 1), &[second]),
        ])
    };
    assert!(check(&attempts(read(X, 1))).unwrap().is_opaque());
    let forgot = attempts(read(X, 0));
    assert!(!check(&forgot).unwrap().is_opaque());
    assert!(!brute::is_opaque(&forgot, Orders::RealTime));
}

#[test]
fn a_dirty_read_of_an_aborted_write_is_rejected() {
    accept(&[
        (aborted(0, 0, 0), &[write(X, 7)]),
        (read_only(1, 0, 0), &[read(X, 0)]),
    ]);

    let violation = reject(
        &[
            (aborted(0, 0, 0), &[write(X, 7)]),
            (read_only(1, 0, 0), &[read(X, 7)]),
        ],
        1,
    );
    let (_, reads) = conflict(&violation);
    assert!(reads[0].holds.is_empty() && reads[0].elsewhere.is_empty());
    assert_eq!(reads[0].never_visible_write_by.unwrap().attempt, 0);
    assert!(
        violation
            .to_string()
            .contains("never held; written, but not made visible, by attempt 0 (lane 0")
    );
}

#[test]
fn a_read_of_a_value_that_a_commit_itself_overwrote_is_rejected() {
    let commit = [write(X, 7), write(X, 8)];
    accept(&[
        (update(0, 0, 1, 1), &commit),
        (read_only(1, 0, 1), &[read(X, 8)]),
    ]);
    let violation = reject(
        &[
            (update(0, 0, 1, 1), &commit),
            (read_only(1, 0, 1), &[read(X, 7)]),
        ],
        1,
    );
    assert_eq!(
        conflict(&violation).1[0]
            .never_visible_write_by
            .unwrap()
            .attempt,
        0
    );
}

#[test]
fn an_own_write_that_is_not_read_back_is_rejected() {
    accept(&[(
        update(0, 0, 1, 1),
        &[write(X, 1), read(X, 1), write(X, 2), read(X, 2)],
    )]);
    accept(&[(aborted(0, 0, 0), &[read(X, 0), write(X, 1), read(X, 1)])]);

    for attempt in [update(0, 0, 1, 1), aborted(0, 0, 0)] {
        let events = [write(X, 1), write(X, 2), read(X, 1)];
        let violation = reject(&[(attempt, &events)], 0);
        assert_eq!(
            violation.finding,
            Finding::OwnWriteLost {
                event: 2,
                word: X,
                wrote: 2,
                read: 1
            }
        );
    }
}

#[test]
fn an_own_write_is_read_back_in_attempts_with_many_writes() {
    let mut events: Vec<Event> = (0..100).map(|i| write(0x100 + 4 * i, i)).collect();
    events.extend((0..100).map(|i| write(0x100 + 4 * i, 1000 + i)));
    events.extend((0..100).map(|i| read(0x100 + 4 * i, 1000 + i)));
    accept(&[(update(0, 0, 1, 1), &events)]);
    events[240] = read(0x100 + 4 * 40, 40);
    let violation = reject(&[(update(0, 0, 1, 1), &events)], 0);
    let lost = Finding::OwnWriteLost {
        event: 240,
        word: 0x100 + 4 * 40,
        wrote: 1040,
        read: 40,
    };
    assert_eq!(violation.finding, lost);
}

#[test]
fn values_that_come_back_do_not_hide_that_there_is_no_common_point() {
    // X is 0, 1, 0 and Y is 0, 0, 1 at the points 0, 1, 2.
    let commits: [Made<'_>; 2] = [
        (update(0, 0, 1, 1), &[write(X, 1)]),
        (update(0, 1, 2, 2), &[write(X, 0), write(Y, 1)]),
    ];
    accept_after(commits, (aborted(1, 0, 2), &[read(X, 0), read(Y, 1)]));
    accept_after(commits, (aborted(1, 0, 2), &[read(X, 1), read(Y, 0)]));

    // Each was there: X = 1 at 1, Y = 1 at 2.
    let violation = reject_after(commits, (aborted(1, 0, 2), &[read(X, 1), read(Y, 1)]));
    let (points, reads) = conflict(&violation);
    assert_eq!((points, reads.len()), (between(0, 2), 2));
    assert_eq!(reads[0].holds[0].points, between(1, 1));
    assert_eq!(reads[1].holds[0].points, Interval { from: 2, to: None });
}

#[test]
fn a_word_read_as_two_values_is_rejected_even_if_the_first_comes_back() {
    let commits: [Made<'_>; 2] = [
        (update(0, 0, 1, 1), &[write(X, 1)]),
        (update(0, 1, 2, 2), &[write(X, 0)]),
    ];
    accept_after(commits, (aborted(1, 0, 2), &[read(X, 0), read(X, 0)]));
    let violation = reject_after(commits, (aborted(1, 0, 2), &[read(X, 0), read(X, 1)]));
    let (_, reads) = conflict(&violation);
    assert_eq!(reads[0].holds.len(), 2, "0 held twice: {violation}");
    assert_eq!(reads[0].holds[1].set_by.unwrap().version, 2);
}

#[test]
fn a_commit_whose_reads_hold_only_one_commit_too_early_is_rejected() {
    let commits: [Made<'_>; 2] = [
        (update(0, 0, 1, 1), &[write(X, 1)]),
        (update(0, 1, 2, 2), &[write(X, 2)]),
    ];
    let third = |seen| [read(X, seen), write(Y, 1)];
    accept_after(commits, (update(1, 0, 3, 3), &third(2)));

    // X = 1 held at the point 1; version 3 needs the point 2.
    let violation = reject_after(commits, (update(1, 0, 3, 3), &third(1)));
    let (points, reads) = conflict(&violation);
    assert_eq!(points, between(2, 2));
    assert_eq!(reads[0].elsewhere[0].points, between(1, 1));
    assert!(
        violation
            .to_string()
            .contains("held only outside: in [1, 1]")
    );
}

#[test]
fn versions_may_leave_gaps() {
    let attempts = |seen| {
        let commits = [
            (update(0, 0, 10, 12), [write(X, 1)]),
            (update(1, 11, 20, 20), [write(X, 2)]),
        ];
        let mut all = history(&[(commits[0].0, &commits[0].1), (commits[1].0, &commits[1].1)]);
        all.push(read_only(2, 13, 19), &[read(X, seen)]).unwrap();
        all
    };
    assert!(check(&attempts(1)).unwrap().is_opaque());
    let verdict = check(&attempts(2)).unwrap();
    let (points, reads) = conflict(&verdict.violations[0]);
    assert_eq!(points, between(13, 19));
    assert_eq!(
        reads[0].elsewhere[0].points,
        Interval { from: 20, to: None }
    );
    let verdict = check(&attempts(0)).unwrap();
    assert_eq!(
        conflict(&verdict.violations[0]).1[0].elsewhere[0].points,
        between(0, 9)
    );
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
fn each_of_many_own_writes_is_read_back() {
    let mut events: Vec<Event> = (0..40).map(|i| write(0x100 + 4 * i, 1 + i)).collect();
    events.extend((0..40).map(|i| read(0x100 + 4 * i, 1 + i)));
    accept(&[(update(0, 0, 1, 1), &events)]);
}

#[test]
fn a_value_that_held_only_later_is_shown_once_and_as_later() {
    let commits: [Made<'_>; 2] = [
        (update(0, 0, 1, 1), &[write(X, 5)]),
        (update(0, 1, 2, 2), &[write(X, 0)]),
    ];
    let violation = reject_after(commits, (read_only(1, 0, 0), &[read(X, 5)]));
    let elsewhere = &conflict(&violation).1[0].elsewhere;
    assert_eq!(elsewhere.len(), 1);
    assert_eq!(elsewhere[0].points, between(1, 1));
}
