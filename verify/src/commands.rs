//! What the commands of the program `verify` do.

mod isolation;
mod page;

pub use isolation::IsolationArgs;

use crate::cli::{CheckArgs, Command, DeviceName, FuzzArgs, MutantsArgs, RecordArgs, ReplayArgs};
use crate::error::Error;
use crate::fuzz;
use crate::history::History;
use crate::mutants;
use crate::opacity::{self, report::Verdict};
use crate::program::{Case, run, shrink::shrink};
use crate::record::input::{Input, Size, check_options};
use crate::record::{self, Row, Settings};
use stamp_ports::devices::AnyDevice;
use std::io::Write;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stm_core::algorithm::Variant;
use stm_core::host::{Cuda, Device, StmConfig};
use stm_core::observe::Mutant;

/// Runs a command; the exit status.
pub fn execute(command: &Command) -> ExitCode {
    let result = match command {
        Command::Check(args) => check(args),
        Command::Fuzz(args) => fuzz_command(args),
        Command::Mutants(args) => Ok(mutants_command(args)),
        Command::Replay(args) => replay(args),
        Command::Record(args) => record_command(args),
        Command::Isolation(args) => isolation::isolation(args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("verify: {error}");
            ExitCode::from(error.status())
        }
    }
}

/// Prints a line. If standard output is gone, nobody reads it: the exit status
/// still tells.
fn say(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn check(args: &CheckArgs) -> Result<bool, Error> {
    if args.page.is_some() && args.files.len() != 1 {
        return Err(Error::Usage(
            "--page shows one history: give one file".into(),
        ));
    }
    let mut right = true;
    for file in &args.files {
        let start = Instant::now();
        let verdict = opacity::check_file(file)?;
        let seconds = start.elapsed().as_secs_f64();
        right &= verdict.is_opaque();
        if let Some(page) = &args.page {
            page::of_history(page, &History::load(file)?, Some(&verdict))?;
        }
        if args.json {
            say(serde_json::json!({
                "file": file, "seconds": seconds, "opaque": verdict.is_opaque(), "verdict": verdict,
            }));
        } else {
            let attempts = verdict.counts.attempts;
            say(format_args!(
                "{}: {attempts} attempts checked in {seconds:.3} s\n{verdict}",
                file.display()
            ));
        }
    }
    Ok(right)
}

fn fuzz_command(args: &FuzzArgs) -> Result<bool, Error> {
    if args.minutes.is_none() && args.transactions.is_none() {
        return Err(Error::Usage(
            "fuzz has no end: give --minutes M or --transactions N".into(),
        ));
    }
    let config = fuzz::Config {
        variants: args.variant.clone(),
        mutant: args.mutant,
        seed: args.seed,
        version_bits: args.version_bits.clone(),
        transactions: args.transactions,
        time: args.minutes,
        threads: args.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        }),
    };
    let report = fuzz::fuzz(&config, |total, time| {
        let seconds = time.as_secs_f64();
        eprintln!(
            "{seconds:6.0} s: {} schedules, {} transactions, {:.2} M operations a second",
            total.schedules,
            total.transactions,
            total.operations as f64 / seconds / 1e6
        );
    });
    if let Some(path) = &args.log {
        let names: Vec<&str> = args.variant.iter().map(|v| v.name()).collect();
        let text = format!(
            "verify {} fuzz --variant {} --seed {:#x}{}{}\n\n{report}",
            env!("CARGO_PKG_VERSION"),
            names.join(","),
            args.seed,
            args.version_bits
                .as_ref()
                .map_or_else(String::new, |bits| format!(
                    " --version-bits {}..{}",
                    bits.start(),
                    bits.end()
                )),
            args.mutant
                .map_or_else(String::new, |m| format!(" --mutant {}", m.name())),
        );
        std::fs::write(path, text).map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })?;
    }
    if args.json {
        say(report.json());
    } else {
        say(report.to_string().trim_end());
    }
    Ok(report.found.is_none())
}

