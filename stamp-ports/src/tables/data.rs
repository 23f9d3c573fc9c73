//! The result files, and the path by which a table names a value in them.
//!
//! A path is `FILE:STEPS`, or `.STEPS` within the row of a table whose rows come from the data.
//! `FILE` is a file of the definitions or one of their aliases. Steps are names of fields,
//! separated by dots; a field of an array is that field of each of its elements, `*` is all
//! fields, and `[key=value key!=value key^=beginning]` keeps the elements that match, where `_`
//! stands for a blank or itself and `a/b` is a field of a field:
//!
//! ```text
//! h200/paper.json:speedups[workload=ra variant=hv-sorting].over_cgl
//! ```
//!
//! What the tables are stands in rows of `tables.json`.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was not measured: nothing is selected, there is no such field, or it is null.
    Missing(String),
    /// The definition or the data are wrong.
    Wrong(String),
}

/// A value, or why there is none.
pub type Found<T> = Result<T, Failure>;

/// Says that the definition or the data are wrong.
pub fn wrong<T>(why: impl Into<String>) -> Found<T> {
    Err(Failure::Wrong(why.into()))
}

/// One result file: its text, and its values.
#[derive(Debug)]
struct File {
    text: String,
    value: Value,
}

/// The result files of a folder.
#[derive(Debug)]
pub struct Data<'d> {
    definitions: &'d Definitions,
    files: BTreeMap<String, File>,
    used: RefCell<BTreeSet<String>>,
}

impl<'d> Data<'d> {
    /// Reads the files of the definitions.
    ///
    /// # Errors
    /// Names the file that cannot be read.
    pub fn load(folder: &Path, definitions: &'d Definitions) -> Result<Self, String> {
        let texts = definitions.files.iter().map(|source| {
            let path = folder.join(&source.file);
            let failed = |error| format!("cannot read {}: {error}", path.display());
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            Ok((source.file.clone(), text))
        });
        Self::of(definitions, texts.collect::<Result<_, String>>()?)
    }

    /// Parses files with these names and texts.
    pub(super) fn of(
        definitions: &'d Definitions,
        texts: BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        for (name, text) in texts {
            let value = parse(&name, &text).map_err(|error| format!("{name}: {error}"))?;
            files.insert(name, File { text, value });
        }
        Ok(Self {
            definitions,
            files,
            used: RefCell::default(),
        })
    }

    /// Returns the files that were asked for a value since this was last called.
    pub fn take_used(&self) -> BTreeSet<String> {
        self.used.take()
    }

    /// Returns the text of a file.
    pub fn text(&self, file: &str) -> Found<&str> {
        Ok(&self.file(file)?.text)
    }

    /// Returns all values of a file.
    pub fn whole(&self, file: &str) -> Found<&Value> {
        Ok(&self.file(file)?.value)
    }

    fn file(&self, name: &str) -> Found<&File> {
        self.used.borrow_mut().insert(name.to_owned());
        self.files
            .get(name)
            .ok_or_else(|| Failure::Wrong(format!("there is no result file {name}")))
    }

    /// Returns the values that a path names, at least one; `row` is what a path without a file
    /// begins at.
    pub fn all<'a>(&'a self, path: &str, row: Option<&'a Value>) -> Found<Vec<&'a Value>> {
        let Some((file, steps)) = path.split_once(':') else {
            let steps = path.strip_prefix('.').zip(row);
            let Some((steps, row)) = steps else {
                return wrong(format!("`{path}` is not FILE:FIELD"));
            };
            return values(vec![row], steps, path);
        };
        match self.definitions.aliases.get(file) {
            Some(alias) => self.all(&format!("{alias}.{steps}"), None),
            None => values(vec![self.whole(file)?], steps, path),
        }
    }
}

/// Goes along steps; an array at the end is its elements.
fn values<'a>(mut found: Vec<&'a Value>, steps: &str, path: &str) -> Found<Vec<&'a Value>> {
    for step in split_steps(steps) {
        found = follow(&found, step)?;
    }
    if let [Value::Array(elements)] = found[..] {
        found = elements.iter().collect();
    }
    if found.is_empty() || found.iter().all(|value| value.is_null()) {
        return Err(Failure::Missing(format!("nothing matches `{path}`")));
    }
    Ok(found)
}

/// The values of a file: JSON, one JSON value a line, or a log.
fn parse(name: &str, text: &str) -> Result<Value, serde_json::Error> {
    match name.rsplit('.').next() {
        Some("json") => serde_json::from_str(text),
        Some("jsonl") => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(serde_json::from_str::<Value>).collect()
        }
        _ => Ok(log(text)),
    }
}

/// What a log says: the command of its first line, the first commit that it names, the violations
/// that it counts, and the rows of its tables.
fn log(text: &str) -> Value {
    let command = text.lines().next().unwrap_or_default();
    let command = command.split(", of the source").next();
    let commit = text.split_once("at commit ").map(|(_, rest)| {
        let hexadecimal = rest.split(|c: char| !c.is_ascii_hexdigit());
        hexadecimal.take(1).collect::<String>()
    });
    let violations = text
        .lines()
        .find_map(|line| line.strip_suffix(" violations"));
    let mut log = json!({ "command": command, "rows": log_rows(text) });
    for (name, value) in [
        ("commit", commit),
        ("violations", violations.map(str::to_owned)),
    ] {
        if let Some(value) = value {
            log[name] = value.into();
        }
    }
    log
}

