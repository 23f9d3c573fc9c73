//! Formulas about a document that is made up.

use super::*;

/// A document in which the value of a kind at `n` is its length times `n`; `none` is missing.
struct Lengths;

impl Source for Lengths {
    const CALLS: &'static [&'static str] = &["t", "those", "lost", "it"];

    fn number(&self, name: &str, arguments: &[&str]) -> Option<f64> {
        let [kind, n] = arguments else { return None };
        let n: f64 = n.parse().ok()?;
        (name == "t" && *kind != "none").then_some(kind.len() as f64 * n)
    }

    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        let words = || arguments.join("|").split('|').map(str::to_owned).collect();
        match name {
            "those" => Some(Answer::Words(Ok(words()))),
            "lost" => Some(Answer::Words(Err("what is lost".into()))),
            "it" => {
                let name = format!("{name} of {}", arguments.join(" and "));
                Some(Answer::Named(one(name, Some(1.0))))
            }
            _ => None,
        }
    }
}

#[test]
fn formulas_mean_what_the_module_says() {
    let number = |value| {
        let found = found(
            &Lengths,
            &Cases {
                name: "case",
                value,
                ..Cases::default()
            },
        );
        assert_eq!(found.len(), 1, "{value}");
        found[0].1
    };
    for (value, is) in [
        ("t(ab/c, 2)", Some(8.0)),
        ("t(ab, 3) / t(a, 2)", Some(3.0)),
        ("least(t(ab|a, 3), t(abc, 1))", Some(3.0)),
        ("most(t(ab|a, 3), t(abc, 1))", Some(6.0)),
        ("spread(t(ab|a, 1|4))", Some(8.0)),
        ("mean(t(a, 2|8))", Some(4.0)),
        ("below_one(t(a, 1|2|3|4) / t(ab, 1|1|1|1))", Some(0.25)),
        (
            "most(t(ab, 1) / t(a, 1)) / least(t(abcd, 1) / t(a, 1))",
            Some(0.5),
        ),
        ("most(t(those(ab, abc), 1))", Some(3.0)),
        ("most(t(lost(ab), 1))", None),
        ("most(t(ab|none, 1))", None),
        ("t(none, 1) / t(a, 1)", None),
        ("median(t(a, 4|1|2|3))", Some(2.5)),
        ("median(t(a, 4|1|3))", Some(3.0)),
        ("first(t(a, 2|3)) / last(t(a, 2|4))", Some(0.5)),
        ("change(t(a, 2|9|3))", Some(1.0)),
        ("change(t(a, 2))", None),
        ("either(t(a, 2) / t(a, 8))", Some(4.0)),
        ("roughest(t(a, 1|3|4))", Some(3.0)),
        ("roughest(t(a, 1|3))", None),
        ("all(t(a, 1), t(a, 1))", Some(1.0)),
        ("all(t(none, 1), t(a, 1))", None),
        ("all(t(none, 1), t(a, 0))", Some(0.0)),
        ("correlation(t(a, 1|2|3|5), t(a, 2|4|8|9))", Some(1.0)),
        ("correlation(t(a, 1|2|3|5), t(a, 9|8|4|2))", Some(-1.0)),
        ("correlation(t(a, 1|2|3), t(a, 2|4|8))", None),
        ("correlation(t(a, 1|1|1|1), t(a, 2|4|8|9))", None),
    ] {
        let found = number(value);
        let same = match (found, is) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12,
            (a, b) => a.is_none() && b.is_none(),
        };
        assert!(same, "{value}: {found:?}");
    }
}

#[test]
fn a_case_stands_once_for_each_value_and_is_named_by_it() {
    let names = |name, each, value| -> Vec<String> {
        let none = "nothing";
        let cases = Cases {
            name,
            each,
            value,
            none,
            or: None,
        };
        let found = found(&Lengths, &cases);
        found.into_iter().map(|(name, _)| name).collect()
    };
    let pairs = vec![("k", "a/lane b"), ("n+m", "1+2 3+4")];
    assert_eq!(
        names("$k at $m", pairs, "t($k, $n)"),
        ["a at 2", "a at 4", "b at 2", "b at 4"]
    );
    assert_eq!(
        names("$k", vec![("k", "those(a, b)")], "t($k, 1)"),
        ["a", "b"]
    );
    assert_eq!(
        names("$k", vec![("k", "lost(a)")], "t($k, 1)"),
        ["what is lost"]
    );
    let dependent = vec![("k", "a b"), ("n", "those($k, c)")];
    assert_eq!(
        names("$k $n", dependent, "t($n, 1)"),
        ["a a", "a c", "b b", "b c"]
    );
    assert_eq!(
        names("", vec![("n", "1 2")], "it(x, $n)"),
        ["it of x and 1", "it of x and 2"]
    );
}

#[test]
fn cases_that_a_document_need_not_have_are_left_out() {
    let found = |kinds: &'static str, none, or| {
        let cases = Cases {
            name: "$k",
            each: vec![("k", kinds)],
            value: "t($k, 1)",
            none,
            or,
        };
        found(&Lengths, &cases)
    };
    assert_eq!(found("a none", "", Some("no kind")), one("a", Some(1.0)));
    assert_eq!(found("none", "", Some("no kind")), one("no kind", None));
    assert_eq!(found("none", "", Some("")), Found::new());
}

#[test]
fn a_call_that_nobody_knows_is_found() {
    let of = |each: &'static str, value| {
        let each = vec![("k", each)];
        let cases = Cases {
            each,
            value,
            ..Cases::default()
        };
        unknown::<Lengths>(cases.formulas())
    };
    assert_eq!(of("a b", "most(t($k, 1) / t(a, 2))"), None);
    assert_eq!(of("a b", "most(tt($k, 1) / t(a, 2))"), Some("tt"));
    assert_eq!(of("a b", "moost(t($k, 1))"), Some("moost"));
    assert_eq!(of("thoose(a)", "t($k, 1)"), Some("thoose"));
}
