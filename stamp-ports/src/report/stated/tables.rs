//! Tables as a page's JSON states them.

use crate::report::formula::Variables;
use crate::report::page::{NONE, table};
use crate::report::palette;
use crate::report::records::{Fields, Record, Sets};
use maud::{Markup, html};
use serde::Deserialize;

/// The columns of a table with a column for each value of a field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct By {
    /// The field.
    field: &'static str,
    /// The template of a cell.
    cell: &'static str,
    /// The values with their headings; if there are none, the variants in their order, or what
    /// stands there in that of its names.
    #[serde(default)]
    values: Vec<(&'static str, &'static str)>,
}

/// Columns with a variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Across {
    /// The variable and its values.
    each: (&'static str, &'static str),
    /// The template of the heading.
    head: &'static str,
    /// The template of a cell.
    cell: &'static str,
}

/// A table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    /// The template of its caption.
    name: &'static str,
    /// The set whose records its rows are about.
    of: &'static str,
    /// Sets and conditions; the table is there if each set has a record that meets its own.
    if_any: Vec<[&'static str; 2]>,
    /// The rows, where they are not of a set: fields by their numbers, from 0.
    rows: Vec<Vec<serde_json::Value>>,
    /// The field for each of whose values there is a table.
    each: &'static str,
    /// How many columns are words.
    left: usize,
    /// The headings of columns and the templates of their cells.
    columns: Vec<(&'static str, &'static str)>,
    /// Columns that are left out if no row fills them.
    if_filled: Vec<&'static str>,
    /// The fields that make a row, where several records are in one.
    key: Vec<&'static str>,
    /// Their columns.
    by: Option<By>,
    /// Columns behind these.
    across: Option<Across>,
    /// Whether a line says so if there are no rows.
    or_none: bool,
}

impl Table {
    /// Returns the tables about a document.
    pub fn made(&self, sets: &Sets, those: &[&str]) -> Vec<Markup> {
        let there = |[set, part]: &[&str; 2]| sets.of(set, &[part]).next().is_some();
        if !self.if_any.iter().all(there) {
            return Vec::new();
        }
        let literal: Vec<Record> = self.rows.iter().map(|row| numbered(row)).collect();
        let mut all: Vec<&Record> = sets.of(self.of, those).collect();
        all.extend(&literal);
        if all.is_empty() {
            let none = html! { p .none { "Not measured." } };
            return self.or_none.then_some(none).into_iter().collect();
        }
        let group = |record: &Record| record.word(self.each).unwrap_or_default();
        let mut groups: Vec<(String, Vec<&Record>)> = Vec::new();
        for record in all {
            let name = group(record);
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, own)) => own.push(record),
                None => groups.push((name, vec![record])),
            }
        }
        groups.iter().map(|(_, own)| self.one(sets, own)).collect()
    }

    fn one(&self, sets: &Sets, records: &[&Record]) -> Markup {
        let mut heads: Vec<String> = self
            .columns
            .iter()
            .map(|(head, _)| (*head).into())
            .collect();
        let by = self.by.as_ref().map(|by| (by, by.columns(records)));
        heads.extend(
            by.iter()
                .flat_map(|(_, c)| c.iter().map(|(_, head)| head.clone())),
        );
        let none = Variables::new();
        let across = self
            .across
            .as_ref()
            .map(|across| (across, sets.choices(&[across.each], &none)));
        if let Some((across, all)) = &across {
            let head = |v: &Variables| sets.filled(across.head, None, v).unwrap_or_default();
            heads.extend(all.iter().map(head));
        }
        let key = |record: &Record| -> Vec<Option<String>> {
            self.key.iter().map(|name| record.word(name)).collect()
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut seen = Vec::new();
        for record in records {
            let own = key(record);
            if !self.key.is_empty() && seen.contains(&own) {
                continue;
            }
            let variables = variables(record, self.rows.is_empty());
            let cell = |template: &str, record: &Record, variables: &Variables| {
                let filled = sets.filled(template, Some(record), variables);
                filled.unwrap_or_else(|| NONE.into())
            };
            let columns = self.columns.iter();
            let mut row: Vec<String> = columns.map(|(_, t)| cell(t, record, &variables)).collect();
            if let Some((by, columns)) = &by {
                row.extend(columns.iter().map(|(value, _)| {
                    let mut same = records.iter().filter(|r| key(r) == own);
                    let found = same.find(|r| r.word(by.field).as_ref() == Some(value));
                    found.map_or_else(|| NONE.into(), |r| cell(by.cell, r, &variables))
                }));
            }
            if let Some((across, all)) = &across {
                let with = |v: &Variables| [&variables[..], &v[..]].concat();
                row.extend(all.iter().map(|v| cell(across.cell, record, &with(v))));
            }
            seen.push(own);
            rows.push(row);
        }
        for head in &self.if_filled {
            let at = heads.iter().position(|known| known == head);
            if let Some(at) = at.filter(|at| rows.iter().all(|row| row[*at] == NONE)) {
                heads.remove(at);
                for row in &mut rows {
                    row.remove(at);
                }
            }
        }
        let name = sets.filled(self.name, records.first().copied(), &none);
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        table(&name.unwrap_or_default(), &heads, &rows, self.left)
    }
}

/// Returns a row's fields by their numbers.
fn numbered(row: &[serde_json::Value]) -> Record {
    let fields = row.iter().enumerate();
    fields.fold(Record::default(), |record, (i, value)| {
        record.with(&i.to_string(), value.clone())
    })
}

/// Returns a row's fields as variables; a record of a set has none.
fn variables(record: &Record, of_set: bool) -> Variables {
    let fields = record
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys())
        .filter(|_| !of_set);
    fields
        .map(|name| (name.clone(), record.word(name).unwrap_or_default()))
        .collect()
}

impl By {
    /// Returns the values with their headings.
    fn columns(&self, records: &[&Record]) -> Vec<(String, String)> {
        if !self.values.is_empty() {
            let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
            return self.values.iter().map(own).collect();
        }
        let values = records.iter().filter_map(|record| record.word(self.field));
        let mut values: Vec<String> = values.collect();
        values.sort_by_key(|name| (palette::rank(name), name.clone()));
        values.dedup();
        let head = |name: String| (name.clone(), name.replace('_', " "));
        values.into_iter().map(head).collect()
    }
}
