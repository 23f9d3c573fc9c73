//! The commands `tune` and `bench floor`, which search launches.

use super::args::{FloorArgs, TuneArgs};
use super::rows::{over_cgl, setting_of, table};
use crate::cli::prelude::*;
use crate::measure::floor::{Measured, report as floor_report};
use crate::measure::launches::{self, Room};
use crate::measure::machine::random_accesses;
use crate::measure::search::{Found, SearchSpec, Tried};

pub(super) fn tune(args: &TuneArgs, command: &str) -> Result<bool> {
    check_options(&args.workload, &args.input)?;
    args.memory.check(&args.variant)?;
    let shared = &args.input.shared;
    let spec = SearchSpec {
        variants: args.variant.clone(),
        locks: args.locks.clone(),
        memory: args.memory,
        repeat: args.repeat,
        transactions: shared.transactions.unwrap_or(launches::TRANSACTIONS),
        seed: shared.seed,
    };
    let of = (false, shared.seed);
    let (device, begun) = args.document.begin(FORMAT, args.device, command, of)?;
    let shapes = Room::of(&device).shapes();
    let mut found = Found::default();
    let workloads = workloads(&args.workload, &args.input, Occasion::Measurement)?;
    let mut all = workloads.iter();
    all.try_for_each(|of| spec.check(&device, of.sizes()))?;
    for workload in &workloads {
        spec.search(&device, workload, &shapes, &mut found)?;
    }
    begun.end(
        found.runs.iter().all(|report| report.verified),
        (&["ratios", "runs"], &sections(&found)),
        |out, is_written| {
            let note = args.document.out.as_ref().filter(|_| is_written);
            report(out, &device, &found, args, note)
        },
    )
}

fn report(
    out: &mut impl Write,
    device: &AnyDevice,
    found: &Found,
    args: &TuneArgs,
    written: Option<&PathBuf>,
) -> Result<()> {
    writeln!(out, "{}: {}", device.id(), device.name())?;
    writeln!(out, "{}", setting_of(&found.runs))?;
    let (tried, repeat) = (found.tried.len(), args.repeat);
    let best = format!("the best of each variant, median of {repeat}");
    writeln!(out, "{tried} launches tried; {best}:\n")?;
    write!(out, "{}", table(&found.runs, terminal_columns()))?;
    if device.kind() == DeviceKind::Cuda {
        let close = aligned("  ", &runners_up(found), 2, false);
        write!(out, "\nClose to the best:\n{close}")?;
    }
    if let Some(path) = written {
        writeln!(out, "\nEverything tried is in {}.", path.display())?;
    }
    Ok(())
}

/// The three fastest launches of each search.
fn runners_up(found: &Found) -> Vec<Vec<String>> {
    let of_one_search = |a: &Tried, b: &Tried| {
        (&a.workload, &a.variant, a.locks) == (&b.workload, &b.variant, b.locks)
    };
    let rows = found.tried.chunk_by(of_one_search).map(|of| {
        let first = [&of[0].workload, &of[0].variant].map(String::clone);
        let best = of.iter().take(3);
        let best = best.map(|t| format!("{}x{} {}", t.blocks, t.threads, short(t.tx_per_s)));
        let first = first.into_iter().chain([count(of[0].locks)]);
        first.chain(best).collect()
    });
    rows.collect()
}

const FORMAT: &str = "stamp-tune/1";

/// The sections of the JSON document, an object a line, so that two of them can be compared.
fn sections(found: &Found) -> Value {
    let ratios = found.runs.iter().map(|run| {
        json!({
            "workload": run.workload,
            "variant": run.variant,
            "locks": run.locks,
            "tx_per_s": run.tx_per_s,
            "over_cgl": over_cgl(run, &found.runs),
        })
    });
    json!({"ratios": ratios.collect::<Value>(), "runs": found.runs, "search": found.tried})
}

const QUICK_TRANSACTIONS: u64 = 1 << 16;
const QUICK_REPEAT: u32 = 3;

pub(super) fn floor(args: &FloorArgs, command: &str) -> Result<bool> {
    check_options(&args.workload, &args.input)?;
    args.memory.check(&args.variant)?;
    let mut input = args.input.clone();
    let mut spec = SearchSpec {
        variants: args.variant.clone(),
        locks: vec![args.locks],
        memory: args.memory,
        repeat: args.repeat,
        transactions: input.shared.transactions.unwrap_or(launches::TRANSACTIONS),
        seed: input.shared.seed,
    };
    if args.no_stm {
        spec.variants.clear();
    }
    if args.quick {
        spec.repeat = spec.repeat.min(QUICK_REPEAT);
        spec.transactions = spec.transactions.min(QUICK_TRANSACTIONS);
        input.shared.transactions = Some(spec.transactions);
    }
    let of = (args.quick, input.shared.seed);
    let (device, begun) = (args.document).begin(floor_report::FORMAT, args.device, command, of)?;
    let workloads = workloads(&args.workload, &input, Occasion::Floor(device.kind()))?;
    let mut all = workloads.iter();
    all.try_for_each(|of| spec.check(&device, of.sizes()))?;
    let mut measured = Measured::default();
    if workloads.iter().any(|w| w.sizes().accesses().is_some()) {
        measured.rates = random_accesses(&device, args.quick)?;
    }
    for workload in &workloads {
        measured.add(&device, workload, &spec, args.quick)?;
    }
    begun.end(
        measured.is_verified(),
        (&floor_report::ORDER, &floor_report::sections(&measured)),
        |out, _| floor_report::print(out, &device, &measured),
    )
}
