//! The points of the paper that a document lacks, grouped by their data, and what follows in the
//! document from several of its sections.

use super::Unit;
use super::document::{Breakdown, Paper};
use super::plan::{FIG4_VARIANTS, Plan, Room, Section};
use crate::error::Result;
use crate::variants::AskedVariant;
use crate::workloads::contender::ContenderKind;
use crate::workloads::eigenbench::Eigenbench;
use crate::workloads::{AnyInput, contender_kinds};
use std::collections::BTreeMap;
use stm_core::algorithm::Variant;

/// The workload of Figure 4.
const EIGENBENCH: &str = "eigenbench";

/// A point to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Point {
    Speedup(AskedVariant),
    CriticalSections,
    Threads(Variant, (u32, u32)),
    Eigenbench(Variant, u64, u64, (u32, u32)),
    /// A bar of Figure 5: of one thread alone, or of a full launch.
    Breakdown {
        alone: bool,
    },
    Characteristics,
}

impl Point {
    pub(super) const fn section(&self) -> Section {
        match self {
            Self::Speedup(_) | Self::CriticalSections => Section::Fig2,
            Self::Threads(..) => Section::Fig3,
            Self::Eigenbench(..) => Section::Fig4,
            Self::Breakdown { .. } => Section::Fig5,
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
    /// The units that were asked for, measured or not.
    pub(super) fn units(&self) -> Vec<Unit<'static>> {
        let mut units = Vec::new();
        for &name in self.workloads {
            let sections = self.sections.iter();
            let here = sections.filter(|s| **s != Section::Fig4 || name == EIGENBENCH);
            units.extend(here.map(|&section| Unit::new(section, name)));
        }
        units
    }

    /// The units that the document lacks, with all of their points, in the order of measuring:
    /// a unit's points are one after the other.
    ///
    /// # Errors
    /// An input cannot be made.
    pub(super) fn groups(&self, paper: &Paper, seed: u64) -> Result<Vec<Group>> {
        let mut groups = Vec::new();
        for &name in self.workloads {
            let Some(input) = self.plan.input(name) else {
                continue;
            };
            let lacks =
                |section| self.sections.contains(&section) && !paper.has(Unit::new(section, name));
            let mut points = Vec::new();
            if lacks(Section::Fig2) {
                points.extend(AskedVariant::all().into_iter().map(Point::Speedup));
                let has = contender_kinds(name).contains(&ContenderKind::CriticalSection);
                points.extend(has.then_some(Point::CriticalSections));
            }
            if lacks(Section::Table1) {
                points.push(Point::Characteristics);
            }
            if lacks(Section::Fig3) {
                let shapes = self.plan.thread_shapes(self.room, input.is_by_blocks());
                for shape in shapes {
                    // `optimized` is one of these, and would be the same line.
                    points.extend(Variant::ALL.iter().map(|&v| Point::Threads(v, shape)));
                }
            }
            let fig5 = lacks(Section::Fig5);
            points.extend(fig5.then_some(Point::Breakdown { alone: false }));
            let other = if fig5 {
                self.plan.alone_input(name, seed)?
            } else {
                None
            };
            let alone = Point::Breakdown { alone: true };
            points.extend((fig5 && other.is_none()).then_some(alone));
            groups.push(Group { input, points });
            groups.extend(other.map(|input| Group {
                input,
                points: vec![alone],
            }));
        }
        if self.sections.contains(&Section::Fig4)
            && self.workloads.contains(&EIGENBENCH)
            && !paper.has(Unit::new(Section::Fig4, EIGENBENCH))
        {
            for &hot_words in self.plan.fig4_hot_words() {
                groups.push(Group {
                    input: AnyInput::Eigenbench(Eigenbench::of_hot_words(hot_words)),
                    points: self.fig4(u64::from(hot_words)),
                });
            }
        }
        groups.retain(|group| !group.points.is_empty());
        Ok(groups)
    }

    fn fig4(&self, hot_words: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for shape in self.plan.fig4_shapes(self.room) {
            for (i, locks) in self.plan.fig4_locks().into_iter().enumerate() {
                for variant in FIG4_VARIANTS {
                    // One without a table is the same with any number of locks.
                    if i == 0 || AskedVariant::from(variant).uses_lock_table() {
                        points.push(Point::Eigenbench(variant, hot_words, locks, shape));
                    }
                }
            }
        }
        points
    }
}

impl Paper {
    /// Sets what follows from other sections: each variant's ratios to `cgl` and to the
    /// critical sections with the same workload, and the share of the time inside transactions.
    pub fn compare(&mut self) {
        let cgl: BTreeMap<String, f64> = self
            .speedups
            .iter()
            .filter(|s| s.variant == "cgl" && s.tx_per_s > 0.0)
            .map(|s| (s.workload.clone(), s.tx_per_s))
            .collect();
        self.compare_kernels();
        for speedup in &mut self.speedups {
            let ratio = cgl.get(&speedup.workload).map(|cgl| speedup.tx_per_s / cgl);
            speedup.over_cgl = ratio.filter(|&ratio| ratio > 0.0);
            let mut sections = self.critical_sections.iter();
            let section = sections.find(|s| s.workload == speedup.workload && s.counts());
            let ratio = section.map(|section| speedup.tx_per_s / section.tx_per_s);
            speedup.over_critical_section = ratio.filter(|&ratio| ratio > 0.0);
        }
        for row in &mut self.characteristics {
            let of = |b: &&Breakdown| (&b.workload, &b.variant) == (&row.workload, &row.variant);
            let of = || self.breakdown.iter().filter(of);
            // As the paper's, where it was measured.
            let bar = of().find(|b| b.is_alone()).or_else(|| of().next());
            let native = bar.and_then(|b| b.shares.get("native"));
            row.time_in_tx = native.map(|native| 1.0 - native).or(row.time_in_tx);
        }
    }

    /// Sets the ratios of kernels, where a workload has several with transactions.
    fn compare_kernels(&mut self) {
        let cgl: BTreeMap<(String, String), f64> = (self.speedups.iter())
            .filter(|s| s.variant == "cgl")
            .flat_map(|s| s.kernels.iter().map(move |kernel| (s, kernel)))
            .map(|(s, kernel)| {
                (
                    (s.workload.clone(), kernel.work().into()),
                    kernel.tx_per_s(),
                )
            })
            .collect();
        for speedup in &mut self.speedups {
            for kernel in speedup.kernels.iter_mut().filter(|k| k.commits > 0) {
                let work = kernel.work().to_owned();
                let name = format!("{}/{work}", speedup.workload);
                let mut sections = self.critical_sections.iter();
                let section = sections.find(|s| s.workload == name && s.counts());
                let rate = kernel.tx_per_s();
                let over = |base: Option<f64>| {
                    let ratio = base.filter(|base| *base > 0.0).map(|base| rate / base);
                    ratio.filter(|&ratio| ratio > 0.0)
                };
                kernel.over_cgl = over(cgl.get(&(speedup.workload.clone(), work)).copied());
                kernel.over_critical_section = over(section.map(|section| section.tx_per_s));
            }
        }
    }
}
