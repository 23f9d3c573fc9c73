//! What `bench floor` measures, prints and writes: the transactional memory beside kernels without transactions
//! ([`ContenderKind`]), in one run. Of each, the best launch is searched and measured: the median of repeats,
//! the data put back before each. All are verified but those without synchronisation, which may lose updates.

use super::launches::Room;
use super::machine::Rate;
use super::search::{SearchResults, SearchSpec};
use crate::prelude::*;
use crate::workloads::AnyWorkload;
use crate::workloads::contender::UNSYNCHRONISED;
use crate::workloads::workload::Accesses;
use bound::Bound;
use search::{ContenderReport, Setting, TriedContender};

pub(crate) mod bound;
pub(crate) mod search;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    pub(crate) runs: Vec<ContenderReport>,
    pub(crate) search: Vec<TriedContender>,
    #[serde(flatten)]
    pub(crate) stm: SearchResults,
    pub(crate) rates: Vec<Rate>,
    pub(crate) verifies: BTreeMap<&'static str, Verifies>,
    /// The workloads in their order, and the transactions that were asked for in a launch of each.
    #[serde(skip)]
    pub(crate) asked: Vec<(&'static str, u64)>,
    pub(crate) bounds: Vec<Bound>,
}

const FAST_ADDS: &str = "fast, adds";

impl Measured {
    /// Measures one workload, the contenders first; `quick` is with few launch shapes.
    pub(crate) fn add(
        &mut self,
        device: &AnyDevice,
        workload: &AnyWorkload,
        spec: &SearchSpec,
        quick: bool,
    ) -> Result<()> {
        let (room, sizes) = (Room::of(device), workload.sizes());
        self.verifies.insert(sizes.name(), sizes.verifies());
        self.asked.push((sizes.name(), spec.transactions_of(sizes)));
        for contender in workload.contenders() {
            let shapes = match contender.kind {
                ContenderKind::Excluding => continue,
                ContenderKind::CriticalSection => room.shapes("critical", sizes.by_blocks(), quick),
                _ => room.shapes("wide", false, quick),
            };
            let setting = Setting {
                seed: spec.seed,
                transactions: spec.transactions_of(sizes),
                repeat: spec.repeat,
                measure: search::MEASURE,
            };
            let (run, tried) = search::measure(device, sizes, &contender, (&shapes, setting))?;
            self.runs.push(run);
            self.search.extend(tried);
        }
        if !spec.variants.is_empty() {
            let shapes = stm_shapes(&room, sizes, spec, quick);
            spec.search(device, workload, &shapes, &mut self.stm)?;
            // Where transactions add, `fast` is a variant of its own.
            let fast = Variant::Fast.into();
            let adds = workload.with_adds();
            if let Some(adds) = adds.filter(|_| spec.variants.contains(&fast)) {
                let of_fast = SearchSpec {
                    variants: vec![fast],
                    ..spec.clone()
                };
                let (runs, tried) = (self.stm.runs.len(), self.stm.tried.len());
                of_fast.search(device, &adds, &shapes, &mut self.stm)?;
                for run in &mut self.stm.runs[runs..] {
                    run.variant = FAST_ADDS;
                }
                for tried in &mut self.stm.tried[tried..] {
                    tried.variant = FAST_ADDS.into();
                }
            }
        }
        if let Some(accesses) = sizes.accesses() {
            self.add_bounds(sizes.name(), accesses);
        }
        Ok(())
    }

    fn add_bounds(&mut self, workload: &'static str, accesses: Accesses) {
        let plain = (self.runs.iter()).filter(|run| run.workload == workload);
        // The words have the workload's width.
        let plain = plain.filter(|run| run.name == UNSYNCHRONISED.1);
        let plain = plain.map(|run| ([run.name; 2], 0, run.tx_per_s));
        let stm = (self.stm.runs.iter()).filter(|run| run.workload == workload);
        // Additions have a protocol of their own.
        let stm = stm.filter(|run| run.verified && run.variant != FAST_ADDS);
        let stm = stm.map(|run| ([run.variant, run.resolved], run.locks, run.tx_per_s));
        let bounds = plain.chain(stm).filter_map(|(names, locks, tx_per_s)| {
            let bound = |of: &&str| Bound::of(of, locks, accesses, &self.rates);
            let mut bound = names.iter().find_map(bound)?;
            (bound.workload, bound.name) = (workload, names[0]);
            bound.reached = tx_per_s / bound.tx_per_s;
            Some(bound)
        });
        self.bounds.extend(bounds.collect::<Vec<_>>());
    }

