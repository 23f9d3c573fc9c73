//! The search for the best launch of each variant.
//!
//! 1. Every shape is probed: few transactions first, then as many as fill
//!    `PROBE`, so that a slow shape costs no more than a fast one. A launch
//!    that reaches `PROBE_LIMIT` is stopped and counted by what it committed.
//! 2. The best few run again with as many transactions as fill `TRIAL`.
//! 3. The best of each variant is measured and verified, repeatedly, with as
//!    many transactions as fill `MEASURE`, at most those asked for.

use crate::cli::TuneArgs;
use crate::commands::{check_foreign, config_of, open, told};
use crate::devices::{AnyDevice, Description, Kind};
use crate::error::{Error, Result};
use crate::launches;
use crate::numbers::{count, short};
use crate::out_file::OutFile;
use crate::output::{align, over_cgl, setting, table, terminal_columns};
use crate::paper::document::Tried;
use crate::progress::Progress;
use crate::runner::{Report, Session, Spec, check_input, resolve};
use crate::variants::Variant;
use crate::workload::{AllAlgorithms, Workload};
use crate::workloads::AnyWorkload;
use crate::{on_device, on_workload};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{Write, stdout};
use std::path::PathBuf;
use std::time::Duration;
use stm_core::host::{self, Device, Launch, Stm, StmConfig};

/// The kernel's time in a probe of a shape.
const PROBE: Duration = Duration::from_millis(15);
/// Longer, and a probe is stopped.
const PROBE_LIMIT: Duration = Duration::from_millis(250);
/// Transactions of the first probe.
const PROBE_TRANSACTIONS: u64 = 2048;
/// The fewest transactions that fill a time.
const FILL_MIN: u64 = 1024;
/// The most by which a probe has more transactions than the last.
const PROBE_GROWTH_MAX: f64 = 32.0;
/// Shapes that get a trial.
const TRIALS: usize = 4;
/// The kernel's time in a trial.
const TRIAL: Duration = Duration::from_millis(150);
/// The kernel's time in a measurement.
const MEASURE: Duration = Duration::from_millis(500);

/// How long a search may take with each shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The kernel's time in a probe of a shape.
    pub(crate) probe: Duration,
    /// Longer, and a probe is stopped.
    pub(crate) probe_limit: Duration,
    /// Shapes that get a trial.
    pub(crate) trials: usize,
    /// The kernel's time in a trial.
    pub(crate) trial: Duration,
}

/// That of `stamp tune`.
const TUNE: Effort = Effort {
    probe: PROBE,
    probe_limit: PROBE_LIMIT,
    trials: TRIALS,
    trial: TRIAL,
};

/// The searches of one workload on one device.
pub(crate) struct Search<'s, 'a, D: Device, W: AllAlgorithms> {
    workload: &'static str,
    pub(crate) session: &'s mut Session<'a, D, W>,
    shapes: Vec<(u32, u32)>,
    pub(crate) effort: Effort,
    pub(crate) transactions: u64,
    /// The fewest: all of them, where the input says how many there are.
    transactions_min: u64,
    pub(crate) config: StmConfig,
    pub(crate) tried: Vec<Tried>,
    /// The searches that are done: algorithm, locks, and what was best.
    done: Vec<(Variant, u64, Option<Tried>)>,
}

/// How many transactions fill a time at a rate: a power of two, so that
/// figures read well, from `least` to `most`.
fn fill(time: Duration, tx_per_s: f64, least: u64, most: u64) -> u64 {
    let n = (time.as_secs_f64() * tx_per_s) as u64;
    if n >= most {
        return most;
    }
    (1u64 << n.max(1).ilog2()).max(least).min(most)
}

impl<'s, 'a, D: Device, W: AllAlgorithms> Search<'s, 'a, D, W> {
    /// Of launches with at most so many transactions.
    pub(crate) fn new(
        session: &'s mut Session<'a, D, W>,
        shapes: &[(u32, u32)],
        effort: Effort,
        transactions: u64,
        config: StmConfig,
    ) -> Self {
        Self {
            workload: session.workload.name(),
            transactions_min: session.workload.transactions().unwrap_or(FILL_MIN),
            session,
            shapes: shapes.to_vec(),
            effort,
            transactions,
            config,
            tried: Vec::new(),
            done: Vec::new(),
        }
    }

