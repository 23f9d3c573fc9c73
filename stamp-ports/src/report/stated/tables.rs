//! Tables as JSON states them: of a page, or of a document in Markdown.

use crate::report::formula::{Failure, Found, Scope, Sets, Variables, word, wrong};
use crate::report::page::{NONE, table};
use crate::report::palette;
use crate::report::records::Record;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A column for each value of a field, the variants in their order and others behind by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct By {
    field: &'static str,
    cell: &'static str,
}

/// A cell is the template of its column about a record, with words behind `$`: fields of the
/// record, those that the table has for all rows, and `across`. They may have words in them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The set whose records its rows are about, or the path of an array of a result file.
    of: &'static str,
    /// Sets and conditions; the table is there if each set has a record that meets its own.
    if_any: Vec<[&'static str; 2]>,
    /// The rows, where they are not of a set, and the names of their fields; without names these
    /// are numbers, from 0.
    rows: Vec<Vec<Value>>,
    words: Vec<&'static str>,
    /// Further words, the same in all rows.
    #[serde(rename = "let")]
    same: BTreeMap<&'static str, &'static str>,
    /// The field for each of whose values there is a table.
    each: &'static str,
    /// How many columns are words.
    left: usize,
    /// The headings of columns and the templates of their cells. One with `$across` stands for each
    /// of some words, or of those that an expression yields.
    columns: Vec<(&'static str, &'static str)>,
    across: Option<&'static str>,
    /// Columns that are left out if no row fills them.
    if_filled: Vec<&'static str>,
    /// The fields that make a row, where several records are in one.
    key: Vec<&'static str>,
    /// Their columns.
    by: Option<By>,
    /// Whether a line says so if there are no rows.
    or_none: bool,
    /// What stands in a document's cell that was not measured. Without it that is an error.
    missing: Option<&'static str>,
}

/// The headings, and rows of cells or of why there is none.
type Filled = (Vec<String>, Vec<Vec<Found<String>>>);

impl Table {
    /// Returns the tables of a page about a document.
    pub(crate) fn made(&self, sets: &Sets, those: &[&str]) -> Vec<Markup> {
        let there = |[set, part]: &[&str; 2]| !sets.of(set, &[part]).is_empty();
        if !self.if_any.iter().all(there) {
            return Vec::new();
        }
        let literal = self.literal();
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
        let (mut heads, rows) = self.filled(sets, records);
        let row = |row: Vec<Found<String>>| {
            let cells = row.into_iter();
            cells.map(|cell| cell.unwrap_or_else(|_| NONE.into()))
        };
        let mut rows: Vec<Vec<String>> = rows.into_iter().map(|r| row(r).collect()).collect();
        for i in (0..heads.len()).rev() {
            let may_lack = self.if_filled.contains(&heads[i].as_str());
            if may_lack && rows.iter().all(|row| row[i] == NONE) {
                heads.remove(i);
                for row in &mut rows {
                    row.remove(i);
                }
            }
        }
        let name = sets.filled(self.name, records.first().copied(), &Variables::new());
        table(&name.unwrap_or_default(), &heads, &rows, self.left)
    }

    /// Returns the table of a document, whole lines.
    pub(crate) fn markdown(&self, sets: &Sets) -> Found<String> {
        let literal = self.literal();
        let mut all: Vec<&Record> = literal.iter().collect();
        if !self.of.is_empty() {
            let path = Scope::new(sets, &[]).path(self.of);
            all.extend(path.unwrap_or_else(|| wrong("no path"))?);
        }
        let (heads, rows) = self.filled(sets, &all);
        let line = " --- |".repeat(heads.len());
        let mut text = format!("| {} |\n|{line}\n", heads.join(" | "));
        for row in rows {
            let cells = row.into_iter().map(|cell| match (cell, self.missing) {
                (Err(Failure::Missing(_)), Some(missing)) => Ok(missing.to_owned()),
                (cell, _) => cell,
            });
            let cells: Found<Vec<String>> = cells.collect();
            let _ = writeln!(text, "| {} |", cells?.join(" | "));
        }
        Ok(text)
    }

