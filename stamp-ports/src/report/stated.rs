//! Sentences and tables as a page's JSON states them, made from a document.
//!
//! A template is a text with parts in braces: a field of the record that it is about,
//! `{tx_per_s:short}`, with its form behind the colon; a variable, `{$w}`; or a formula,
//! `{=list(best.gain, workload=$w); times}`, with its form behind the semicolon. If one of them
//! is not known, the part of the template behind ` || ` takes its place, and where there is none
//! the template as a whole is not known.

use super::figure::Figure;
use super::formula::{self, Source, Value, Variables, bindings};
use super::page::Section;
use super::palette;
use super::points::NOT_MEASURED;
use super::records::{Record, Sets, number, shown};
use super::table::{NONE, table};
use super::words::and;
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What templates are filled from: the document's records, and its answers to formulas.
pub struct From<'d, S> {
    /// The records.
    pub sets: &'d Sets,
    /// The document.
    pub source: &'d S,
}

/// A record, and the values of variables.
type About<'a> = (Option<&'a Record>, &'a Variables);

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
    fn formulas(&self) -> impl Iterator<Item = &'static str> {
        let variables = self
            .with
            .iter()
            .chain(&self.each)
            .map(|(_, values)| *values);
        variables.chain([self.text, self.item].into_iter().flat_map(formulas_of))
    }
}

/// Returns the formulas of a template.
fn formulas_of(template: &'static str) -> impl Iterator<Item = &'static str> {
    let parts = template.split('{').filter_map(|part| part.split_once('}'));
    parts.filter_map(|(part, _)| part.strip_prefix('='))
}

/// What a page says and shows of something.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Part {
    /// Its name in links.
    pub id: &'static str,
    /// Its heading.
    pub name: &'static str,
    /// The set that it is about: if that is empty, nothing was measured.
    of: &'static str,
    /// What it shows.
    shows: Vec<Sentence>,
    /// What the paper says of the same.
    pub theirs: Option<&'static str>,
    /// What `--only` of the command calls it, if it is one of its parts.
    pub only: Option<&'static str>,
    /// Its tables.
    tables: Vec<Table>,
    /// Sentences by their names, which figures say of their panels.
    panels: BTreeMap<&'static str, Sentence>,
}

impl Part {
    /// Returns whether there is anything of it.
    fn is_there<S: Source>(&self, from: &From<'_, S>) -> bool {
        self.of.is_empty() || from.sets.of(self.of, &[]).next().is_some()
    }

    /// Returns what it shows, in sentences.
    pub fn said<S: Source>(&self, from: &From<'_, S>) -> Vec<String> {
        if !self.is_there(from) {
            return vec![NOT_MEASURED.into()];
        }
        let none = Variables::new();
        self.shows
            .iter()
            .flat_map(|s| s.said(from, &none))
            .collect()
    }

    /// Returns what a panel shows, about the values of some variables.
    pub fn said_of<S: Source>(&self, from: &From<'_, S>, name: &str, v: &[(&str, &str)]) -> String {
        let v = v
            .iter()
            .map(|(name, value)| (format!("${name}"), (*value).to_owned()));
        self.panels[name].said(from, &v.collect()).join(" ")
    }

    /// Returns its tables.
    pub fn tables<S: Source>(&self, from: &From<'_, S>) -> Vec<Markup> {
        self.tables
            .iter()
            .flat_map(|table| table.made(from))
            .collect()
    }

    /// Returns the section of a page.
    pub fn section<S: Source>(&self, from: &From<'_, S>) -> Section {
        Section {
            id: self.id,
            name: self.name.into(),
            shows: self.said(from),
            theirs: self.theirs.map(String::from),
            body: self.tables(from),
            only: self.only,
        }
    }

    /// Returns the section of a figure, with its tables behind it.
    pub fn section_of<S: Source>(&self, from: &From<'_, S>, figure: &Figure) -> Section {
        Section {
            only: self.only,
            ..Section::of_figure(figure, self.theirs.unwrap_or_default(), self.tables(from))
        }
    }

    fn formulas(&self) -> impl Iterator<Item = &'static str> {
        let said = self.shows.iter().chain(self.panels.values());
        said.flat_map(Sentence::formulas)
            .chain(self.tables.iter().flat_map(Table::formulas))
    }
}

/// The parts of a page.
///
/// # Panics
/// If the file has another form, or a formula calls what nobody knows; a test reads each.
pub fn parts<S: Source>(json: &'static str) -> Vec<Part> {
    let parts: Vec<Part> = serde_json::from_str(json).expect("the file has parts of a page");
    for part in &parts {
        if let Some(name) = formula::unknown::<S>(part.formulas()) {
            panic!("a formula of {} calls {name}, which nobody knows", part.id);
        }
    }
    parts
}

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
    /// The conditions that these meet.
    of_those: Vec<&'static str>,
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
    fn formulas(&self) -> impl Iterator<Item = &'static str> {
        let cells = self.columns.iter().map(|(_, cell)| *cell);
        let cells = cells.chain(self.by.iter().map(|by| by.cell));
        let across = self.across.iter();
        let each = across.clone().map(|across| across.each.1);
        let cells = cells.chain(across.flat_map(|across| [across.head, across.cell]));
        cells.flat_map(formulas_of).chain(each)
    }

    /// Returns the tables about a document.
    pub fn made<S: Source>(&self, from: &From<'_, S>) -> Vec<Markup> {
        let literal: Vec<Record> = self.rows.iter().map(|row| numbered(row)).collect();
        let mut all: Vec<&Record> = from.sets.of(self.of, &self.of_those).collect();
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
        groups.iter().map(|(_, own)| self.one(from, own)).collect()
    }

    fn one<S: Source>(&self, from: &From<'_, S>, records: &[&Record]) -> Markup {
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
        let across = self.across.as_ref().map(|across| {
            let all = bindings(from.source, &[across.each], &none);
            (across, all.unwrap_or_default())
        });
        if let Some((across, all)) = &across {
            let head = |v: &Variables| from.filled(across.head, (None, v)).unwrap_or_default();
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
                let filled = from.filled(template, (Some(record), variables));
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
        let name = from.filled(self.name, (records.first().copied(), &none));
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
    let fields = record.0.keys().filter(|_| !of_set);
    fields
        .map(|name| (format!("${name}"), record.word(name).unwrap_or_default()))
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
