//! The command `device --measure`.

use super::console::open;
use crate::devices::{Choice, parse_choice};
use crate::error::{Error, Result};
use crate::measure::machine::document::{GridTimes, Measurement, Rate, choices};
use crate::measure::machine::measure;
use crate::measure::progress::Progress;
use crate::numbers::{bytes, digits3, short};
use crate::output::align;
use clap::Args;
use std::io::{Write, stdout};
use stm_core::host::machine::{Abstraction, Column};

/// The options of `device`.
#[derive(Args, Debug, Clone, Copy)]
pub struct DeviceArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Measure one device: its memory, its barriers, and which synchronisation suits it
    #[arg(long)]
    pub measure: bool,
    /// The device to measure: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "NAME", value_parser = parse_choice, requires = "measure")]
    pub device: Option<Choice>,
    /// What meant to measure again, when results were kept
    #[arg(long, hide = true)]
    pub fresh: bool,
}

/// Measures a device, and prints what was found.
pub(super) fn machine(args: &DeviceArgs) -> Result<bool> {
    if args.fresh {
        return Err(Error::Usage(
            "--fresh: results are no longer kept, so that `stamp device --measure` always \
             measures; leave the option out"
                .into(),
        ));
    }
    let device = open(args.device.unwrap_or(Choice::Auto))?;
    let measurement = measure(&device, &Progress::new())?;
    let mut out = stdout().lock();
    if args.json {
        writeln!(out, "{:#}", measurement.document())?;
    } else {
        write!(out, "{}", text(&measurement))?;
    }
    Ok(true)
}

/// Returns the measurement in tables.
fn text(measurement: &Measurement) -> String {
    let mut lines = vec![format!(
        "{}: {} (driver: {}), measured in {} s: {}",
        measurement.device,
        measurement.name,
        measurement.driver,
        digits3(measurement.seconds),
        measurement.sizes
    )];
    let mut section = |title: String, rows: &[Vec<String>], left| {
        lines.push(String::new());
        lines.push(title);
        lines.extend(
            align(rows, left, false)
                .iter()
                .map(|line| format!("  {line}")),
        );
    };
    for grid in &measurement.grids {
        let title = format!(
            "Memory, ms: {} blocks ({}), {} accesses of one thread each",
            grid.times_ns.blocks, grid.why, grid.accesses
        );
        section(title, &times(grid), 1);
    }
    let abstraction = measurement.abstraction();
    if let Some(abstraction) = &abstraction {
        let title = format!("Ratios at {} blocks", abstraction.blocks);
        section(title, &ratios(abstraction), 1);
    }
    section("Random accesses a second".into(), &rates(measurement), 1);
    section(
        "Barriers across blocks, us a wait".into(),
        &barriers(measurement),
        1,
    );
    section(
        "Sections on one mutex a second (blocks), and the most of a block over the fewest".into(),
        &mutexes(measurement),
        1,
    );
    let semaphores_of = semaphores(measurement);
    section(
        "Entries into a semaphore a second".into(),
        &semaphores_of,
        1,
    );
    if let Some(abstraction) = &abstraction {
        lines.push(String::new());
        let held = if abstraction.lines_held() {
            "hold"
        } else {
            "do not hold"
        };
        lines.push(format!("Atomics that wait in a queue {held} their line."));
    }
    if let Some(choice) = measurement.choice() {
        for (what, chosen, reason) in choices(&choice) {
            lines.push(format!("{what}: {chosen}, because {reason}."));
        }
    }
    lines.join("\n") + "\n"
}

/// One time of a column.
type Time = fn(&Column) -> f64;

/// The rows of the paper's table 1.
fn times(grid: &GridTimes) -> Vec<Vec<String>> {
    let of = |f: Time| [&grid.times_ns.reads, &grid.times_ns.writes].map(|column| ms(f(column)));
    let rows: [(&str, Time); 6] = [
        ("volatile, contended", |c| c.volatile.contended),
        ("volatile, not contended", |c| c.volatile.uncontended),
        ("atomic, contended", |c| c.atomic.contended),
        ("atomic, not contended", |c| c.atomic.uncontended),
        ("volatile after an atomic, contended", |c| {
            c.after_atomic.contended
        }),
        ("volatile after an atomic, not contended", |c| {
            c.after_atomic.uncontended
        }),
    ];
    let mut table = vec![["", "reads", "writes"].map(String::from).to_vec()];
    table.extend(rows.map(|(name, f)| {
        let [reads, writes] = of(f);
        vec![name.into(), reads, writes]
    }));
    table
}

fn ms(ns: f64) -> String {
    format!("{:.3}", ns * 1e-6)
}

