//! Pieces: what one command measured, of a document that several commands made.
//!
//! Figures that are compared with each other are a *unit*: the search and the variants of a
//! workload in Figure 2, the lines of a workload in Figure 3, all of Figure 4, a workload's bars
//! of Figure 5 and its rows of Table 1. A unit is of one piece: one that a piece ended within is
//! measured again, whole.

use super::document::Paper;
use super::plan::Section;
use super::points::Point;
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
    fn foreign(&self, head: &Head) -> Option<String> {
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

/// Points that are measured by one command or again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit<'w> {
    section: Section,
    workload: &'w str,
}

impl<'w> Unit<'w> {
    /// The unit of a point of a workload.
    pub(super) const fn of(point: &Point, workload: &'w str) -> Self {
        Self {
            section: point.section(),
            workload,
        }
    }

    /// The units of a section and a workload by name.
    pub(super) const fn new(section: Section, workload: &'w str) -> Self {
        Self { section, workload }
    }

    /// Its name in the document.
    pub(super) fn name(self) -> String {
        format!("{} {}", self.section.name(), self.workload)
    }
}

/// Whether a point's workload, which may be a kernel's as `genome/gn1`, is this one.
fn is_of(of: &str, workload: &str) -> bool {
    of.split('/').next() == Some(workload)
}

impl Paper {
    /// Whether a piece has measured a unit.
    pub(super) fn has(&self, unit: Unit<'_>) -> bool {
        let name = unit.name();
        self.pieces.iter().any(|piece| piece.units.contains(&name))
    }

    /// Removes a unit's points, so that it is measured anew.
    pub(super) fn forget(&mut self, unit: Unit<'_>) {
        let (name, workload) = (unit.name(), unit.workload);
        // With a result goes the verdict on its isolation.
        let judged = format!("isolation {workload}");
        let gone =
            |known: &String| *known == name || (unit.section == Section::Fig2 && *known == judged);
        for piece in &mut self.pieces {
            piece.units.retain(|known| !gone(known));
        }
        match unit.section {
            Section::Fig2 => {
                self.speedups.retain(|s| s.workload != workload);
                self.critical_sections.retain(|s| !s.is_of(workload));
                self.search.retain(|t| t.workload != workload);
            }
            Section::Fig3 => self.threads.retain(|t| t.workload != workload),
            Section::Fig4 => self.eigenbench.clear(),
            Section::Fig5 => self.breakdown.retain(|b| b.workload != workload),
            Section::Table1 => (self.characteristics).retain(|c| !is_of(&c.workload, workload)),
        }
    }

    /// Whether something of a unit failed or was wrong.
    pub(super) fn failed(&self, unit: Unit<'_>) -> bool {
        let workload = unit.workload;
        unit.section == Section::Fig2
            && (self
                .speedups
                .iter()
                .any(|s| s.workload == workload && !s.verified)
                || (self.critical_sections.iter()).any(|s| s.is_of(workload) && !s.verified))
    }

    /// Why the figures of this document must not be compared with one another; `None` if they
    /// may be.
    pub fn mixed(&self) -> Option<String> {
        self.pieces
            .iter()
            .find_map(|piece| piece.foreign(&self.head))
    }
}
