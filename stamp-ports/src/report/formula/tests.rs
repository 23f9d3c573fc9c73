//! Formulas about a document that is made up.

use super::*;
use serde_json::json;
use std::fs;
use std::path::Path;

/// A document in which the value of a kind at `n` is its length times `n`; `none` is missing.
fn lengths() -> Sets {
    let kinds = ["a", "ab", "abc", "abcd"];
    let of = |kind: &str| {
        let at = |n: u64| json!({"kind": kind, "n": n, "t": n * kind.len() as u64, "ten": 10});
        (0..10).map(at).collect::<Vec<_>>()
    };
    let calls = r#"[
        {"call": "t(k, n)", "value": "all[kind=$k n=$n].t"},
        {"call": "those(a, b)", "value": "words($a, $b)", "words": true},
        {"call": "lost(a)", "value": "none", "words": true, "least": "2", "missing": "what $a lost"},
        {"call": "else(a)", "value": "values(all[kind=$a].kind)", "words": true, "or": "it"}]"#;
    let shown = |_: &Sets, _: &str, value: &str| value.to_owned();
    Sets::new([("all", kinds.map(of).concat())]).with(stated(calls), shown)
}

/// Expressions with their numbers.
const ROWS: &str = "
        t(ab, 3) / t(a, 2) => 3
        min(t(ab|a, 3), t(abc, 1)) => 3
        max(t(ab|a, 3), t(abc, 1)) => 6
        spread(t(ab|a, 1|4)) => 8
        mean(t(a, 2|8)) => 4
        below_one(t(a, 1|2|3|4) / t(ab, 1|1|1|1)) => 0.25
        max(t(ab, 1) / t(a, 1)) / min(t(abcd, 1) / t(a, 1)) => 0.5
        max(t(those(ab, abc), 1)) => 3
        max(t(lost(ab), 1)) => none
        max(t(ab|none, 1)) => none
        t(none, 1) / t(a, 1) => none
        t(a, 2|3) / t(a, 2) => none
        t(none, 1) / t(none, 1) => none
        median(t(a, 4|1|2|3)) => 2.5
        median(t(a, 4|1|3)) => 3
        first(t(a, 2|3)) / last(t(a, 2|4)) => 0.5
        change(t(a, 2|9|3)) => 1
        change(t(a, 2)) => none
        roughest(t(a, 1|3|4)) => 3
        roughest(t(a, 1|3)) => none
        all(t(a, 1), t(a, 1)) => 1
        all(t(none, 1), t(a, 1)) => none
        all(t(none, 1), t(a, 0)) => 0
        correlation(t(a, 1|2|3|5), t(a, 2|4|8|9)) => 1
        correlation(t(a, 1|2|3|5), t(a, 9|8|4|2)) => -1
        correlation(t(a, 1|2|3), t(a, 2|4|8)) => none
        correlation(t(a, 1|1|1|1), t(a, 2|4|8|9)) => none
        1 + 2 * 3 - 4 / 2 => 5
        sum(all[kind=a n<4].t) => 6
        count(all[kind=a|ab n>t].t) => 0
        count(all[kind!=a|ab n>=9].t) => 2
        count(all[kind^=abc n<=1].t) => 4
        count(all[other!=a].t) => 0
        count(all[n=2.0].t) => 4
        lowest(all[kind=ab n>3], t, n) => 4
        highest(all[t<ten], t, t) => 9
        sum(common(all[kind=a|ab|abc].t)) => 6
        first(common(all[kind=a|ab n>0].t)) => 2
        count(values(all[n=1|2].kind)) => 4
        count(all[kind=any(a)].t) => 0
        or(t(none, 1), t(a, 3), t(a, 4)) => 3
        count(without(a, a|b, c)) => 2
        is_one(a, b|c, a) => 1
        is_one(a, b) => 0
        differ(a, a, a) => 0
        differ(a, a, b) => 1
        at_least(2, 2) => 1
        at_least(1, 2) => 0
        if(at_least(2, 1), 7) => 7
        if(at_least(1, 2), 7) => none
        if(t(none, 1), 7) => none";

