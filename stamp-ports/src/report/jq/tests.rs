//! Programs about data that are made up: `tests.txt` has them, with what they yield.

use super::*;
use crate::testing::has;
use serde_json::json;

/// What programs of claims call: one with a part and its numbers, and what is said of it.
const CALLS: &str = r#"
    def judged_of(parts): {id: "", claim: "", parts: [parts]} | judge;
    def verdict_on($part; numbers): [numbers] | [range(length) as $i | ["a\($i + 1)", .[$i]]] as $cases
        | judged_of($part + {$cases}) | "\(.verdict): \(.figures)";
    def rule_of(parts): judged_of(parts | . + {cases: []}).rule;"#;

#[test]
fn programs_mean_what_the_module_and_the_prelude_say() {
    let of = |kind: &'static str| {
        let at = move |n: u64| json!({"kind": kind, "n": n, "t": n * kind.len() as u64});
        (0..10).map(at)
    };
    let all = ["a", "ab", "abc", "abcd"].into_iter().flat_map(of);
    let lengths = Sets::of(&json!({"all": all.collect::<Vec<_>>(), "none": []}));
    let rows = include_str!("tests.txt").lines();
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with("//")) {
        let yields = row.split_once(" => ");
        let (program, expected) = yields.or_else(|| row.split_once(" =! ")).expect(row);
        let mut found = Vec::new();
        let done = lengths.each(&[CALLS, program], |value| {
            let rounded = match value {
                Num(x) => Num((x * 1e12).round() / 1e12),
                value => value,
            };
            found.push(Value::from(&rounded).to_string().replace('\u{a0}', " "));
            Ok(())
        });
        if yields.is_some() {
            assert_eq!((done, &*found.join(" ")), (Ok(()), expected), "{row}");
        } else {
            has(&done.expect_err(row), expected);
        }
    }
}
