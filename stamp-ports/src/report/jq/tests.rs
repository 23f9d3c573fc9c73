//! Programs about data that are made up.

use super::*;
use crate::testing::has;
use serde_json::json;

/// Of each kind the value at `n` is its length times `n`.
fn lengths() -> Sets {
    let of = |kind: &'static str| {
        let at = move |n: u64| json!({"kind": kind, "n": n, "t": n * kind.len() as u64});
        (0..10).map(at)
    };
    let all = ["a", "ab", "abc", "abcd"].into_iter().flat_map(of);
    Sets::of(&json!({"all": all.collect::<Vec<_>>(), "none": []}))
}

/// Programs with what they yield.
const ROWS: &str = r#"
    1 + 2 * 3 - 4 / 2 => 5
    null + 1, null / null, 0 / 0 => null null null
    "a \(null) b", "a \(1.5) b", ("\(null)" // "else") => null "a 1.5 b" "else"
    (null | log, sqrt), (-1 | sqrt), mean(-1, 2) => null null null null
    null < 1, null >= 1, null == null => false false true
    [$all[] | select(.n < 2 and .kind == "ab").t] => [0,2]
    [$all | where({kind: ["a", "ab"], n: 3}).t] => [3,6]
    [$all | where({other: 1})] | length => 0
    [distinct($all[].kind)] => ["a","ab","abc","abcd"]
    [[2, 1, 3], [3, 2], [2, null, 3]] | common => [2,3]
    highest($all[]; .t).t, lowest($all[] | select(.n > 3); .n).kind, one(highest($none[]; .t)) => 36 "a" null
    listed("a", null, "b", "c"), listed($none[]), joined("; "; 1, 2) => "a, b and c" null "1; 2"
    sum(1, 2), min(3, 2), max(3, 2), spread(2, 8), mean(2, 8), below_one(0.5, 2) => 3 2 3 4 4 0.5
    median(4, 1, 2, 3), median(4, 1, 3), change(2, 9, 3), change(2) => 2.5 3 1 null
    roughest(1, 3, 4), roughest(1, 3), max(1, null), max($none[]) => 3 null null null
    correlation([1, 2], [2, 4], [3, 8], [5, 9]), correlation([1, 9], [2, 8], [3, 4], [5, 2]) => 1 -1
    correlation([1, 2], [2, 4], [3, 8]), correlation([1, 2], [1, 4], [1, 8], [1, 9]) => null null
    found(case("a"; 1), case("b"; lacking("c")), case("d"; null)) => [["a",1],["b",null],["d",null]]
    found(lacking("two sizes") as $b | case("a"; $b)) => [["two sizes",null]]
    [known(case("a"; 1), case("b"; null))], [known(case("b"; null); "none")] => [["a",1]] [["none",null]]
    [known($none[]; "none")] => []
    [{b: 2, a: 1} | to_entries[] | .key, .value], ([3, 1, 2] | sort_by(-.)) => ["a",1,"b",2] [3,2,1]
    "genome/gn-1", "K_means" | plain_workload => "gn1" "kmeans"
    4830.07, 0.066, 0.001 | show("r") => "4,830x" "0.066x" "0.0010x"
    674738489, 5471364167, 31036, 999700, 5 | show("si") => "675 M" "5.47 G" "31.0 K" "1.00 M" "5"
    [0.354 | show("%1")], [1364.9 | show("3")], [28080000 | show("n")] => ["35.4 %"] ["1,365"] ["28,080,000"]
    -1, 0 | show("more"), show("less") => "missed" "reached" "reached" "reached"
    1 / 0 | times, show("n") => "∞" null
    2048, 1 | counted("lock") => "2K locks" "1 lock"
    null | show("furlongs") => null"#;

#[test]
fn programs_mean_what_the_module_and_the_prelude_say() {
    let lengths = lengths();
    for row in ROWS.trim().lines() {
        let (program, expected) = row.trim().split_once(" => ").unwrap();
        let mut found = Vec::new();
        let done = lengths.each(&[program], |value| {
            let rounded = match value {
                Num(x) => Num((x * 1e12).round() / 1e12),
                value => value,
            };
            found.push(Value::from(&rounded).to_string());
            Ok(())
        });
        assert_eq!((done, &*found.join(" ")), (Ok(()), expected), "{program}");
    }
}

#[test]
fn what_no_program_may_ask_is_an_error_that_names_it() {
    for (program, why) in [
        ("$al[]", "there is no variable `$al`"),
        ("meen(1)", "there is no filter `meen`"),
        ("1 | show(\"furlongs\")", "`furlongs` is no format"),
        ("\"a\" / 2", "cannot calculate a / 2"),
        ("1 | length", "array"),
        ("same(1, 2)", "are not the same"),
        ("$all[0] | .n |= 2", "cannot use"),
        (
            "file(\"h200/b.json\")",
            "there is no result file h200/b.json",
        ),
    ] {
        let error = lengths().each(&[program], |_| Ok(())).unwrap_err();
        has(&error, why);
    }
    assert!(lengths().each(&["[1"], |_| Ok(())).is_err());
}

#[test]
fn a_table_has_a_row_for_each_key_and_a_column_for_each_value() {
    let table: Value = lengths().run(&[r#"
        table_by("t"; 1; [$all[] | select(.n < 2)]; {n}; column("n"; .n), if_filled(column("x"; .x));
            "kind"; "\(.t)" // "-")"#]);
    let of = |n: u64| {
        let mut row = vec![json!(["n", n.to_string(), false]), json!(["x", null, true])];
        let kinds = (1..).zip(["a", "ab", "abc", "abcd"]);
        row.extend(kinds.map(|(length, kind)| json!([kind, (length * n).to_string(), false])));
        row
    };
    let expected = json!({"name": "t", "left": 1, "rows": [of(0), of(1)]});
    assert_eq!(table, expected);
}