    pub(crate) fn is_verified(&self) -> bool {
        self.runs.iter().all(|run| run.verified != Some(false))
            && self.stm.runs.iter().all(|report| report.verified)
    }
}

fn stm_shapes(room: &Room, workload: &dyn Sizes, spec: &SearchSpec, quick: bool) -> Vec<Shape> {
    if !quick {
        return room.shapes("floor", workload.by_blocks(), false);
    }
    let config = (spec.memory).config(spec.locks[0], workload.capacity(), None);
    let shapes = spec.variants.iter().map(|&variant| {
        let transactions = spec.transactions_of(workload);
        room.launch(workload, resolve(workload, variant, &config, transactions))
    });
    let mut shapes: Vec<_> = shapes.collect();
    shapes.dedup();
    shapes
}

/// The rate to compare with a contender's: of the kernel that does the same work, of several.
fn rate(report: &RunReport, run: &ContenderReport) -> Option<f64> {
    // `floor_gn1` and `gn1_hv_sorting` are one work.
    let work = run.kernel.split_once('_').map_or("", |(_, work)| work);
    let mut kernels = report.kernels.iter();
    let kernel = kernels.find(|kernel| kernel.kernel.split('_').next() == Some(work));
    let rate = match kernel {
        Some(kernel) => kernel.commits as f64 / (kernel.time_ms * 1e-3).max(1e-9),
        None if report.kernels.is_empty() || !work.starts_with("gn") => report.tx_per_s,
        None => return None,
    };
    (rate > 0.0).then_some(rate)
}

/// Every run of the transactional memory beside each contender of its workload, with the rate to compare.
fn compared(measured: &Measured) -> impl Iterator<Item = (&RunReport, &ContenderReport, f64)> {
    measured.stm.runs.iter().flat_map(|report| {
        let beside = (measured.runs.iter()).filter(|run| run.workload == report.workload);
        beside.filter_map(move |run| Some((report, run, rate(report, run)?)))
    })
}

pub(crate) const FORMAT: &str = "stamp-floor/1";

/// The sections of the document behind its head, in their order; others follow.
pub(crate) const ORDER: &str = "ratios bounds rates verifies runs stm";

pub(crate) fn sections(measured: &Measured) -> Value {
    let mut sections = json!(measured);
    let ratios = compared(measured).map(|(report, run, rate)| {
        json!({
            "workload": run.workload, "variant": report.variant, "resolved": report.resolved,
            "to": run.name, "kind": run.kind.name(), "tx_per_s": rate,
            "rate": rate / run.tx_per_s, "time": run.tx_per_s / rate,
        })
    });
    sections["ratios"] = ratios.collect();
    sections
}

fn rows(measured: &Measured) -> Vec<String> {
    let header = "workload\twhat\tkind\tlaunch\ttx\tms\ttx/s\tops/s\tverified";
    let mut rows = vec![header.to_owned()];
    let mut row = |of: [&str; 3], figures: [String; 5], verified: Option<bool>| {
        let verified = verified.map(|right| ["NO", "yes"][usize::from(right)]);
        let verified = verified.unwrap_or("not verified (unsafe)");
        let (of, figures) = (of.join("\t"), figures.join("\t"));
        rows.push(format!("{of}\t{figures}\t{verified}"));
    };
    for &(workload, full) in &measured.asked {
        let runs = measured.runs.iter().filter(|run| run.workload == workload);
        for run in runs.clone() {
            let figures = [
                format!("{}x{}", run.blocks, run.threads),
                of_full(run.transactions, run.transactions_full),
                digits3(run.time_ms.median),
                short(run.tx_per_s),
                short(run.ops_per_s),
            ];
            row([workload, run.name, run.kind.name()], figures, run.verified);
        }
        // Where all contenders do a transaction's whole work.
        let operations = runs.clone().next().map(|run| run.ops_per_s / run.tx_per_s);
        for run in (measured.stm.runs.iter()).filter(|run| run.workload == workload) {
            let operations = operations.filter(|_| run.kernels.len() < 2);
            let figures = [
                format!("{}x{}", run.blocks, run.threads),
                of_full(run.transactions, full),
                digits3(run.time_ms.median),
                short(run.tx_per_s),
                operations.map_or("-".into(), |n| short(n * run.tx_per_s)),
            ];
            row([workload, run.variant, "stm"], figures, Some(run.verified));
        }
    }
    rows
}

