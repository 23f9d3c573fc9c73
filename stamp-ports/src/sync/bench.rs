//! `sync.json`: what `stamp bench sync` writes and `stamp report` reads.

use crate::head::Head;
use crate::measure::machine::document::Measurement;
use crate::points::Point;
use crate::store::Document;
use serde::{Deserialize, Serialize};

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

impl Document for Bench {
    const FORMAT: &'static str = "stamp-sync/1";
    const WRITER: &'static str = "stamp bench sync";
    const FILE_NAME: &'static str = "sync.json";

    fn begin(head: Head) -> Self {
        Self {
            head,
            points: Vec::new(),
            machine: None,
        }
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }
}
