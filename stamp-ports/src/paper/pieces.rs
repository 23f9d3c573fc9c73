//! Pieces: what one command measured, of a document that several commands made.
//!
//! Figures that are compared with each other are a *unit*: the search and the variants of a
//! workload in Figure 2, the lines of a workload in Figure 3, all of Figure 4, a workload's bars
//! of Figure 5 and its rows of Table 1. A unit is of one piece: one that a piece ended within is
//! measured again, whole.

use crate::head::Head;
use serde::{Deserialize, Serialize};

/// What one command measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// When it began: UTC.
    pub started: String,
    /// Time that it took.
    pub seconds: f64,
    /// The command.
    pub command: String,
    /// The commit of the program.
    pub commit: String,
    /// The checksum of the PTX that it carries.
    pub ptx: String,
    /// The version of the device's driver.
    pub driver: String,
    /// The units that it measured, each whole: `fig2 ra`.
    pub units: Vec<String>,
}

impl Piece {
    /// Begins a piece; `head` is that of its command.
    pub fn new(head: &Head) -> Self {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        Self {
            started: head.started.clone(),
            seconds: 0.0,
            command: head.command.clone(),
            commit: text(&head.commit),
            ptx: text(&head.ptx),
            driver: text(&head.driver),
            units: Vec::new(),
        }
    }

    /// Returns what of this piece is not of the same build and driver as the document's head
    /// says; `None` if all is.
    pub(super) fn foreign(&self, head: &Head) -> Option<String> {
        let pairs = [
            ("commit", &self.commit, &head.commit),
            ("PTX", &self.ptx, &head.ptx),
            ("driver", &self.driver, &head.driver),
        ];
        pairs.into_iter().find_map(|(what, here, there)| {
            let there = there.as_deref().unwrap_or_default();
            (here != there).then(|| {
                format!(
                    "the piece of {} is of {what} {here}, and the document of {there}",
                    self.started
                )
            })
        })
    }
}
