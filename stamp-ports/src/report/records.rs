//! Records: the points of a document, with their fields by name, and what formulas ask of them.
//!
//! A formula names a set and a field, `threads.tx_per_s`, and conditions: `workload=$w`,
//! `variant!=cgl|optimized`, `locks<=4096`. What stands behind a comparison is a field's name,
//! if the record has such a field, or else a value; `|` stands between values of which one is
//! enough. A record without the field that a condition names does not meet it.
//!
//! | call | stands for |
//! | --- | --- |
//! | `list(set.field, …)` | the field's numbers, of which there is at least one |
//! | `values(set.field, …)` | its values without repetition, in the order of the records |
//! | `count(set.field, …)` | in how many records it is |
//! | `lowest(set.field, by, …)`, `highest` | its value where the field `by` is lowest, or highest |
//!
//! The points of `bench sync` and `bench nw` are here too: which count, as records, and in the table of
//! all.

use super::claim::Claim;
use super::formula::{Answer, Source};
use crate::numbers::{bytes, count, digits3, of, percent, short, time, times};
use crate::points::Point;
use crate::sync::Bench;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The calls of records.
pub const CALLS: &[&str] = &["list", "values", "count", "lowest", "highest"];

/// The fields of a point by their names.
#[derive(Clone, Debug, Default)]
pub struct Record(pub Map<String, Value>);

impl Record {
    /// Returns the fields of a point.
    ///
    /// # Panics
    /// If it is no object; points are.
    pub fn of(point: &impl Serialize) -> Self {
        match serde_json::to_value(point) {
            Ok(Value::Object(fields)) => Self(fields),
            _ => panic!("a point has fields"),
        }
    }

    /// Returns the record with another field; nothing stands where the value is not known.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Returns a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// Returns a field in words.
    pub fn word(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            value => Some(value.to_string()),
        }
    }

    /// Returns whether a condition is met.
    pub fn meets(&self, condition: &str) -> bool {
        let at = condition.find(['=', '!', '<', '>']);
        let (name, rest) = condition.split_at(at.unwrap_or(condition.len()));
        let end = rest.find(|c| !"=!<>".contains(c)).unwrap_or(rest.len());
        let (comparison, values) = rest.split_at(end);
        let Some(own) = self.word(name) else {
            return false;
        };
        let other = |value: &str| self.word(value).unwrap_or_else(|| value.to_owned());
        let number = |text: &str| text.parse::<f64>().ok();
        let ordered = |is: fn(&f64, &f64) -> bool| {
            let pair = number(&own).zip(number(&other(values)));
            pair.is_some_and(|(own, value)| is(&own, &value))
        };
        let is_one = || {
            values.split('|').any(|value| {
                let same = number(&own).zip(number(value));
                own == value || same.is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
            })
        };
        match comparison {
            "=" => is_one(),
            "!=" => !is_one(),
            "<" => ordered(f64::lt),
            "<=" => ordered(f64::le),
            ">" => ordered(f64::gt),
            ">=" => ordered(f64::ge),
            _ => false,
        }
    }
}

impl Source for Sets {
    const CALLS: &'static [&'static str] = CALLS;

    fn number(&self, _: &str, _: &[&str]) -> Option<f64> {
        None
    }

    fn whole(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        self.answer(name, arguments)
    }
}

/// Returns a value in a form; `None` if it has none.
pub fn shown(value: &Value, form: &str) -> Option<String> {
    match (form, value) {
        (_, Value::Null) => None,
        ("", Value::String(text)) => Some(text.clone()),
        ("", value) => Some(value.to_string()),
        ("yes", Value::Bool(yes)) => Some(if *yes { "yes" } else { "NO" }.into()),
        _ => number(value.as_f64()?, value.as_u64(), form),
    }
}

/// Returns a number in a form; `n` is the same without a fraction, if it has none.
pub fn number(x: f64, n: Option<u64>, form: &str) -> Option<String> {
    let n = || n.or_else(|| (x >= 0.0 && x.fract() == 0.0).then_some(x as u64));
    Some(match form {
        "" => x.to_string(),
        "times" => times(x),
        "percent" => percent(x),
        "short" => short(x),
        "time" => time(x),
        "whole" => format!("{x:.0}"),
        "one" => format!("{x:.1}"),
        "two" => format!("{x:.2}"),
        "three" => format!("{x:.3}"),
        "number" if x.fract() == 0.0 => format!("{x:.0}"),
        "digits3" | "number" => digits3(x),
        "count" => count(n()?),
        "bytes" => bytes(n()?),
        form => of(n()?, form),
    })
}

