//! Claims and targets: each is a row that a program states, and one function judges them all, which
//! is `judge` of `prelude.jq`.
//!
//! A row says what is claimed and where, what the source gives in figures, and its parts: which
//! points are compared, the quotient or difference, its bound, and the numbers that were found.
//! The verdict is made of these, and the rule that stands beside it, which so cannot differ from
//! what is judged. For all rows:
//!
//! - A row holds if all numbers of its parts are within their bounds, and holds in part if some
//!   are. A part whose bound is `fact` is met if what its cases name is so, and one that is `shown`
//!   decides nothing.
//! - Where a number is missing the row cannot be judged, and the reason names what is missing.
//! - A difference counts if it is more than [`LEVEL`], and two times are equal if neither is more
//!   than 1.25 times the other.
//! - At most eight numbers of a row are listed one by one.

use serde::{Deserialize, Serialize};

/// Two rates that differ by this share or less are level.
pub(crate) const LEVEL: f64 = 0.05;

pub(crate) const FORMAT: &str = "stamp-claims/3";

/// The verdicts, and the class of each in the page. By the first three a claim is judged: the next
/// says that the document has no points for the rule, and the last that it has points, but no
/// critical sections to compare them with.
const VERDICTS: [(&str, &str); 5] = [
    ("holds", "holds"),
    ("holds in part", "partly"),
    ("does not hold", "fails"),
    ("cannot be judged", "unknown"),
    ("critical section not measured", "unknown"),
];

pub(crate) fn is_known(verdict: &str) -> bool {
    VERDICTS[..3].iter().any(|(name, _)| *name == verdict)
}

pub(crate) fn class(verdict: &str) -> Option<&'static str> {
    let mut all = VERDICTS.iter();
    all.find_map(|(name, class)| (*name == verdict).then_some(*class))
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Claim {
    /// The part of the page that it is of.
    pub(crate) part: String,
    pub(crate) id: String,
    /// The source, if the document is about several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) paper: String,
    #[serde(rename = "claim")]
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) section: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theirs: Option<String>,
    pub(crate) rule: String,
    pub(crate) verdict: String,
    pub(crate) figures: String,
    /// The verdict at this machine's sizes, where the rule depends on sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict_here: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) figures_here: Option<String>,
}

impl Claim {
    /// Returns the verdict at this machine's sizes, if there is one.
    pub(crate) fn here(&self) -> Option<&str> {
        self.verdict_here.as_deref().filter(|here| is_known(here))
    }

    /// Returns whether it can be judged, at some sizes.
    pub(crate) fn is_judged(&self) -> bool {
        is_known(&self.verdict) || self.here().is_some()
    }
}

/// How many of some claims came out how, in sentences: of those that can be judged and are listed,
/// and of the others.
pub(crate) fn tally(claims: &[Claim], what: &str) -> String {
    let counts = |name: &str, listed: bool| {
        let own = claims.iter().filter(|claim| claim.is_judged() == listed);
        let some = VERDICTS.iter().filter_map(|(verdict, _)| {
            let n = own
                .clone()
                .filter(|claim| claim.verdict == *verdict)
                .count();
            (n > 0).then(|| format!("{verdict} {n}"))
        });
        match some.collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            some => format!(" {name}: {}.", some.join(", ")),
        }
    };
    let (judged, others) = (counts("Verdicts", true), counts("Not listed", false));
    format!("{} {what}.{judged}{others}", claims.len())
}

#[cfg(test)]
mod tests;