fn mutants_command(args: &MutantsArgs) -> bool {
    if args.list {
        for mutant in Mutant::ALL {
            say(format_args!(
                "{:<26}{}",
                mutant.name(),
                mutants::target(*mutant).0
            ));
        }
        return true;
    }
    let start = Instant::now();
    let rows = mutants::gate(mutants::BUDGET, args.random, |row| {
        if let Some((case, failure)) = &row.unmutated_failure {
            eprintln!("the unmutated code fails: {failure}\n{}", case.command());
        }
    });
    let killed = rows.iter().filter(|row| row.killed.is_some()).count();
    let right = rows.iter().all(mutants::Row::is_right);
    if args.json {
        say(serde_json::Value::from(
            rows.iter().map(mutants::Row::json).collect::<Vec<_>>(),
        ));
    } else {
        say(mutants::table(&rows));
        say(format_args!(
            "{killed} of {} mutants killed in {:.1} s",
            rows.len(),
            start.elapsed().as_secs_f64()
        ));
        if let Some(summary) = mutants::random_summary(&rows) {
            say(summary);
        }
    }
    right
}

fn replay(args: &ReplayArgs) -> Result<bool, Error> {
    let case: Case = args.line.parse()?;
    let (case, result) = match run(&case) {
        Err(failure) if args.shrink => {
            let (case, failure) = shrink(&case, failure);
            (case, Err(failure))
        }
        result => (case, result),
    };
    let right = result.is_ok();
    if let Some(page) = &args.page {
        page::of_case(page, &case)?;
    }
    match result {
        _ if args.json => {
            let failure = result.as_ref().err();
            say(serde_json::json!({
                "replay": case.to_string(),
                "kind": failure.map(|f| f.kind.name()),
                "text": failure.map(|f| f.text.clone()),
            }));
        }
        Ok(done) => say(format_args!(
            "nothing found: {} transactions in {} attempts and {} operations{}",
            done.transactions,
            done.attempts,
            done.steps,
            if done.unfair {
                "; given up, as its schedule starved a lane"
            } else {
                ""
            }
        )),
        Err(failure) => say(format_args!("{failure}\n{}", case.command())),
    }
    Ok(right)
}

fn record_command(args: &RecordArgs) -> Result<bool, Error> {
    if let Some(which) = &args.mutant {
        let DeviceName::Cuda(ordinal) = args.device else {
            return Err(Error::Usage(
                "--mutant runs kernels built for a GPU: give --device cuda, or use `verify mutants`".into(),
            ));
        };
        return record_mutants(&AnyDevice::Cuda(Cuda::new(ordinal)?), args, which);
    }
    match args.device {
        DeviceName::Cpu => record_on(&AnyDevice::cpu(), Size::Cpu, args),
        DeviceName::Cuda(ordinal) => {
            record_on(&AnyDevice::Cuda(Cuda::new(ordinal)?), Size::Gpu, args)
        }
    }
}

/// Blocks and threads, if the caller does not say.
fn default_shape(size: Size, workload: &str, variant: Variant) -> (u32, u32) {
    match (size, workload, variant) {
        (Size::Cpu, ..) => (2, 2),
        // A thread of each block records, and the others have buffers too.
        (Size::Gpu, "labyrinth", _) => (132, 32),
        // One lock is fastest with a warp or two, and retries least.
        (Size::Gpu, _, Variant::Cgl) => (1, 32),
        (Size::Gpu, _, Variant::Vbv) => (1, 64),
        // Few rows, and each transaction writes all of one.
        (Size::Gpu, "kmeans", _) => (66, 32),
        (Size::Gpu, ..) => (132, 256),
    }
}

