//! The document that `stamp bench sync` writes and `stamp report` reads.

use super::document::Point;
use crate::devices::Description;
use crate::error::{Error, Result};
use crate::measure::machine::document::Measurement;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the document in its folder.
pub const FILE_NAME: &str = "sync.json";

/// The format of the document.
pub const FORMAT: &str = "stamp-sync/1";

/// What a run has measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the program.
    pub version: String,
    /// The commit of the program, where it is known.
    pub commit: Option<String>,
    /// The command that was given.
    pub command: String,
    /// Whether the inputs were small and the points few.
    pub quick: bool,
    /// The seed of the inputs.
    pub seed: u64,
    /// When the run began.
    pub started: String,
    /// The seconds that it has taken, over all its parts.
    pub seconds: f64,
    /// Whether all points that were asked for are there.
    pub complete: bool,
    /// The device.
    pub device: Description,
    /// The settings of the run by their names.
    pub settings: BTreeMap<String, String>,
    /// What a reader has to know.
    pub notes: Vec<String>,
    /// The points.
    pub points: Vec<Point>,
    /// The twelve memory benchmarks on the same device, and what else
    /// `stamp device --measure` measures.
    pub machine: Option<Measurement>,
}

impl Bench {
    /// Reads a document.
    ///
    /// # Errors
    /// One line: not JSON, not a document of this format, a field that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Error::Usage(format!("it is not JSON: {error}")))?;
        let format = value.get("format").and_then(Value::as_str);
        if format != Some(FORMAT) {
            let found = format.map_or_else(|| "none".to_owned(), |other| format!("{other:?}"));
            return Err(Error::Usage(format!(
                "its format is {found}, not {FORMAT:?}: use the program that wrote it"
            )));
        }
        serde_json::from_value(value).map_err(|error| {
            Error::Usage(format!(
                "a field of it is wrong: {error}: measure it again with `stamp bench sync`"
            ))
        })
    }
}
