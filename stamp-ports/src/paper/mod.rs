//! `stamp bench paper`: everything that the paper shows, measured in one run that can be interrupted and gone
//! on with.
//!
//! Steps: list the points that the document lacks; group them by input, so that data is made once; measure
//! one after the other, writing the document after each. Units are whole or measured again (`plan`). The
//! results of Figures 2 and 3 are verified; the points of Figure 4 are launches of the same kernels whose
//! results nobody looks at.

pub mod document;
mod measure;
pub(crate) mod plan;

use crate::measure::launches::Room;
use crate::measure::runner::Runner;
use crate::prelude::*;
use crate::workloads::eigenbench::Eigenbench;
use crate::workloads::parse_names;
use crate::workloads::{AnyWorkload, WORKLOADS};
use document::{Best, Paper, is_of};
use measure::Bench;
use plan::{FIG4_VARIANTS, LOCKS, Piece, Plan, SECTIONS, parse_sections};

/// What `bench paper` is asked for.
#[derive(Args, Debug, Clone)]
pub(crate) struct PaperSpec {
    #[command(flatten)]
    pub bench: BenchSpec,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_sections, default_value = "all")]
    pub only: NameList,
    /// A workload, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_names, default_value = "all")]
    pub workload: NameList,
    /// Measure units again in which something failed or was wrong
    #[arg(long)]
    pub retry: bool,
}

/// Measures what the document lacks; `command` is how the program was called. What a single point cannot do
/// is written into the document and is no error.
pub(crate) fn paper(device: &AnyDevice, spec: &PaperSpec, command: &str) -> Result<Store<Paper>> {
    let (quick, room) = (spec.bench.quick, Room::of(device));
    let plan = Plan { quick, room };
    let mut head = spec.bench.head(Paper::FORMAT, device, command)?;
    head.settings.extend(settings(spec, &plan)?);
    head.notes = notes(&plan);
    let piece = Piece::new(&head)?;
    let mut store = Store::<Paper>::open(&spec.bench, head)?;
    let document = &mut store.document;
    if let Some(why) = document.mixed() {
        let out = spec.bench.out.display();
        let fix = "begin anew with --fresh, or name another folder";
        return refuse(format!("--out {out}: {why}: {fix}"));
    }
    let workloads: Vec<_> = WORKLOADS.iter().map(|(name, _)| *name).collect();
    let all = Unit::all(&SECTIONS.map(|section| section.0), &workloads);
    let mut asked = Unit::all(&spec.only, &spec.workload);
    for &unit in &all {
        let again = spec.retry && asked.contains(&unit) && document.failed(unit);
        if again || !document.has(unit) {
            document.forget(unit);
        }
    }
    document.pieces.retain(|piece| !piece.units.is_empty());
    document.pieces.push(piece);
    document.head.complete = false;
    asked.retain(|&unit| !document.has(unit));
    measured(device, &plan, (spec, &asked), &mut store)?;
    let document = &mut store.document;
    // A piece without a unit is none.
    document.pieces.retain(|piece| !piece.units.is_empty());
    document.head.complete = document.is_whole(&all);
    store.save()?;
    Ok(store)
}

/// Measures units as long as there is time for another one; the last piece is what this command measures.
fn measured(
    device: &AnyDevice,
    plan: &Plan,
    (spec, lacking): (&PaperSpec, &[Unit]),
    store: &mut Store<Paper>,
) -> Result<()> {
    let (began, seed) = (Instant::now(), spec.bench.seed);
    let groups = groups(plan, lacking, seed)?;
    // The unit of each point, in the order of measuring.
    let units = groups.iter().flat_map(|(_, points)| points);
    let units: Vec<Unit> = units.map(|(unit, _)| *unit).collect();
    let mut meter = Meter::new(units.iter().map(|unit| unit.section));
    // A unit begins only while there is time.
    let ends = |at: usize, store: &Store<Paper>| {
        let begins = at == 0 || units[at - 1] != units[at];
        begins && !store.has_time()
    };
    let mut at = 0;
    for (workload, points) in &groups {
        if ends(at, store) {
            break;
        }
        let name = workload.sizes().name();
        meter.progress.say(format!("{name}: its data"));
        let transactions = plan.transactions(workload.sizes());
        let runner = Runner::new(device, workload, seed, transactions)?;
        let mut bench = Bench::new(plan, runner, &meter.progress);
        for (unit, measure) in points {
            if ends(at, store) {
                break;
            }
            let point_began = Instant::now();
            let what = measure(&mut bench, &mut store.document)?;
            if let Some(piece) = store.document.pieces.last_mut() {
                piece.seconds = began.elapsed().as_secs_f64();
                if units.get(at + 1) != Some(unit) {
                    piece.units.push(unit.name());
                }
            }
            store.save()?;
            let what = format!("{} {name} {what}", unit.section);
            meter.done(unit.section, point_began.elapsed(), &what);
            at += 1;
        }
    }
    Ok(())
}

