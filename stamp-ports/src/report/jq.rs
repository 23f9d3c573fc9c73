//! The language in which claims, pages and tables of documents are stated: jq, with `prelude.jq` and functions for
//! what people read.

use crate::numbers::{bytes, count, digits3, of, percent, short, time, times};
use crate::report::palette;
use jaq_core::ValR;
use jaq_core::native::{bome, unary};
use stamp_jq::Val::{self, Null, Num, Str};
use stamp_jq::{Error, Language, Native, number};
use std::sync::LazyLock;

pub(crate) use stamp_jq::Sets;

/// What every program may call.
pub(crate) static LANGUAGE: LazyLock<Language> =
    LazyLock::new(|| Language::new(include_str!("prelude.jq"), natives()));

/// | call | yields |
/// | --- | --- |
/// | `show(format)` | a value as people read it |
/// | `rank`, `plain_workload` | a variant's place, a workload's plain name |
fn natives() -> [Native; 3] {
    [
        ("show", 1, |cv| {
            unary(cv, |value, form| show(&value, &form.to_string()))
        }),
        ("plain_workload", 0, |cv| bome(Ok(plain_workload(cv.1)))),
        ("rank", 0, |cv| {
            bome(Ok(Num(palette::rank(&cv.1.to_string()) as f64)))
        }),
    ]
}

/// A name without what people put between a word and its number: `genome/gn-1` is `gn1`; a number stays what it is.
fn plain_workload(value: Val) -> Val {
    let Str(name) = &value else {
        return value;
    };
    let last = name.rsplit(['/', ':', ' ']).next().unwrap_or(name);
    last.replace(['-', '_'], "").to_lowercase().into()
}

/// Shows a value in a format; what is not known stays so. `text` is of Markdown, `yes` of a fact.
/// Of a number: `times`, `percent`, `short`, `time`, `digits3`, `number` (all digits if it is
/// whole), `count`, `bytes`, and `a thread` with the noun; and of one that is finite: `n` (whole),
/// `si` (three digits and K, M or G), `3` (three digits), `r` (a ratio of three digits), or `x`,
/// `%` or `d` with a number of decimals (a ratio, a share in per cent, a number). Of what is
/// measured less its limit, `more` and `less` say whether a goal is reached, which is to be more
/// or less than that.
fn show(value: &Val, form: &str) -> ValR<Val> {
    let x = match value {
        Null => return Ok(Null),
        Val::Bool(yes) if form == "yes" => return Ok(Str(if *yes { "yes" } else { "NO" }.into())),
        Str(text) if form == "text" => {
            return Ok(text.replace('\u{a0}', " ").replace('|', "\\|").into());
        }
        other => number(other)?,
    };
    let n = (x >= 0.0 && x.fract() == 0.0).then_some(x as u64);
    let text = match (form, form.strip_prefix("a ")) {
        ("times", _) => Some(times(x)),
        ("percent", _) => Some(percent(x)),
        ("short", _) => Some(short(x)),
        ("time", _) => Some(time(x)),
        ("number", _) if x.fract() == 0.0 => Some(format!("{x:.0}")),
        ("digits3" | "number", _) => Some(digits3(x)),
        ("count", _) => n.map(count),
        ("bytes", _) => n.map(bytes),
        (_, Some(noun)) => n.map(|n| of(n, noun)),
        _ if !x.is_finite() => None,
        _ => Some(in_digits(x, form).ok_or_else(|| Error::str(format!("`{form}` is no format")))?),
    };
    Ok(text.map_or(Null, Val::from))
}

fn in_digits(value: f64, form: &str) -> Option<String> {
    let split = form.find(|c: char| c.is_ascii_digit());
    let (unit, decimals) = form.split_at(split.unwrap_or(form.len()));
    let decimals: usize = decimals.parse().unwrap_or(0);
    Some(match unit {
        "n" => thousands(&format!("{value:.0}")),
        "si" => {
            let text = short(value);
            let (digits, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
            format!("{digits} {unit}").trim_end().to_owned()
        }
        "" => thousands(&digits3(value)),
        "r" if value < 0.095 => format!("{value:.*}x", if value < 0.0095 { 4 } else { 3 }),
        "r" => thousands(&digits3(value)) + "x",
        "x" => thousands(&format!("{value:.decimals$}")) + "x",
        "%" => format!("{:.decimals$} %", value * 100.0),
        "d" => format!("{value:.decimals$}"),
        "more" | "less" if (value >= 0.0) == (unit == "more") || value == 0.0 => "reached".into(),
        "more" | "less" => "missed".into(),
        _ => return None,
    })
}

/// Puts commas into the whole part of a decimal number.
fn thousands(number: &str) -> String {
    let mut grouped = number.to_owned();
    let mut end = number.find('.').unwrap_or(number.len());
    while end > 3 {
        end -= 3;
        grouped.insert(end, ',');
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external_prelude::*;

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
        let lengths = LANGUAGE.sets(&json!({"all": all.collect::<Vec<_>>(), "none": []}));
        let rows = include_str!("jq/tests.txt").lines();
        for row in rows.filter(|row| !row.is_empty() && !row.starts_with("//")) {
            let yields = row.split_once(" => ");
            let (program, expected) = yields.or_else(|| row.split_once(" =! ")).expect(row);
            let mut found = Vec::new();
            let done = lengths.each(&[CALLS, program], &mut |value| {
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
}
