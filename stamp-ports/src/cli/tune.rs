//! The command `tune`.

use super::args::TuneArgs;
use super::console::{check_options, workloads};
use super::rows::table;
use crate::devices::{AnyDevice, DeviceKind};
use crate::error::Result;
use crate::head::{FIELDS, Head};
use crate::measure::launches;
use crate::measure::search::{Found, SearchSpec, Tried};
use crate::numbers::{count, short};
use crate::output::{align, over_cgl, setting_of, terminal_columns};
use crate::store::to_text;
use crate::workloads::input::Occasion;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use stm_core::host::Device;

/// Searches the best launch of each variant; `command` is how it was called.
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
    let limits = device.limits();
    let shapes = launches::shapes(device.kind(), &limits, device.resident_threads());
    let mut found = Found::default();
    let workloads = workloads(&args.workload, &args.input, Occasion::Measurement)?;
    for workload in &workloads {
        spec.check(&device, workload.sizes())?;
    }
    for workload in &workloads {
        found.extend(spec.search(&device, workload, &shapes)?);
    }
    begun.end(
        found.runs.iter().all(|report| report.verified),
        |head| document(head, &found),
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
    writeln!(
        out,
        "{} launches tried; the best of each variant, median of {}:\n",
        found.tried.len(),
        args.repeat
    )?;
    write!(out, "{}", table(&found.runs, terminal_columns()))?;
    if device.kind() == DeviceKind::Cuda {
        writeln!(out, "\nClose to the best:")?;
        for line in align(&runners_up(found), 2, false) {
            writeln!(out, "  {line}")?;
        }
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
        let mut row = vec![
            of[0].workload.clone(),
            of[0].variant.clone(),
            count(of[0].locks),
        ];
        let best = of.iter().take(3);
        row.extend(best.map(|t| format!("{}x{} {}", t.blocks, t.threads, short(t.tx_per_s))));
        row
    });
    rows.collect()
}

const FORMAT: &str = "stamp-tune/1";

/// The document, whose sections are in this order behind the head.
#[derive(Serialize)]
struct Document<'f> {
    #[serde(flatten)]
    head: Head,
    ratios: Vec<Value>,
    #[serde(flatten)]
    found: &'f Found,
}

/// The JSON document, an object a line, so that two of them can be compared.
fn document(head: Head, found: &Found) -> Result<String> {
    let ratios = found.runs.iter().map(|run| {
        json!({
            "workload": run.workload,
            "variant": run.variant,
            "locks": run.locks,
            "tx_per_s": run.tx_per_s,
            "over_cgl": over_cgl(run, &found.runs),
        })
    });
    let document = Document {
        head,
        ratios: ratios.collect(),
        found,
    };
    to_text(&document, &[&FIELDS[..], &["ratios", "runs"]].concat())
}