    /// As many transactions as fill a time at a rate.
    pub(crate) fn fill(&self, time: Duration, tx_per_s: f64) -> u64 {
        fill(time, tx_per_s, self.transactions_min, self.transactions)
    }

    pub(crate) fn spec(
        &self,
        variant: Variant,
        locks: u64,
        shape: (u32, u32),
        transactions: u64,
    ) -> Spec {
        Spec {
            variant,
            shape,
            config: StmConfig {
                locks,
                ..self.config
            },
            transactions,
            repeat: 1,
        }
    }

    /// One launch. Shapes that the device does not take are no error.
    fn attempt(&mut self, spec: &Spec) -> Result<Tried> {
        let mut tried = Tried {
            workload: self.workload.into(),
            variant: spec.variant.name().into(),
            locks: spec.config.locks,
            blocks: spec.shape.0,
            threads: spec.shape.1,
            transactions: spec.transactions,
            commits: 0,
            aborts: 0,
            time_ms: 0.0,
            tx_per_s: 0.0,
            note: None,
        };
        match self.session.launch_once(spec) {
            Ok(run) => {
                tried.commits = run.statistics.commits;
                tried.aborts = run.statistics.aborted();
                tried.time_ms = run.time.as_secs_f64() * 1e3;
                tried.tx_per_s = run.tx_per_s();
            }
            Err(Error::Host(host::Error::Timeout {
                limit,
                committed,
                aborted,
            })) => {
                tried.commits = committed;
                tried.aborts = aborted;
                tried.time_ms = limit.as_secs_f64() * 1e3;
                tried.tx_per_s = committed as f64 / limit.as_secs_f64();
                tried.note = Some("stopped at the time limit".into());
            }
            Err(
                error @ (Error::TooLarge { .. }
                | Error::Host(
                    host::Error::LaunchTooLarge { .. } | host::Error::OutOfMemory { .. },
                )),
            ) => tried.note = Some(error.to_string()),
            Err(error) => return Err(error),
        }
        Ok(tried)
    }

    /// Step 1 for one shape.
    pub(crate) fn probe(
        &mut self,
        variant: Variant,
        locks: u64,
        shape: (u32, u32),
    ) -> Result<Tried> {
        let mut transactions = PROBE_TRANSACTIONS
            .max(self.transactions_min)
            .min(self.transactions);
        loop {
            let mut spec = self.spec(variant, locks, shape, transactions);
            spec.config.time_limit = Some(self.effort.probe_limit);
            let tried = self.attempt(&spec)?;
            let scale = self.effort.probe.as_secs_f64() * 1e3 / tried.time_ms.max(1e-3);
            if tried.note.is_some() || scale < 1.5 || transactions == self.transactions {
                return Ok(tried);
            }
            let grown = transactions as f64 * scale.min(PROBE_GROWTH_MAX);
            transactions = (grown as u64).min(self.transactions);
        }
    }

    /// Steps 1 and 2 for an algorithm: the best shape, if any ran.
    pub(crate) fn best(
        &mut self,
        variant: Variant,
        locks: u64,
        progress: &Progress,
    ) -> Result<Option<Tried>> {
        let known = self
            .done
            .iter()
            .find(|(v, l, _)| (*v, *l) == (variant, locks));
        if let Some((_, _, best)) = known {
            return Ok(best.clone());
        }
        let mut found = Vec::new();
        for shape in self.shapes.clone() {
            progress.say(format!(
                "{} with {} locks: {} x {}",
                variant.name(),
                count(locks),
                shape.0,
                shape.1
            ));
            found.push(self.probe(variant, locks, shape)?);
        }
        found.sort_by(|a, b| b.tx_per_s.total_cmp(&a.tx_per_s));
        for i in 0..self.effort.trials.min(found.len()) {
            let probe = &found[i];
            if probe.note.is_some() {
                continue;
            }
            let transactions = self.fill(self.effort.trial, probe.tx_per_s);
            if transactions > probe.transactions {
                let shape = (probe.blocks, probe.threads);
                let mut spec = self.spec(variant, locks, shape, transactions);
                spec.config.time_limit = Some(4 * self.effort.trial);
                found[i] = self.attempt(&spec)?;
            }
        }
        let trials = self.effort.trials.min(found.len());
        let trials = &mut found[..trials];
        trials.sort_by(|a, b| b.tx_per_s.total_cmp(&a.tx_per_s));
        let best = trials.iter().find(|t| t.tx_per_s > 0.0).cloned();
        self.tried.extend(found);
        self.done.push((variant, locks, best.clone()));
        Ok(best)
    }

