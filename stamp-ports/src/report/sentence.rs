//! Sentences as a page's JSON states them, made from a document.
//!
//! A template is a text with parts in braces: a field of the record that it is about,
//! `{tx_per_s:short}`, with its form behind the colon; a variable, `{$w}`; or a formula,
//! `{=list(best.gain, workload=$w); times}`, with its form behind the semicolon. If one of them
//! is not known, the part of the template behind ` || ` takes its place, and where there is none
//! the template as a whole is not known.

use super::formula::{self, Source, Value, Variables, bindings};
use super::records::{Record, Sets, number, shown};
use crate::numbers::and;
use serde::Deserialize;

/// What stands where nothing was measured.
pub const NOT_MEASURED: &str = "Not measured.";

/// What templates are filled from: the document's records, and its answers to formulas.
pub struct From<'d, S> {
    /// The records.
    pub sets: &'d Sets,
    /// The document.
    pub source: &'d S,
}

/// A record, and the values of variables.
pub type About<'a> = (Option<&'a Record>, &'a Variables);

impl<S: Source> From<'_, S> {
    /// Fills a template, if all that it names is known.
    pub fn filled(&self, template: &str, about: About<'_>) -> Option<String> {
        let mut ways = template.split(" || ");
        ways.find_map(|way| self.way(way, about))
    }

    fn way(&self, template: &str, (record, variables): About<'_>) -> Option<String> {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (part, after) = after.split_once('}')?;
            let words = if let Some(formula) = part.strip_prefix('=') {
                let (formula, form) = formula.split_once("; ").unwrap_or((formula, ""));
                match formula::value(self.source, formula, variables) {
                    Value::Words(words) if words.is_empty() => None,
                    Value::Words(words) => Some(and(&words)),
                    Value::Numbers(all) => all[0].and_then(|x| number(x, None, form)),
                }
            } else if let Some(name) = part.strip_prefix('$') {
                let mut all = variables.iter();
                let value = all.find(|(known, _)| known[1..] == *name);
                value.map(|(_, value)| self.source.shown(name, value))
            } else {
                let (name, form) = part.split_once(':').unwrap_or((part, ""));
                record.and_then(|record| shown(record.0.get(name)?, form))
            };
            text = text + before + &words?;
            rest = after;
        }
        Some(text + rest)
    }
}

/// A sentence.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sentence {
    /// Variables of the whole sentence, of which the first choice counts.
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
    /// Returns the sentences about a document: one for each choice of the variables.
    pub fn said<S: Source>(&self, from: &From<'_, S>, about: &Variables) -> Vec<String> {
        let all = bindings(from.source, &self.with, about).unwrap_or_default();
        let mut said: Vec<String> = all.iter().filter_map(|v| self.one(from, v)).collect();
        if said.is_empty() && !self.or.is_empty() {
            said.push(self.or.to_owned());
        }
        said
    }

    fn one<S: Source>(&self, from: &From<'_, S>, with: &Variables) -> Option<String> {
        if self.item.is_empty() {
            return from.filled(self.text, (None, with));
        }
        let items = bindings(from.source, &self.each, with).ok()?;
        let items = items
            .iter()
            .filter_map(|v| from.filled(self.item, (None, v)));
        let items: Vec<String> = items.collect();
        let joined = if self.join.is_empty() {
            and(&items)
        } else {
            items.join(self.join)
        };
        let (before, after) = self.text.split_once("{items}")?;
        let before = from.filled(before, (None, with))?;
        let after = from.filled(after, (None, with))?;
        (!items.is_empty()).then(|| before + &joined + &after)
    }

    /// Returns all formulas.
    pub fn formulas(&self) -> impl Iterator<Item = &'static str> {
        let variables = self
            .with
            .iter()
            .chain(&self.each)
            .map(|(_, values)| *values);
        variables.chain([self.text, self.item].into_iter().flat_map(formulas_of))
    }
}

/// Returns the formulas of a template.
pub fn formulas_of(template: &'static str) -> impl Iterator<Item = &'static str> {
    let parts = template.split('{').filter_map(|part| part.split_once('}'));
    parts.filter_map(|(part, _)| part.strip_prefix('='))
}
