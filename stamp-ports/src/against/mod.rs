//! `bench against`: a fixed list of points in this program and in another `stamp` program, which was
//! built from an earlier commit, so that a change of device code that costs throughput is seen.
//!
//! | file | contains |
//! | --- | --- |
//! | `points` | the list of points |
//! | `child` | a run of a point in a child process, and what became of it |
//! | `report` | the document, and the table for people |
//!
//! Each point runs in one program and then in the other, one child process at a time. This program
//! is started as a child too, so that both are measured alike, and the program that begins changes
//! with each point, so that a device that warms up favours neither. The driver's cache of compiled
//! kernels is a new one for each program, so that both compile each kernel once.
//!
//! A point that is too slow while launches of both programs overlap is in doubt. Both run it again,
//! until there are three runs of each, and the middle one counts.
//! The verdict about a point is whether this program is as fast as the other.

use crate::error::Result;
use crate::measure::meter::Meter;
use child::{Identity, Outcome, Program, Run, Timed};
use points::Point;
use serde::Serialize;
use std::time::{Duration, Instant};

pub mod child;
pub mod points;
pub mod report;

/// The runs of a point that is in doubt.
pub const ROUNDS: usize = 3;

/// What a command measures, and with what.
#[derive(Debug)]
pub struct Spec {
    /// The points, in their order.
    pub points: Vec<Point>,
    /// The device's id, as `cuda:0`.
    pub device: String,
    /// The timed launches of a run.
    pub repeat: u32,
    /// The time after which a child is stopped.
    pub limit: Duration,
    /// The least ratio of this program's rate to the other's that holds.
    pub at_least: f64,
}

/// A point as both programs ran it.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The point's name.
    pub point: String,
    /// The command, without the program's name and without what all points share.
    pub command: String,
    /// How many runs of each program there were.
    pub rounds: usize,
    /// The run of this program that counts.
    pub this: Run,
    /// The run of the other program that counts.
    pub other: Run,
    /// The ratio and the verdict.
    #[serde(flatten)]
    pub judged: Judged,
}

/// All points as both programs ran them.
#[derive(Debug, Serialize)]
pub struct Found {
    /// What this program says that it is.
    pub this: Identity,
    /// What the other program says that it is.
    pub other: Identity,
    /// The points that were measured.
    pub points: Vec<Measured>,
    /// The points that were left out, as their launch is the default one, which was measured.
    #[serde(rename = "same_as_default")]
    pub same: Vec<String>,
}

impl Found {
    /// Returns whether at least one point was judged, and every point that was judged holds.
    pub fn holds(&self) -> bool {
        let mut verdicts = self.points.iter().map(|point| &point.judged.verdict);
        verdicts.clone().any(Verdict::is_judged) && !verdicts.any(Verdict::is_failure)
    }
}

/// Measures the points in both programs, and says on standard error what each came to.
pub fn measure(spec: &Spec, this: &Program, other: &Program) -> Result<Found> {
    let mut found = Found {
        this: this.identity(spec.limit)?,
        other: other.identity(spec.limit)?,
        points: Vec::new(),
        same: Vec::new(),
    };
    let mut meter = Meter::new(spec.points.iter().map(|point| point.row));
    for (i, point) in spec.points.iter().enumerate() {
        let began = Instant::now();
        if is_measured(point, &spec.points, &found.points) {
            let told = format!("{}: its launch is the default", point.name);
            meter.done(point.row, began.elapsed(), &told);
            found.same.push(point.name.clone());
            continue;
        }
        meter.progress.say(&point.name);
        let arguments = spec.arguments(point);
        let run = |program: &Program| program.run(&arguments, spec.limit);
        let pair = |is_first: bool| -> Result<(Run, Run)> {
            if is_first {
                let this = run(this)?;
                Ok((this, run(other)?))
            } else {
                let other = run(other)?;
                Ok((run(this)?, other))
            }
        };
        let judged = |this: &Run, other: &Run| judge(&this.outcome, &other.outcome, spec.at_least);
        let (of_this, of_other) = pair(i % 2 == 0)?;
        let mut runs: (Vec<Run>, Vec<Run>) = (vec![of_this], vec![of_other]);
        if judged(&runs.0[0], &runs.1[0]).is_in_doubt() {
            for round in 1..ROUNDS {
                let (of_this, of_other) = pair((i + round) % 2 == 0)?;
                runs.0.push(of_this);
                runs.1.push(of_other);
            }
        }
        let rounds = runs.0.len();
        let (this, other) = (Run::middle(runs.0), Run::middle_of_good(runs.1));
        let judged = judged(&this, &other);
        let measured = Measured {
            point: point.name.clone(),
            command: point.words().join(" "),
            rounds,
            this,
            other,
            judged,
        };
        meter.done(point.row, began.elapsed(), &report::line(&measured));
        found.points.push(measured);
    }
    Ok(found)
}

