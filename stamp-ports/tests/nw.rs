//! Scores and alignments of Needleman-Wunsch against another library's.

use serde_json::Value;
use stamp_ports::nw::align::{align, score};
use stamp_ports::nw::matrix::Matrix;
use stamp_ports::nw::scoring::{Gap, Scoring};

/// Made by parasail (Daily 2016): matrices, costs, sequences, and the score of each.
const CASES: &str = include_str!("data/nw-parasail.json");

#[test]
fn scores_are_those_of_parasail() {
    let document: Value = serde_json::from_str(CASES).expect("JSON");
    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 192);
    for case in cases {
        let text = |field: &str| case[field].as_str().expect("a string");
        let number = |field: &str| case[field].as_i64().expect("a number");
        let matrix = match Matrix::named(text("matrix")) {
            Some(matrix) => matrix.expect("a matrix"),
            None => Matrix::of_match(b"ACGT", 5, -4).expect("a matrix"),
        };
        let codes = |field: &str| matrix.alphabet.codes(field, text(field).as_bytes());
        let (a, b) = (codes("a").expect("letters"), codes("b").expect("letters"));
        let gap = Gap {
            open: number("open") as i32,
            extend: number("extend") as i32,
        };
        let scoring = Scoring { matrix, gap };
        scoring.check(a.len(), b.len()).expect("it fits");
        assert_eq!(score(&a, &b, &scoring), number("score"), "{case}");
        assert_eq!(align(&a, &b, &scoring).score, number("score"), "{case}");
    }
}
