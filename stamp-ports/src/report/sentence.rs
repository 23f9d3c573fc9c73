//! Sentences as a page's JSON states them, made from a document.

use super::formula::{Variables, formulas_of};
use super::records::Sets;
use crate::numbers::and;
use serde::Deserialize;

/// What stands where nothing was measured.
pub const NOT_MEASURED: &str = "Not measured.";

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

    /// Returns all formulas.
    pub fn formulas(&self) -> impl Iterator<Item = &'static str> {
        let variables = self.with.iter().chain(&self.each);
        let variables = variables.map(|(_, values)| *values);
        variables.chain([self.text, self.item].into_iter().flat_map(formulas_of))
    }
}
