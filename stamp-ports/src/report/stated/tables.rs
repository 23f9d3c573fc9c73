//! Tables as a page's JSON states them.

use crate::report::formula::{Each, Sets, Variables, word};
use crate::report::page::{NONE, table};
use crate::report::palette;
use crate::report::records::Record;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A column for each value of a field, the variants in their order and others behind by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct By {
    field: &'static str,
    cell: &'static str,
}

/// Columns with a variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Across {
    each: Each,
    head: &'static str,
    cell: &'static str,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Table {
    name: &'static str,
    /// The set whose records its rows are about.
    of: &'static str,
    /// Sets and conditions; the table is there if each set has a record that meets its own.
    if_any: Vec<[&'static str; 2]>,
    /// The rows, where they are not of a set: fields by their numbers, from 0.
    rows: Vec<Vec<Value>>,
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
    pub(crate) fn made(&self, sets: &Sets, those: &[&str]) -> Vec<Markup> {
        let there = |[set, part]: &[&str; 2]| !sets.of(set, &[part]).is_empty();
        if !self.if_any.iter().all(there) {
            return Vec::new();
        }
        let literal: Vec<Record> = self.rows.iter().map(|row| numbered(row)).collect();
        let mut all = sets.of(self.of, those);
        all.extend(&literal);
        if all.is_empty() {
            let none = html! { p .none { "Not measured." } };
            return self.or_none.then_some(none).into_iter().collect();
        }
        let mut groups: Vec<Vec<&Record>> = Vec::new();
        for record in all {
            let is_of = |own: &&mut Vec<&Record>| own[0][self.each] == record[self.each];
            match groups.iter_mut().find(is_of) {
                Some(own) => own.push(record),
                None => groups.push(vec![record]),
            }
        }
        groups.iter().map(|own| self.one(sets, own)).collect()
    }

    fn one(&self, sets: &Sets, records: &[&Record]) -> Markup {
        let columns = self.columns_of(sets, records);
        let same = |a: &Record, b: &Record| self.key.iter().all(|name| a[*name] == b[*name]);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (i, record) in records.iter().enumerate() {
            if !self.key.is_empty() && records[..i].iter().any(|r| same(r, record)) {
                continue;
            }
            let cell = |column: &Column<'_>| {
                let about = match &column.of {
                    None => record,
                    Some((field, value)) => {
                        let mut own = records.iter().filter(|r| same(r, record));
                        own.find(|r| r[*field] == *value)?
                    }
                };
                let own = variables(record, self.rows.is_empty());
                let variables = [own, column.variables.clone()].concat();
                sets.filled(column.cell, Some(about), &variables)
            };
            let cells = columns.iter().map(cell);
            let cells = cells.map(|cell| cell.unwrap_or_else(|| NONE.into()));
            rows.push(cells.collect());
        }
        let is_filled = |i: &usize| {
            let may_lack = self.if_filled.contains(&columns[*i].head.as_str());
            !may_lack || rows.iter().any(|row| row[*i] != NONE)
        };
        let shown: Vec<usize> = (0..columns.len()).filter(is_filled).collect();
        let pick = |row: &Vec<String>| shown.iter().map(|i| row[*i].clone()).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(pick).collect();
        let heads: Vec<&str> = shown.iter().map(|i| columns[*i].head.as_str()).collect();
        let name = sets.filled(self.name, records.first().copied(), &Variables::new());
        table(&name.unwrap_or_default(), &heads, &rows, self.left)
    }

    /// Returns the columns: those that are stated, one for each value of a field, and one for each
    /// choice of a variable.
    fn columns_of(&self, sets: &Sets, records: &[&Record]) -> Vec<Column<'_>> {
        let plain = self.columns.iter().map(|(head, cell)| Column {
            head: (*head).into(),
            cell,
            ..Column::default()
        });
        let by = self.by.iter().flat_map(|by| {
            let values = records.iter().filter_map(|record| word(&record[by.field]));
            let values: BTreeSet<_> = values.map(|name| (palette::rank(&name), name)).collect();
            values.into_iter().map(|(_, value)| Column {
                head: value.replace('_', " "),
                cell: by.cell,
                of: Some((by.field, value.into())),
                ..Column::default()
            })
        });
        let across = self.across.iter().flat_map(|across| {
            let all = sets.choices(&[across.each], &Variables::new()).into_iter();
            all.map(|variables| {
                let head = sets.filled(across.head, None, &variables);
                Column {
                    head: head.unwrap_or_default(),
                    cell: across.cell,
                    variables,
                    ..Column::default()
                }
            })
        });
        plain.chain(by).chain(across).collect()
    }
}

#[derive(Debug, Default)]
struct Column<'t> {
    head: String,
    cell: &'t str,
    /// The field and its value of the record that a cell is about, if that is not the row's.
    of: Option<(&'t str, Value)>,
    variables: Variables,
}

/// Returns a row's fields by their numbers.
fn numbered(row: &[Value]) -> Record {
    let fields = row.iter().enumerate();
    let fields = fields.map(|(i, value)| (i.to_string(), value.clone()));
    Value::Object(fields.collect())
}

/// Returns a row's fields as variables; a record of a set has none.
fn variables(record: &Record, of_set: bool) -> Variables {
    let fields = record.as_object().filter(|_| !of_set);
    let names = fields.into_iter().flat_map(|fields| fields.keys());
    let value = |name: &String| (name.clone(), word(&record[name]).unwrap_or_default());
    names.map(value).collect()
}
