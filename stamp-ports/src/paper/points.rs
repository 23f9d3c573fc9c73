//! The points of the paper that a document lacks, grouped by their data.

use super::document::Paper;
use super::plan::{FIG4_VARIANTS, Plan, Room, Section};
use crate::variants::AskedVariant;
use crate::workloads::contender::ContenderKind;
use crate::workloads::eigenbench::Eigenbench;
use crate::workloads::{AnyInput, contender_kinds};
use stm_core::algorithm::Variant;

/// A point to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Point {
    Speedup(AskedVariant),
    CriticalSections,
    Threads(Variant, (u32, u32)),
    Eigenbench(Variant, u64, u64, (u32, u32)),
    Breakdown,
    Characteristics,
}

impl Point {
    pub(super) const fn section(&self) -> Section {
        match self {
            Self::Speedup(_) | Self::CriticalSections => Section::Fig2,
            Self::Threads(..) => Section::Fig3,
            Self::Eigenbench(..) => Section::Fig4,
            Self::Breakdown => Section::Fig5,
            Self::Characteristics => Section::Table1,
        }
    }
}

/// Points that share their data.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) input: AnyInput,
    pub(super) points: Vec<Point>,
}

/// What a command was asked for.
pub(super) struct Asked<'a> {
    pub(super) plan: &'a Plan,
    pub(super) room: &'a Room,
    pub(super) sections: &'a [Section],
    pub(super) workloads: &'a [&'static str],
}

impl Asked<'_> {
    fn section(&self, section: Section) -> bool {
        self.sections.contains(&section)
    }

    /// The points that the document lacks, in the order of measuring. A variant
    /// whose measurement failed is measured again.
    pub(super) fn groups(&self, paper: &Paper) -> Vec<Group> {
        let mut groups = Vec::new();
        for &name in self.workloads {
            let Some(input) = self.plan.input(name) else {
                continue;
            };
            let points = self.points(paper, name, input.is_by_blocks());
            groups.push(Group { input, points });
        }
        if self.section(Section::Fig4) && self.workloads.contains(&"eigenbench") {
            for &hot_words in self.plan.fig4_hot_words() {
                groups.push(Group {
                    input: AnyInput::Eigenbench(Eigenbench::of_hot_words(hot_words)),
                    points: self.fig4(paper, u64::from(hot_words)),
                });
            }
        }
        groups.retain(|group| !group.points.is_empty());
        groups
    }

    fn points(&self, paper: &Paper, workload: &str, by_blocks: bool) -> Vec<Point> {
        let mut points = Vec::new();
        if self.section(Section::Fig2) {
            let done = |variant: AskedVariant| {
                paper.speedups.iter().any(|s| {
                    s.workload == workload && s.variant == variant.name() && s.error.is_none()
                })
            };
            let left = AskedVariant::of_paper()
                .into_iter()
                .filter(|&variant| !done(variant));
            points.extend(left.map(Point::Speedup));
            let mut sections = paper.critical_sections.iter();
            let done = sections.any(|s| s.is_of(workload) && s.error.is_none());
            let has = contender_kinds(workload).contains(&ContenderKind::CriticalSection);
            points.extend((has && !done).then_some(Point::CriticalSections));
        }
        if self.section(Section::Fig5) {
            let done = paper.breakdown.iter().any(|b| b.workload == workload);
            points.extend((!done).then_some(Point::Breakdown));
        }
        if self.section(Section::Table1) {
            let done = paper.characteristics.iter().any(|c| c.workload == workload);
            points.extend((!done).then_some(Point::Characteristics));
        }
        if self.section(Section::Fig3) {
            for shape in self.plan.thread_shapes(self.room, by_blocks) {
                for &variant in Variant::ALL.iter().filter(|v| v.is_paper()) {
                    let done = paper.threads.iter().any(|t| {
                        t.workload == workload
                            && t.variant == variant.name()
                            && (t.blocks, t.threads) == shape
                    });
                    // `optimized` is one of these, and would be the same line.
                    if !done {
                        points.push(Point::Threads(variant, shape));
                    }
                }
            }
        }
        points
    }

    fn fig4(&self, paper: &Paper, hot_words: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for shape in self.plan.fig4_shapes(self.room) {
            for locks in self.plan.fig4_locks() {
                for variant in FIG4_VARIANTS {
                    let done = paper.eigenbench.iter().any(|p| {
                        p.variant == variant.name()
                            && (p.hot_words, p.locks) == (hot_words, locks)
                            && (p.blocks, p.threads) == shape
                    });
                    if !done {
                        points.push(Point::Eigenbench(variant, hot_words, locks, shape));
                    }
                }
            }
        }
        points
    }
}