    /// All steps for a variant.
    fn measure(
        &mut self,
        variant: Variant,
        locks: u64,
        repeat: u32,
        progress: &Progress,
    ) -> Result<Report> {
        let config = StmConfig {
            locks,
            ..self.config
        };
        let algorithm = resolve(self.session.workload, variant, &config, self.transactions);
        let Some(best) = self.best(algorithm, locks, progress)? else {
            let why = self.tried.iter().rev().find_map(|t| t.note.clone());
            return Err(Error::Usage(format!(
                "no launch shape ran {}: {}",
                variant.name(),
                why.unwrap_or_else(|| "none was left to try".into())
            )));
        };
        progress.say(format!("{}, the best shape", variant.name()));
        let shape = (best.blocks, best.threads);
        let transactions = self.fill(MEASURE, best.tx_per_s);
        let mut spec = self.spec(variant, locks, shape, transactions);
        spec.config.time_limit = Some(20 * MEASURE);
        spec.repeat = repeat;
        self.session.measure(&spec)
    }
}

/// What a search found.
#[derive(Default)]
struct Found {
    runs: Vec<Report>,
    search: Vec<Tried>,
}

impl Found {
    fn extend(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.search.extend(other.search);
    }
}

/// The most transactions of a launch.
fn transactions_of(workload: &impl Workload, args: &TuneArgs) -> u64 {
    workload
        .transactions()
        .or(args.input.transactions)
        .unwrap_or(launches::TRANSACTIONS)
}

/// Refuses what no search of the workload can do. The searches before it may
/// take long, so all of it is looked at before the first of them.
fn check<D: Device, W: AllAlgorithms>(device: &D, workload: &W, args: &TuneArgs) -> Result<()> {
    check_input(workload, transactions_of(workload, args))?;
    for &locks in &args.locks {
        let config = config_of(&args.memory, locks, workload.capacity(), None);
        // The smallest launch: the shapes that are tried may be too large.
        Stm::new(device, Launch::new(1, 1), config)?;
    }
    Ok(())
}

fn search<D: Device, W: AllAlgorithms>(
    device: &D,
    workload: &W,
    args: &TuneArgs,
    shapes: &[(u32, u32)],
) -> Result<Found> {
    let transactions = transactions_of(workload, args);
    let progress = Progress::new();
    progress.say("making the data");
    let mut session = Session::new(device, workload, args.input.seed, transactions)?;
    let first = args.locks[0];
    let config = config_of(&args.memory, first, workload.capacity(), None);
    let mut search = Search::new(&mut session, shapes, TUNE, transactions, config);
    let mut runs = Vec::new();
    for &variant in &args.variant {
        for &locks in &args.locks {
            if locks == first || variant.uses_lock_table() {
                runs.push(search.measure(variant, locks, args.repeat, &progress)?);
            }
        }
    }
    Ok(Found {
        runs,
        search: search.tried,
    })
}

