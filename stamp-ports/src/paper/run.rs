//! The whole measurement: the points that the document lacks, one after the
//! other, and the document written after each.

use super::Unit;
use super::document::{Breakdown, Paper, Speedup};
use super::measure::Bench;
use super::plan::{DESCRIBED, LOCKS, Piece, Plan, Room, Section, parse_sections};
use super::points::{Asked, Point};
use crate::devices::AnyDevice;
use crate::error::{Error, Result, given_up};
use crate::measure::meter::Meter;
use crate::measure::runner::Runner;
use crate::numbers::{count, digits3, short};
use crate::store::{BenchSpec, Document, NameList, Store};
use crate::workloads::contender::CRITICAL_SECTION;
use crate::workloads::{WORKLOADS, parse_names};
use clap::Args;
use std::collections::BTreeMap;
use std::time::Instant;
use stm_core::host::Device;

/// What `bench paper` is asked for.
#[derive(Args, Debug, Clone)]
pub(crate) struct PaperSpec {
    #[command(flatten)]
    pub bench: BenchSpec,
    /// A part, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_sections, default_value = "all")]
    pub only: SectionList,
    /// A workload, several separated by commas, or all
    #[arg(long, value_name = "NAME,...", value_parser = parse_names, default_value = "all")]
    pub workload: NameList,
    /// Measure units again in which something failed or was wrong
    #[arg(long)]
    pub retry: bool,
}

/// Several sections in one argument.
pub(crate) type SectionList = std::vec::Vec<Section>;

/// Measures what the document lacks; `command` is how the program was called.
/// Returns the document and its file.
/// What a single point cannot do is written into the document and is no error.
pub(crate) fn paper(device: &AnyDevice, spec: &PaperSpec, command: &str) -> Result<Store<Paper>> {
    let plan = Plan::new(spec.bench.quick);
    let room = Room {
        kind: device.kind(),
        limits: device.limits(),
        resident: device.resident_threads(),
    };
    let asked = Asked {
        plan: &plan,
        room: &room,
        sections: &spec.only,
        workloads: &spec.workload,
    };
    let mut head = spec.bench.head(Paper::FORMAT, device, command)?;
    head.settings.extend(settings(spec, &plan)?);
    head.notes = notes(&plan);
    let piece = Piece::new(&head);
    let mut store = Store::<Paper>::open(&spec.bench, head)?;
    if let Some(why) = store.document.mixed() {
        let out = spec.bench.out.display();
        return Err(Error::Usage(format!(
            "--out {out}: {why}: begin anew with --fresh, or name another folder"
        )));
    }
    let everything = Asked {
        sections: &Section::ALL,
        workloads: &all_workloads(),
        ..asked
    };
    for unit in everything.units() {
        let retried = spec.retry && asked.units().contains(&unit);
        if !store.document.has(unit) || (retried && store.document.failed(unit)) {
            store.document.forget(unit);
        }
    }
    let pieces = &mut store.document.pieces;
    pieces.retain(|piece| !piece.units.is_empty());
    store.document.head.complete = false;
    measure(device, &asked, (spec, piece), &mut store)?;
    let document = &mut store.document;
    document.head.complete = document.is_whole();
    store.save()?;
    Ok(store)
}

/// Measures the units that the document lacks, as long as there is time for another one.
fn measure(
    device: &AnyDevice,
    asked: &Asked<'_>,
    (spec, piece): (&PaperSpec, Piece),
    store: &mut Store<Paper>,
) -> Result<()> {
    let began = Instant::now();
    let groups = asked.groups(&store.document, spec.bench.seed)?;
    let units = groups.iter().flat_map(|group| {
        let of = |point: &Point| Unit {
            section: point.section(),
            workload: group.workload.sizes().name(),
        };
        group.points.iter().map(of)
    });
    // The unit of each point, in the order of measuring.
    let units: Vec<Unit<'_>> = units.collect();
    let points = groups.iter().flat_map(|group| &group.points);
    let mut meter = Meter::new(points.map(|point| point.section().name()));
    let number = store.document.pieces.len();
    if !units.is_empty() {
        store.document.pieces.push(piece);
    }
    let mut at = 0;
    // A unit begins only while there is time.
    let ends = |at: usize| {
        let begins = at == 0 || units[at - 1] != units[at];
        begins && !spec.bench.has_time(began)
    };
    for group in &groups {
        if ends(at) {
            break;
        }
        let progress = &meter.progress;
        let workload = &group.workload;
        progress.say(format!("{}: its data", workload.sizes().name()));
        let (plan, seed) = (asked.plan, spec.bench.seed);
        let transactions = plan.transactions(workload.sizes());
        let mut runner = Runner::new(device, workload, seed, transactions)?;
        let workload = (workload, seed);
        let mut bench = Bench::new(plan, asked.room, workload, &mut runner, transactions);
        for point in &group.points {
            if ends(at) {
                break;
            }
            let point_began = Instant::now();
            let what = run_point(&mut bench, point, &mut store.document, &meter)?;
            let piece = &mut store.document.pieces[number];
            piece.seconds = began.elapsed().as_secs_f64();
            if units.get(at + 1) != Some(&units[at]) {
                piece.units.push(units[at].name());
            }
            store.save()?;
            let section = point.section().name();
            let what = format!("{section} {} {what}", bench.name());
            meter.done(section, point_began.elapsed(), &what);
            at += 1;
        }
    }
    // A piece without a unit is none.
    let pieces = &mut store.document.pieces;
    pieces.retain(|piece| !piece.units.is_empty());
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

fn rate(tx_per_s: f64, (blocks, threads): (u32, u32)) -> String {
    format!("{} tx/s at {blocks}x{threads}", short(tx_per_s))
}

const fn verdict(verified: bool) -> &'static str {
    if verified { "verified" } else { "NOT verified" }
}

