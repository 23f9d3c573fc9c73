//! The points of the paper that a document lacks, grouped by their data, and what follows in the
//! document from several of its sections.

use super::Unit;
use super::document::{Breakdown, Paper, Speedup};
use super::plan::{FIG4_VARIANTS, Plan, Room, Section};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::variants::AskedVariant;
use crate::workloads::AnyWorkload;
use crate::workloads::contender::ContenderKind;
use crate::workloads::eigenbench::Eigenbench;
use crate::workloads::input::Occasion;
use std::collections::BTreeMap;
use stm_core::algorithm::Variant;

pub(super) const EIGENBENCH: &str = "eigenbench";

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

#[derive(Debug)]
pub(super) struct Group {
    pub(super) workload: AnyWorkload,
    pub(super) points: Vec<Point>,
}

pub(super) struct Asked<'a> {
    pub(super) plan: &'a Plan,
    pub(super) room: &'a Room,
    pub(super) sections: &'a [Section],
    pub(super) workloads: &'a [&'static str],
}

impl Asked<'_> {
    pub(super) fn units(&self) -> Vec<Unit<'static>> {
        let units = self.workloads.iter().flat_map(|name| {
            let sections = self.sections.iter();
            sections.map(|&section| Unit {
                section,
                workload: name,
            })
        });
        units.filter(|unit| unit.is_there()).collect()
    }

    /// The units that the document lacks, with all of their points, in the order of measuring:
    /// a unit's points are one after the other.
    pub(super) fn groups(&self, paper: &Paper, seed: u64) -> Result<Vec<Group>> {
        let lacks = |section, name: &'static str| {
            let is_asked = self.sections.contains(&section) && self.workloads.contains(&name);
            let workload = name;
            is_asked && !paper.has(Unit { section, workload })
        };
        let mut groups = Vec::new();
        for &name in self.workloads {
            let workload = self.plan.workload(name, seed)?;
            let lacks = |section| lacks(section, name);
            let mut points = Vec::new();
            if lacks(Section::Fig2) {
                points.extend(AskedVariant::all().into_iter().map(Point::Speedup));
                // Whatever the sizes are.
                let small = AnyWorkload::sized(name, Occasion::Quick, seed)?;
                let mut contenders = small.contenders::<AnyDevice>().into_iter();
                let has = contenders.any(|c| c.kind == ContenderKind::CriticalSection);
                points.extend(has.then_some(Point::CriticalSections));
            }
            if lacks(Section::Table1) {
                points.push(Point::Characteristics);
            }
            if lacks(Section::Fig3) {
                let shapes = self
                    .plan
                    .thread_shapes(self.room, workload.sizes().by_blocks());
                let last = shapes.len().saturating_sub(1);
                for (i, shape) in shapes.into_iter().enumerate() {
                    // Under `cgl` and `vbv` one transaction commits at a time, and with a whole
                    // input a launch can take a minute: two launches show such a line.
                    let every = last < 5 || [0, last].contains(&i);
                    let is_alone = |v: &&Variant| matches!(v, Variant::Cgl | Variant::Vbv);
                    // `optimized` is one of these, and would be the same line.
                    let variants = Variant::ALL.iter().filter(|v| every || !is_alone(v));
                    points.extend(variants.map(|&v| Point::Threads(v, shape)));
                }
            }
            let fig5 = lacks(Section::Fig5);
            points.extend(fig5.then_some(Point::Breakdown { alone: false }));
            let other = fig5.then(|| self.plan.alone(name, seed));
            let other = other.transpose()?.flatten();
            let alone = Point::Breakdown { alone: true };
            points.extend((fig5 && other.is_none()).then_some(alone));
            groups.push(Group { workload, points });
            let points = vec![alone];
            groups.extend(other.map(|workload| Group { workload, points }));
        }
        if lacks(Section::Fig4, EIGENBENCH) {
            for &hot_words in self.plan.fig4_sizes() {
                groups.push(Group {
                    workload: Eigenbench::of_hot_words(hot_words).into(),
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
            for (i, &locks) in self.plan.fig4_sizes().iter().enumerate() {
                for variant in FIG4_VARIANTS {
                    // One without a table is the same with any number of locks.
                    if i == 0 || AskedVariant::from(variant).uses_lock_table() {
                        let point = Point::Eigenbench(variant, hot_words, locks.into(), shape);
                        points.push(point);
                    }
                }
            }
        }
        points
    }
}

impl Paper {
    /// Sets each variant's ratios to `cgl` and to the critical sections with the same workload,
    /// those of kernels too.
    pub(crate) fn relate(&mut self) {
        // By workload, and by `workload/kernel`.
        let mut cgl: BTreeMap<String, f64> = BTreeMap::new();
        let counts = |s: &&Speedup| s.variant == "cgl" && s.counts();
        for s in self.speedups.iter().filter(counts) {
            cgl.insert(s.workload.clone(), s.tx_per_s);
            let kernels = s.kernels.iter();
            cgl.extend(kernels.map(|k| (format!("{}/{}", s.workload, k.work()), k.tx_per_s())));
        }
        let sections = self.critical_sections.iter().filter(|s| s.counts()).rev();
        let sections = sections.map(|s| (s.workload.clone(), s.tx_per_s));
        let sections: BTreeMap<String, f64> = sections.collect();
        let over = |rate: f64, all: &BTreeMap<String, f64>, name: &str| {
            let base = all.get(name).filter(|base| **base > 0.0);
            base.map(|base| rate / base).filter(|ratio| *ratio > 0.0)
        };
        for s in &mut self.speedups {
            s.over_cgl = over(s.tx_per_s, &cgl, &s.workload);
            s.over_critical_section = over(s.tx_per_s, &sections, &s.workload);
            for kernel in s.kernels.iter_mut().filter(|k| k.commits > 0) {
                let name = format!("{}/{}", s.workload, kernel.work());
                kernel.over_cgl = over(kernel.tx_per_s(), &cgl, &name);
                kernel.over_critical_section = over(kernel.tx_per_s(), &sections, &name);
            }
        }
    }

    /// Sets what follows from other sections: the ratios, and the share of the time inside
    /// transactions.
    pub(crate) fn compare(&mut self) {
        self.relate();
        for row in &mut self.characteristics {
            let of = |b: &&Breakdown| (&b.workload, &b.variant) == (&row.workload, &row.variant);
            let of = || self.breakdown.iter().filter(of);
            // As the paper's, where it was measured.
            let bar = of().find(|b| b.is_alone()).or_else(|| of().next());
            let native = bar.and_then(|b| b.shares.get("native"));
            row.time_in_tx = native.map(|native| 1.0 - native).or(row.time_in_tx);
        }
    }
}