#[test]
fn formulas_mean_what_the_module_says() {
    let lengths = lengths();
    for row in ROWS.trim().lines() {
        let (value, is) = row.trim().split_once(" => ").unwrap();
        let cases = Cases {
            value,
            ..Cases::default()
        };
        let found = cases.found(&lengths);
        let rounded = |x: f64| (x * 1e12).round();
        let expected = one("", is.parse().ok().map(rounded));
        let found = found.into_iter().map(|(name, x)| (name, x.map(rounded)));
        assert_eq!(found.collect::<Numbers>(), expected, "{row}");
    }
}

#[test]
fn a_case_stands_once_for_each_value_and_is_named_by_it() {
    let lengths = lengths();
    for (name, each, names) in [
        (
            "$k at $m",
            &[("k", "a/lane b"), ("n+m", "1+2 3+4")][..],
            "a/lane at 2, a/lane at 4, b at 2, b at 4",
        ),
        ("$k", &[("k", "those(a, b)")], "a, b"),
        ("$k", &[("k", "lost(a)")], "what a lost"),
        ("$k", &[("k", "else(none)")], "it"),
        (
            "$k $n",
            &[("k", "a b"), ("n", "those($k, c)")],
            "a a, a c, b b, b c",
        ),
        ("$k", &[("k", "values(all[kind=none].kind)")], "nothing"),
    ] {
        let cases = Cases {
            name,
            each: each.to_vec(),
            value: "t($k, 1)",
            none: "nothing",
            or: None,
        };
        let found = cases.found(&lengths).into_iter();
        let found: Vec<String> = found.map(|(name, _)| name).collect();
        assert_eq!(found.join(", "), names);
    }
    // Those that a document need not have are left out.
    for (kinds, or, expected) in [
        ("a none", "no kind", one("a", Some(1.0))),
        ("none", "no kind", one("no kind", None)),
        ("none", "", Numbers::new()),
    ] {
        let cases = Cases {
            name: "$k",
            each: vec![("k", kinds)],
            value: "t($k, 1)",
            none: "",
            or: Some(or),
        };
        assert_eq!(cases.found(&lengths), expected);
    }
}

/// Returns the first call in a text that neither a document with these calls nor the language knows.
/// In words for people, a call has one letter or is one of the last two.
fn unknown<'t>(text: &'t str, calls: &[Call]) -> Option<&'t str> {
    let others = "values count lowest highest common any or words without is_one differ at_least if all \
                  correlation number cycles sync";
    let mut called = text.match_indices('(').map(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        text[..at].rsplit(|c| !letter(c)).next().unwrap_or_default()
    });
    called.find(|name| {
        let own = calls.iter().any(|call| call.head().0 == *name);
        let of_numbers = OF_NUMBERS.iter().any(|(known, _)| known == name);
        name.len() > 1 && !own && !of_numbers && others.split(' ').all(|known| known != *name)
    })
}

#[test]
fn every_formula_of_a_page_calls_what_is_known() {
    for (formula, name) in [
        ("max(those($k, 1) / T(a, 2))", None),
        ("thoose(a)", Some("thoose")),
        ("max(1, maax(2))", Some("maax")),
    ] {
        assert_eq!(unknown(formula, &lengths().calls), name);
    }
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report");
    for folder in ["cost", "nw", "paper", "sync"] {
        let folder = pages.join(folder);
        let calls = fs::read_to_string(folder.join("calls.json")).unwrap_or("[]".into());
        let calls: Vec<Call> = serde_json::from_str(calls.leak()).unwrap();
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|name| name == "json") {
                let text = fs::read_to_string(&path).unwrap();
                assert_eq!(unknown(&text, &calls), None, "{}", path.display());
            }
        }
    }
}
