//! What programs may call that is not written in jq, and the digits of numbers.

use super::{Arr, Data, Error, Null, Num, Obj, Str, Val, known};
use crate::numbers::{bytes, count, digits3, of, percent, short, time, times};
use crate::report::palette;
use jaq_core::native::{Fun, bome, run, unary, v};
use jaq_core::{RunPtr, ValR};
use std::cmp::Ordering;
use std::rc::Rc;

/// Names with how many arguments each has, and what it does with its input.
///
/// | call | yields |
/// | --- | --- |
/// | `where({field: value})` | the elements that have these values; of an array, one of its own |
/// | `distinct` | an array without repetition |
/// | `sort`, `length`, `tonumber`, `log`, `exp`, `sqrt` | as in jq |
/// | `show(format)` | a value as people read it |
/// | `plain`, `rank`, `plain_workload` | a lock's plain name, a variant's place, a workload's plain name |
/// | `file(name)` | a result file |
pub(super) fn natives() -> impl Iterator<Item = Fun<Data>> {
    let of = |(name, arity, filter)| run::<Data>((name, v(arity), filter));
    of_arrays().into_iter().chain(of_values()).map(of)
}

type Native = (&'static str, usize, RunPtr<Data>);

fn of_arrays() -> [Native; 4] {
    [
        ("where", 1, |mut cv| {
            let wanted = cv.0.pop_var();
            let all: Vec<Val> = match array(cv.1) {
                Ok(all) => all.iter().filter(|v| has(v, &wanted)).cloned().collect(),
                Err(error) => return bome(Err(error)),
            };
            Box::new(all.into_iter().map(Ok))
        }),
        ("distinct", 0, |cv| {
            bome(array(cv.1).map(|all| {
                let mut seen: Vec<Val> = Vec::new();
                for value in &*all {
                    if !seen.contains(value) {
                        seen.push(value.clone());
                    }
                }
                seen.into_iter().collect()
            }))
        }),
        ("sort", 0, |cv| {
            bome(array(cv.1).map(|all| {
                let mut all = (*all).clone();
                all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
                all.into_iter().collect()
            }))
        }),
        ("length", 0, |cv| {
            bome(array(cv.1).map(|all| Num(all.len() as f64)))
        }),
    ]
}

fn of_values() -> [Native; 9] {
    [
        ("tonumber", 0, |cv| {
            bome(match &cv.1 {
                Str(text) => text.parse().map(Num).map_err(Error::str),
                other => Ok(other.clone()),
            })
        }),
        ("log", 0, |cv| bome(of_number(&cv.1, f64::ln))),
        ("exp", 0, |cv| bome(of_number(&cv.1, f64::exp))),
        ("sqrt", 0, |cv| bome(of_number(&cv.1, f64::sqrt))),
        ("show", 1, |cv| {
            unary(cv, |value, form| show(&value, &form.to_string()))
        }),
        ("plain", 0, |cv| {
            bome(Ok(named(cv.1, |name| palette::plain(name).into())))
        }),
        ("plain_workload", 0, |cv| {
            bome(Ok(named(cv.1, plain_workload)))
        }),
        ("rank", 0, |cv| {
            bome(Ok(Num(palette::rank(&cv.1.to_string()) as f64)))
        }),
        ("file", 1, |mut cv| {
            let name = cv.0.pop_var().to_string();
            let sets = cv.0.data().sets;
            let file = sets.files.get(&name).cloned();
            sets.used.borrow_mut().insert(name.clone());
            bome(file.ok_or_else(|| Error::str(format!("there is no result file {name}"))))
        }),
    ]
}

fn array(value: Val) -> Result<Rc<Vec<Val>>, Error> {
    match value {
        Arr(all) => Ok(all),
        // What was not measured has no elements.
        Null => Ok(Rc::default()),
        other => Err(Error::typ(other, "array")),
    }
}

fn number(value: &Val) -> Result<f64, Error> {
    match value {
        Num(x) => Ok(*x),
        other => Err(Error::typ(other.clone(), "number")),
    }
}

fn of_number(value: &Val, of: fn(f64) -> f64) -> ValR<Val> {
    Ok(match value {
        Null => Null,
        value => known(of(number(value)?)),
    })
}

/// Returns whether a record has the values of another.
fn has(record: &Val, wanted: &Val) -> bool {
    let (Obj(record), Obj(wanted)) = (record, wanted) else {
        return false;
    };
    wanted.iter().all(|(name, wanted)| {
        record.get(name).is_some_and(|own| match wanted {
            Arr(all) => all.contains(own),
            one => one == own,
        })
    })
}

/// Returns a name in another form; a number stays what it is.
fn named(value: Val, of: impl Fn(&str) -> String) -> Val {
    match &value {
        Str(name) => of(name).into(),
        _ => value,
    }
}

/// A name without what people put between a word and its number: `genome/gn-1` is `gn1`.
fn plain_workload(name: &str) -> String {
    let last = name.rsplit(['/', ':', ' ']).next().unwrap_or(name);
    last.replace(['-', '_'], "").to_lowercase()
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