/// All that changes a point: two commands with the same may share a document.
fn settings(spec: &PaperSpec, plan: &Plan) -> Result<BTreeMap<String, String>> {
    let mut settings = BTreeMap::from([("locks".into(), LOCKS.to_string())]);
    for &(name, _) in WORKLOADS {
        let workload = plan.workload(name, spec.bench.seed)?;
        let transactions = plan.transactions(workload.sizes());
        let parameters = workload.sizes().parameters().into_iter();
        let parameters = parameters.map(|(name, value)| format!("{name} {value}"));
        let all = parameters.chain([format!("transactions {transactions}")]);
        settings.insert(format!("input of {name}"), all.joined(", "));
    }
    Ok(settings)
}

/// Returns what a reader of the document has to know; the last line is of quick runs alone.
fn notes(plan: &Plan) -> Vec<String> {
    let notes = include_str!("notes.txt").lines();
    let notes = notes.filter(|note| plan.quick || !note.starts_with("Quick: "));
    notes.map(str::to_owned).collect()
}

const EIGENBENCH: &str = "eigenbench";

/// Points that are measured by one command or again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    section: &'static str,
    workload: &'static str,
}

impl Unit {
    /// Returns the units of these sections and workloads: Figure 4 has one workload.
    fn all(sections: &[&'static str], workloads: &[&'static str]) -> Vec<Self> {
        let of = |&workload| {
            let units = sections
                .iter()
                .map(move |&section| Self { section, workload });
            units.filter(|unit| unit.section != "fig4" || unit.workload == EIGENBENCH)
        };
        workloads.iter().flat_map(of).collect()
    }

    fn name(self) -> String {
        format!("{} {}", self.section, self.workload)
    }

    fn point(
        self,
        measure: impl Fn(&mut Bench<'_>, &mut Paper) -> Result<String> + 'static,
    ) -> UnitPoint {
        (self, Box::new(measure))
    }

    fn threads(self, plan: &Plan, by_blocks: bool) -> Vec<UnitPoint> {
        let shapes = plan.shapes("threads", by_blocks);
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

    fn eigenbench(self, plan: &Plan, hot_words: u64) -> Vec<UnitPoint> {
        let mut points = Vec::new();
        for shape in plan.shapes("fig4", false) {
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

impl Paper {
    fn has(&self, unit: Unit) -> bool {
        let name = unit.name();
        self.pieces.iter().any(|piece| piece.units.contains(&name))
    }

    /// Whether the document has something, and all of these units of every workload that it has.
    fn is_whole(&self, all: &[Unit]) -> bool {
        let begun = |workload: &str| {
            let mut units = self.pieces.iter().flat_map(|piece| &piece.units);
            units.any(|unit| unit.split_once(' ').is_some_and(|(_, of)| of == workload))
        };
        let mut begun = all.iter().filter(|unit| begun(unit.workload)).peekable();
        begun.peek().is_some() && begun.all(|&unit| self.has(unit))
    }

    /// Removes a unit's points, so that it is measured anew.
    fn forget(&mut self, unit: Unit) {
        let (name, workload) = (unit.name(), unit.workload);
        let others = |of: &str| !is_of(of, workload);
        // With a result goes the verdict on its isolation.
        let judged = (unit.section == "fig2").then(|| format!("isolation {workload}"));
        for piece in &mut self.pieces {
            (piece.units).retain(|known| *known != name && Some(known) != judged.as_ref());
        }
        match unit.section {
            "fig2" => {
                self.speedups.retain(|s| others(&s.workload));
                self.critical_sections.retain(|s| others(&s.workload));
                self.search.retain(|t| others(&t.workload));
            }
            "fig3" => self.threads.retain(|t| others(&t.workload)),
            "fig4" => self.eigenbench.clear(),
            "fig5" => self.breakdown.retain(|b| others(&b.workload)),
            "table1" => self.characteristics.retain(|c| others(&c.workload)),
            other => unreachable!("there is no section {other}"),
        }
    }

    fn failed(&self, unit: Unit) -> bool {
        let is_wrong = |of: &Best| is_of(&of.workload, unit.workload) && !of.verified;
        unit.section == "fig2" && self.results().any(|(_, best)| is_wrong(best))
    }
}

/// Measures a point, adds it to the document, and returns what it came to.
type Measure = dyn Fn(&mut Bench<'_>, &mut Paper) -> Result<String>;

type UnitPoint = (Unit, Box<Measure>);

/// Returns all points of these units in the order of measuring, by the input whose data they share.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method is of a bench with one lifetime, and a point of any"
)]
fn groups(plan: &Plan, lacking: &[Unit], seed: u64) -> Result<Vec<(AnyWorkload, Vec<UnitPoint>)>> {
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
