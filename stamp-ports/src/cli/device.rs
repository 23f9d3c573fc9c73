//! The commands `list` and `device`, and `device --measure`.

use super::console::wrapped;
use crate::cli::prelude::*;
use crate::measure::machine::abstraction::{Benchmarks, Pair};
use crate::measure::machine::{Measurement, measure};
use crate::nw::SCHEMES;
use stm_sync::chosen::Kind as MutexKind;

type Implementations = (&'static str, Vec<&'static str>);

/// The implementations of workloads without transactions: of `bench floor`; of `bench sync` and `bench nw`.
fn implementations() -> Result<[Vec<Implementations>; 2]> {
    let mut all = [Vec::new(), Vec::new()];
    for &(workload, _) in WORKLOADS {
        let made = AnyWorkload::sized(workload, Occasion::Quick, SEED)?;
        let is_of_sync = |of: &Contender<'_>| of.kind == ContenderKind::Excluding;
        let (of_sync, of_floor): (Vec<_>, Vec<_>) =
            made.contenders().into_iter().partition(is_of_sync);
        for (all, of) in all.iter_mut().zip([of_floor, of_sync]) {
            let names: Vec<_> = of.iter().map(|contender| contender.name).collect();
            if !names.is_empty() {
                all.push((workload, names));
            }
        }
    }
    let schemes = SCHEMES.iter().map(|scheme| scheme.0);
    all[1].push(("nw", schemes.collect()));
    Ok(all)
}

pub(super) fn list(json: bool) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let variants = AskedVariant::all();
    let variants: Vec<_> = variants.iter().map(|v| (v.name(), v.about())).collect();
    let [of_floor, of_sync] = implementations()?;
    let mut out = stdout().lock();
    if json {
        let about = |(name, about): &(&str, &str)| json!({"name": name, "about": about});
        let named = |all: &[(&str, &str)]| all.iter().map(about).collect::<Value>();
        let devices = devices.iter();
        let devices = devices.map(|d| json!({"id": d.id(), "name": d.name()}));
        let list = json!({
            "workloads": named(WORKLOADS),
            "variants": named(&variants),
            "without_transactions": of_sync.into_iter().collect::<BTreeMap<_, _>>(),
            "beside_transactions": of_floor.into_iter().collect::<BTreeMap<_, _>>(),
            "devices": devices.collect::<Value>(),
            "refused": refused,
        });
        writeln!(out, "{list:#}")?;
        return Ok(true);
    }
    let pair = |(a, b): &(&str, &str)| format!("{a}\t{b}");
    let implementations = |all: Vec<Implementations>| {
        let rows = all.into_iter().flat_map(|(name, names)| {
            // One space does not tell names apart that have spaces.
            let lines = wrapped(names.into_iter(), "; ", 64);
            let lines = iter::once(name).chain(iter::repeat("")).zip(lines);
            lines.map(|(first, line)| format!("{first}\t{line}"))
        });
        rows.collect::<Vec<_>>()
    };
    let usable = devices.iter().map(|d| format!("{}\t{}", d.id(), d.name()));
    let others = refused.iter();
    let others = others.map(|r| format!("{}\tnot usable: {}", r.id, r.why));
    let [floor, sync] = [of_floor, of_sync].map(implementations);
    for (title, rows) in [
        ("Workloads", WORKLOADS.iter().map(pair).collect()),
        ("Variants", variants.iter().map(pair).collect()),
        ("Without transactions, in `stamp bench floor`", floor),
        ("Without transactions, in `stamp bench sync`", sync),
        ("Devices", usable.chain(others).collect()),
    ] {
        write!(out, "{title}\n{}", aligned("  ", &rows, 2, true))?;
    }
    Ok(true)
}