fn settings(args: &RecordArgs, input: &Input, shape: (u32, u32)) -> Settings {
    Settings {
        runs_max: None,
        transactions: args
            .input
            .shared
            .transactions
            .unwrap_or(input.transactions()),
        blocks: args.blocks.unwrap_or(shape.0),
        threads: args.threads.unwrap_or(shape.1),
        locks: args.locks,
        stripe_bytes: args.stripe_bytes,
        retry_limits: StmConfig::default().retry_limits,
        seed: args.input.shared.seed,
        attempts: args.attempts,
        buffer_bytes: args.buffer_bytes,
        time_limit: Some(Duration::from_mins(10)),
    }
}

/// The verdicts about the histories of one variant.
#[derive(Default)]
struct Judged {
    checked: u64,
    violations: u64,
    time: Duration,
    first: Option<Verdict>,
}

fn record_on(device: &AnyDevice, size: Size, args: &RecordArgs) -> Result<bool, Error> {
    check_options(&args.workload, &args.input)?;
    if args.input.shared.transactions == Some(0) || args.attempts == 0 {
        return Err(Error::Usage(
            "--transactions and --attempts must be 1 or more".into(),
        ));
    }
    if let Some(dir) = &args.out {
        std::fs::create_dir_all(dir).map_err(|source| Error::Io {
            path: dir.clone(),
            source,
        })?;
    }
    let mut right = true;
    for name in &args.workload {
        let input = Input::new(name, &args.input, size)?;
        if !args.json {
            say(format_args!("{name} on {}", device.name()));
            say(format_args!(
                "{:<13}{:>9}{:>13}{:>14}{:>13}{:>10}{:>11}{:>10}{:>9}{:>9}",
                "variant",
                "launch",
                "transactions",
                "attempts",
                "aborted",
                "histories",
                "violations",
                "kernel s",
                "check s",
                "all s"
            ));
        }
        for &variant in &args.variant {
            let settings = settings(args, &input, default_shape(size, name, variant));
            right &= record_variant(device, args, variant, &input, &settings)?;
        }
    }
    Ok(right)
}

