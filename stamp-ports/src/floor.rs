//! The command `bench floor`: what the transactional memory is measured
//! against, in the same run on the same device.
//!
//! | kind | is | result |
//! | --- | --- | --- |
//! | floor | the workload's accesses with nothing that synchronises | unsafe: not verified, updates may be lost |
//! | special-purpose | what one writes by hand for this workload and no other | verified |
//! | stm | transactions | verified |
//!
//! For each, the best launch is searched and then measured: median of the
//! repeats, the data put back before each.
//!
//! k-means is measured over its first passes, and over sums that transactions
//! add to as well; so is bank.
//!
//! Labyrinth and genome's links (GN-2) have neither floor nor rival: the one
//! spends its time routing, the other in some sixty short launches.
//!
//! | file | is |
//! | --- | --- |
//! | `contender.rs` | what a floor or a rival is |
//! | `measure.rs` | its search and measurement |
//! | `report.rs` | the table and the document |
//! | `options.rs` | the options at the command line |
//! | the others | the contenders of a workload each |

pub mod bank;
mod contender;
pub mod eigenbench;
pub mod genome;
pub mod ht;
pub mod kmeans;
mod measure;
mod options;
pub mod ra;
mod report;

pub use contender::{Contender, Kind};
pub use measure::{Outcome, Run, Tried, measure};
pub use options::{FloorArgs, HELP};

use crate::bank::Bank;
use crate::cli::TuneArgs;
use crate::commands::{check_foreign, demo_input, open};
use crate::devices::{AnyDevice, Kind as DeviceKind};
use crate::error::{Error, Result};
use crate::kmeans::Kmeans;
use crate::launches;
use crate::out_file::OutFile;
use crate::progress::Progress;
use crate::runner::Report;
use crate::tune::{self, without_folder};
use crate::variants::Variant;
use crate::workload::{AllAlgorithms, WORKLOADS, Workload};
use crate::workloads::AnyWorkload;
use crate::{on_device, on_workload};
use measure::Shapes;
use serde::Serialize;
use std::io::{ErrorKind, Write, stdout};
use stm_core::host::Device;

/// Transactions of a launch with `--quick`, at most.
const QUICK_TRANSACTIONS: u64 = 1 << 16;
/// Repeats with `--quick`, at most.
const QUICK_REPEAT: u32 = 3;

/// Everything that was measured.
#[derive(Default)]
struct Measured {
    /// The floors and rivals.
    runs: Vec<Run>,
    /// The transactional memory.
    stm: Vec<Report>,
    /// Every launch of the searches.
    search: Vec<Tried>,
    /// The same of the transactional memory's.
    stm_search: Vec<crate::paper::document::Tried>,
}

/// How much of it the transactional memory takes part in.
struct Settings<'a> {
    args: &'a FloorArgs,
    shapes: Shapes,
    stm_shapes: &'a [(u32, u32)],
    repeat: u32,
}

/// The workloads asked for: full size, but for what takes a CPU too long.
fn workloads(args: &FloorArgs, kind: DeviceKind) -> Result<Vec<(AnyWorkload, TuneArgs)>> {
    let progress = Progress::new();
    let asked = |name: &str| args.workload.iter().any(|w| w == name || w == "all");
    let mut found = Vec::new();
    for (name, _) in WORKLOADS.iter().filter(|(name, _)| asked(name)) {
        let mut input = args.input.clone();
        let demo = demo_input(name, kind);
        if input.input.is_none() {
            input.n = input.n.or(demo.n);
            input.labyrinth.x = input.labyrinth.x.or(demo.labyrinth.x);
            input.labyrinth.y = input.labyrinth.y.or(demo.labyrinth.y);
            input.labyrinth.z = input.labyrinth.z.or(demo.labyrinth.z);
            let points = &mut input.kmeans.shape.points;
            *points = points.or(demo.kmeans.shape.points);
        }
        // All passes are alike, and one lock for all takes a second for each.
        let passes = &mut input.kmeans.passes_max;
        *passes = passes.or((*name == "kmeans").then_some(launches::KMEANS_FLOOR_PASSES));
        if args.quick {
            let most = input.transactions.unwrap_or(launches::TRANSACTIONS);
            input.transactions = Some(most.min(QUICK_TRANSACTIONS));
        }
        let workload = AnyWorkload::new(name, &input, &progress)?;
        let tune = TuneArgs {
            workload: (*name).to_owned(),
            device: args.device,
            variant: args.variant.clone(),
            repeat: repeat(args),
            json: false,
            out: None,
            input,
            locks: vec![args.locks],
            memory: args.memory.clone(),
        };
        found.push((workload, tune));
    }
    Ok(found)
}

