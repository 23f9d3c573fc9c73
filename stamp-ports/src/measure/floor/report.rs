//! What `bench floor` prints and writes.

use super::Measured;
use super::search::ContenderReport;
use crate::devices::AnyDevice;
use crate::error::Result;
use crate::measure::run_report::RunReport;
use crate::numbers::{count, digits3, short};
use crate::output::{aligned, cells, grouped};
use crate::workloads::contender::ContenderKind;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use stm_core::host::Device;

#[derive(Clone, Debug, Serialize)]
struct Ratio {
    workload: &'static str,
    variant: &'static str,
    resolved: &'static str,
    to: &'static str,
    kind: &'static str,
    tx_per_s: f64,
    rate: f64,
    time: f64,
}

/// The rate to compare with a contender's: of the kernel that does the same work, of several.
fn rate(report: &RunReport, run: &ContenderReport) -> Option<f64> {
    // Entries are named for what they do, then for what does it: `floor_gn1`
    // and `gn1_hv_sorting` are one work.
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

fn ratios(measured: &Measured) -> Vec<Ratio> {
    let ratios = measured.stm.iter().flat_map(|report| {
        let runs = measured.runs.iter();
        let beside = runs.filter(|run| run.workload == report.workload);
        beside.filter_map(|run| {
            let tx_per_s = rate(report, run)?;
            Some(Ratio {
                workload: run.workload,
                variant: report.variant,
                resolved: report.resolved,
                to: run.name,
                kind: run.kind.name(),
                tx_per_s,
                rate: tx_per_s / run.tx_per_s,
                time: run.tx_per_s / tx_per_s,
            })
        })
    });
    ratios.collect()
}

pub(crate) const FORMAT: &str = "stamp-floor/1";

/// The sections of the document behind its head, in their order; others follow.
pub(crate) const ORDER: [&str; 6] = ["ratios", "bounds", "rates", "verifies", "runs", "stm"];

pub(crate) fn sections(measured: &Measured) -> Value {
    let mut sections = json!(measured);
    sections["ratios"] = json!(ratios(measured));
    sections
}

fn rows(measured: &Measured) -> Vec<Vec<String>> {
    let header = [
        "workload", "what", "kind", "launch", "tx", "ms", "tx/s", "ops/s", "verified",
    ];
    let mut rows = vec![cells(header)];
    let mut row = |of: [&str; 3], (blocks, threads): (u32, u32), tx, ms, rate, ops, verified| {
        let mut row = cells(of);
        row.extend([
            format!("{blocks}x{threads}"),
            tx,
            digits3(ms),
            short(rate),
            ops,
        ]);
        row.push(match verified {
            None => "not verified (unsafe)".into(),
            Some(true) => "yes".into(),
            Some(false) => "NO".into(),
        });
        rows.push(row);
    };
    for &(workload, full) in &measured.asked {
        let runs = measured.runs.iter().filter(|run| run.workload == workload);
        for run in runs.clone() {
            row(
                [workload, run.name, run.kind.name()],
                (run.blocks, run.threads),
                of_full(run.transactions, run.transactions_full),
                run.time_ms.median,
                run.tx_per_s,
                short(run.ops_per_s),
                run.verified,
            );
        }
        // Where all contenders do a transaction's whole work.
        let operations = runs.clone().next().map(|run| run.ops_per_s / run.tx_per_s);
        for report in measured.stm.iter().filter(|r| r.workload == workload) {
            let operations = operations.filter(|_| report.kernels.len() < 2);
            row(
                [workload, report.variant, "stm"],
                (report.blocks, report.threads),
                of_full(report.transactions, full),
                report.time_ms.median,
                report.tx_per_s,
                operations.map_or("-".into(), |n| short(n * report.tx_per_s)),
                Some(report.verified),
            );
        }
    }
    rows
}

fn of_full(transactions: u64, full: u64) -> String {
    if transactions < full {
        format!("{} of {}", count(transactions), count(full))
    } else {
        count(transactions)
    }
}

pub(crate) fn print(out: &mut impl Write, device: &AnyDevice, measured: &Measured) -> Result<()> {
    writeln!(out, "{}: {}\n", device.id(), device.name())?;
    write!(out, "{}", aligned("", &rows(measured), 4, true))?;
    let ratios = ratios(measured);
    let beside = ratios.iter().map(|ratio| {
        vec![
            ratio.workload.into(),
            ratio.variant.into(),
            ratio.to.into(),
            ratio.kind.into(),
            small(ratio.rate) + "x",
            digits3(ratio.time) + "x",
        ]
    });
    let header = ["workload", "variant", "beside", "kind", "rate", "time"];
    let title = "The transactional memory beside them:";
    table(out, title, header, beside, (4, false))?;
    let bounds = measured.bounds.iter().map(|of| {
        vec![
            of.workload.into(),
            of.name.into(),
            short(of.bound.tx_per_s),
            digits3(of.reached * 100.0) + " %",
            of.bound.told(),
        ]
    });
    let header = ["workload", "what", "bound, tx/s", "reached", "accesses"];
    let title = "Bounds: the time that the memory system needs for the protocol's own accesses, at \
                 the rates of random accesses measured in this run:";
    table(out, title, header, bounds, (2, true))?;
    writeln!(out)?;
    for (workload, verifies) in &measured.verifies {
        let (covers, what) = (verifies.covers.told(), verifies.what);
        writeln!(out, "verified, {workload}: {covers}: {what}.")?;
    }
    if measured.has(ContenderKind::Unsynchronised) {
        writeln!(
            out,
            "unsynchronised: the same accesses without synchronisation. That is no bound: a \
             kernel that needs fewer accesses can be faster."
        )?;
    }
    if measured.has(ContenderKind::CriticalSection) {
        writeln!(
            out,
            "critical-section: the same transactions under one hand-written spin lock."
        )?;
    }
    notes(out, measured)
}

/// Prints an indented table if it has rows; so many columns are text, and the last if `text_last`.
fn table<const N: usize>(
    out: &mut impl Write,
    title: &str,
    header: [&str; N],
    rows: impl Iterator<Item = Vec<String>>,
    (text, text_last): (usize, bool),
) -> Result<()> {
    let rows: Vec<_> = std::iter::once(cells(header)).chain(rows).collect();
    if rows.len() > 1 {
        write!(out, "\n{title}\n{}", aligned("  ", &rows, text, text_last))?;
    }
    Ok(())
}

fn notes(out: &mut impl Write, measured: &Measured) -> Result<()> {
    let told = |run: &ContenderReport| (format!("{} of {}", run.operations, run.workload), ());
    let operations = grouped(measured.runs.iter().map(told)).into_iter();
    let operations: Vec<String> = operations.map(|(told, _)| told).collect();
    if !operations.is_empty() {
        writeln!(out, "ops: {}.", operations.join(", "))?;
    }
    for run in &measured.runs {
        for (what, text) in [
            ("WRONG", &run.error),
            ("unsafe", &run.lost),
            ("note", &run.note),
        ] {
            if let Some(text) = text {
                writeln!(out, "{} {}: {what}: {text}", run.workload, run.name)?;
            }
        }
    }
    for report in measured.stm.iter().filter(|report| !report.verified) {
        let why = report.error.as_deref().unwrap_or("no result");
        writeln!(out, "{} {}: WRONG: {why}", report.workload, report.variant)?;
    }
    Ok(())
}

fn small(x: f64) -> String {
    if x < 0.01 {
        format!("{x:.1e}")
    } else {
        digits3(x)
    }
}
