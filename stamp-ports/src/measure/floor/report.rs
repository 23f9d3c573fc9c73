//! What `bench floor` prints and writes.

use super::Measured;
use super::search::ContenderReport;
use crate::prelude::*;
use crate::workloads::contender::ContenderKind;

#[derive(Serialize)]
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

fn ratios(measured: &Measured) -> Vec<Ratio> {
    let ratios = measured.stm.runs.iter().flat_map(|report| {
        let beside = (measured.runs.iter()).filter(|run| run.workload == report.workload);
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

fn rows(measured: &Measured) -> Vec<String> {
    let header = "workload\twhat\tkind\tlaunch\ttx\tms\ttx/s\tops/s\tverified";
    let mut rows = vec![header.to_owned()];
    let mut row = |of: [&str; 3], figures: [String; 5], verified| {
        let verified = match verified {
            None => "not verified (unsafe)",
            Some(true) => "yes",
            Some(false) => "NO",
        };
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
    if transactions < full {
        format!("{} of {}", count(transactions), count(full))
    } else {
        count(transactions)
    }
}

pub(crate) fn print(out: &mut impl Write, device: &AnyDevice, measured: &Measured) -> Result<()> {
    writeln!(out, "{}: {}\n", device.id(), device.name())?;
    write!(out, "{}", aligned("", &rows(measured), 4, true))?;
    let mut beside = vec!["workload\tvariant\tbeside\tkind\trate\ttime".to_owned()];
    beside.extend(ratios(measured).iter().map(|of| {
        let (rate, time) = (small(of.rate), digits3(of.time));
        let names = [of.workload, of.variant, of.to, of.kind].join("\t");
        format!("{names}\t{rate}x\t{time}x")
    }));
    let mut bounds = vec!["workload\twhat\tbound, tx/s\treached\taccesses".to_owned()];
    bounds.extend(measured.bounds.iter().map(|of| {
        let (bound, reached) = (short(of.bound.tx_per_s), digits3(of.reached * 100.0));
        let (workload, name, accesses) = (of.workload, of.name, of.bound.told());
        format!("{workload}\t{name}\t{bound}\t{reached} %\t{accesses}")
    }));
    let of_beside = "The transactional memory beside them:";
    let of_bounds = "Bounds: the time that the memory system needs for the protocol's own accesses, \
                     at the rates of random accesses measured in this run:";
    for (title, rows, text, text_last) in
        [(of_beside, beside, 4, false), (of_bounds, bounds, 2, true)]
    {
        if rows.len() > 1 {
            write!(out, "\n{title}\n{}", aligned("  ", &rows, text, text_last))?;
        }
    }
    writeln!(out)?;
    for (workload, verifies) in &measured.verifies {
        let (covers, what) = (verifies.covers.told(), verifies.what);
        writeln!(out, "verified, {workload}: {covers}: {what}.")?;
    }
    for (kind, told) in [
        (
            ContenderKind::Unsynchronised,
            "unsynchronised: the same accesses without synchronisation. That is no bound: a \
             kernel that needs fewer accesses can be faster.",
        ),
        (
            ContenderKind::CriticalSection,
            "critical-section: the same transactions under one hand-written spin lock.",
        ),
    ] {
        if measured.runs.iter().any(|run| run.kind == kind) {
            writeln!(out, "{told}")?;
        }
    }
    notes(out, measured)
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
    for report in measured.stm.runs.iter().filter(|report| !report.verified) {
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
