//! The result files, which `files.json` lists.

use crate::report::jq::Sets;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn load(folder: &Path, files: &[File]) -> Result<Sets, String> {
    let texts = files.iter().map(|source| {
        let path = folder.join(&source.path);
        let failed = |error| format!("cannot read {}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(failed)?;
        Ok((source.path.clone(), text))
    });
    of(texts.collect::<Result<_, String>>()?)
}

pub(super) fn of(texts: BTreeMap<String, String>) -> Result<Sets, String> {
    let parsed = texts.into_iter().map(|(name, text)| {
        let value = match name.rsplit_once('.') {
            Some((_, "json")) => serde_json::from_str(&text),
            _ => Ok(log(&text)),
        };
        let value = value.map_err(|error| format!("{name}: {error}"))?;
        Ok((name, value))
    });
    Ok(Sets::of_files(&parsed.collect::<Result<_, String>>()?))
}

/// What a log says: the command of its first line, the first commit and the first checksum of PTX
/// that it names, the violations that it counts, and the rows of its tables.
fn log(text: &str) -> Value {
    let command = text.lines().next().unwrap_or_default();
    let command = command.split(", of the source").next();
    let hexadecimal_after = |words| {
        let (_, rest): (_, &str) = text.split_once(words)?;
        rest.split(|c: char| !c.is_ascii_hexdigit()).next()
    };
    let mut lines = text.lines();
    let violations = lines.find_map(|line| line.strip_suffix(" violations"));
    let violations = violations.map(number_or_words);
    json!({
        "command": command, "rows": log_rows(text), "violations": violations,
        "commit": hexadecimal_after("at commit "), "ptx": hexadecimal_after("PTX "),
    })
}

fn number_or_words(text: &str) -> Value {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
    number.map_or_else(|| text.into(), Value::from)
}

/// The rows of all tables of a log: a header that begins with one of three words, then rows until a line that has
/// fewer columns. The last column takes the rest of its line.
fn log_rows(text: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for line in text.lines() {
        let header = format!("{line} ").replace("killed by", "killed_by");
        let header = header.replace(" s ", "_s ");
        let begins = |words: [&str; 3]| words.into_iter().any(|word| header.starts_with(word));
        if begins(["variant ", "defect ", "mutant "]) {
            columns = header.split_whitespace().map(str::to_owned).collect();
            continue;
        }
        // A note about a row stands between rows; a command or a comment ends the table.
        if begins(["verify:", "note:", "error:"]) {
            continue;
        }
        // A variant's form is part of its name: `fast, static`.
        let line = line.replace(", static", ",static");
        let line = line.replace(", 64-bit", ",64-bit");
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
        let row = columns.iter().enumerate().map(|(i, column)| {
            let end = if i == last { cells.len() } else { i + 1 };
            (column.clone(), number_or_words(&cells[i..end].join(" ")))
        });
        rows.push(Value::Object(row.collect()));
    }
    rows
}

/// A result file. What it says itself of its measurement must not stand here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    #[serde(rename = "file")]
    pub(crate) path: String,
    pub(crate) machine: Option<String>,
    pub(crate) date: Option<String>,
    /// The commit that was measured, and how that is known.
    pub(crate) commit: Option<String>,
}
