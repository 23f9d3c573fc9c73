//! Claims and targets: each is a row that a program states, and `judge` of `prelude.jq` judges them all.
//!
//! A row says what is claimed and where, what the source gives in figures, and its parts: which points are
//! compared, the quotient or difference, its bound, and the numbers that were found. Of these are made the
//! verdict and the rule beside it, which so cannot differ from what is judged. For all rows:
//!
//! - A row holds if all numbers of its parts are within their bounds, and holds in part if some are. A part
//!   whose bound is `fact` is met if what its cases name is so, and one that is `shown` decides nothing.
//! - Where a number is missing the row cannot be judged, and the reason names what is missing.
//! - A difference counts if it is more than 5 %, and two times are equal if neither is more than 1.25 times
//!   the other.
//! - At most eight numbers of a row are listed one by one.

use serde::{Deserialize, Serialize};

pub(crate) const FORMAT: &str = "stamp-claims/3";

/// The verdicts, and the class of each in the page. By the first three a claim is judged; for the others the
/// document has no points, or no critical sections to compare them with.
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
    pub(crate) fn here(&self) -> Option<&str> {
        self.verdict_here.as_deref().filter(|here| is_known(here))
    }

    pub(crate) fn is_judged(&self) -> bool {
        is_known(&self.verdict) || self.here().is_some()
    }
}

#[cfg(test)]
mod tests {
    //! Verdicts and rules of rows that are made up.

    use super::Claim;
    use crate::report::jq::Sets;

    fn judged(parts: &str) -> Claim {
        Sets::default().run(&[&format!(
            r#"{{id: "", claim: "", parts: [{parts}]}} | judge"#
        )])
    }

    /// A part with its bound and unit, the numbers of its cases, the verdict and the figures.
    const TABLE: &str = r#"
    {above: 1.5}; 2 => holds: a1 2.00×
    {above: 1.5}; 1 => does not hold: a1 1.00×
    {above: 1.5}; 2, 1 => holds in part: a1 2.00×, a2 1.00×; not a2
    {above: 1.5}; 2, null => cannot be judged: a1 2.00×; not measured: a2
    {at_most: 1}; 0 / 0 => cannot be judged: not measured: a1
    {at_most: 1}; empty => cannot be judged: not measured
    {at_most: 1}; 1 / 0 => does not hold: a1 ∞
    {factor: 34}; 27.3 => holds: a1 27.3×
    {factor: 34}; 27.1 => holds in part: a1 27.1×
    {factor: 34}; 1.04 => does not hold: a1 1.04×
    {graded: [8, 0.95]}; 0.9 => does not hold: a1 0.90×
    {graded: [8, 0.95]}; 1 => holds in part: a1 1.00×
    {within: [0.4, 0.6]}, unit: "percent"; 0.5 => holds: a1 50 %
    {above: 0.7}, unit: "plain"; -0.21 => does not hold: a1 -0.21
    "fact"; false => does not hold: a1
    "fact"; true => holds: a1
    "shown"; 1 => cannot be judged: a1 1.00×
    {above: 2.5}; range(1; 11) => holds in part: 8 of 10 cases meet it, 1.00× to 10.0×; not a1, a2
    {above: 0}; range(10) | null => cannot be judged: not measured: a1, a2, a3, a4, a5, a6, a7, a8, …"#;

    #[test]
    fn a_verdict_follows_from_numbers_and_their_bounds() {
        for row in TABLE.trim().lines() {
            let (part, expected) = row.split_once(" => ").unwrap();
            let (bound, numbers) = part.split_once("; ").unwrap();
            let named = format!("[{numbers}] | [range(length) as $i | [\"a\\($i + 1)\", .[$i]]]");
            let claim = judged(&format!("{{bound: {bound}, cases: ({named})}}"));
            let found = format!("{}: {}", claim.verdict, claim.figures);
            assert_eq!(found.replace('\u{a0}', " "), expected, "{row}");
        }
    }

    #[test]
    fn a_rule_is_made_from_its_parts_and_needs_a_bound_that_is_known() {
        let claim = judged(
            r#"{what: "A / B", bound: {above: 1.05}}, {what: "C, of all", bound: {at_most: 0.5}, unit: "percent"},
            {what: "D", bound: {graded: [8, 0.5]}}, {what: "E", bound: {within: [1, 2]}}, {what: "F", bound: {factor: 3}},
            {what: "G", bound: "fact"}, {bound: "shown"}"#,
        );
        let rule = "A / B > 1.05; C, of all, ≤ 50\u{a0}%; D ≥ 8, in part from 0.5 on; E from 1 to 2; \
                    F ≥ 0.8 × 3, in part above 1.05; G";
        assert_eq!(claim.rule, rule);
        let wrong = r#"{id: "", claim: "", parts: [{what: "A", bound: {over: 1}}]} | judge"#;
        assert!(Sets::default().each(&[wrong], |_| Ok(())).is_err());
    }
}