pub(super) fn device(args: &DeviceArgs) -> Result<bool> {
    if args.measure || args.fresh {
        return machine(args);
    }
    let (devices, refused) = AnyDevice::all();
    let mut out = stdout().lock();
    let described = devices.iter().map(AnyDevice::describe);
    let described: Vec<_> = described.collect::<Result<_>>()?;
    if args.json {
        let all = json!({"devices": described, "refused": refused});
        writeln!(out, "{all:#}")?;
        return Ok(true);
    }
    for d in &described {
        writeln!(out, "{}: {}", d.id, d.name)?;
        let mut rows = Vec::new();
        let mut row = |what: &str, value: String| rows.push(format!("{what}\t{value}"));
        if let Some(gpu) = &d.gpu {
            row("compute capability", gpu.compute_capability.clone());
            row("driver, newest CUDA", gpu.driver_cuda_version.clone());
            row("multiprocessors", d.processors.to_string());
            row("memory", bytes(gpu.memory_bytes));
            row("second-level cache", bytes(gpu.l2_bytes));
            let resident = gpu.resident_threads_per_processor;
            row("resident threads of each", resident.to_string());
        } else {
            row("cores", d.processors.to_string());
        }
        row("memory available", bytes(d.available_bytes));
        row("lanes of a warp", d.warp_width.to_string());
        row("threads of a block", format!("at most {}", d.threads_max));
        row("blocks", format!("at most {}", d.blocks_max));
        let shared = bytes(d.shared_bytes_max.into());
        row("shared memory of a block", format!("at most {shared}"));
        write!(out, "{}", aligned("  ", &rows, 2, true))?;
    }
    for r in &refused {
        writeln!(out, "{}: not usable: {}", r.id, r.why)?;
    }
    Ok(true)
}

#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct DeviceArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Measure one device: its memory, barriers, mutexes and semaphores
    #[arg(long)]
    pub measure: bool,
    /// The device to measure: auto, cpu, cuda or cuda:N [default: auto]
    #[arg(long, value_name = "NAME", value_parser = parse_choice, requires = "measure")]
    pub device: Option<Choice>,
    /// What meant to measure again, when results were kept
    #[arg(long, hide = true)]
    pub fresh: bool,
}

fn machine(args: &DeviceArgs) -> Result<bool> {
    if args.fresh {
        return refuse(
            "--fresh: results are no longer kept, so that `stamp device --measure` always \
             measures; leave the option out",
        );
    }
    let device = open(args.device.unwrap_or(Choice::Auto))?;
    let measurement = measure(&device)?;
    let mut out = stdout().lock();
    if args.json {
        writeln!(out, "{:#}", measurement.document())?;
    } else {
        write!(out, "{}", text(&measurement))?;
    }
    Ok(true)
}

fn text(measurement: &Measurement) -> String {
    let mut text = format!(
        "{}: {} (driver: {}), measured in {} s: {}\n",
        measurement.device,
        measurement.name,
        measurement.driver,
        digits3(measurement.seconds),
        measurement.sizes
    );
    let mut section = |title: &str, rows: &[String]| {
        let _ = write!(text, "\n{title}\n{}", aligned("  ", rows, 1, false));
    };
    for grid in &measurement.grids {
        let title = format!(
            "Memory, ms: {} blocks ({}), {} accesses of one thread each",
            grid.times_ns.blocks, grid.why, grid.accesses
        );
        section(&title, &times(&grid.times_ns));
    }
    let abstraction = measurement.abstraction();
    if let (Some(abstraction), Some(last)) = (&abstraction, measurement.grids.last()) {
        let title = format!("Ratios at {} blocks", abstraction.blocks);
        section(&title, &ratios(&last.times_ns));
    }
    for (title, rows) in tables(measurement) {
        section(title, &rows);
    }
    if let Some(abstraction) = &abstraction {
        let is_held = abstraction.lines_held();
        let held = if is_held { "hold" } else { "do not hold" };
        let _ = writeln!(text, "\nAtomics that wait in a queue {held} their line.");
    }
    text
}

/// The kinds of accesses, in the order of [`Benchmarks::pairs`].
const KINDS: [&str; 3] = ["volatile", "atomic", "volatile after an atomic"];

