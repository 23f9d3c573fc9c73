//! The whole measurement: the points that the document lacks, one after the
//! other, and the document written after each.

use super::document::Paper;
use super::measure::Bench;
use super::plan::{LOCKS, Piece, Plan, SECTIONS, parse_sections};
use super::points::{Unit, groups};
use crate::devices::AnyDevice;
use crate::error::{Error, Result};
use crate::measure::launches::Room;
use crate::measure::meter::Meter;
use crate::measure::runner::Runner;
use crate::store::{BenchSpec, Document, NameList, Store};
use crate::workloads::{WORKLOADS, parse_names};
use clap::Args;
use std::collections::BTreeMap;
use std::time::Instant;

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

/// Measures what the document lacks; `command` is how the program was called.
/// Returns the document and its file.
/// What a single point cannot do is written into the document and is no error.
pub(crate) fn paper(device: &AnyDevice, spec: &PaperSpec, command: &str) -> Result<Store<Paper>> {
    let plan = Plan::new(spec.bench.quick, Room::of(device));
    let mut head = spec.bench.head(Paper::FORMAT, device, command)?;
    head.settings.extend(settings(spec, &plan)?);
    head.notes = notes(&plan);
    let piece = Piece::new(&head);
    let mut store = Store::<Paper>::open(&spec.bench, head)?;
    let document = &mut store.document;
    if let Some(why) = document.mixed() {
        let out = spec.bench.out.display();
        return Err(Error::Usage(format!(
            "--out {out}: {why}: begin anew with --fresh, or name another folder"
        )));
    }
    let all = Unit::all(&SECTIONS.map(|section| section.0), &all_workloads());
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
    measure(device, &plan, (spec, &asked), &mut store)?;
    let document = &mut store.document;
    // A piece without a unit is none.
    document.pieces.retain(|piece| !piece.units.is_empty());
    document.head.complete = document.is_whole(&all);
    store.save()?;
    Ok(store)
}

/// Measures the units that the document lacks, as long as there is time for another one; the last
/// piece is what this command measures.
fn measure(
    device: &AnyDevice,
    plan: &Plan,
    (spec, lacking): (&PaperSpec, &[Unit]),
    store: &mut Store<Paper>,
) -> Result<()> {
    let (began, seed) = (Instant::now(), spec.bench.seed);
    let groups = groups(plan, lacking, seed)?;
    // The unit of each point, in the order of measuring.
    let units = groups.iter().flat_map(|(_, points)| points);
    let units: Vec<Unit> = units.map(|point| point.unit).collect();
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
        let mut runner = Runner::new(device, workload, seed, transactions)?;
        let runner = (&mut runner, &meter.progress);
        let mut bench = Bench::new(plan, (workload, seed), runner, transactions);
        for point in points {
            if ends(at, store) {
                break;
            }
            let point_began = Instant::now();
            let what = (point.measure)(&mut bench, &mut store.document)?;
            if let Some(piece) = store.document.pieces.last_mut() {
                piece.seconds = began.elapsed().as_secs_f64();
                if units.get(at + 1) != Some(&point.unit) {
                    piece.units.push(point.unit.name());
                }
            }
            store.save()?;
            let section = point.unit.section;
            let what = format!("{section} {name} {what}");
            meter.done(section, point_began.elapsed(), &what);
            at += 1;
        }
    }
    Ok(())
}

fn all_workloads() -> Vec<&'static str> {
    WORKLOADS.iter().map(|(name, _)| *name).collect()
}

/// All that changes a point: two commands with the same may share a document.
fn settings(spec: &PaperSpec, plan: &Plan) -> Result<BTreeMap<String, String>> {
    let mut settings = BTreeMap::from([("locks".into(), LOCKS.to_string())]);
    for name in all_workloads() {
        let workload = plan.workload(name, spec.bench.seed)?;
        let transactions = plan.transactions(workload.sizes());
        let parameters = workload.sizes().parameters().into_iter();
        let parameters = parameters.map(|(name, value)| format!("{name} {value}"));
        let all = parameters.chain([format!("transactions {transactions}")]);
        let all: Vec<String> = all.collect();
        settings.insert(format!("input of {name}"), all.join(", "));
    }
    Ok(settings)
}

fn notes(plan: &Plan) -> Vec<String> {
    let notes = [
        "Rates are transactions that committed in a second of the kernel's own time; \
         slow variants get fewer transactions of the same data, so that a run stays short.",
        "Figure 2: the best launch of each variant is searched, then measured; every run is \
         verified. Where several were timed, the first is not counted.",
        "Critical sections are the same transactions under one spin lock, written by hand; \
         their best launch is searched from one thread on.",
        "Figure 3: one launch a point, verified unless it was stopped. Figure 4: one launch a \
         point, not verified by itself.",
        "A launch that was stopped at its time limit counts by what it committed until then: \
         of a workload with several kernels, by the first of them.",
        "HT: a transaction reads and writes the heads of eight of 256K buckets, and fills eight \
         nodes of its own, which nobody else reads; these are writes, too, but no shared data. GN: \
         a gene of 1M bases, so that GN-2 has a million transactions; GN-1 inserts only segments \
         that are new, so few of its transactions write. The paper's 16K words of shared data \
         and 4M transactions of one write each contradict one another there.",
        "Figure 5: a full launch, and one thread alone, which has as many transactions as take it \
         10 s; where the input says how many there are, it has a small input.",
        "Genome, labyrinth and k-means are always run whole, and their time includes what they \
         do outside transactions.",
        "Table 1: reads and writes are counted in a recorded run of hv-sorting, conflicts at \
         the best launch of `optimized`.",
    ];
    let quick = "Quick: small inputs and short runs, to try the program; no results.";
    let quick = plan.quick.then_some(quick);
    notes.into_iter().chain(quick).map(str::to_owned).collect()
}
