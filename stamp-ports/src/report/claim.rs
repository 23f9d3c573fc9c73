//! Claims and targets: each is a row that a program states, and one function judges them all.
//!
//! A [`Row`] says what is claimed and where, what the source gives in figures, and its [`Part`]s:
//! which points are compared, the quotient or difference, its [`Bound`], and the numbers that were
//! found. [`judge`] makes of these the verdict and the rule that stands beside it, which so cannot
//! differ from what is judged. For all rows:
//!
//! - A row holds if all numbers of its parts are within their bounds, and holds in part if some
//!   are.
//! - Where a number is missing the row cannot be judged, and the reason names what is missing.
//! - A difference counts if it is more than [`LEVEL`], and two times are equal if neither is more
//!   than 1.25 times the other.

use crate::numbers::{percent, times};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Two rates that differ by this share or less are level.
pub(crate) const LEVEL: f64 = 0.05;

/// The most numbers of a row that are listed one by one.
const LISTED: usize = 8;

pub(crate) const FORMAT: &str = "stamp-claims/3";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    /// The rule is met in some of its cases.
    Partly,
    Fails,
    /// The document has no points for the rule.
    Unknown,
    /// The document has points, but no critical sections to compare them with.
    WithoutLock,
}

impl Verdict {
    /// All of them, each with its words and its class in the page.
    const ALL: [(Self, &str, &str); 5] = [
        (Self::Holds, "holds", "holds"),
        (Self::Partly, "holds in part", "partly"),
        (Self::Fails, "does not hold", "fails"),
        (Self::Unknown, "cannot be judged", "unknown"),
        (
            Self::WithoutLock,
            "critical section not measured",
            "unknown",
        ),
    ];

    pub(crate) const fn is_known(self) -> bool {
        matches!(self, Self::Holds | Self::Partly | Self::Fails)
    }

    pub(crate) const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    pub(crate) const fn class(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    Above(f64),
    AtLeast(f64),
    Below(f64),
    AtMost(f64),
    Within(f64, f64),
    /// The first or more; in part from the second on.
    Graded(f64, f64),
    /// So many times as fast: 0.8 of it is enough, and it holds in part if there is a difference.
    Factor(f64),
    /// 1 if a fact that the name of the case states is as claimed, else 0.
    Fact,
    /// Anything: it is shown and decides nothing.
    Shown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// A quotient: `1.25×`.
    #[default]
    Times,
    /// A share: `31 %`.
    Percent,
    /// A number that is no quotient.
    Plain,
}

impl Bound {
    fn verdict(self, x: f64) -> Verdict {
        let met = match self {
            Self::Above(least) => x > least,
            Self::Below(most) => x < most,
            Self::AtMost(most) => x <= most,
            Self::Within(low, high) => (low..=high).contains(&x),
            Self::Graded(least, part) if x < least && x >= part => return Verdict::Partly,
            Self::AtLeast(least) | Self::Graded(least, _) => x >= least,
            Self::Factor(claimed) if x < 0.8 * claimed && x > 1.0 + LEVEL => {
                return Verdict::Partly;
            }
            Self::Factor(claimed) => x >= 0.8 * claimed,
            Self::Fact => x > 0.0,
            Self::Shown => true,
        };
        if met { Verdict::Holds } else { Verdict::Fails }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// Which points are compared, and by which quotient or difference.
    #[serde(default)]
    what: String,
    bound: Bound,
    #[serde(default)]
    unit: Unit,
    /// The numbers with the names of their cases; one that is missing is null, and one of a fact
    /// may be true or false.
    #[serde(default)]
    cases: Vec<(String, Value)>,
}

/// Returns the number of a case, if it is known.
fn number(value: &Value) -> Option<f64> {
    let of_fact = value.as_bool().map(|is| f64::from(u8::from(is)));
    // JSON has no number that is infinite, so it is a word.
    let number = value
        .as_f64()
        .or(of_fact)
        .or_else(|| value.as_str()?.parse().ok());
    number.filter(|x| !x.is_nan())
}

impl Part {
    fn show(&self, x: f64) -> String {
        match self.unit {
            Unit::Percent => percent(x),
            Unit::Plain => format!("{x:.2}"),
            Unit::Times => times(x),
        }
    }

    fn words(&self) -> String {
        let number = |x: f64| match self.unit {
            Unit::Percent => percent(x),
            _ => x.to_string(),
        };
        let comma = self.what.contains(", ") && !self.what.ends_with(',');
        let what = format!("{}{}", self.what, if comma { "," } else { "" });
        let bound = match self.bound {
            Bound::Above(least) => format!("> {}", number(least)),
            Bound::AtLeast(least) => format!("\u{2265} {}", number(least)),
            Bound::Below(most) => format!("< {}", number(most)),
            Bound::AtMost(most) => format!("\u{2264} {}", number(most)),
            Bound::Within(low, high) => format!("from {} to {}", number(low), number(high)),
            Bound::Graded(least, part) => {
                format!(
                    "\u{2265} {}, in part from {} on",
                    number(least),
                    number(part)
                )
            }
            Bound::Factor(claimed) => {
                format!("\u{2265} 0.8 \u{d7} {claimed}, in part above 1.05")
            }
            Bound::Fact | Bound::Shown => return self.what.clone(),
        };
        format!("{what} {bound}")
    }
}

/// A claim or a target as it is stated, with the numbers that were found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    id: String,
    #[serde(default)]
    section: String,
    claim: String,
    #[serde(default)]
    theirs: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Claim {
    pub(crate) id: String,
    /// The source, if the document is about several.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) paper: &'static str,
    #[serde(rename = "claim")]
    pub(crate) text: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) section: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) theirs: String,
    pub(crate) rule: String,
    pub(crate) verdict: Verdict,
    pub(crate) figures: String,
    /// The verdict at this machine's sizes, where the rule depends on sizes.
    #[serde(rename = "verdict_here", skip_serializing_if = "Option::is_none")]
    pub(crate) here: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) figures_here: Option<String>,
}