/// The command `tune`; `command` is how it was called.
///
/// # Errors
/// Of the command line, the device or the file.
pub fn tune(args: &TuneArgs, command: &str) -> Result<bool> {
    check_foreign(&args.workload, &args.input)?;
    let file = args.out.as_deref().map(OutFile::new).transpose()?;
    let any = open(args.device)?;
    let description = any.describe()?;
    let limits = any.limits();
    let resident = description.gpu.as_ref().map_or(0, |gpu| {
        u64::from(gpu.resident_threads_per_processor) * u64::from(limits.processors)
    });
    let shapes = launches::shapes(any.kind(), &limits, resident);
    let mut found = Found::default();
    let workloads = AnyWorkload::asked(&args.workload, &args.input, &Progress::new())?;
    for workload in &workloads {
        on_workload!(workload, w => on_device!(&any, d => check(d, w, args)))?;
    }
    for workload in &workloads {
        found.extend(on_workload!(workload, w => {
            on_device!(&any, d => search(d, w, args, &shapes))
        })?);
    }
    // The folder is nobody else's; the document may be published.
    let command = match args.out.as_deref().map(|path| (path, path.file_name())) {
        Some((path, Some(name))) => command.replace(
            path.to_string_lossy().as_ref(),
            name.to_string_lossy().as_ref(),
        ),
        _ => command.to_owned(),
    };
    let document = document(&command, &description, &found)?;
    let written = file.map(|file| file.write(&document)).transpose();
    let printed = if args.json {
        write!(stdout(), "{document}").map_err(Error::from)
    } else {
        let note = args.out.as_ref().filter(|_| written.is_ok());
        report(&mut stdout().lock(), &any, &found, args, note)
    };
    // What was found is printed even if it could not be written.
    written?;
    told(&found.runs, printed)
}

fn report(
    out: &mut impl Write,
    any: &AnyDevice,
    found: &Found,
    args: &TuneArgs,
    written: Option<&PathBuf>,
) -> Result<()> {
    writeln!(out, "{}: {}", any.id(), any.name())?;
    writeln!(out, "{}", setting(&found.runs))?;
    writeln!(
        out,
        "{} launches tried; the best of each variant, median of {}:\n",
        found.search.len(),
        args.repeat
    )?;
    write!(out, "{}", table(&found.runs, terminal_columns()))?;
    if any.kind() == Kind::Cuda {
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
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut last = (("", "", 0), 0);
    for tried in &found.search {
        let key = (&*tried.workload, &*tried.variant, tried.locks);
        last = if last.0 == key {
            (key, last.1 + 1)
        } else {
            (key, 0)
        };
        let shape = format!(
            "{}x{} {}",
            tried.blocks,
            tried.threads,
            short(tried.tx_per_s)
        );
        match last.1 {
            0 => rows.push(vec![
                tried.workload.clone(),
                tried.variant.clone(),
                count(tried.locks),
                shape,
            ]),
            1 | 2 => {
                if let Some(row) = rows.last_mut() {
                    row.push(shape);
                }
            }
            _ => {}
        }
    }
    rows
}

/// The JSON document, an object a line, so that two of them can be compared.
fn document(command: &str, device: &Description, found: &Found) -> Result<String> {
    let ratios: Vec<Value> = found
        .runs
        .iter()
        .map(|run| {
            json!({
                "workload": run.workload,
                "variant": run.variant,
                "locks": run.locks,
                "tx_per_s": run.tx_per_s,
                "over_cgl": over_cgl(run, &found.runs),
            })
        })
        .collect();
    Ok(format!(
        "{{\n\"command\": {},\n\"device\": {},\n\"ratios\": {},\n\"runs\": {},\n\"search\": {}\n}}\n",
        line(&command)?,
        line(device)?,
        lines(&ratios)?,
        lines(&found.runs)?,
        lines(&found.search)?,
    ))
}

fn line(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value).map_err(std::io::Error::from)?)
}

fn lines(values: &[impl Serialize]) -> Result<String> {
    let lines = values.iter().map(line).collect::<Result<Vec<_>>>()?;
    Ok(format!("[\n{}\n]", lines.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_fill_the_time_in_powers_of_two_within_bounds() {
        let half = Duration::from_millis(500);
        let fill = |tx_per_s, most| fill(half, tx_per_s, FILL_MIN, most);
        assert_eq!(fill(1e9, 1 << 20), 1 << 20);
        assert_eq!(fill(600_000.0, 1 << 20), 1 << 18);
        assert_eq!(fill(1.0, 1 << 20), 1024);
        assert_eq!(fill(1.0, 100), 100);
    }
}
