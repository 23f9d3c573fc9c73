//! The commands `tune` and `bench floor`, which search launches.

use super::args::{FloorArgs, SearchArgs, TuneArgs};
use super::rows::{over_cgl, setting_of, table};
use crate::cli::prelude::*;
use crate::measure::floor::{self, Measured};
use crate::measure::launches::{self, Room};
use crate::measure::machine::random_accesses;
use crate::measure::search::{SearchResults, SearchSpec, Tried};

impl SearchArgs {
    /// Checks the options against the workloads and variants, and returns what is to be searched.
    fn spec(&self, workloads: &NameList, variants: &[AskedVariant]) -> Result<SearchSpec> {
        check_options(workloads, &self.input)?;
        self.memory.check(variants)?;
        let shared = &self.input.shared;
        Ok(SearchSpec {
            variants: variants.to_vec(),
            locks: self.locks.clone(),
            memory: self.memory,
            repeat: self.repeat,
            transactions: shared.transactions.unwrap_or(launches::TRANSACTIONS),
            seed: shared.seed,
        })
    }
}

pub(super) fn tune(args: &TuneArgs, command: &str) -> Result<bool> {
    let TuneArgs { search, .. } = args;
    let spec = search.spec(&args.workload, &args.variant)?;
    let of = (false, spec.seed);
    let (device, begun) = search.document.begin(FORMAT, args.device, command, of)?;
    let shapes = Room::of(&device).shapes("tune", false, false);
    let mut found = SearchResults::default();
    let workloads = workloads(&args.workload, &search.input, Occasion::Measurement)?;
    spec.check(&device, &workloads)?;
    for workload in &workloads {
        spec.search(&device, workload, &shapes, &mut found)?;
    }
    begun.end(
        found.runs.iter().all(|report| report.verified),
        ("ratios runs", sections(&found)),
        |out, is_written| {
            writeln!(out, "{}: {}", device.id(), device.name())?;
            writeln!(out, "{}", setting_of(&found.runs))?;
            let (tried, repeat) = (found.tried.len(), spec.repeat);
            let best = format!("the best of each variant, median of {repeat}");
            writeln!(out, "{tried} launches tried; {best}:\n")?;
            write!(out, "{}", table(&found.runs, terminal_columns()))?;
            if device.kind() == DeviceKind::Cuda {
                let close = aligned("  ", &runners_up(&found), 2, false);
                write!(out, "\nClose to the best:\n{close}")?;
            }
            if let Some(path) = search.document.out.as_ref().filter(|_| is_written) {
                writeln!(out, "\nEverything tried is in {}.", path.display())?;
            }
            Ok(())
        },
    )
}

/// The three fastest launches of each search.
fn runners_up(found: &SearchResults) -> Vec<String> {
    let of_one_search = |a: &Tried, b: &Tried| {
        (&a.workload, &a.variant, a.locks) == (&b.workload, &b.variant, b.locks)
    };
    let rows = found.tried.chunk_by(of_one_search).map(|of| {
        let best = of.iter().take(3);
        let best = best.map(|t| format!("\t{}x{} {}", t.blocks, t.threads, short(t.tx_per_s)));
        let (first, best) = (&of[0], best.collect::<String>());
        let locks = count(first.locks);
        format!("{}\t{}\t{locks}{best}", first.workload, first.variant)
    });
    rows.collect()
}

const FORMAT: &str = "stamp-tune/1";

/// The sections of the JSON document, an object a line, so that two of them can be compared.
fn sections(found: &SearchResults) -> Value {
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

pub(super) fn floor(args: &FloorArgs, command: &str) -> Result<bool> {
    let mut spec = args.search.spec(&args.workload, &args.variant)?;
    let (document, mut input) = (&args.search.document, args.search.input.clone());
    if args.no_stm {
        spec.variants.clear();
    }
    if args.quick {
        spec.repeat = spec.repeat.min(3);
        spec.transactions = spec.transactions.min(1 << 16);
        input.shared.transactions = Some(spec.transactions);
    }
    let of = (args.quick, spec.seed);
    let (device, begun) = document.begin(floor::FORMAT, args.device, command, of)?;
    let workloads = workloads(&args.workload, &input, Occasion::Floor(device.kind()))?;
    spec.check(&device, &workloads)?;
    let mut measured = Measured::default();
    if workloads.iter().any(|w| w.sizes().accesses().is_some()) {
        measured.rates = random_accesses(&device, args.quick)?;
    }
    for workload in &workloads {
        measured.add(&device, workload, &spec, args.quick)?;
    }
    begun.end(
        measured.is_verified(),
        (floor::ORDER, floor::sections(&measured)),
        |out, _| floor::print(out, &device, &measured),
    )
}
