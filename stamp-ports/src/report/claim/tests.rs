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