/// A row of a kind for contended accesses, and one for others, of reads and of writes.
fn by_contention(name: &str, pairs: [Pair; 2], shown: fn(f64) -> String) -> [String; 2] {
    let row = |how, time: fn(Pair) -> f64| {
        let [reads, writes] = pairs.map(|pair| shown(time(pair)));
        format!("{name}, {how}\t{reads}\t{writes}")
    };
    let contended = row("contended", |pair| pair.contended);
    [contended, row("not contended", |pair| pair.uncontended)]
}

fn times(times: &Benchmarks) -> Vec<String> {
    let ms = |ns: f64| format!("{:.3}", ns * 1e-6);
    let mut table = vec!["\treads\twrites".to_owned()];
    for (name, pairs) in KINDS.iter().zip(times.pairs()) {
        table.extend(by_contention(name, pairs, ms));
    }
    table
}

/// The rows of the paper's tables 2 and 3.
fn ratios(times: &Benchmarks) -> Vec<String> {
    let mut table = vec!["contended : not contended\treads\twrites".to_owned()];
    let (mut over, all) = (Vec::new(), times.pairs());
    for (name, [reads, writes]) in KINDS.iter().zip(all) {
        let of = [reads, writes].map(|pair| digits3(pair.ratio()));
        table.push(format!("{name}\t{}", of.join("\t")));
        let pairs = [reads.over(&all[0][0]), writes.over(&all[0][1])];
        over.extend(by_contention(name, pairs, digits3));
    }
    table.push("to volatile\t\t".to_owned());
    table.extend(over.into_iter().skip(2));
    table
}

/// Its row, its column, its text, and the speed by which it may be the fastest of its column.
type Cell = (String, String, String, Option<f64>);

fn row<'a>(first: &'a str, others: impl Iterator<Item = &'a str>) -> String {
    iter::once(first).chain(others).joined("\t")
}

/// Returns a table with a cell for each of these, rows and columns in the order in which they first come, and
/// below them the fastest row of each column, if any has a speed.
fn table<T>(corner: &str, of: &[T], cell: impl Fn(&T) -> Cell) -> Vec<String> {
    let all: Vec<Cell> = of.iter().map(cell).collect();
    let columns = grouped(all.iter().map(|cell| (&*cell.1, cell)));
    let mut rows = vec![row(corner, columns.iter().map(|(column, _)| *column))];
    let of_rows = grouped(all.iter().map(|cell| (&*cell.0, &*cell.2)));
    rows.extend((of_rows.into_iter()).map(|(name, texts)| row(name, texts.into_iter())));
    let fastest = columns.iter().map(|(_, cells)| {
        let fast = cells.iter().filter_map(|cell| Some((&*cell.0, cell.3?)));
        let best = fast.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or("", |(name, _)| name)
    });
    let fastest = row("fastest", fastest);
    let is_known = fastest.split('\t').skip(1).any(|name| !name.is_empty());
    rows.extend(is_known.then_some(fastest));
    rows
}

