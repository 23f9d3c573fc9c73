//! Histories with a known verdict: each anomaly beside its innocent twin. The
//! explanations are checked as well.

use crate::common::{X, Y, aborted, history, read, told, update, write};
use verify::history::{Event, History};
use verify::opacity::brute::{self, Orders};
use verify::opacity::check;
use verify::opacity::report::{Finding, Interval, ReadEvidence, Violation};

fn accept(attempts: &str) {
    accept_history(&told(attempts));
}

fn accept_history(history: &History) {
    let verdict = check(history).unwrap();
    assert!(verdict.is_opaque(), "{verdict}");
    assert!(brute::is_opaque(history, Orders::RealTime));
}

/// The one violation of a history, which must be of attempt `at_fault`.
fn reject(attempts: &str, at_fault: usize) -> Violation {
    reject_history(&told(attempts), at_fault)
}

fn reject_history(history: &History, at_fault: usize) -> Violation {
    assert!(!brute::is_opaque(history, Orders::Witness));
    let verdict = check(history).unwrap();
    println!("{verdict}");
    assert_eq!(verdict.violations_total, 1, "{verdict}");
    assert_eq!(verdict.violations[0].attempt.attempt, at_fault, "{verdict}");
    assert!(verdict.to_string().contains("NOT opaque"));
    verdict.violations.into_iter().next().unwrap()
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
    accept("update 0 0 1 1 x?0 x=1; update 1 1 2 2 x?1 x=2");

    // Both increment from 0.
    let violation = reject("update 0 0 1 1 x?0 x=1; update 1 0 2 2 x?0 x=1", 1);
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
    accept("update 0 0 1 2 x?0 y?0 x=1; update 1 0 2 2 x?1 y?0 y=1");

    // Both read 0, 0 and write one word each.
    let violation = reject("update 0 0 1 2 x?0 y?0 x=1; update 1 0 2 2 x?0 y?0 y=1", 1);
    let (points, reads) = conflict(&violation);
    assert_eq!((points, reads.len()), (between(1, 1), 1));
    assert_eq!((reads[0].word, reads[0].value), (X, 0));
    assert_eq!(reads[0].elsewhere[0].overwritten_by.unwrap().version, 1);
}

