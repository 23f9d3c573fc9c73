//! `stamp bench paper`: everything that the paper shows, measured in one run
//! that can be interrupted and gone on with.
//!
//! | module | is |
//! | --- | --- |
//! | `document` | `paper.json`: the types, reading and writing; the verdict on a recorded run of a result |
//! | `plan` | inputs and points, in tables; what one command measured, and what must not be of two |
//! | `points` | the points that the document lacks, and ratios, which follow from several sections |
//! | `run` | all of them, one after the other, and the bars of Figure 5 |
//! | `measure` | one point: search, measure, verify, and count reads and writes |
//!
//! Steps: list the points that the document lacks; group them by input, so that
//! data is made once; measure one after the other, writing the document after
//! each. Units are whole or measured again (`plan`). The results of Figures 2 and 3 are verified;
//! the points of Figure 4 are launches of the same kernels whose results nobody looks at.

use document::{Paper, is_of};
use plan::Section;

pub mod document;
mod measure;
pub(crate) mod plan;
mod points;
pub(crate) mod run;

/// Points that are measured by one command or again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit<'w> {
    section: Section,
    workload: &'w str,
}

impl Unit<'_> {
    /// Whether there is such a unit: Figure 4 has one workload.
    fn is_there(self) -> bool {
        self.section != Section::Fig4 || self.workload == points::EIGENBENCH
    }

    fn name(self) -> String {
        format!("{} {}", self.section.name(), self.workload)
    }
}

impl Paper {
    fn has(&self, unit: Unit<'_>) -> bool {
        let name = unit.name();
        self.pieces.iter().any(|piece| piece.units.contains(&name))
    }

    /// Whether the document has something, and all units of every workload that it has anything of.
    fn is_whole(&self) -> bool {
        let units = self.pieces.iter().flat_map(|piece| &piece.units);
        let names = units.filter_map(|unit| Some(unit.split_once(' ')?.1));
        let names: Vec<&str> = names.collect();
        let is_whole = |workload: &&str| {
            let units = Section::ALL.map(|section| Unit { section, workload });
            let mut units = units.into_iter();
            units.all(|unit| !unit.is_there() || self.has(unit))
        };
        !names.is_empty() && names.iter().all(is_whole)
    }

    /// Removes a unit's points, so that it is measured anew.
    fn forget(&mut self, unit: Unit<'_>) {
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
            Section::Table1 => self
                .characteristics
                .retain(|c| !is_of(&c.workload, workload)),
        }
    }

    fn failed(&self, unit: Unit<'_>) -> bool {
        let (mut speedups, mut sections) = (self.speedups.iter(), self.critical_sections.iter());
        unit.section == Section::Fig2
            && (speedups.any(|s| s.workload == unit.workload && !s.verified)
                || sections.any(|s| s.is_of(unit.workload) && !s.verified))
    }

    /// Why the figures of this document must not be compared with one another; `None` if they
    /// may be.
    pub(crate) fn mixed(&self) -> Option<String> {
        let mut pieces = self.pieces.iter();
        pieces.find_map(|piece| piece.foreign(&self.head))
    }
}