fn of_full(transactions: u64, full: u64) -> String {
    let all = (transactions < full).then(|| format!(" of {}", count(full)));
    count(transactions) + &all.unwrap_or_default()
}

pub(crate) fn print(out: &mut impl Write, device: &AnyDevice, measured: &Measured) -> Result<()> {
    writeln!(out, "{}: {}\n", device.id(), device.name())?;
    write!(out, "{}", aligned("", &rows(measured), 4, true))?;
    let beside = compared(measured).map(|(report, run, rate)| {
        let names = [run.workload, report.variant, run.name, run.kind.name()].join("\t");
        let (time, rate) = (digits3(run.tx_per_s / rate), small(rate / run.tx_per_s));
        format!("{names}\t{rate}x\t{time}x")
    });
    let bounds = measured.bounds.iter().map(|of| {
        let (bound, reached) = (short(of.tx_per_s), digits3(of.reached * 100.0));
        let (workload, name, accesses) = (of.workload, of.name, of.formula());
        format!("{workload}\t{name}\t{bound}\t{reached} %\t{accesses}")
    });
    let of_beside = "\nThe transactional memory beside them:\n";
    let header = "workload\tvariant\tbeside\tkind\trate\ttime";
    let beside = titled((of_beside, "  ", header), beside, 4, false);
    let of_bounds = "\nBounds: the time that the memory system needs for the protocol's own accesses, \
                     at the rates of random accesses measured in this run:\n";
    let header = "workload\twhat\tbound, tx/s\treached\taccesses";
    let bounds = titled((of_bounds, "  ", header), bounds, 2, true);
    writeln!(out, "{beside}{bounds}")?;
    for (workload, verifies) in &measured.verifies {
        let (covers, what) = (verifies.covers.name(), verifies.what);
        writeln!(out, "verified, {workload}: {covers}: {what}.")?;
    }
    for (kind, about) in [
        (ContenderKind::Unsynchronised, OF_UNSYNCHRONISED),
        (ContenderKind::CriticalSection, OF_CRITICAL_SECTIONS),
    ] {
        if measured.runs.iter().any(|run| run.kind == kind) {
            writeln!(out, "{about}")?;
        }
    }
    notes(out, measured)
}

const OF_UNSYNCHRONISED: &str = "unsynchronised: the same accesses without synchronisation. That is no \
     bound: a kernel that needs fewer accesses can be faster.";
const OF_CRITICAL_SECTIONS: &str =
    "critical-section: the same transactions under one hand-written spin lock.";

fn notes(out: &mut impl Write, measured: &Measured) -> Result<()> {
    let units = |run: &ContenderReport| (format!("{} of {}", run.operations, run.workload), ());
    let operations = grouped(measured.runs.iter().map(units)).into_iter();
    let operations = operations.map(|(unit, _)| unit);
    write!(out, "{}", sentence("ops: ", operations, (", ", ".\n")))?;
    for run in &measured.runs {
        let kinds = ["WRONG", "unsafe", "note"].into_iter();
        for (what, text) in kinds.zip([&run.error, &run.lost, &run.note]) {
            if let Some(text) = text {
                writeln!(out, "{} {}: {what}: {text}", run.workload, run.name)?;
            }
        }
    }
    for report in measured.stm.runs.iter().filter(|report| !report.verified) {
        let why = report.error.as_deref().unwrap_or("no result");
        writeln!(out, "{} {}: WRONG: {why}", report.workload, report.variant)?;
    }
    Ok(())
}

fn small(x: f64) -> String {
    let plain = digits3(x);
    if x < 0.01 { format!("{x:.1e}") } else { plain }
}