#[test]
fn a_torn_read_in_an_aborted_attempt_is_rejected() {
    let commit = "update 0 0 1 1 x=1 y=1;";
    accept(&format!("{commit} aborted 1 0 1 x?0 y?0"));
    accept(&format!("{commit} aborted 1 0 1 x?1 y?1"));

    for attempt in ["aborted 1 0 1", "running 1 0", "read_only 1 0 1"] {
        let violation = reject(&format!("{commit} {attempt} z?0 x?0 y?1"), 1);
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
    let commits = "update 0 0 1 1 x=1; update 0 1 2 2 x=2;";
    accept(&format!("{commits} read_only 1 0 2 x?0"));
    accept(&format!("{commits} read_only 1 1 2 x?1"));

    // It began after the second commit.
    let violation = reject(&format!("{commits} read_only 1 2 2 x?1"), 2);
    let (points, reads) = conflict(&violation);
    assert_eq!(points, between(2, 2));
    let before = &reads[0].elsewhere[0];
    assert_eq!(before.points, between(1, 1));
    assert_eq!(before.set_by.unwrap().version, 1);
    assert_eq!(before.overwritten_by.unwrap().version, 2);
}

#[test]
fn a_read_from_before_the_begin_is_a_real_time_violation() {
    accept("update 0 0 1 1 x=1; read_only 1 0 1 x?0");

    // It began after the commit; serializable, but not in real time.
    let violation = reject("update 0 0 1 1 x=1; read_only 1 1 1 x?0", 1);
    assert_eq!(conflict(&violation).0, between(1, 1));
}

#[test]
fn a_lanes_next_attempt_may_not_forget_what_the_one_before_saw() {
    let before = "update 0 0 1 1 x=1; read_only 1 0 1 x?1; read_only 1 1 1";
    assert!(check(&told(&format!("{before} x?1"))).unwrap().is_opaque());
    let forgot = told(&format!("{before} x?0"));
    assert!(!check(&forgot).unwrap().is_opaque());
    assert!(!brute::is_opaque(&forgot, Orders::RealTime));
}

#[test]
fn a_dirty_read_of_an_aborted_write_is_rejected() {
    accept("aborted 0 0 0 x=7; read_only 1 0 0 x?0");

    let violation = reject("aborted 0 0 0 x=7; read_only 1 0 0 x?7", 1);
    let (_, reads) = conflict(&violation);
    assert!(reads[0].holds.is_empty() && reads[0].elsewhere.is_empty());
    assert_eq!(reads[0].never_visible_write_by.unwrap().attempt, 0);
    let why = "never held; written, but not made visible, by attempt 0 (lane 0";
    assert!(violation.to_string().contains(why));
}

#[test]
fn a_read_of_a_value_that_a_commit_itself_overwrote_is_rejected() {
    accept("update 0 0 1 1 x=7 x=8; read_only 1 0 1 x?8");
    let violation = reject("update 0 0 1 1 x=7 x=8; read_only 1 0 1 x?7", 1);
    let read = &conflict(&violation).1[0];
    assert_eq!(read.never_visible_write_by.unwrap().attempt, 0);
}

#[test]
fn an_own_write_that_is_not_read_back_is_rejected() {
    accept("update 0 0 1 1 x=1 x?1 x=2 x?2");
    accept("aborted 0 0 0 x?0 x=1 x?1");

    for attempt in ["update 0 0 1 1", "aborted 0 0 0"] {
        let violation = reject(&format!("{attempt} x=1 x=2 x?1"), 0);
        let lost = Finding::OwnWriteLost {
            event: 2,
            word: X,
            wrote: 2,
            read: 1,
        };
        assert_eq!(violation.finding, lost);
    }
}

#[test]
fn an_own_write_is_read_back_in_attempts_with_many_writes() {
    let mut events: Vec<Event> = (0..100).map(|i| write(0x100 + 4 * i, i)).collect();
    events.extend((0..100).map(|i| write(0x100 + 4 * i, 1000 + i)));
    events.extend((0..100).map(|i| read(0x100 + 4 * i, 1000 + i)));
    accept_history(&history(&[(update(0, 0, 1, 1), &events)]));
    events[240] = read(0x100 + 4 * 40, 40);
    let violation = reject_history(&history(&[(update(0, 0, 1, 1), &events)]), 0);
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
    let commits = "update 0 0 1 1 x=1; update 0 1 2 2 x=0 y=1; aborted 1 0 2";
    accept(&format!("{commits} x?0 y?1"));
    accept(&format!("{commits} x?1 y?0"));

    // Each was there: X = 1 at 1, Y = 1 at 2.
    let violation = reject(&format!("{commits} x?1 y?1"), 2);
    let (points, reads) = conflict(&violation);
    assert_eq!((points, reads.len()), (between(0, 2), 2));
    assert_eq!(reads[0].holds[0].points, between(1, 1));
    assert_eq!(reads[1].holds[0].points, Interval { from: 2, to: None });
}

#[test]
fn a_word_read_as_two_values_is_rejected_even_if_the_first_comes_back() {
    let commits = "update 0 0 1 1 x=1; update 0 1 2 2 x=0; aborted 1 0 2";
    accept(&format!("{commits} x?0 x?0"));
    let violation = reject(&format!("{commits} x?0 x?1"), 2);
    let (_, reads) = conflict(&violation);
    assert_eq!(reads[0].holds.len(), 2, "0 held twice: {violation}");
    assert_eq!(reads[0].holds[1].set_by.unwrap().version, 2);
}

#[test]
fn a_commit_whose_reads_hold_only_one_commit_too_early_is_rejected() {
    let commits = "update 0 0 1 1 x=1; update 0 1 2 2 x=2;";
    accept(&format!("{commits} update 1 0 3 3 x?2 y=1"));

    // X = 1 held at the point 1; version 3 needs the point 2.
    let violation = reject(&format!("{commits} update 1 0 3 3 x?1 y=1"), 2);
    let (points, reads) = conflict(&violation);
    assert_eq!(points, between(2, 2));
    assert_eq!(reads[0].elsewhere[0].points, between(1, 1));
    let why = "held only outside: in [1, 1]";
    assert!(violation.to_string().contains(why));
}

#[test]
fn versions_may_leave_gaps() {
    let verdict = |seen: u64| {
        let commits = "update 0 0 10 12 x=1; update 1 11 20 20 x=2;";
        check(&told(&format!("{commits} read_only 2 13 19 x?{seen}"))).unwrap()
    };
    assert!(verdict(1).is_opaque());
    for (seen, elsewhere) in [(2, Interval { from: 20, to: None }), (0, between(0, 9))] {
        let verdict = verdict(seen);
        let (points, reads) = conflict(&verdict.violations[0]);
        assert_eq!(points, between(13, 19));
        assert_eq!(reads[0].elsewhere[0].points, elsewhere);
    }
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
    accept_history(&history(&[(update(0, 0, 1, 1), &events)]));
}

#[test]
fn a_value_that_held_only_later_is_shown_once_and_as_later() {
    let violation = reject(
        "update 0 0 1 1 x=5; update 0 1 2 2 x=0; read_only 1 0 0 x?5",
        2,
    );
    let elsewhere = &conflict(&violation).1[0].elsewhere;
    assert_eq!(elsewhere.len(), 1);
    assert_eq!(elsewhere[0].points, between(1, 1));
}
