//! Verdicts and rules of rows that are made up.

use super::*;
use serde_json::json;

/// What a row with one part says of these numbers.
fn judged(bound: &str, values: &[Option<f64>]) -> (Verdict, String) {
    let (bound, unit) = bound.split_once(' ').unwrap_or((bound, "times"));
    let bound: Value = serde_json::from_str(bound).unwrap();
    let shown = |value: &Option<f64>| match value {
        Some(x) if !x.is_finite() => x.to_string().into(),
        value => json!(value),
    };
    let named = |(i, value)| json!([format!("case {}", i + 1), shown(value)]);
    let cases: Vec<Value> = values.iter().enumerate().map(named).collect();
    let part = json!({"bound": bound, "unit": unit, "cases": cases});
    let row = json!({"id": "", "claim": "", "parts": [part]});
    let claim = judge(serde_json::from_value(row).unwrap());
    (claim.verdict, claim.figures)
}

#[test]
fn a_verdict_follows_from_numbers_and_their_bounds() {
    use Verdict::{Fails, Holds, Partly, Unknown};
    let above = r#"{"above":1.5}"#;
    let most = r#"{"at_most":1}"#;
    let factor = r#"{"factor":34}"#;
    let graded = r#"{"graded":[8,0.95]}"#;
    let table: [(&str, &[Option<f64>], Verdict, &str); 16] = [
        (above, &[Some(2.0)], Holds, "case 1 2.00\u{d7}"),
        (above, &[Some(1.0)], Fails, "case 1 1.00\u{d7}"),
        (
            above,
            &[Some(2.0), Some(1.0)],
            Partly,
            "case 1 2.00\u{d7}, case 2 1.00\u{d7}; not case 2",
        ),
        (
            above,
            &[Some(2.0), None],
            Unknown,
            "case 1 2.00\u{d7}; not measured: case 2",
        ),
        (most, &[Some(f64::NAN)], Unknown, "not measured: case 1"),
        (most, &[], Unknown, "not measured"),
        (most, &[Some(f64::INFINITY)], Fails, "case 1 \u{221e}"),
        (factor, &[Some(27.3)], Holds, "case 1 27.3\u{d7}"),
        (factor, &[Some(27.1)], Partly, "case 1 27.1\u{d7}"),
        (factor, &[Some(1.04)], Fails, "case 1 1.04\u{d7}"),
        (graded, &[Some(0.9)], Fails, "case 1 0.90\u{d7}"),
        (graded, &[Some(1.0)], Partly, "case 1 1.00\u{d7}"),
        (
            r#"{"within":[0.4,0.6]} percent"#,
            &[Some(0.5)],
            Holds,
            "case 1 50\u{a0}%",
        ),
        (
            r#"{"above":0.7} plain"#,
            &[Some(-0.21)],
            Fails,
            "case 1 -0.21",
        ),
        (r#""fact""#, &[Some(0.0)], Fails, "case 1"),
        (r#""shown""#, &[Some(1.0)], Unknown, "case 1 1.00\u{d7}"),
    ];
    for (bound, values, verdict, figures) in table {
        assert_eq!(judged(bound, values), (verdict, figures.to_owned()));
    }
    let ten: Vec<Option<f64>> = (1..=10).map(|i| Some(f64::from(i))).collect();
    let figures = "8 of 10 cases meet it, 1.00\u{d7} to 10.0\u{d7}; not case 1, case 2";
    let judged = judged(r#"{"above":2.5}"#, &ten);
    assert_eq!(judged, (Partly, figures.to_owned()));
}

#[test]
fn a_rule_is_made_from_its_parts() {
    let row = r#"{"id": "", "claim": "", "parts": [
        {"what": "A / B", "bound": {"above": 1.05}},
        {"what": "C, of all", "bound": {"at_most": 0.5}, "unit": "percent"},
        {"bound": "shown"}]}"#;
    let rule = judge(serde_json::from_str(row).unwrap()).rule;
    assert_eq!(rule, "A / B > 1.05; C, of all, \u{2264} 50\u{a0}%");
}