    fn filled(&self, sets: &Sets, records: &[&Record]) -> Filled {
        let columns = self.columns_of(sets, records);
        let same = |a: &Record, b: &Record| self.key.iter().all(|name| a[*name] == b[*name]);
        let mut rows = Vec::new();
        for (i, record) in records.iter().enumerate() {
            if !self.key.is_empty() && records[..i].iter().any(|r| same(r, record)) {
                continue;
            }
            let cell = |column: &Column<'_>| {
                let of_value = |(field, value): &(&str, Value)| {
                    let mut own = records.iter().filter(|r| same(r, record));
                    own.find(|r| r[*field] == *value).copied()
                };
                let row = column.of.as_ref().map_or(Some(*record), of_value);
                let template = self.with_words(column, record)?;
                let scope = Scope::new(sets, &[]);
                row.map_or_else(|| wrong(""), |_| Scope { row, ..scope }.text(&template))
            };
            rows.push(columns.iter().map(cell).collect());
        }
        (
            columns.into_iter().map(|column| column.head).collect(),
            rows,
        )
    }

    /// Returns the template of a cell with words put in, until there are none left.
    fn with_words(&self, column: &Column<'_>, record: &Record) -> Found<String> {
        let (mut text, mut rest) = (String::new(), column.cell.to_owned());
        while let Some((before, after)) = rest.split_once('$') {
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '-');
            let (name, after) = after.split_at(end.unwrap_or(after.len()));
            text += before;
            let across = column.across.clone().filter(|_| name == "across");
            let same = || self.same.get(name).map(|word| (*word).to_owned());
            rest = match word(&record[name]).or(across).or_else(same) {
                Some(word) => word + after,
                None => return wrong(format!("`${name}` is no word of the table")),
            };
        }
        Ok(text + &rest)
    }

    /// Returns the columns: those that are stated, and one for each value of a field.
    fn columns_of(&self, sets: &Sets, records: &[&Record]) -> Vec<Column<'_>> {
        let across = self.across.map(|words| {
            let choices = sets
                .choices(&[("across", words)], &Variables::new())
                .into_iter();
            choices.flatten().map(|(_, word)| Some(word)).collect()
        });
        let across: Vec<Option<String>> = across.unwrap_or_default();
        let plain = self.columns.iter().flat_map(|&(head, cell)| {
            let is_across = head.contains("$across") || cell.contains("$across");
            let words = if is_across { &across[..] } else { &[None] };
            words.iter().map(move |word| Column {
                head: head.replace("$across", word.as_deref().unwrap_or_default()),
                cell,
                across: word.clone(),
                of: None,
            })
        });
        let by = self.by.iter().flat_map(|by| {
            let values = records.iter().filter_map(|record| word(&record[by.field]));
            let values: BTreeSet<_> = values.map(|name| (palette::rank(&name), name)).collect();
            values.into_iter().map(|(_, value)| Column {
                head: value.replace('_', " "),
                cell: by.cell,
                across: None,
                of: Some((by.field, value.into())),
            })
        });
        plain.chain(by).collect()
    }

    /// Returns the stated rows as records.
    fn literal(&self) -> Vec<Record> {
        let field = |(i, value): (usize, &Value)| {
            let name = self.words.get(i).map(|name| (*name).to_owned());
            (name.unwrap_or_else(|| i.to_string()), value.clone())
        };
        let record = |row: &Vec<Value>| row.iter().enumerate().map(field).collect();
        self.rows
            .iter()
            .map(|row| Value::Object(record(row)))
            .collect()
    }
}

#[derive(Debug)]
struct Column<'t> {
    head: String,
    cell: &'t str,
    /// The word of `$across`, if it has one.
    across: Option<String>,
    /// The field and its value of the record that a cell is about, if that is not the row's.
    of: Option<(&'t str, Value)>,
}
