//! The units of the document, and the points of those that it lacks, grouped by their data.

use super::document::{Paper, is_of};
use super::measure::Bench;
use super::plan::{FIG4_VARIANTS, Plan};
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::variants::AskedVariant;
use crate::workloads::AnyWorkload;
use crate::workloads::contender::ContenderKind;
use crate::workloads::eigenbench::Eigenbench;
use crate::workloads::input::Occasion;
use stm_core::algorithm::Variant;

const EIGENBENCH: &str = "eigenbench";

/// Points that are measured by one command or again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) section: &'static str,
    workload: &'static str,
}

impl Unit {
    /// Returns the units of these sections and workloads: Figure 4 has one workload.
    pub(super) fn all(sections: &[&'static str], workloads: &[&'static str]) -> Vec<Self> {
        let of = |&workload| {
            let units = sections
                .iter()
                .map(move |&section| Self { section, workload });
            units.filter(|unit| unit.section != "fig4" || unit.workload == EIGENBENCH)
        };
        workloads.iter().flat_map(of).collect()
    }

    pub(super) fn name(self) -> String {
        format!("{} {}", self.section, self.workload)
    }
}

impl Paper {
    pub(super) fn has(&self, unit: Unit) -> bool {
        let name = unit.name();
        self.pieces.iter().any(|piece| piece.units.contains(&name))
    }

    /// Whether the document has something, and of these units all of every workload that it has
    /// anything of.
    pub(super) fn is_whole(&self, all: &[Unit]) -> bool {
        let begun = |workload: &str| {
            let mut units = self.pieces.iter().flat_map(|piece| &piece.units);
            units.any(|unit| unit.split_once(' ').is_some_and(|(_, of)| of == workload))
        };
        let mut begun = all.iter().filter(|unit| begun(unit.workload)).peekable();
        begun.peek().is_some() && begun.all(|&unit| self.has(unit))
    }

    /// Removes a unit's points, so that it is measured anew.
    pub(super) fn forget(&mut self, unit: Unit) {
        let (name, workload) = (unit.name(), unit.workload);
        // With a result goes the verdict on its isolation.
        let judged = (unit.section == "fig2").then(|| format!("isolation {workload}"));
        for piece in &mut self.pieces {
            (piece.units).retain(|known| *known != name && Some(known) != judged.as_ref());
        }
        match unit.section {
            "fig2" => {
                self.speedups.retain(|s| s.workload != workload);
                self.critical_sections.retain(|s| !s.is_of(workload));
                self.search.retain(|t| t.workload != workload);
            }
            "fig3" => self.threads.retain(|t| t.workload != workload),
            "fig4" => self.eigenbench.clear(),
            "fig5" => self.breakdown.retain(|b| b.workload != workload),
            "table1" => self
                .characteristics
                .retain(|c| !is_of(&c.workload, workload)),
            other => unreachable!("there is no section {other}"),
        }
    }

    pub(super) fn failed(&self, unit: Unit) -> bool {
        let (mut speedups, mut sections) = (self.speedups.iter(), self.critical_sections.iter());
        unit.section == "fig2"
            && (speedups.any(|s| s.workload == unit.workload && !s.verified)
                || sections.any(|s| s.is_of(unit.workload) && !s.verified))
    }
}

/// Measures a point, adds it to the document, and returns what it came to.
type Measure = dyn Fn(&mut Bench<'_, '_>, &mut Paper) -> Result<String>;

pub(super) struct Point {
    pub(super) unit: Unit,
    pub(super) measure: Box<Measure>,
}

impl Unit {
    fn point(
        self,
        measure: impl Fn(&mut Bench<'_, '_>, &mut Paper) -> Result<String> + 'static,
    ) -> Point {
        Point {
            unit: self,
            measure: Box::new(measure),
        }
    }

    fn threads(self, plan: &Plan, by_blocks: bool) -> Vec<Point> {
        let shapes = plan.thread_shapes(by_blocks);
        let last = shapes.len().saturating_sub(1);
        let points = shapes.into_iter().enumerate().flat_map(|(i, shape)| {
            // Under `cgl` and `vbv` one transaction commits at a time, and with a whole
            // input a launch can take a minute: two launches show such a line.
            let every = last < 5 || [0, last].contains(&i);
            let is_alone = |v: &&Variant| matches!(v, Variant::Cgl | Variant::Vbv);
            // `optimized` is one of these, and would be the same line.
            let variants = Variant::ALL.iter().filter(move |v| every || !is_alone(v));
            variants.map(move |&v| self.point(move |bench, paper| bench.threads(paper, v, shape)))
        });
        points.collect()
    }

    fn eigenbench(self, plan: &Plan, hot_words: u64) -> Vec<Point> {
        let mut points = Vec::new();
        for shape in plan.fig4_shapes() {
            for (i, &locks) in plan.fig4_sizes().iter().enumerate() {
                for variant in FIG4_VARIANTS {
                    // One without a table is the same with any number of locks.
                    if i == 0 || AskedVariant::from(variant).uses_lock_table() {
                        let of = (hot_words, locks.into());
                        points.push(self.point(move |bench, paper| {
                            bench.eigenbench(paper, variant, of, shape)
                        }));
                    }
                }
            }
        }
        points
    }
}

/// Returns all points of these units in the order of measuring, by the input whose data they share:
/// a unit's points are one after the other.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method is of a bench with one lifetime, and a point of any"
)]
pub(super) fn groups(
    plan: &Plan,
    lacking: &[Unit],
    seed: u64,
) -> Result<Vec<(AnyWorkload, Vec<Point>)>> {
    let mut groups = Vec::new();
    for units in lacking.chunk_by(|a, b| a.workload == b.workload) {
        let name = units[0].workload;
        let workload = plan.workload(name, seed)?;
        let (mut points, mut apart) = (Vec::new(), None);
        let lacks = |section| units.iter().copied().find(|unit| unit.section == section);
        if let Some(unit) = lacks("fig2") {
            let all = AskedVariant::all().into_iter();
            points.extend(all.map(|v| unit.point(move |bench, paper| bench.speedup(paper, v))));
            // Whatever the sizes are.
            let small = AnyWorkload::sized(name, Occasion::Quick, seed)?;
            let mut contenders = small.contenders::<AnyDevice>().into_iter();
            if contenders.any(|c| c.kind == ContenderKind::CriticalSection) {
                points.push(unit.point(|bench, paper| bench.critical_sections(paper)));
            }
        }
        if let Some(unit) = lacks("table1") {
            points.push(unit.point(|bench, paper| bench.characteristics(paper)));
        }
        if let Some(unit) = lacks("fig3") {
            points.extend(unit.threads(plan, workload.sizes().by_blocks()));
        }
        if let Some(unit) = lacks("fig5") {
            let bar = |alone| unit.point(move |bench, paper| bench.breakdown(paper, alone));
            points.push(bar(false));
            match plan.alone(name, seed)? {
                None => points.push(bar(true)),
                Some(small) => apart = Some((small, vec![bar(true)])),
            }
        }
        groups.push((workload, points));
        groups.extend(apart);
    }
    for &unit in lacking.iter().filter(|unit| unit.section == "fig4") {
        groups.extend(plan.fig4_sizes().iter().map(|&hot_words| {
            let workload = Eigenbench {
                hot_words,
                ..Eigenbench::default()
            }
            .into();
            (workload, unit.eigenbench(plan, hot_words.into()))
        }));
    }
    groups.retain(|(_, points)| !points.is_empty());
    Ok(groups)
}
