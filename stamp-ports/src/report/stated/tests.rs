//! Sentences and tables about a document that is made up.

use super::*;
use crate::report::records::{Record, Sets};
use crate::report::table::NONE;
use crate::testing::has;
use serde_json::json;

fn asked() -> Sets {
    let rows = [
        json!({"kind": "a", "at": 1, "rate": 3.5, "right": true}),
        json!({"kind": "b", "at": 1, "rate": 2.5, "right": false}),
        json!({"kind": "a", "at": 2048, "rate": null}),
    ];
    Sets([("points", rows.iter().map(Record::of).collect())].into())
}

#[test]
fn sentences_are_filled_with_what_is_known() {
    let asked = asked();
    let from = &From {
        sets: &asked,
        source: &asked,
    };
    for (json, said) in [
        (
            r#"{"text": "The most is {=most(list(points.rate)); times}."}"#,
            &["The most is 3.50\u{d7}."][..],
        ),
        (r#"{"text": "{=list(points.none)}"}"#, &[]),
        (r#"{"text": "{=list(points.none)} || else"}"#, &["else"]),
        (
            r#"{"text": "{=list(points.none)}", "or": "none"}"#,
            &["none"],
        ),
        (
            r#"{"with": [["k", "values(points.kind)"]], "text": "of {$k}: {items}.",
                "each": [["n", "values(points.at, kind=$k)"]], "join": "; ",
                "item": "{$n} {=list(points.rate, kind=$k, at=$n); one}"}"#,
            &["of a: 1 3.5.", "of b: 1 2.5."],
        ),
    ] {
        let sentence: Sentence = serde_json::from_str(json).unwrap();
        assert_eq!(sentence.said(from, &Variables::new()), said, "{json}");
    }
}

#[test]
fn a_table_has_a_row_a_record_or_a_column_a_value() {
    let asked = asked();
    let from = &From {
        sets: &asked,
        source: &asked,
    };
    let made = |json: &'static str| {
        let table: Table = serde_json::from_str(json).unwrap();
        let made = table.made(from, &[]);
        let cells = made.iter().map(|table| table.0.replace("</t", " </t"));
        cells.collect::<Vec<_>>().join(" ")
    };
    let plain = made(
        r#"{"of": "points", "columns": [["Kind", "{kind}"], ["Rate", "{rate:one}"],
            ["Right", "{right:yes}"], ["Gone", "{gone}"]], "if_filled": ["Gone"]}"#,
    );
    assert!(plain.contains(">3.5 <") && plain.contains(">NO <") && !plain.contains("Gone"));
    let by = made(
        r#"{"of": "points", "key": ["at"], "columns": [["At", "{at:count}"]],
            "by": {"field": "kind", "cell": "{rate:one} || idle"}}"#,
    );
    has(&by, ">a < | >b < | >2K < | >idle <");
    has(&by, NONE);
    let literal = made(
        r#"{"rows": [["a", 1]], "columns": [["Kind", "{0}"],
            ["Ours", "{=list(points.rate, kind=$0, at=$1); one}"]],
            "across": {"each": ["n", "values(points.at)"], "head": "At {$n}",
            "cell": "{=list(points.rate, kind=$0, at=$n); two}"}}"#,
    );
    has(&literal, ">3.5 < | >At 2048 <");
}

#[test]
#[should_panic(expected = "a formula of here calls vaules, which nobody knows")]
fn a_misspelt_call_is_an_error() {
    Page::read::<Sets>(
        r#"{"parts": [{"id": "here", "shows": [{"text": "{=vaules(points.kind)}"}]}]}"#,
    );
}
