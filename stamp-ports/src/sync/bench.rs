//! `sync.json`: what `stamp bench sync` writes and `stamp report` reads.

use super::document::Point;
use crate::devices::Description;
use crate::error::Result;
use crate::measure::machine::document::Measurement;
use crate::store::{self, Document, Header};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of [`Bench::format`].
pub const FORMAT: &str = "stamp-sync/1";
/// The document's name in its folder.
pub const FILE_NAME: &str = "sync.json";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// [`FORMAT`].
    pub format: String,
    /// The program's version.
    pub version: String,
    /// The commit of the program, where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The command that began it, as it may be typed again.
    pub command: String,
    /// Whether it is the small run.
    pub quick: bool,
    /// The seed of all data.
    pub seed: u64,
    /// When it began: UTC, `2026-01-31T12:00:00Z`.
    pub started: String,
    /// Time that it took, over all commands that went on with it.
    pub seconds: f64,
    /// Whether every point was measured.
    pub complete: bool,
    /// The device.
    pub device: Description,
    /// All that two commands must agree on to share this document.
    pub settings: BTreeMap<String, String>,
    /// What a reader has to know: sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The points.
    #[serde(default)]
    pub points: Vec<Point>,
    /// What the memory of the machine does, of which defaults are chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Measurement>,
}

/// The fields that a reader looks for first, in this order.
pub(crate) const FIELDS: [&str; 12] = [
    "format", "version", "commit", "command", "quick", "seed", "started", "seconds", "complete",
    "device", "settings", "notes",
];

impl Bench {
    /// Reads a document.
    ///
    /// # Errors
    /// What is wrong with it, and the fix.
    pub fn parse(text: &str) -> Result<Self> {
        store::parse(text, FORMAT, "stamp bench sync")
    }
}

impl Document for Bench {
    const FILE_NAME: &'static str = FILE_NAME;

    fn begin(header: Header<'_>, started: String) -> Self {
        Self {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            commit: None,
            command: header.command.into(),
            quick: header.quick,
            seed: header.seed,
            started,
            seconds: 0.0,
            complete: false,
            device: header.device,
            settings: header.settings,
            notes: header.notes,
            points: Vec::new(),
            machine: None,
        }
    }

    fn parse(text: &str) -> Result<Self> {
        Self::parse(text)
    }

    fn finish(&mut self) -> Result<String> {
        store::to_text(self, &FIELDS)
    }

    fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    fn seconds(&mut self) -> &mut f64 {
        &mut self.seconds
    }
}
