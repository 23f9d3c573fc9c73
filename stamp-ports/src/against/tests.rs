//! The ratio, the verdict, and the points that are left out.

use super::child::{Identity, Outcome, Run, Timed};
use super::judge::{Judged, Ratio, Verdict, judge};
use super::{Found, Measured, is_measured, points};
use crate::measure::repeats::TimeMs;

/// A run with these times in milliseconds, of a thousand transactions.
fn timed(min: f64, median: f64, max: f64) -> Timed {
    Timed {
        device_name: "a device".into(),
        blocks: 132,
        threads: 96,
        time_ms: TimeMs { median, min, max },
        tx_per_s: 1e6 / median,
        jit_ms: 0.0,
        verified: true,
        error: None,
    }
}

fn done(median: f64) -> Outcome {
    Outcome::Done(timed(median, median, median))
}

fn run(outcome: Outcome) -> Run {
    Run {
        wall_s: 1.0,
        outcome,
    }
}

fn measured(point: &str, this: Outcome, other: Outcome) -> Measured {
    let judged = judge(&this, &other, 0.97);
    Measured {
        point: point.into(),
        command: String::new(),
        rounds: 1,
        this: run(this),
        other: run(other),
        judged,
    }
}

fn found(points: Vec<Measured>) -> Found {
    Found {
        this: Identity::default(),
        other: Identity::default(),
        points,
        same: Vec::new(),
    }
}

#[test]
fn the_ratio_is_of_the_medians_and_its_spread_is_of_the_extremes() {
    let ratio = Ratio::of(&timed(4.0, 5.0, 8.0), &timed(2.0, 10.0, 20.0));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(near(ratio.ratio, 2.0), "{ratio:?}");
    assert!(near(ratio.lowest, 2.0 / 8.0), "{ratio:?}");
    assert!(near(ratio.highest, 20.0 / 4.0), "{ratio:?}");
    // Twice the transactions in twice the time is the same rate.
    let double = Timed {
        tx_per_s: 2e5,
        ..timed(10.0, 10.0, 10.0)
    };
    let ratio = Ratio::of(&double, &timed(5.0, 5.0, 5.0));
    assert!(near(ratio.ratio, 1.0) && near(ratio.lowest, 1.0) && near(ratio.highest, 1.0));
}

#[test]
fn what_the_other_program_finishes_this_one_has_to_finish_as_fast() {
    let verdict = |this: &Outcome, other: &Outcome| judge(this, other, 0.5).verdict;
    assert_eq!(verdict(&done(1.0), &done(1.0)), Verdict::Holds);
    assert_eq!(verdict(&done(2.0), &done(1.0)), Verdict::Holds);
    assert_eq!(verdict(&done(2.1), &done(1.0)), Verdict::Below);
    let bad: [fn(String) -> Outcome; 4] = [
        Outcome::Refused,
        Outcome::Late,
        Outcome::Wrong,
        Outcome::Failed,
    ];
    for (i, bad) in bad.into_iter().enumerate() {
        let bad = || bad("does so".into());
        let this = verdict(&bad(), &done(1.0));
        assert_eq!(this, Verdict::Failed("this does so".into()));
        let other = verdict(&done(1.0), &bad());
        assert_eq!(other, Verdict::NotJudged("other does so".into()));
        // A wrong result, or a crash, is one beside whatever the other program did.
        let is_wrong = matches!(bad(), Outcome::Wrong(_) | Outcome::Failed(_));
        assert_eq!(verdict(&bad(), &bad()).is_failure(), is_wrong, "{i}");
    }
}

#[test]
fn a_point_is_in_doubt_while_launches_overlap_and_its_middle_run_counts() {
    let judged =
        |this: Timed, other: Timed| judge(&Outcome::Done(this), &Outcome::Done(other), 0.97);
    let other = || timed(1.0, 1.0, 1.2);
    assert!(judged(timed(1.1, 1.3, 1.5), other()).is_in_doubt());
    assert!(!judged(timed(1.3, 1.4, 1.5), other()).is_in_doubt());
    assert!(!judged(timed(0.9, 1.0, 1.5), other()).is_in_doubt());
    let runs = [
        timed(2.0, 4.0, 5.0),
        timed(3.0, 3.0, 9.0),
        timed(1.0, 5.0, 6.0),
    ];
    let all = || runs.iter().map(|timed| run(Outcome::Done(timed.clone())));
    let middle = Run::middle(all().collect());
    assert!((middle.wall_s - 3.0).abs() < 1e-9);
    assert_eq!(middle.outcome, Outcome::Done(timed(1.0, 4.0, 9.0)));
    let wrong = || run(Outcome::Wrong("so".into()));
    let middle = Run::middle(all().chain([wrong()]).collect());
    assert_eq!(middle.outcome, wrong().outcome);
}

#[test]
fn a_run_that_fails_in_the_other_program_takes_nothing_back_of_its_good_ones() {
    let bad = || run(Outcome::Failed("crashed".into()));
    let good = |median| run(done(median));
    let middle = Run::middle_of_good(vec![bad(), good(4.0), good(3.0), bad(), good(5.0)]);
    assert_eq!(middle.outcome, Outcome::Done(timed(3.0, 4.0, 5.0)));
    let middle = Run::middle_of_good(vec![bad(), bad(), bad()]);
    assert_eq!(middle.outcome, bad().outcome);
}

#[test]
fn a_command_fails_by_one_failure_and_where_nothing_was_judged() {
    let late = || Outcome::Late("did not finish".into());
    let good = || measured("a@default", done(1.0), done(1.0));
    let unjudged = || measured("b@default", done(1.0), late());
    let failed = || measured("c@default", late(), done(1.0));
    assert!(found(vec![good(), unjudged()]).holds());
    assert!(!found(vec![good(), failed()]).holds());
    assert!(!found(vec![unjudged()]).holds());
    assert!(!found(vec![]).holds());
}

#[test]
fn a_launch_that_both_programs_chose_is_not_measured_again() {
    let points = points::all(false);
    let named = |name: &str| points.iter().find(|point| point.name == name).unwrap();
    let default = [measured("ra-16k@default", done(1.0), done(1.0))];
    assert!(is_measured(named("ra-16k@132x96"), &points, &default));
    assert!(!is_measured(named("ra-16k@16x32"), &points, &default));
    assert!(!is_measured(named("ra-8m@132x96"), &points, &default));
    let late = Outcome::Late(String::new());
    let default = [measured("ra-16k@default", done(1.0), late)];
    assert!(!is_measured(named("ra-16k@132x96"), &points, &default));
}

#[test]
fn a_point_in_the_document_has_its_ratio_and_verdict_beside_its_runs() {
    let json = |point: &Measured| serde_json::to_value(point).unwrap();
    let good = json(&measured("a@default", done(1.0), done(1.0)));
    assert_eq!(good["verdict"], "holds");
    assert_eq!(good["ratio"], 1.0);
    assert_eq!(good["this"]["done"]["blocks"], 132);
    assert_eq!(good["this"]["wall_s"], 1.0);
    let late = json(&measured("a@default", done(1.0), Outcome::Late("x".into())));
    assert_eq!(late["verdict"], "not-judged");
    assert_eq!(late["reason"], "other x");
    assert_eq!(late["other"]["late"], "x");
    let Judged { ratio, .. } = judge(&done(1.0), &Outcome::Late("x".into()), 1.0);
    assert_eq!(ratio, None);
}
