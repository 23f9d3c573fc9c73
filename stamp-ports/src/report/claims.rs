//! The claims of Xu et al. 2014, judged by the document.
//!
//! Each claim has a rule that is stated before its verdict and printed beside
//! it, so that a reader who would draw the line elsewhere can do so. Three
//! conventions hold for all rules:
//!
//! - A difference counts if it is more than [`LEVEL`](super::sentences::LEVEL); "little" is at most
//!   [`LITTLE`].
//! - A rule that applies to several workloads or settings holds if it is met in
//!   each of them, and holds in part if it is met in some. Where the document
//!   has no points for it, the claim cannot be judged.
//! - A gain over coarse-grained locking is one over the same transactions as critical
//!   sections of a hand-written lock, of the same run, because `cgl` is slower than these.
//!   Where they were not measured, the verdict is [`Verdict::WithoutLock`].
//!
//! Only the paper's variants are judged: the others are not what it makes claims about.
//!
//! [`all`] feeds the table of the page, and [`to_json`] the file `claims.json`.

mod gains;
mod locks;
mod phases;
mod scaling;
#[cfg(test)]
mod tests;

use super::view::{theirs, times};
use crate::error::Result;
use crate::paper::document::Paper;
use serde::{Serialize, Serializer};

/// The name of the file with the judged claims.
pub const FILE_NAME: &str = "claims.json";

/// The format of that file.
pub const FORMAT: &str = "stamp-claims/1";

/// A rate that differs from another by this share or less differs a little.
pub const LITTLE: f64 = 0.25;

/// A claim and its judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What the paper says.
    #[serde(rename = "claim")]
    pub text: &'static str,
    /// Where it says so.
    pub section: &'static str,
    /// The condition under which it holds.
    pub rule: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The figures that decide.
    #[serde(rename = "figures")]
    pub found: String,
}

/// A judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule is met.
    Holds,
    /// The rule is met in some workloads or settings.
    Partly,
    /// The rule is not met.
    Fails,
    /// The document has no points for the rule.
    Unknown,
    /// The document has points, but no critical sections to compare them with.
    WithoutLock,
}

impl Verdict {
    /// The verdict in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "holds in part",
            Self::Fails => "does not hold",
            Self::Unknown => "cannot be judged",
            Self::WithoutLock => "critical section not measured",
        }
    }

    /// Its class in the page.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Partly => "partly",
            Self::Fails => "fails",
            Self::Unknown | Self::WithoutLock => "unknown",
        }
    }

    const fn of(met: bool) -> Self {
        if met { Self::Holds } else { Self::Fails }
    }

    /// The verdict on several cases, each of which may meet the rule.
    fn of_all(met: impl IntoIterator<Item = bool>) -> Self {
        let met: Vec<bool> = met.into_iter().collect();
        match met.iter().filter(|m| **m).count() {
            _ if met.is_empty() => Self::Unknown,
            0 => Self::Fails,
            n if n == met.len() => Self::Holds,
            _ => Self::Partly,
        }
    }

    /// The verdict on a rule about gains over critical sections, of which some may not have
    /// been measured: `any` says whether the gains over `cgl` are known.
    fn of_sections(met: impl IntoIterator<Item = bool>, any: bool) -> Self {
        match Self::of_all(met) {
            Self::Unknown if any => Self::WithoutLock,
            verdict => verdict,
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What stands where the document has no points.
const NONE: &str = "Not measured.";

/// All claims of the paper, judged by this document.
pub fn all(paper: &Paper) -> Vec<Claim> {
    let paper = &theirs(paper);
    let mut claims = gains::gains(paper);
    claims.extend(scaling::scaling(paper));
    claims.extend(locks::locks(paper));
    claims.push(phases::one_thread(paper));
    claims
}

/// The document that [`to_json`] writes.
#[derive(Serialize)]
struct Judged<'p> {
    format: &'static str,
    /// The device and the time of the measurements, which identify them.
    device: &'p str,
    started: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'p str>,
    claims: Vec<Claim>,
}

/// The judged claims as JSON.
///
/// # Errors
/// None that is known: every field has a form in JSON.
pub fn to_json(paper: &Paper) -> Result<String> {
    let judged = Judged {
        format: FORMAT,
        device: &paper.head.device.name,
        started: &paper.head.started,
        commit: paper.head.commit.as_deref(),
        claims: all(paper),
    };
    Ok(serde_json::to_string_pretty(&judged).map_err(std::io::Error::from)? + "\n")
}

/// A claim's text, its section and its rule.
type Stated<'r> = (&'static str, &'static str, &'r str);

/// A claim with the verdict that its rule gives.
fn judged((text, section, rule): Stated<'_>, verdict: Verdict, found: String) -> Claim {
    Claim {
        text,
        section,
        rule: rule.to_owned(),
        verdict,
        found,
    }
}

/// The names of cases with their values: `RA 1.34×, LB 1.01×`.
fn listed(cases: &[(String, f64)], show: fn(f64) -> String) -> String {
    let each: Vec<String> = cases
        .iter()
        .map(|(name, value)| format!("{name} {}", show(*value)))
        .collect();
    each.join(", ")
}

/// A claim about a value in each of some workloads or settings. If only some
/// meet the rule, the figures name them.
fn of_each(
    stated: Stated<'_>,
    cases: &[(String, f64)],
    show: fn(f64) -> String,
    met: impl Fn(f64) -> bool,
) -> Claim {
    let verdict = Verdict::of_all(cases.iter().map(|case| met(case.1)));
    if cases.is_empty() {
        return judged(stated, verdict, NONE.into());
    }
    let all = listed(cases, show);
    let found = if verdict == Verdict::Partly {
        let some = cases.iter().filter(|case| met(case.1));
        let names: Vec<String> = some.map(|case| case.0.clone()).collect();
        format!("In {} only: {all}.", super::view::and(&names))
    } else {
        format!("{all}.")
    };
    judged(stated, verdict, found)
}

/// The least and the largest of some ratios: `0.79× to 1.24×`.
fn range(ratios: &[f64]) -> String {
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(0.0, f64::max);
    format!("{} to {}", times(low), times(high))
}
