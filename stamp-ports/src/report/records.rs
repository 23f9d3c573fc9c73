//! Records: points with their fields by their names.
//!
//! The points of `bench sync` and `bench nw` are here: which count, as records, and in the table of
//! all; and sentences about a document, as they are stated.

use super::claim::{Claim, Row, judge};
use super::formula::{Sets, Variables, stated};
use crate::numbers::and;
use crate::points::Point;
use crate::sync::Bench;
use serde::Deserialize;
use serde_json::{Value, json};

/// A point with its fields by their names.
pub type Record = Value;

/// A record that grows.
pub trait Fields {
    /// Returns the record with another field; nothing stands where the value is not known.
    #[must_use]
    fn with(self, name: &str, value: impl Into<Value>) -> Self;
}

impl Fields for Record {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self[name] = value.into();
        self
    }
}

/// The table of all points of a part, those without a time too.
pub const TABLE: &str = include_str!("points.json");

/// Returns whether a point has a time that counts: nothing rests on a wrong result.
pub fn counts(point: &Point) -> bool {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    point.verified && positive(point.ms) && positive(point.per_s)
}

/// Judges rows of claims, which are about GPUs, so the document of a CPU judges none.
pub fn judged(bench: &Bench, sets: &Sets, rows: &'static str) -> Vec<Claim> {
    let of = |row: &Row| match bench.head.device.gpu {
        Some(_) => judge(row, sets),
        None => judge(row, sets).without_judgement("measured on a CPU, which this is not about"),
    };
    stated::<Vec<Row>>(rows).iter().map(of).collect()
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
    let record = parameters.fold(json!(point), |record, (name, n)| record.with(name, *n));
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