/// The records of a document by the names of their sets.
#[derive(Clone, Debug, Default)]
pub struct Sets(pub BTreeMap<&'static str, Vec<Record>>);

impl Sets {
    /// Returns the records of a set that meet all conditions.
    pub fn of<'a>(&'a self, set: &str, conditions: &'a [&str]) -> impl Iterator<Item = &'a Record> {
        let all = self.0.get(set).map_or(&[][..], Vec::as_slice).iter();
        all.filter(|record| conditions.iter().all(|c| record.meets(c)))
    }

    /// Returns what a call stands for; `None` if it is none of records.
    pub fn answer(&self, name: &str, arguments: &[&str]) -> Option<Answer> {
        if !CALLS.contains(&name) {
            return None;
        }
        let (what, rest) = arguments.split_first()?;
        let (set, field) = what.split_once('.')?;
        let words = |words: Vec<String>| Some(Answer::Words(Ok(words)));
        match name {
            "list" => {
                let numbers = self.of(set, rest).map(|record| record.number(field));
                let mut numbers: Vec<Option<f64>> = numbers.flatten().map(Some).collect();
                if numbers.is_empty() {
                    numbers.push(None);
                }
                Some(Answer::Numbers(numbers))
            }
            "values" => {
                let mut values = Vec::new();
                for value in self.of(set, rest).filter_map(|record| record.word(field)) {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                words(values)
            }
            "count" => {
                let with = self.of(set, rest).filter(|r| r.word(field).is_some());
                words(vec![with.count().to_string()])
            }
            _ => {
                let (by, conditions) = rest.split_first()?;
                let all = self.of(set, conditions);
                let known = all.filter_map(|r| Some((r.number(by)?, r.word(field)?)));
                let order = |a: &(f64, String), b: &(f64, String)| a.0.total_cmp(&b.0);
                let found = match name {
                    "lowest" => known.min_by(order),
                    _ => known.max_by(order),
                };
                words(found.into_iter().map(|(_, value)| value).collect())
            }
        }
    }
}

/// The table of all points of a part, those without a time too.
pub const TABLE: &str = include_str!("points.json");

/// Returns whether a point has a time that counts: nothing rests on a wrong result.
pub fn counts(point: &Point) -> bool {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    point.verified && positive(point.ms) && positive(point.per_s)
}

/// Returns a claim as it counts: it is about GPUs, so the document of a CPU does not judge it.
pub fn judged(bench: &Bench, claim: Claim) -> Claim {
    match bench.head.device.gpu {
        Some(_) => claim,
        None => claim.without_judgement("measured on a CPU, which this is not about"),
    }
}

/// Returns what a reader of the page has to know first.
pub fn warnings(bench: &Bench) -> Vec<String> {
    let of_cpu = "Measured on a CPU: no target and no claim is judged.".to_owned();
    let of_cpu = Some(of_cpu).filter(|_| bench.head.device.gpu.is_none());
    of_cpu.into_iter().chain(wrong(&bench.points)).collect()
}

/// Returns a sentence about points with a wrong result, if there are any.
fn wrong(points: &[Point]) -> Option<String> {
    let wrong = points.iter().filter(|p| p.repeat > 0 && !p.verified);
    let wrong = wrong.map(|p| {
        let why = p.note.as_deref().unwrap_or("no reason given");
        format!(
            "{} {} {} x {}: {why}",
            p.part, p.implementation, p.blocks, p.threads
        )
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| {
        format!(
            "With a wrong result, {} of {} points: {}. No figure, claim or sentence counts these.",
            wrong.len(),
            points.len(),
            wrong.join("; ")
        )
    })
}

/// Returns the record of a point: its parameters are fields too, and what was not measured is
/// not known.
pub fn record(point: &Point) -> Record {
    let measured = point.repeat > 0;
    let parameters = point.parameters.iter();
    let words: Vec<String> = parameters
        .clone()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    let launch = match point.blocks {
        // The program chose, and said how many in the note.
        0 => format!("as noted x {}", point.threads),
        blocks => format!("{blocks} x {}", point.threads),
    };
    let unfair = point
        .most
        .zip(point.fewest)
        .filter(|(_, fewest)| *fewest > 0);
    let hop = point.ms / point.operations.max(1) as f64;
    let known = |x: f64| Some(x).filter(|_| measured);
    let record = parameters.fold(Record::of(point), |record, (name, n)| record.with(name, *n));
    record
        .with("counts", u64::from(counts(point)))
        .with("launch", launch)
        .with(
            "said",
            Some(words.join(", ")).filter(|words| !words.is_empty()),
        )
        .with("time", known(point.ms))
        .with("time_min", known(point.ms_min))
        .with("time_max", known(point.ms_max))
        .with("rate", known(point.per_s))
        .with("runs", Some(point.repeat).filter(|_| measured))
        .with("right", measured.then_some(point.verified))
        .with(
            "unfairness",
            unfair.map(|(most, fewest)| most as f64 / fewest as f64),
        )
        .with("hop", hop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sets() -> Sets {
        let rows = [
            json!({"kind": "a", "n": 1, "locks": 2, "rate": 3.5}),
            json!({"kind": "b", "n": 4, "locks": 2, "rate": 2.5}),
            json!({"kind": "b", "n": 2, "locks": 4, "rate": null}),
        ];
        Sets([("points", rows.iter().map(Record::of).collect())].into())
    }

    #[test]
    fn calls_answer_by_conditions() {
        let all = sets();
        let words = |name: &str, arguments: &[&str]| match all.answer(name, arguments) {
            Some(Answer::Words(Ok(words))) => words.join(" "),
            _ => panic!("{name}"),
        };
        assert_eq!(words("values", &["points.kind"]), "a b");
        assert_eq!(words("values", &["points.n", "kind=a|b", "n>1"]), "4 2");
        assert_eq!(words("values", &["points.n", "n<=locks"]), "1 2");
        assert_eq!(
            words("values", &["points.n", "kind!=a|c", "rate>=2.5"]),
            "4"
        );
        assert_eq!(words("values", &["points.n", "other!=a"]), "");
        assert_eq!(words("count", &["points.rate"]), "2");
        assert_eq!(words("lowest", &["points.kind", "rate"]), "b");
        assert_eq!(words("highest", &["points.n", "n", "kind=b"]), "4");
        assert_eq!(words("highest", &["others.n", "n"]), "");
        let numbers = |arguments: &[&str]| match all.answer("list", arguments) {
            Some(Answer::Numbers(numbers)) => numbers,
            _ => panic!("{arguments:?}"),
        };
        assert_eq!(numbers(&["points.rate"]), [Some(3.5), Some(2.5)]);
        assert_eq!(numbers(&["points.rate", "n=2"]), [None]);
        assert!(all.answer("rate", &["points.n"]).is_none());
    }
}