fn repeat(args: &FloorArgs) -> u32 {
    if args.quick {
        args.repeat.min(QUICK_REPEAT)
    } else {
        args.repeat
    }
}

/// The transactional memory on a workload, searched as `tune` does.
fn stm<D: Device, W: AllAlgorithms>(
    device: &D,
    workload: &W,
    tune: &TuneArgs,
    settings: &Settings<'_>,
    measured: &mut Measured,
) -> Result<()> {
    let found = tune::search(device, workload, tune, settings.stm_shapes)?;
    measured.stm.extend(found.runs);
    measured.stm_search.extend(found.search);
    Ok(())
}

/// The name of `fast` where transactions add.
const FAST_ADDS: &str = "fast, adds";

/// The same workload with transactions that add, if it has such.
fn with_adds(workload: &AnyWorkload) -> Option<AnyWorkload> {
    match workload {
        AnyWorkload::Kmeans(of) if !of.adds => Some(AnyWorkload::Kmeans(Kmeans {
            adds: true,
            ..of.clone()
        })),
        AnyWorkload::Bank(of) if of.adds_row.is_none() => Some(AnyWorkload::Bank(Bank {
            adds_row: Some(launches::BANK_ROW),
            ..*of
        })),
        _ => None,
    }
}

/// `fast` on a workload whose transactions add, as a variant of its own.
fn stm_adds(
    any: &AnyDevice,
    workload: &AnyWorkload,
    tune: &TuneArgs,
    settings: &Settings<'_>,
    measured: &mut Measured,
) -> Result<()> {
    let mut found = Measured::default();
    let tune = TuneArgs {
        variant: vec![Variant::Fast],
        ..tune.clone()
    };
    on_workload!(workload, w => {
        on_device!(any, d => stm(d, w, &tune, settings, &mut found))
    })?;
    for run in &mut found.stm {
        run.variant = FAST_ADDS;
    }
    for tried in &mut found.stm_search {
        tried.variant = FAST_ADDS.into();
    }
    measured.stm.extend(found.stm);
    measured.stm_search.extend(found.stm_search);
    Ok(())
}

/// The floors and rivals of a workload.
fn contenders<D: Device>(
    device: &D,
    workload: &AnyWorkload,
    tune: &TuneArgs,
    settings: &Settings<'_>,
    measured: &mut Measured,
) -> Result<()> {
    let transactions = on_workload!(workload, w => tune::transactions_of(w, tune));
    let mut add = |outcome: Outcome| {
        measured.runs.push(outcome.run);
        measured.search.extend(outcome.tried);
    };
    let setting = measure::Setting {
        seed: tune.input.seed,
        transactions,
        repeat: settings.repeat,
        shapes: &settings.shapes,
    };
    match workload {
        AnyWorkload::Ra(w) => {
            add(measure::<D, ra::Plain>(device, w, &setting)?);
            add(measure::<D, ra::PlainCells>(device, w, &setting)?);
            add(measure::<D, ra::AtomicAdds>(device, w, &setting)?);
        }
        AnyWorkload::Bank(w) => {
            add(measure::<D, bank::Plain>(device, w, &setting)?);
            add(measure::<D, bank::AtomicAdds>(device, w, &setting)?);
        }
        AnyWorkload::Ht(w) => {
            add(measure::<D, ht::Plain>(device, w, &setting)?);
            add(measure::<D, ht::CasTable>(device, w, &setting)?);
        }
        AnyWorkload::Eigenbench(w) => {
            add(measure::<D, eigenbench::Plain>(device, w, &setting)?);
        }
        AnyWorkload::Genome(w) => {
            add(measure::<D, genome::Plain>(device, w, &setting)?);
            add(measure::<D, genome::CasSet>(device, w, &setting)?);
        }
        AnyWorkload::Kmeans(w) => {
            add(measure::<D, kmeans::Plain>(device, w, &setting)?);
            add(measure::<D, kmeans::AtomicAdds>(device, w, &setting)?);
        }
        // Nearly all of its time is the expansion of routes, which is the same
        // with and without transactions: only these are measured.
        AnyWorkload::Labyrinth(_) => {}
    }
    Ok(())
}