fn tables(measurement: &Measurement) -> [(&'static str, Vec<String>); 4] {
    let name = |of: &Value| of["algorithm"].as_str().unwrap_or_default().to_owned();
    let figure = |of: &Value, key: &str| of[key].as_f64().unwrap_or(0.0);
    let rates = table("", &measurement.rates, |rate| {
        let row = format!("{} of {} bits", rate.operation, rate.bits);
        (row, bytes(rate.bytes), short(rate.per_s), None)
    });
    let barriers = table("blocks x threads", &measurement.barriers, |of| {
        let launch = format!("{}x{}", of["blocks"], of["threads"]);
        let ns = figure(of, "ns");
        (name(of), launch, digits3(ns * 1e-3), Some(1.0 / ns))
    });
    let mutexes = table("blocks", &measurement.mutexes, |of| {
        let per_s = figure(of, "per_s");
        let fair = match figure(of, "most") / figure(of, "fewest") {
            ratio if ratio.is_finite() => format!("{ratio:.2}"),
            _ => "some blocks got none".into(),
        };
        let in_order = MutexKind::from_name(&name(of)).is_some_and(MutexKind::is_fair);
        let (blocks, text) = (of["blocks"].to_string(), short(per_s));
        let text = format!("{text} ({fair})");
        (name(of), blocks, text, in_order.then_some(per_s))
    });
    let semaphores = table("blocks, count", &measurement.semaphores, |of| {
        let at = format!("{}, {}", of["blocks"], of["count"]);
        let per_s = figure(of, "per_s");
        (name(of), at, short(per_s), Some(per_s))
    });
    let of_mutexes = "Sections on one mutex a second (the most of a block over the fewest); the \
                      fastest that serves in order";
    [
        ("Random accesses a second", rates),
        ("Barriers across blocks, us a wait", barriers),
        (of_mutexes, mutexes),
        ("Entries into a semaphore a second", semaphores),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::machine::SCHEMA;
    use crate::measure::machine::abstraction::tests::FERMI;

    /// Figures of which every one is another.
    fn measurement() -> Measurement {
        let rate = |bytes: u64, operation: &str, per_s: f64| json!({"bytes": bytes, "operation": operation, "bits": 64, "threads": 4, "per_s": per_s});
        let barrier = |blocks: u32, of: &str, ns: f64| json!({"blocks": blocks, "threads": 128, "algorithm": of, "ns": ns});
        let mutex = |of: &str, per_s: f64, fewest: u32| json!({"blocks": 8, "algorithm": of, "per_s": per_s, "most": 10, "fewest": fewest});
        let semaphore = |of: &str, count: u32, per_s: f64| json!({"blocks": 8, "threads": 1, "count": count, "algorithm": of, "per_s": per_s});
        let grid = json!({"why": "Fermi", "threads": 128, "accesses": 1000, "times_ns": FERMI});
        let measured = json!({
            "schema": SCHEMA, "version": "0.1.0", "device": "cuda:0", "name": "a made-up GPU",
            "driver": "13.0", "unix_time": 0, "seconds": 1.0, "sizes": "made up", "grids": [grid],
            "rates": [
                rate(4 << 20, "load", 5e9), rate(4 << 20, "swap", 4e9),
                rate(1 << 30, "load", 3e9), rate(1 << 30, "swap", 2e9),
            ],
            "barriers": [
                barrier(8, "counted", 1000.0), barrier(8, "led", 2000.0),
                barrier(64, "counted", 4000.0), barrier(64, "led", 3000.0),
            ],
            "mutexes": [mutex("tas", 9e6, 0), mutex("mcs2", 6e6, 10), mutex("fetch-add", 7e6, 5)],
            "semaphores": [
                semaphore("sleeping", 1, 1e6), semaphore("tickets", 1, 2e6),
                semaphore("sleeping", 120, 4e6), semaphore("tickets", 120, 3e6),
            ],
        });
        serde_json::from_value(measured).unwrap()
    }

    #[test]
    fn every_figure_has_its_row_and_column_and_the_fastest_are_named() {
        let shown = text(&measurement());
        let rows: Vec<Vec<&str>> = (shown.lines())
            .map(|line| line.split("  ").map(str::trim).filter(|c| !c.is_empty()))
            .map(Iterator::collect)
            .collect();
        for row in [
            &["volatile after an atomic, contended", "2.98", "4.71"][..],
            &["4.00 MiB", "1.00 GiB"],
            &["load of 64 bits", "5.00G", "3.00G"],
            &["swap of 64 bits", "4.00G", "2.00G"],
            &["blocks x threads", "8x128", "64x128"],
            &["counted", "1.00", "4.00"],
            &["led", "2.00", "3.00"],
            &["fastest", "counted", "led"],
            &["tas", "9.00M (some blocks got none)"],
            &["fetch-add", "7.00M (2.00)"],
            // A lock without an order is not among them.
            &["fastest", "fetch-add"],
            &["blocks, count", "8, 1", "8, 120"],
            &["tickets", "2.00M", "3.00M"],
            &["fastest", "tickets", "sleeping"],
            &["Atomics that wait in a queue hold their line."],
        ] {
            assert!(rows.iter().any(|r| r == row), "{shown} lacks {row:?}");
        }
    }
}
