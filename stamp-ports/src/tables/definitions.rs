//! What the tables are: rows of `tables.json`.

use serde::Deserialize;
use std::collections::BTreeMap;

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
