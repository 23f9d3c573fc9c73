//! Records: points with their fields by their names; which points of `bench sync` and `bench nw`
//! count; and sentences about a document, as they are stated.

use super::claim::{Claim, Row, judge};
use super::formula::{Each, Scope, Sets, Variables, stated};
use crate::numbers::and;
use crate::points::Point;
use crate::sync::Bench;
use serde::Deserialize;
use serde_json::{Value, json};

/// A point with its fields by their names.
pub(crate) type Record = Value;

/// Returns a record with further fields; nothing stands where a value is not known.
pub(crate) fn with(mut record: Record, fields: Value) -> Record {
    if let (Value::Object(own), Value::Object(fields)) = (&mut record, fields) {
        own.extend(fields);
    }
    record
}

/// Returns whether a point has a time that counts: nothing rests on a wrong result.
pub(super) fn counts(point: &Point) -> bool {
    let positive = |x: f64| x.is_finite() && x > 0.0;
    point.verified && positive(point.ms) && positive(point.per_s)
}

/// Returns what is so of a whole document.
pub(super) fn whole(bench: &Bench) -> Record {
    json!({"gpu": u64::from(bench.head.device.gpu.is_some())})
}

/// Judges rows of claims, which are about GPUs, so the document of a CPU judges none.
pub(super) fn judged(bench: &Bench, sets: &Sets, rows: &'static str) -> Vec<Claim> {
    let of = |row: &Row| match bench.head.device.gpu {
        Some(_) => judge(row, sets),
        None => judge(row, sets).without_judgement("measured on a CPU, which this is not about"),
    };
    stated::<Vec<Row>>(rows).iter().map(of).collect()
}

/// Returns the record of a point: its parameters are fields too, and what was not measured is
/// not known.
pub(super) fn record(point: &Point) -> Record {
    let (measured, counts) = (point.repeat > 0, counts(point));
    let known = |x: f64| Some(x).filter(|_| measured);
    let launch = match point.blocks {
        // The program chose, and said how many in the note.
        0 => format!("as noted x {}", point.threads),
        blocks => format!("{blocks} x {}", point.threads),
    };
    let said = point.parameters_told(", ");
    let both = point.most.zip(point.fewest.filter(|n| *n > 0));
    let wrong = measured && !point.verified;
    let more = json!({
        "counts": u64::from(counts), "launch": launch,
        "said": Some(said).filter(|words| !words.is_empty()),
        "time": known(point.ms), "time_min": known(point.ms_min), "time_max": known(point.ms_max),
        "rate": known(point.per_s), "runs": Some(point.repeat).filter(|_| measured),
        "right": measured.then_some(point.verified),
        "unfairness": both.map(|(most, fewest)| most as f64 / fewest as f64),
        "hop": point.ms / point.operations.max(1) as f64,
        "sound": (counts || wrong).then_some(u64::from(counts)),
    });
    with(with(json!(point), json!(point.parameters)), more)
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Sentence {
    /// Variables of the whole sentence, which stands once for each choice of them.
    with: Vec<Each>,
    /// The template, in which `{items}` stands for the items.
    text: &'static str,
    each: Vec<Each>,
    /// The path of the records that the items are about, if they are not about choices.
    of: &'static str,
    /// The template of an item; those that are not known are left out.
    item: &'static str,
    /// What stands between items; nothing stands for commas and an `and`.
    join: &'static str,
    or: &'static str,
}

/// Returns what sentences say of a document.
pub(super) fn said(all: &[Sentence], sets: &Sets) -> Vec<String> {
    let said = all.iter().flat_map(|s| s.said(sets, &Variables::new()));
    said.collect()
}

impl Sentence {
    pub(super) fn said(&self, sets: &Sets, about: &Variables) -> Vec<String> {
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
        let filled = |row, variables: &Variables| sets.filled(self.item, row, variables);
        let items: Vec<String> = if let Some(records) = Scope::new(sets, with).path(self.of) {
            let records = records.unwrap_or_default().into_iter();
            records.filter_map(|r| filled(Some(r), with)).collect()
        } else {
            let choices = sets.choices(&self.each, with);
            choices.iter().filter_map(|v| filled(None, v)).collect()
        };
        let joined = match self.join {
            "" => and(&items),
            join => items.join(join),
        };
        let (before, after) = self.text.split_once("{items}")?;
        let around = |text| sets.filled(text, None, with);
        let text = around(before)? + &joined + &around(after)?;
        Some(text).filter(|_| !items.is_empty())
    }
}
