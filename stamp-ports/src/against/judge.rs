//! The verdict about a point: whether this program is as fast as the other.

use super::child::{Outcome, Timed};
use serde::Serialize;

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