/// The rows of the paper's tables 2 and 3.
fn ratios(abstraction: &Abstraction) -> Vec<Vec<String>> {
    let (reads, writes) = (&abstraction.reads, &abstraction.writes);
    let row = |name: &str, of_reads: f64, of_writes: f64| {
        vec![name.into(), digits3(of_reads), digits3(of_writes)]
    };
    vec![
        ["contended : not contended", "reads", "writes"]
            .map(String::from)
            .to_vec(),
        row("volatile", reads.volatile, writes.volatile),
        row("atomic", reads.atomic, writes.atomic),
        row(
            "volatile after an atomic",
            reads.after_atomic,
            writes.after_atomic,
        ),
        ["to volatile", "", ""].map(String::from).to_vec(),
        row(
            "atomic, contended",
            reads.atomic_to_volatile.contended,
            writes.atomic_to_volatile.contended,
        ),
        row(
            "atomic, not contended",
            reads.atomic_to_volatile.uncontended,
            writes.atomic_to_volatile.uncontended,
        ),
        row(
            "volatile after an atomic, contended",
            reads.after_atomic_to_volatile.contended,
            writes.after_atomic_to_volatile.contended,
        ),
        row(
            "volatile after an atomic, not contended",
            reads.after_atomic_to_volatile.uncontended,
            writes.after_atomic_to_volatile.uncontended,
        ),
    ]
}

/// A row for each access, and a column for each size.
fn rates(measurement: &Measurement) -> Vec<Vec<String>> {
    let mut sizes: Vec<u64> = measurement.rates.iter().map(|rate| rate.bytes).collect();
    sizes.dedup();
    let mut header = vec![String::new()];
    header.extend(sizes.iter().map(|&size| bytes(size)));
    let mut table = vec![header];
    for rate in measurement
        .rates
        .iter()
        .filter(|r| Some(&r.bytes) == sizes.first())
    {
        let mut row = vec![format!("{} of {} bits", rate.operation, rate.bits)];
        let same = |r: &&Rate| (&r.operation, r.bits) == (&rate.operation, rate.bits);
        row.extend(
            measurement
                .rates
                .iter()
                .filter(same)
                .map(|r| short(r.per_s)),
        );
        table.push(row);
    }
    table
}

/// A row for each algorithm, and a column for each number of blocks.
fn barriers(measurement: &Measurement) -> Vec<Vec<String>> {
    let fastest = measurement.fastest_barriers();
    let mut header = vec!["blocks x threads".to_owned()];
    header.extend(
        fastest
            .iter()
            .map(|b| format!("{}x{}", b.blocks, b.threads)),
    );
    let mut table = vec![header];
    let first = fastest.first().map(|b| b.blocks);
    for barrier in measurement
        .barriers
        .iter()
        .filter(|b| Some(b.blocks) == first)
    {
        let mut row = vec![barrier.algorithm.clone()];
        let same = measurement
            .barriers
            .iter()
            .filter(|b| b.algorithm == barrier.algorithm);
        row.extend(same.map(|b| digits3(b.ns * 1e-3)));
        table.push(row);
    }
    let mut last = vec!["fastest".to_owned()];
    last.extend(fastest.iter().map(|b| b.algorithm.clone()));
    table.push(last);
    table
}

/// A row for each kind, and two columns for each number of blocks.
fn mutexes(measurement: &Measurement) -> Vec<Vec<String>> {
    let all = &measurement.mutexes;
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let mut header = vec!["blocks".to_owned()];
    for mutex in all.iter().filter(|m| m.algorithm == first.algorithm) {
        header.extend([mutex.blocks.to_string(), "most/fewest".into()]);
    }
    let mut table = vec![header];
    for row in all.iter().filter(|m| m.blocks == first.blocks) {
        let mut cells = vec![row.algorithm.clone()];
        for mutex in all.iter().filter(|m| m.algorithm == row.algorithm) {
            let ratio = mutex.most_to_fewest();
            let fair = if ratio.is_finite() {
                format!("{ratio:.2}")
            } else {
                "none for some".into()
            };
            cells.extend([short(mutex.per_s), fair]);
        }
        table.push(cells);
    }
    table
}

/// A row for each algorithm, and a column for each number of blocks and each count.
fn semaphores(measurement: &Measurement) -> Vec<Vec<String>> {
    let all = &measurement.semaphores;
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let mut header = vec!["blocks, count".to_owned()];
    let columns = all.iter().filter(|s| s.algorithm == first.algorithm);
    header.extend(columns.map(|s| format!("{}, {}", s.blocks, s.count)));
    let mut table = vec![header];
    let rows = all
        .iter()
        .filter(|s| (s.blocks, s.count) == (first.blocks, first.count));
    for row in rows {
        let mut cells = vec![row.algorithm.clone()];
        let same = all.iter().filter(|s| s.algorithm == row.algorithm);
        cells.extend(same.map(|s| short(s.per_s)));
        table.push(cells);
    }
    table
}