/// Returns whether a point has the launch that both programs chose for the same row by themselves.
fn is_measured(point: &Point, points: &[Point], found: &[Measured]) -> bool {
    let default = points
        .iter()
        .find(|other| other.row == point.row && other.shape.is_none() && other.size == point.size);
    let measured = default.and_then(|default| found.iter().find(|m| m.point == default.name));
    let (Some(shape), Some(measured)) = (point.shape, measured) else {
        return false;
    };
    let is_shape = |run: &Run| run.shape() == Some(shape);
    is_shape(&measured.this) && is_shape(&measured.other)
}

impl Spec {
    /// Returns the arguments of a point's run, which are the same for both programs.
    fn arguments(&self, point: &Point) -> Vec<String> {
        let mut words = point.words();
        // Launches end before the child is killed, so that a run that hangs can say so.
        let seconds = (self.limit / 2).as_secs_f64();
        for (option, value) in [
            ("--variant", points::VARIANT.to_owned()),
            ("--device", self.device.clone()),
            ("--repeat", self.repeat.to_string()),
            ("--time-limit", seconds.to_string()),
        ] {
            words.extend([option.to_owned(), value]);
        }
        words.push("--json".into());
        words
    }
}

/// This program's rate over the other's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The quotient of the rates at the median times.
    pub ratio: f64,
    /// This program's lowest rate over the other's highest.
    pub lowest: f64,
    /// This program's highest rate over the other's lowest.
    pub highest: f64,
}

/// What is said about a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "reason")]
pub enum Verdict {
    /// This program is fast enough.
    Holds,
    /// This program is too slow.
    Below,
    /// This program did not finish, or its result is wrong.
    Failed(String),
    /// The other program has no rate to compare with.
    NotJudged(String),
}

impl Verdict {
    /// Returns whether the point counts.
    pub const fn is_judged(&self) -> bool {
        !matches!(self, Self::NotJudged(_))
    }

    /// Returns whether the point makes the command fail.
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Below | Self::Failed(_))
    }
}

/// The ratio of a point and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The ratio, where both programs have a rate.
    #[serde(flatten)]
    pub ratio: Option<Ratio>,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Ratio {
    /// Returns the ratio of two runs that ended well.
    pub fn of(this: &Timed, other: &Timed) -> Self {
        // Both may have other numbers of transactions, so times alone do not compare.
        let rate = |run: &Timed, ms: f64| run.tx_per_s * run.time_ms.median / ms;
        let lowest = |run: &Timed| rate(run, run.time_ms.max);
        let highest = |run: &Timed| rate(run, run.time_ms.min);
        Self {
            ratio: this.tx_per_s / other.tx_per_s,
            lowest: lowest(this) / highest(other),
            highest: highest(this) / lowest(other),
        }
    }
}

impl Judged {
    /// Returns whether a point is below although the launches of both programs overlap, so that
    /// more launches may say otherwise.
    pub fn is_in_doubt(&self) -> bool {
        self.verdict == Verdict::Below && self.ratio.is_some_and(|ratio| ratio.highest >= 1.0)
    }
}

/// Judges a point. What the other program does not know or does not finish is not judged, but a
/// wrong result or a crash of this program is a failure whatever the other did.
pub fn judge(this: &Outcome, other: &Outcome, at_least: f64) -> Judged {
    let ratio = match (this, other) {
        (Outcome::Done(this), Outcome::Done(other)) => Some(Ratio::of(this, other)),
        _ => None,
    };
    let verdict = match (this, other, &ratio) {
        (.., Some(ratio)) if ratio.ratio >= at_least => Verdict::Holds,
        (.., Some(_)) => Verdict::Below,
        (Outcome::Wrong(why) | Outcome::Failed(why), ..) => Verdict::Failed(format!("this {why}")),
        (_, Outcome::Done(_), _) => Verdict::Failed(format!("this {}", reason(this))),
        (Outcome::Done(_), ..) => Verdict::NotJudged(format!("other {}", reason(other))),
        _ => Verdict::NotJudged(format!("other {}; this {}", reason(other), reason(this))),
    };
    Judged { ratio, verdict }
}

/// Returns why a run has no rate.
fn reason(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Done(_) => "ended well",
        Outcome::Refused(why) | Outcome::Late(why) | Outcome::Wrong(why) | Outcome::Failed(why) => {
            why
        }
    }
}

#[cfg(test)]
mod tests {
    //! The ratio, the verdict, and the points that are left out.

    use super::child::{Identity, Outcome, Run, Timed};
    use super::{Found, Judged, Measured, Ratio, Verdict, is_measured, judge, points};
    use crate::measure::TimeMs;

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
}
