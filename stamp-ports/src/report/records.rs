//! Records: the points of a document by the names of their sets, which formulas ask.
//!
//! The points of `bench sync` and `bench nw` are here too: which count, as records, and in the table of
//! all; and sentences about a document, as they are stated.

use super::claim::Claim;
use super::formula::{Call, Condition, Found, Scope, Source, Variables};
use crate::numbers::and;
use crate::points::Point;
use crate::sync::Bench;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A point with its fields by their names.
pub type Record = Value;

/// The fields of a point.
pub trait Fields: Sized {
    /// Returns the fields of a point.
    fn of(point: &impl Serialize) -> Self;

    /// Returns the record with another field; nothing stands where the value is not known.
    #[must_use]
    fn with(self, name: &str, value: impl Into<Value>) -> Self;

    /// Returns a number.
    fn number(&self, name: &str) -> Option<f64>;

    /// Returns a field in words.
    fn word(&self, name: &str) -> Option<String>;
}

impl Fields for Record {
    fn of(point: &impl Serialize) -> Self {
        json!(point)
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self[name] = value.into();
        self
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    fn word(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            value => Some(value.to_string()),
        }
    }
}

/// How the value of a variable is shown.
type Shown = fn(&Sets, &str, &str) -> String;

/// The records of a document by the names of their sets, and the calls that it defines.
#[derive(Clone, Debug)]
pub struct Sets {
    all: BTreeMap<&'static str, Value>,
    calls: Vec<Call>,
    shown: Shown,
}

impl Source for Sets {
    fn start<'s>(&'s self, path: &'s str) -> Option<Found<(Vec<&'s Value>, &'s str)>> {
        let at = path.find(['.', '['])?;
        let set = self.all.get(&path[..at])?;
        Some(Ok((vec![set], &path[at..])))
    }

    fn calls(&self) -> &[Call] {
        &self.calls
    }

    fn shown(&self, name: &str, value: &str) -> String {
        (self.shown)(self, name, value)
    }
}

impl Sets {
    /// Returns the sets of a document that defines no calls.
    pub fn new<const N: usize>(sets: [(&'static str, Vec<Record>); N]) -> Self {
        Self {
            all: sets
                .map(|(name, records)| (name, Value::Array(records)))
                .into(),
            calls: Vec::new(),
            shown: |_, _, value| value.to_owned(),
        }
    }

    /// Returns the sets with calls, and with how the values of variables are shown.
    #[must_use]
    pub fn with(self, calls: Vec<Call>, shown: Shown) -> Self {
        Self {
            calls,
            shown,
            ..self
        }
    }

    /// Returns the records of a set that meet all conditions.
    pub fn of<'a>(
        &'a self,
        set: &str,
        conditions: &[&str],
    ) -> impl Iterator<Item = &'a Record> + use<'a> {
        let all = self.all.get(set).and_then(Value::as_array);
        let conditions: Vec<Condition<'_>> = conditions.iter().map(|c| Condition::new(c)).collect();
        let mut found: Vec<&Record> = all.into_iter().flatten().collect();
        found.retain(|record| conditions.iter().all(|c| c.is_met(record)));
        found.into_iter()
    }

    /// Fills a template about a record, if all that it names is known.
    pub fn filled(
        &self,
        template: &str,
        row: Option<&Record>,
        variables: &Variables,
    ) -> Option<String> {
        let scope = Scope {
            row,
            ..Scope::new(self, variables)
        };
        scope.text(template).ok()
    }

    /// Returns the variables' values, once for each choice of them; none if one is missing.
    pub fn choices(
        &self,
        each: &[(&'static str, &'static str)],
        before: &Variables,
    ) -> Vec<Variables> {
        Scope::new(self, before).bindings(each).unwrap_or_default()
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
    let sound = if counts(point) {
        Some(1)
    } else {
        (measured && !point.verified).then_some(0)
    };
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
        .with("sound", sound)
}
/// A sentence.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sentence {
    /// Variables of the whole sentence, which stands once for each choice of them.
    with: Vec<(&'static str, &'static str)>,
    /// The template, in which `{items}` stands for the items.
    text: &'static str,
    /// Variables of the items.
    each: Vec<(&'static str, &'static str)>,
    /// The template of an item; those that are not known are left out.
    item: &'static str,
    /// What stands between items; nothing stands for commas and an `and`.
    join: &'static str,
    /// What is said if this cannot be.
    or: &'static str,
}

impl Sentence {
    /// Returns the sentences about a document.
    pub fn said(&self, sets: &Sets, about: &Variables) -> Vec<String> {
        let all = sets.choices(&self.with, about);
        let mut said: Vec<String> = all.iter().filter_map(|v| self.one(sets, v)).collect();
        if said.is_empty() && !self.or.is_empty() {
            said.push(self.or.to_owned());
        }
        said
    }

    fn one(&self, sets: &Sets, with: &Variables) -> Option<String> {
        if self.item.is_empty() {
            return sets.filled(self.text, None, with);
        }
        let items = sets.choices(&self.each, with);
        let items = items.iter().filter_map(|v| sets.filled(self.item, None, v));
        let items: Vec<String> = items.collect();
        let joined = if self.join.is_empty() {
            and(&items)
        } else {
            items.join(self.join)
        };
        let (before, after) = self.text.split_once("{items}")?;
        let before = sets.filled(before, None, with)?;
        let after = sets.filled(after, None, with)?;
        (!items.is_empty()).then(|| before + &joined + &after)
    }
}