/// A number with the name of its case and its part.
type Case<'r> = (String, f64, &'r Part);

/// The figures that decide, in words: all, or of many how many meet the rule.
fn figures(
    cases: &[Case<'_>],
    verdicts: &[Verdict],
    beside: Vec<String>,
    mut missing: Vec<String>,
) -> String {
    let mut parts = Vec::new();
    let zipped = cases.iter().zip(verdicts);
    let not = zipped.filter(|(_, verdict)| **verdict != Verdict::Holds);
    let not: Vec<&str> = not.map(|(case, _)| case.0.as_str()).collect();
    let (all, met) = (cases.len(), cases.len() - not.len());
    if all > LISTED {
        let values = || cases.iter().map(|(_, value, _)| *value);
        let (low, high) = (values().reduce(f64::min), values().fold(0.0, f64::max));
        let [low, high] = [low.unwrap_or(high), high].map(|end| cases[0].2.show(end));
        let range = match cases[0].2.bound {
            Bound::Fact => String::new(),
            _ => format!(", {low} to {high}"),
        };
        parts.push(format!("{met} of {all} cases meet it{range}"));
    } else if all > 0 {
        let shown = cases.iter().map(|(name, x, part)| match part.bound {
            Bound::Fact => name.clone(),
            _ => format!("{name} {}", part.show(*x)),
        });
        parts.push(shown.collect::<Vec<_>>().join(", "));
    }
    if met > 0 && (1..=LISTED).contains(&not.len()) {
        parts.push(format!("not {}", not.join(", ")));
    }
    parts.extend(beside);
    missing.dedup();
    if missing.len() > LISTED {
        missing.truncate(LISTED);
        missing.push("\u{2026}".into());
    }
    if !missing.is_empty() {
        parts.push(format!("not measured: {}", missing.join(", ")));
    }
    if parts.is_empty() {
        return "not measured".into();
    }
    parts.join("; ")
}

/// Judges a row by the numbers that were found for its parts.
pub(crate) fn judge(row: Row) -> Claim {
    let (mut cases, mut missing, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for part in &row.parts {
        for (name, value) in &part.cases {
            match (part.bound, number(value)) {
                (Bound::Shown, None) => {}
                (Bound::Shown, Some(x)) => beside.push(format!("{name} {}", part.show(x))),
                (_, None) => missing.push(name.clone()),
                (_, Some(value)) => cases.push((name.clone(), value, part)),
            }
        }
    }
    let verdicts = cases.iter().map(|(_, x, part)| part.bound.verdict(*x));
    let verdicts: Vec<Verdict> = verdicts.collect();
    let all = |wanted| verdicts.iter().all(|verdict| *verdict == wanted);
    let verdict = match () {
        () if missing == [NO_SECTION] => Verdict::WithoutLock,
        () if cases.is_empty() || !missing.is_empty() => Verdict::Unknown,
        () if all(Verdict::Holds) => Verdict::Holds,
        () if all(Verdict::Fails) => Verdict::Fails,
        () => Verdict::Partly,
    };
    let figures = figures(&cases, &verdicts, beside, missing);
    let rules = row.parts.iter().filter(|part| part.bound != Bound::Shown);
    let rule = rules.map(Part::words).collect::<Vec<_>>().join("; ");
    Claim {
        id: row.id,
        paper: "",
        text: row.claim,
        section: row.section,
        theirs: row.theirs,
        rule,
        verdict,
        figures,
        here: None,
        figures_here: None,
    }
}

/// What is missing where a gain has no critical section to be compared with.
pub(crate) const NO_SECTION: &str = "a hand-written critical section";

impl Claim {
    /// Returns whether it can be judged, at some sizes.
    pub(crate) fn is_judged(&self) -> bool {
        self.verdict.is_known() || self.here.is_some_and(Verdict::is_known)
    }

    /// Returns the claim as one that the whole document cannot judge, and why.
    #[must_use]
    pub(crate) fn without_judgement(mut self, why: &str) -> Self {
        (self.verdict, self.figures) = (Verdict::Unknown, why.into());
        self
    }
}

/// How many of some claims came out how, in sentences: of those that can be judged and are listed,
/// and of the others.
pub(crate) fn tally(claims: &[Claim], what: &str) -> String {
    let counts = |name: &str, listed: bool| {
        let own = claims.iter().filter(|claim| claim.is_judged() == listed);
        let count = |verdict| own.clone().filter(|claim| claim.verdict == verdict).count();
        let all = Verdict::ALL.map(|(verdict, name, _)| (name, count(verdict)));
        let some = all.iter().filter(|(_, n)| *n > 0);
        let some: Vec<String> = some.map(|(name, n)| format!("{name} {n}")).collect();
        match some.as_slice() {
            [] => String::new(),
            _ => format!(" {name}: {}.", some.join(", ")),
        }
    };
    let (judged, others) = (counts("Verdicts", true), counts("Not listed", false));
    format!("{} {what}.{judged}{others}", claims.len())
}

#[cfg(test)]
mod tests;