/// Measures the critical sections of a workload, adds them, and says what they are.
fn critical_sections(bench: &mut Bench<'_, '_>, paper: &mut Paper) -> Result<String> {
    let found = bench.critical_sections()?;
    let what = found.iter().map(|s| {
        let rate = rate(s.tx_per_s, (s.blocks, s.threads));
        format!("{rate}, {}", verdict(s.verified))
    });
    let what: Vec<String> = what.collect();
    paper.critical_sections.extend(found);
    Ok(format!("{CRITICAL_SECTION}: {}", what.join("; ")))
}

fn run_point(
    bench: &mut Bench<'_, '_>,
    point: &Point,
    paper: &mut Paper,
    meter: &Meter,
) -> Result<String> {
    Ok(match *point {
        Point::Speedup(variant) => {
            let (found, tried) = bench.speedup(variant, &paper.speedups, &meter.progress)?;
            paper.search.extend(tried);
            let verdict = verdict(found.verified);
            let what = rate(found.tx_per_s, (found.blocks, found.threads));
            paper.speedups.push(found);
            format!("{}: {what}, {verdict}", variant.name())
        }
        Point::CriticalSections => critical_sections(bench, paper)?,
        Point::Threads(variant, shape) => {
            let found = bench.threads(variant, shape)?;
            let what = rate(found.tx_per_s, shape);
            paper.threads.push(found);
            format!("{}: {what}", variant.name())
        }
        Point::Eigenbench(variant, hot_words, locks, shape) => {
            let found = bench.eigenbench(variant, hot_words, locks, shape)?;
            let what = rate(found.tx_per_s, shape);
            paper.eigenbench.push(found);
            let (words, locks) = (count(hot_words), count(locks));
            format!("{}, {words} words, {locks} locks: {what}", variant.name())
        }
        Point::Breakdown { alone } => match bench.breakdown(&paper.speedups, alone)? {
            Ok(bar) => {
                let cost = bar.cost;
                paper.breakdown.push(bar);
                format!("breakdown, at {} times the time", digits3(cost))
            }
            Err(why) => format!("breakdown: NOT measured: {why}"),
        },
        Point::Characteristics => match bench.characteristics(&paper.speedups)? {
            Ok(rows) => {
                paper.characteristics.extend(rows);
                "characteristics".into()
            }
            Err(why) => format!("characteristics: NOT measured: {why}"),
        },
    })
}

impl Bench<'_, '_> {
    /// A bar of Figure 5: of a full launch, or of one thread alone, which has as many
    /// transactions as take it about the plan's time.
    /// The inner error says why there is none.
    pub(super) fn breakdown(
        &mut self,
        known: &[Speedup],
        alone: bool,
    ) -> Result<Result<Breakdown, String>> {
        let resolved = self.resolved(DESCRIBED);
        let mut spec = self.described(known);
        spec.repeat = self.plan.profiles;
        if alone {
            spec.shape = (1, 1);
            spec.repeat = 1;
            match given_up(self.search.probe(resolved, LOCKS, spec.shape))? {
                Ok(tried) => {
                    spec.transactions = self.search.fill(self.plan.alone, tried.tx_per_s);
                }
                Err(why) => return Ok(Err(why)),
            }
        }
        let (report, _) = match given_up(self.search.runner.profile(&spec))? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let Some(profile) = report.profile.filter(|_| report.verified) else {
            return Ok(Err(report.error.unwrap_or_else(|| "no lane ran".into())));
        };
        let own = self.plan.workload(report.workload, self.seed)?;
        let sizes = self.workload.sizes();
        let is_other = own.sizes().parameters() != sizes.parameters();
        let shares = profile.shares.into_iter();
        Ok(Ok(Breakdown {
            workload: report.workload.into(),
            variant: report.variant.into(),
            blocks: report.blocks,
            threads: report.threads,
            transactions: Some(report.commits),
            input: is_other.then(|| sizes.summary()),
            shares: shares
                .map(|(phase, share)| (phase.to_owned(), share))
                .collect(),
            cost: profile.cost,
        }))
    }
}
