//! `sync.json`: what `stamp bench sync` writes and `stamp report` reads.

use super::document::Point;
use crate::error::Result;
use crate::head::{FIELDS, Head};
use crate::measure::machine::document::Measurement;
use crate::store::{self, Document};
use serde::{Deserialize, Serialize};

/// The format's name in the document.
pub const FORMAT: &str = "stamp-sync/1";
/// The document's name in its folder.
pub const FILE_NAME: &str = "sync.json";

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// Where it comes from.
    #[serde(flatten)]
    pub head: Head,
    /// The points.
    #[serde(default)]
    pub points: Vec<Point>,
    /// What the memory of the machine does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Measurement>,
}

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

    fn begin(head: Head) -> Self {
        Self {
            head,
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

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }
}
