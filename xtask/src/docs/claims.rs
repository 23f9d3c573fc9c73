//! The claims of Xu et al. 2014, each with a rule that was stated before the
//! verdict, and the verdict that the rule gives on `h200/paper.json`.
//!
//! Two rules hold for all. A difference counts if it is more than [`MARGIN`]. And
//! a gain over `cgl` is judged twice, as measured and divided by [`SLOW_LOCK`], as
//! the project's `cgl` is that much slower than a hand-written critical section;
//! where the two disagree, the verdict is [`Verdict::DependsOnTheLock`].

mod contention;
mod gains;

use super::data::Data;
use super::format::markdown;
use super::format::{ratio, show};
use super::paper::Paper;

/// What is slower or faster by no more than this counts as equal.
const MARGIN: f64 = 0.05;

/// How much slower than a hand-written critical section `cgl` is at most.
const SLOW_LOCK: f64 = 4.0;

/// What a rule gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The rule is satisfied.
    Holds,
    /// The rule is satisfied in some of its cases.
    InPart,
    /// The rule is not satisfied.
    Fails,
    /// The rule is satisfied over this project's `cgl` or over a lock four times
    /// as fast, but not over both.
    DependsOnTheLock,
    /// The data have nothing to which the rule applies.
    CannotBeJudged,
}

impl Verdict {
    /// The verdict on cases of which these hold.
    fn of(cases: impl IntoIterator<Item = bool>) -> Self {
        let cases: Vec<bool> = cases.into_iter().collect();
        match cases.iter().filter(|holds| **holds).count() {
            _ if cases.is_empty() => Self::CannotBeJudged,
            0 => Self::Fails,
            all if all == cases.len() => Self::Holds,
            _ => Self::InPart,
        }
    }

    /// The verdict on a gain over `cgl`, as measured and divided.
    fn over_cgl(gain: f64, holds: impl Fn(f64) -> bool) -> Self {
        match (holds(gain), holds(gain / SLOW_LOCK)) {
            (true, true) => Self::Holds,
            (false, false) => Self::Fails,
            _ => Self::DependsOnTheLock,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Holds => "**holds**",
            Self::InPart => "**holds in part**",
            Self::Fails => "**does not hold**",
            Self::DependsOnTheLock => "**depends on the lock**",
            Self::CannotBeJudged => "**cannot be judged**",
        }
    }
}

/// A verdict and the figures it rests on.
type Judged = Result<(Verdict, String), String>;

/// One claim.
struct Claim {
    /// The claim, with its place in the paper.
    text: &'static str,
    /// What has to be so for it to hold.
    rule: &'static str,
    /// Applies the rule.
    judge: fn(&Paper) -> Judged,
}

/// The table of all claims.
pub(super) fn table(data: &Data) -> Result<String, String> {
    let paper = Paper(data);
    let mut rows = Vec::new();
    for claim in gains::CLAIMS.iter().chain(contention::CLAIMS) {
        let (verdict, figures) =
            (claim.judge)(&paper).map_err(|error| format!("{}: {error}", claim.text))?;
        let verdict = verdict.text().to_owned();
        rows.push([
            claim.text.to_owned(),
            claim.rule.to_owned(),
            verdict,
            figures,
        ]);
    }
    let header = ["claim (section)", "it holds if", "verdict", "figures"];
    Ok(markdown(header, &rows))
}

/// The verdict on named cases, and their names if only some hold: `in RA only: `.
fn cases(cases: &[(&str, f64)], holds: impl Fn(f64) -> bool) -> (Verdict, String) {
    let judged: Vec<(&str, bool)> = cases
        .iter()
        .map(|(name, value)| (*name, holds(*value)))
        .collect();
    let verdict = Verdict::of(judged.iter().map(|case| case.1));
    if verdict != Verdict::InPart {
        return (verdict, String::new());
    }
    let names = judged.iter().filter(|case| case.1).map(|case| case.0);
    (
        verdict,
        format!("in {} only: ", names.collect::<Vec<_>>().join(", ")),
    )
}

/// A share in percent.
fn percent(value: f64) -> String {
    show(value, "%0").unwrap_or_default()
}

/// Names with ratios: `RA 1.34x, LB 1.01x`.
fn ratios<'a>(cases: impl IntoIterator<Item = (&'a str, f64)>) -> String {
    let parts = cases
        .into_iter()
        .map(|(name, value)| format!("{name} {}", ratio(value)));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_their_cases() {
        assert_eq!(Verdict::of([true, true]), Verdict::Holds);
        assert_eq!(Verdict::of([true, false]), Verdict::InPart);
        assert_eq!(Verdict::of([false]), Verdict::Fails);
        assert_eq!(Verdict::of([]), Verdict::CannotBeJudged);
    }

    #[test]
    fn a_gain_over_cgl_is_judged_twice() {
        let verdict = |gain| Verdict::over_cgl(gain, |gain| gain >= 20.0);
        assert_eq!(verdict(100.0), Verdict::Holds);
        assert_eq!(verdict(46.0), Verdict::DependsOnTheLock);
        assert_eq!(verdict(10.0), Verdict::Fails);
    }

    /// The verdicts on the committed data. A new measurement may change them; then
    /// the words around the table have to be read again.
    #[test]
    fn the_verdicts_are_those_that_the_text_was_written_for() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/results");
        let data = Data::load(dir.as_ref()).unwrap();
        let mut counts = [0; 5];
        for claim in gains::CLAIMS.iter().chain(contention::CLAIMS) {
            counts[(claim.judge)(&Paper(&data)).unwrap().0 as usize] += 1;
        }
        assert_eq!(counts, [5, 6, 6, 2, 2]);
    }
}