/// The command; `command` is how it was called. Returns whether all that can
/// be verified was.
///
/// # Errors
/// Of the command line, the device or the file.
pub fn floor(args: &FloorArgs, command: &str) -> Result<bool> {
    let one = match args.workload.as_slice() {
        [one] => one.as_str(),
        _ => "all",
    };
    check_foreign(one, &args.input)?;
    let file = args.out.as_deref().map(OutFile::new).transpose()?;
    let any = open(args.device)?;
    let description = any.describe()?;
    let workloads = workloads(args, any.kind())?;
    for (workload, tune) in &workloads {
        on_workload!(workload, w => on_device!(&any, d => tune::check(d, w, tune)))?;
    }
    let mut measured = Measured::default();
    for (workload, tune) in &workloads {
        one_workload(&any, workload, tune, args, &mut measured)?;
    }
    let command = without_folder(command, args.out.as_deref());
    let document = report::document(&command, &description, &measured)?;
    let written = file.map(|file| file.write(&document)).transpose();
    let printed = if args.json {
        write!(stdout(), "{document}").map_err(Error::from)
    } else {
        report::print(&mut stdout().lock(), &any, &measured)
    };
    // What was found is printed even if it could not be written.
    written?;
    match printed {
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(measured.runs.iter().all(|run| run.verified != Some(false))
        && measured.stm.iter().all(|report| report.verified))
}

/// All of one workload, the floors first.
fn one_workload(
    any: &AnyDevice,
    workload: &AnyWorkload,
    tune: &TuneArgs,
    args: &FloorArgs,
    measured: &mut Measured,
) -> Result<()> {
    let limits = any.limits();
    let resident = any.describe()?.gpu.map_or(0, |gpu| {
        u64::from(gpu.resident_threads_per_processor) * u64::from(limits.processors)
    });
    let name = on_workload!(workload, w => w.name());
    let stm_shapes = if args.quick {
        let mut shapes: Vec<_> = args
            .variant
            .iter()
            .map(|&variant| launches::launch(name, variant, any.kind(), &limits))
            .collect();
        shapes.dedup();
        shapes
    } else {
        let mut shapes = launches::shapes(any.kind(), &limits, resident);
        shapes.extend(launches::between(any.kind(), &limits));
        shapes
    };
    let settings = Settings {
        args,
        shapes: Shapes::new(any.kind(), &limits, resident, args.quick),
        stm_shapes: &stm_shapes,
        repeat: repeat(args),
    };
    on_device!(any, d => contenders(d, workload, tune, &settings, measured))?;
    if settings.args.no_stm {
        return Ok(());
    }
    on_workload!(workload, w => {
        on_device!(any, d => stm(d, w, tune, &settings, measured))
    })?;
    match with_adds(workload) {
        Some(adds) if args.variant.contains(&Variant::Fast) => {
            stm_adds(any, &adds, tune, &settings, measured)
        }
        _ => Ok(()),
    }
}

/// What is printed as `verified`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
struct Verdict(Option<bool>);

impl Verdict {
    const fn text(self) -> &'static str {
        match self.0 {
            None => "not verified (unsafe)",
            Some(true) => "yes",
            Some(false) => "NO",
        }
    }
}