/// The rows of all tables that `verify` or `stamp record` printed into a log: a header that
/// begins with `variant`, `defect` or `mutant`, then rows until a line that has fewer columns.
/// The last column takes the rest of its line.
fn log_rows(text: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines() {
        let header = format!("{line} ")
            .replace("killed by", "killed_by")
            .replace(" s ", "_s ");
        let is_header = ["variant ", "defect ", "mutant "]
            .iter()
            .any(|word| header.starts_with(word));
        if is_header {
            columns = header.split_whitespace().map(str::to_owned).collect();
            continue;
        }
        // A note about a row stands between rows; a command or a comment ends the table.
        if line.starts_with("verify:") {
            continue;
        }
        let cells: Vec<&str> = line.split_whitespace().collect();
        let is_number = |cell: &&str| cell.parse::<f64>().is_ok();
        if line.starts_with(['$', '#', '='])
            || columns.is_empty()
            || cells.len() < columns.len()
            || !cells[2..].iter().any(is_number)
        {
            columns.clear();
            continue;
        }
        let last = columns.len() - 1;
        let mut row = Map::new();
        for (i, column) in columns.iter().enumerate() {
            let end = if i == last { cells.len() } else { i + 1 };
            row.insert(column.clone(), cells[i..end].join(" ").into());
        }
        rows.push(Value::Object(row));
    }
    rows
}

/// Cuts steps at dots and before brackets, but not within brackets.
fn split_steps(steps: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut within) = (0, false);
    for (i, c) in steps.char_indices() {
        match c {
            '[' | '.' if !within => {
                found.push(&steps[start..i]);
                within = c == '[';
                start = i + usize::from(!within);
            }
            ']' => within = false,
            _ => {}
        }
    }
    found.push(&steps[start..]);
    found.retain(|step| !step.is_empty());
    found
}

/// Goes one step from each value.
fn follow<'a>(values: &[&'a Value], step: &str) -> Found<Vec<&'a Value>> {
    let elements = values.iter().flat_map(|value| match value {
        Value::Array(elements) => elements.iter().collect(),
        other => vec![*other],
    });
    if step == "*" {
        let fields = elements.filter_map(Value::as_object);
        return Ok(fields.flat_map(Map::values).collect());
    }
    let Some(filter) = step.strip_prefix('[') else {
        let found: Vec<&Value> = elements.filter_map(|value| value.get(step)).collect();
        return if found.is_empty() {
            Err(Failure::Missing(format!(
                "the data has no field `{step}` there"
            )))
        } else {
            Ok(found)
        };
    };
    let Some(filter) = filter.strip_suffix(']') else {
        return wrong(format!("`{step}` has no end"));
    };
    let mut conditions = Vec::new();
    for condition in filter.split_whitespace() {
        let Some(parts) = condition.split_once('=') else {
            return wrong(format!("`{condition}` is not key=value"));
        };
        conditions.push(parts);
    }
    let kept: Vec<&Value> = elements
        .filter(|value| conditions.iter().all(|part| holds(value, *part)))
        .collect();
    if kept.is_empty() {
        return Err(Failure::Missing(format!("nothing in the data is `{step}`")));
    }
    Ok(kept)
}

/// Whether a value has the field that a condition names, with that value; a key that ends in `!`
/// asks for another value, one that ends in `^` for a beginning.
fn holds(value: &Value, (key, wanted): (&str, &str)) -> bool {
    let field = key.trim_end_matches(['!', '^']);
    let found = field
        .split('/')
        .try_fold(value, |value, key| value.get(key));
    let text = match found {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return false,
    };
    let blank = wanted.replace('_', " ");
    match &key[field.len()..] {
        "^" => text.starts_with(wanted) || text.starts_with(&blank),
        "!" => text != wanted && text != blank,
        _ => text == wanted || text == blank,
    }
}

/// The tables and the files that they are made from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definitions {
    /// The result files.
    pub files: Vec<Source>,
    /// Names of parts of files, each with the path that it stands for.
    pub aliases: BTreeMap<String, String>,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A result file. What it does not say itself of its measurement stands here; what it says must
/// not.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its path below the folder of results.
    pub file: String,
    /// What it was measured on.
    pub machine: Option<String>,
    /// The day.
    pub date: Option<String>,
    /// The commit that was measured, and how that is known.
    pub commit: Option<String>,
    /// Whether the file is from before documents named the checksum of the PTX that was measured
    /// (`ptx`). No new file of a GPU is.
    #[serde(default)]
    pub before_ptx: bool,
}

/// A table: a cell is the template of its column with the words of its row.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    /// Its name in the marker.
    pub name: String,
    /// The names of the words of a row; a template has them behind `$`.
    pub words: Vec<String>,
    /// The rows.
    pub rows: Rows,
    /// The headers and templates. A column with `$across` stands once for each word of `across`.
    pub columns: Vec<[String; 2]>,
    /// The words for `$across`.
    pub across: Vec<String>,
    /// The words for `$each`, all of which a function takes.
    pub each: Vec<String>,
    /// Further words, the same in all rows; they and the words of rows may have words in them.
    #[serde(rename = "let")]
    pub same: BTreeMap<String, String>,
    /// What stands in a cell that was not measured. Without it that is an error.
    pub missing: Option<String>,
    /// In place of rows: a file, and the beginning of the line from which on it is shown.
    pub excerpt: Option<[String; 2]>,
}

/// The rows of a table.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Rows {
    /// Their words.
    Words(Vec<Vec<String>>),
    /// The path of an array, of which each element is a row.
    Elements(String),
}

impl Default for Rows {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl Definitions {
    /// Reads definitions.
    ///
    /// # Errors
    /// Says what is wrong with the JSON text.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("the tables' definitions: {error}"))
    }
}