fn record_variant(
    device: &AnyDevice,
    args: &RecordArgs,
    variant: Variant,
    input: &Input,
    settings: &Settings,
) -> Result<bool, Error> {
    let judge = args.check || args.page.is_some() || args.out.is_none();
    let mut judged = Judged::default();
    let mut number = 0;
    let row = record::record(device, variant, input, settings, |history: History| {
        if let Some(dir) = &args.out {
            history.save(&dir.join(format!("{}-{variant}-{number}.history", input.name())))?;
            number += 1;
        }
        if judge {
            let before = judged.violations;
            judged.judge(&history)?;
            if let (0, 1.., Some(page)) = (before, judged.violations, &args.page) {
                page::of_history(page, &history, judged.first.as_ref())?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    show(args, input.name(), &row, &judged);
    Ok(judged.violations == 0 && row.wrong_state.is_none())
}

/// Runs kernels with seeded defects on a device: which of them does the
/// hardware show, and how soon? True if each ended as it may: a defect that no
/// run showed is reported, and is no failure of ours.
fn record_mutants(device: &AnyDevice, args: &RecordArgs, which: &str) -> Result<bool, Error> {
    let [name] = args.workload[..] else {
        return Err(Error::Usage(
            "seeded defects on a device run ra: give --workload ra".into(),
        ));
    };
    check_options(&[name], &args.input)?;
    let input = Input::new(name, &args.input, Size::Gpu)?;
    let settings = settings(args, &input, (132, 256));
    say(format_args!(
        "{:<32}{:>9}{:>14}{:>14}{:>11}  {}",
        "defect", "launch", "transactions", "attempts", "kernel s", "found"
    ));
    let wanted = |m: &Mutant| which == "all" || which == m.name();
    let both = [false, true];
    let delays = &both[..=usize::from(args.delays)];
    for &(mutant, _) in record::RA_MUTANTS.iter().filter(|(m, _)| wanted(m)) {
        for &delayed in delays {
            say(record_defect(device, mutant, delayed, &input, &settings)?);
        }
    }
    Ok(true)
}

/// Runs one kernel with a seeded defect until the defect shows, and returns its
/// line of the table.
fn record_defect(
    device: &AnyDevice,
    mutant: Mutant,
    delayed: bool,
    input: &Input,
    settings: &Settings,
) -> Result<String, Error> {
    let mut judged = Judged::default();
    let mut impossible = None;
    let row = record::record_mutant(device, mutant, delayed, input, settings, |history| {
        match judged.judge(&history) {
            Err(error @ Error::Impossible { .. }) => impossible = Some(error.to_string()),
            other => other?,
        }
        let found = impossible.is_some() || judged.violations != 0;
        Ok(if found {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    });
    let name = format!("{}{}", mutant.name(), if delayed { "+delays" } else { "" });
    let line = |transactions: u64, attempts: u64, kernel: f64, found: &str| {
        format!(
            "{name:<32}{:>9}{transactions:>14}{attempts:>14}{kernel:>11.4}  {found}",
            format!("{}x{}", settings.blocks, settings.threads),
        )
    };
    match row {
        Ok(row) => {
            let found = match (&impossible, &row.wrong_state, judged.violations) {
                (Some(what), ..) => format!("impossible: {what}"),
                (_, Some(what), _) => format!("wrong state: {what}"),
                (.., 0) => "nothing".to_owned(),
                (.., n) => format!("{n} attempts not opaque"),
            };
            let kernel = row.kernel.as_secs_f64();
            Ok(line(row.transactions, row.attempts, kernel, &found))
        }
        // What the launch's own checks found.
        Err(Error::Host(error)) => Ok(line(0, 0, 0.0, &error.to_string())),
        Err(error) => Err(error),
    }
}

impl Judged {
    /// Judges one more history.
    fn judge(&mut self, history: &History) -> Result<(), Error> {
        let start = Instant::now();
        let verdict = opacity::check(history)?;
        self.time += start.elapsed();
        self.checked += verdict.counts.attempts;
        self.violations += verdict.violations_total;
        if !verdict.is_opaque() {
            self.first.get_or_insert(verdict);
        }
        Ok(())
    }
}

fn show(args: &RecordArgs, workload: &str, row: &Row, judged: &Judged) {
    let violations = if judged.checked == 0 {
        "-".to_owned()
    } else {
        judged.violations.to_string()
    };
    if args.json {
        say(serde_json::json!({
            "workload": workload,
            "variant": row.variant.name(),
            "blocks": row.blocks,
            "threads": row.threads,
            "transactions": row.transactions,
            "attempts": row.attempts,
            "aborted": row.aborted,
            "runs": row.runs,
            "launches": row.histories,
            "launches_repeated": row.repeated,
            "attempts_checked": judged.checked,
            "violations": judged.violations,
            "wrong_state": row.wrong_state,
            "kernel_seconds": row.kernel.as_secs_f64(),
            "check_seconds": judged.time.as_secs_f64(),
            "seconds": row.wall.as_secs_f64(),
            "first_violation": judged.first,
        }));
        return;
    }
    say(format_args!(
        "{:<13}{:>9}{:>13}{:>14}{:>13}{:>10}{violations:>11}{:>10.3}{:>9.2}{:>9.2}",
        row.variant.name(),
        format!("{}x{}", row.blocks, row.threads),
        row.transactions,
        row.attempts,
        row.aborted,
        row.histories,
        row.kernel.as_secs_f64(),
        judged.time.as_secs_f64(),
        row.wall.as_secs_f64(),
    ));
    if row.repeated != 0 {
        eprintln!(
            "verify: {}: {} histories were recorded again, as their buffers were full: \
             a larger --attempts avoids that",
            row.variant, row.repeated
        );
    }
    if let Some(what) = &row.wrong_state {
        say(format_args!("WRONG STATE: {what}"));
    }
    if let Some(verdict) = &judged.first {
        say(verdict.to_string().trim_end());
    }
}
