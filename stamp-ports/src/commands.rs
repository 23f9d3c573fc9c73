//! The commands: `run`, `list`, `device`, and no arguments at all.

use crate::cli::{
    Bench, Cli, Command, Generate, ListArgs, MemoryArgs, RunArgs, WorkloadArgs, one_line,
};
use crate::devices::{AnyDevice, Choice, Kind};
use crate::error::{Error, Result};
use crate::floor::floor;
use crate::launches;
use crate::numbers::bytes;
use crate::out_file::OutFile;
use crate::output::{align, setting, table, terminal_columns};
use crate::paper::paper;
use crate::profile::{self, Profiled};
use crate::progress::Progress;
use crate::runner::{Report, Session, Spec, check_input, resolve};
use crate::tune::tune;
use crate::variants::Variant;
use crate::workload::{AllAlgorithms, WORKLOADS, Workload};
use crate::workloads::AnyWorkload;
use crate::{on_device, on_workload};
use clap::Parser;
use serde_json::json;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;
use std::time::Duration;
use stm_core::host::{Device, Launch, StmConfig};
use stm_core::logs::Capacity;

/// Runs the program with these arguments, the first its name.
pub fn main_of(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // Help and version. A closed pipe is the reader's choice.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = writeln!(stderr(), "error: {}", one_line(&error, &arguments));
            return ExitCode::from(2);
        }
    };
    trace(cli.verbose);
    let verified = match &cli.command {
        None => demo(),
        Some(Command::Run(args)) => run(args),
        Some(Command::List(args)) => list(*args),
        Some(Command::Device(args)) => device(*args),
        Some(Command::Generate(args)) => generate(&args.workload),
        Some(Command::Tune(args)) => tune(args, &command_line(&arguments)),
        Some(Command::Report(args)) => crate::report::report(args),
        Some(Command::Bench(Bench::Paper(args))) => paper(args, &command_line(&arguments)),
        Some(Command::Bench(Bench::Floor(args))) => floor(args, &command_line(&arguments)),
    };
    match verified {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(stderr(), "error: {error}");
            ExitCode::from(error.status())
        }
    }
}

/// The command as it may be typed again, without the program's folder.
fn command_line(arguments: &[OsString]) -> String {
    let words: Vec<_> = arguments
        .iter()
        .skip(1)
        .map(|a| a.to_string_lossy())
        .collect();
    format!("stamp {}", words.join(" "))
}

fn trace(verbose: u8) {
    use tracing_subscriber::fmt::format::FmtSpan;
    let level = match verbose {
        0 => return,
        1 => tracing::Level::INFO,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_span_events(FmtSpan::CLOSE)
        .with_target(false)
        .with_writer(|| Quiet)
        .log_internal_errors(false)
        .init();
}

/// Standard error for what nothing depends on: its own errors are ignored.
struct Quiet;

impl Write for Quiet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether all runs were verified, once that was printed. A reader that left
/// early, as `head` does, changes nothing about it.
///
/// # Errors
/// Those of `printed`, but a closed pipe.
pub fn told(reports: &[Report], printed: Result<()>) -> Result<bool> {
    match printed {
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(reports.iter().all(|report| report.verified))
}

/// Opens the device, and says on standard error if it is not the one hoped for.
pub fn open(choice: Choice) -> Result<AnyDevice> {
    let (device, note) = AnyDevice::open(choice)?;
    if let Some(why) = note {
        // The run is the same whether somebody reads this or not.
        let _ = writeln!(
            stderr(),
            "note: no GPU can be used, so this runs on the CPU: {why}"
        );
    }
    Ok(device)
}

/// Writes an input file.
fn generate(workload: &Generate) -> Result<bool> {
    let (out, text) = match workload {
        Generate::Labyrinth(args) => (&args.out, args.text()?),
        Generate::Kmeans(args) => (&args.out, args.text()?),
    };
    match out {
        Some(path) => OutFile::new(path)?.write(&text)?,
        None => stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(true)
}

/// Refuses parameters of another workload than the one that runs.
///
/// # Errors
/// Names the option and its workload.
pub fn check_foreign(workload: &str, args: &WorkloadArgs) -> Result<()> {
    let n = |value: Option<u32>| value.map(|n| n.to_string());
    let path = args.input.as_ref().map(|p| p.display().to_string());
    for (option, value) in [("-n", n(args.n)), ("--input", path.clone())] {
        if let Some(value) = value
            && workload == "all"
        {
            return Err(Error::Usage(format!(
                "{option} {value} means another thing for each workload: name one instead of all"
            )));
        }
    }
    let claim = args.claim.map(|claim| format!("{claim:?}").to_lowercase());
    let options: [(&str, &[&str], Option<String>); 10] = [
        ("-n", &["labyrinth", "genome", "kmeans"], n(args.n)),
        ("--input", &["labyrinth", "kmeans"], path),
        ("--adds", &["bank", "kmeans"], args.adds.then(String::new)),
        ("--claim", &["labyrinth"], claim),
        ("--words", &["ra"], n(args.words)),
        ("--reads", &["ra"], n(args.reads)),
        ("--writes", &["ra"], n(args.writes)),
        ("--buckets", &["ht"], n(args.buckets)),
        ("--keys-per-tx", &["ht"], n(args.keys_per_tx)),
        (
            "--transactions",
            &["ra", "ht", "bank", "eigenbench"],
            args.transactions.map(|n| n.to_string()),
        ),
    ];
    let of_one = |of: &'static [&str], given: Vec<(&'static str, String)>| {
        given
            .into_iter()
            .map(move |(option, value)| (option, of, Some(value)))
    };
    let options = options
        .into_iter()
        .chain(of_one(&["bank"], args.bank.given()))
        .chain(of_one(&["eigenbench"], args.eigenbench.given()))
        .chain(of_one(&["labyrinth"], args.labyrinth.given()))
        .chain(of_one(&["genome"], args.genome.given()))
        .chain(of_one(&["kmeans"], args.kmeans.given()));
    for (option, of, value) in options {
        if let Some(value) = value
            && workload != "all"
            && !of.contains(&workload)
        {
            return Err(Error::Usage(format!(
                "{} is for {}, not for {workload}: leave it out",
                format!("{option} {value}").trim_end(),
                of.join(" and ")
            )));
        }
    }
    Ok(())
}

/// The transactional memory for a workload.
pub fn config_of(
    args: &MemoryArgs,
    locks: u64,
    needed: Capacity,
    time_limit: Option<Duration>,
) -> StmConfig {
    StmConfig {
        locks,
        stripe_bytes: args.stripe_bytes,
        capacity: Capacity {
            reads: args.read_capacity.unwrap_or(needed.reads),
            writes: args.write_capacity.unwrap_or(needed.writes),
        },
        patience: args.patience(),
        time_limit,
    }
}

/// What `run` and a run without arguments share.
struct Plan<'a> {
    variants: &'a [Variant],
    shape: (Option<u32>, Option<u32>),
    memory: MemoryArgs,
    locks: u64,
    time_limit: Option<Duration>,
    transactions: &'a dyn Fn(Variant) -> u64,
    /// Transactions of each thread, instead of those.
    loops: Option<u64>,
    seed: u64,
    repeat: u32,
    /// Measure where the time goes, too.
    profile: bool,
    json: bool,
}

/// Measures one run.
type Measure<D, W> = fn(&mut Session<'_, D, W>, &Spec) -> Result<Report>;

/// Measures, and no more.
fn plainly<D: Device, W: AllAlgorithms>(
    session: &mut Session<'_, D, W>,
    spec: &Spec,
) -> Result<Report> {
    session.measure(spec)
}

impl Plan<'_> {
    /// How to measure a workload that can be profiled.
    fn measure<D: Device, W: Profiled>(&self) -> Measure<D, W> {
        if self.profile {
            |session, spec| Ok(profile::profile(session, spec)?.0)
        } else {
            plainly
        }
    }

    fn spec(
        &self,
        workload: &impl AllAlgorithms,
        variant: Variant,
        device: &impl Device,
        kind: Kind,
    ) -> Spec {
        let limits = device.limits();
        let config = config_of(
            &self.memory,
            self.locks,
            workload.capacity(),
            self.time_limit,
        );
        let transactions = workload
            .transactions()
            .unwrap_or_else(|| (self.transactions)(variant));
        let algorithm = resolve(workload, variant, &config, transactions);
        let (blocks, threads) = launches::launch(workload.name(), algorithm, kind, &limits);
        let shape = (
            self.shape.0.unwrap_or(blocks),
            self.shape.1.unwrap_or(threads),
        );
        let lanes = u64::from(shape.0) * u64::from(shape.1);
        Spec {
            variant,
            shape,
            config,
            transactions: self
                .loops
                .map_or(transactions, |loops| loops.saturating_mul(lanes)),
            repeat: self.repeat,
        }
    }

    /// Runs all variants and adds their reports; a run that fails by itself
    /// is reported and does not end the others.
    fn run<D: Device, W: AllAlgorithms>(
        &self,
        device: &D,
        kind: Kind,
        workload: &W,
        measure: Measure<D, W>,
        (progress, reports): (&Progress, &mut Vec<Report>),
    ) -> Result<()> {
        let specs: Vec<Spec> = self
            .variants
            .iter()
            .map(|&variant| self.spec(workload, variant, device, kind))
            .collect();
        for spec in &specs {
            Launch::new(spec.shape.0, spec.shape.1).check(&device.limits())?;
        }
        let most = specs
            .iter()
            .map(|spec| spec.transactions)
            .max()
            .unwrap_or(0);
        let mut session = Session::new(device, workload, self.seed, most)?;
        for spec in &specs {
            progress.say(format!(
                "{} {} on {}",
                workload.name(),
                spec.variant.name(),
                device.id()
            ));
            let report = measure(&mut session, spec)?;
            let line = serde_json::to_string(&report).map_err(io::Error::from)?;
            // First, so that it counts even if it cannot be printed.
            reports.push(report);
            if self.json {
                progress.suspend(|| writeln!(stdout(), "{line}"))?;
            }
        }
        Ok(())
    }
}

fn print(device: &AnyDevice, reports: &[Report]) -> Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}: {}", device.id(), device.name())?;
    writeln!(out, "{}", setting(reports))?;
    write!(out, "{}", table(reports, terminal_columns()))?;
    write!(out, "{}", profile::table(reports))?;
    Ok(())
}

/// The variants to run: all that have kernels with clocks, if all are to be
/// profiled.
///
/// # Errors
/// One that is named has none: found before anything runs, as what was measured
/// would be lost.
fn profiled(args: &RunArgs) -> Result<&[Variant]> {
    if !args.profile {
        return Ok(&args.variant);
    }
    if *args.variant == Variant::ALL {
        return Ok(&Variant::PAPER);
    }
    match args.variant.iter().find(|v| !Variant::PAPER.contains(v)) {
        None => Ok(&args.variant),
        Some(variant) => Err(Error::Usage(profile::no_kernels_for(*variant))),
    }
}

fn run(args: &RunArgs) -> Result<bool> {
    check_foreign(&args.workload, &args.input)?;
    if args.profile && !profile::WORKLOADS.contains(&args.workload.as_str()) {
        return Err(Error::Usage(format!(
            "--profile is for {}, not for {}: leave it out",
            profile::WORKLOADS.join(" and "),
            args.workload
        )));
    }
    let variants = profiled(args)?;
    let any = open(args.device)?;
    let transactions = |_| args.input.transactions.unwrap_or(launches::TRANSACTIONS);
    let plan = Plan {
        variants,
        shape: (args.blocks, args.threads),
        memory: args.memory.clone(),
        locks: args.locks,
        time_limit: args.time_limit,
        transactions: &transactions,
        loops: args.loops,
        seed: args.input.seed,
        repeat: args.repeat,
        profile: args.profile,
        json: args.json,
    };
    let mut reports = Vec::new();
    let printed = run_workloads(&plan, &args.workload, &any, &args.input, &mut reports)
        .and_then(|()| finish(&any, &reports, args.json));
    told(&reports, printed)
}

/// Runs, and puts what was found into `reports`, whatever ends it early.
fn run_workloads(
    plan: &Plan<'_>,
    name: &str,
    any: &AnyDevice,
    input: &WorkloadArgs,
    reports: &mut Vec<Report>,
) -> Result<()> {
    let progress = Progress::new();
    let workloads = AnyWorkload::asked(name, input, &progress)?;
    for workload in &workloads {
        on_workload!(workload, w => {
            let transactions = input.transactions.unwrap_or(launches::TRANSACTIONS);
            check_input(w, w.transactions().unwrap_or(transactions))?;
        });
    }
    for workload in &workloads {
        on_workload!(workload, w => {
            on_device!(any, d => plan.run(d, any.kind(), w, plan.measure(), (&progress, &mut *reports)))
        })?;
    }
    Ok(())
}

/// Prints the table, unless each run was printed as JSON.
fn finish(any: &AnyDevice, reports: &[Report], json: bool) -> Result<()> {
    if json { Ok(()) } else { print(any, reports) }
}

/// The input of a workload in a run without arguments: full size, but for
/// what takes a CPU too long.
pub(crate) fn demo_input(workload: &str, kind: Kind) -> WorkloadArgs {
    let mut input = WorkloadArgs {
        seed: launches::SEED,
        ..WorkloadArgs::default()
    };
    match (kind, workload) {
        (Kind::Cpu, "labyrinth") => {
            let (x, y, z) = launches::LABYRINTH_DEMO_SIZE;
            input.labyrinth.x = Some(x);
            input.labyrinth.y = Some(y);
            input.labyrinth.z = Some(z);
            input.n = Some(launches::LABYRINTH_DEMO_PATHS);
        }
        (Kind::Cpu, "genome") => input.n = Some(launches::GENOME_DEMO_SEGMENTS),
        (Kind::Cpu, "kmeans") => input.kmeans.shape.points = Some(launches::KMEANS_DEMO_POINTS),
        _ => {}
    }
    input
}

/// No arguments: everything, at a small size.
fn demo() -> Result<bool> {
    let any = open(Choice::Auto)?;
    let kind = any.kind();
    let transactions = |variant| launches::demo_transactions(variant, kind);
    let plan = Plan {
        variants: &Variant::ALL,
        shape: (None, None),
        memory: MemoryArgs {
            stripe_bytes: StmConfig::default().stripe_bytes,
            ..MemoryArgs::default()
        },
        locks: StmConfig::default().locks,
        time_limit: Some(Duration::from_secs(launches::DEMO_SECONDS_MAX)),
        transactions: &transactions,
        loops: None,
        seed: launches::SEED,
        repeat: 1,
        profile: false,
        json: false,
    };
    let mut reports = Vec::new();
    let printed = demo_workloads(&plan, &any, &mut reports);
    told(&reports, printed)
}

fn demo_workloads(plan: &Plan<'_>, any: &AnyDevice, reports: &mut Vec<Report>) -> Result<()> {
    for (workload, _) in WORKLOADS {
        let input = demo_input(workload, any.kind());
        run_workloads(plan, workload, any, &input, reports)?;
    }
    print(any, reports)?;
    Ok(writeln!(
        stdout(),
        "`stamp --help` says what else it does; `stamp list` names what there is."
    )?)
}

fn list(args: ListArgs) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let mut out = stdout().lock();
    if args.json {
        let named = |name: &str, about: &str| json!({"name": name, "about": about});
        let list = json!({
            "workloads": WORKLOADS.map(|(name, about)| named(name, about)),
            "variants": Variant::ALL.map(|v| named(v.name(), v.about())),
            "devices": devices.iter().map(|d| json!({"id": d.id(), "name": d.name()})).collect::<Vec<_>>(),
            "refused": refused,
        });
        writeln!(out, "{list:#}")?;
        return Ok(true);
    }
    let mut section = |title: &str, rows: Vec<[String; 2]>| -> Result<()> {
        writeln!(out, "{title}")?;
        let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
        for line in align(&rows, 2, true) {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    };
    let pair = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
    section("Workloads", WORKLOADS.map(|(n, a)| pair(n, a)).to_vec())?;
    section(
        "Variants",
        Variant::ALL.map(|v| pair(v.name(), v.about())).to_vec(),
    )?;
    let mut rows: Vec<_> = devices.iter().map(|d| [d.id(), d.name()]).collect();
    rows.extend(
        refused
            .iter()
            .map(|r| pair(&r.id, &format!("not usable: {}", r.why))),
    );
    section("Devices", rows)?;
    Ok(true)
}

fn device(args: ListArgs) -> Result<bool> {
    let (devices, refused) = AnyDevice::all();
    let mut out = stdout().lock();
    let described = devices
        .iter()
        .map(AnyDevice::describe)
        .collect::<Result<Vec<_>>>()?;
    if args.json {
        writeln!(
            out,
            "{:#}",
            json!({"devices": described, "refused": refused})
        )?;
        return Ok(true);
    }
    for d in &described {
        writeln!(out, "{}: {}", d.id, d.name)?;
        let mut rows = Vec::new();
        if let Some(gpu) = &d.gpu {
            rows.push(["compute capability", &gpu.compute_capability].map(String::from));
            rows.push(["driver, newest CUDA", &gpu.driver_cuda_version].map(String::from));
            rows.push(["multiprocessors".into(), d.processors.to_string()]);
            rows.push(["memory".into(), bytes(gpu.memory_bytes)]);
            rows.push(["second-level cache".into(), bytes(gpu.l2_bytes)]);
            let resident = gpu.resident_threads_per_processor;
            rows.push(["resident threads of each".into(), resident.to_string()]);
        } else {
            rows.push(["cores".into(), d.processors.to_string()]);
        }
        rows.push(["memory available".into(), bytes(d.available_bytes)]);
        rows.push(["lanes of a warp".into(), d.warp_width.to_string()]);
        rows.push([
            "threads of a block".into(),
            format!("at most {}", d.threads_max),
        ]);
        rows.push(["blocks".into(), format!("at most {}", d.blocks_max)]);
        let shared = bytes(d.shared_bytes_max.into());
        rows.push([
            "shared memory of a block".into(),
            format!("at most {shared}"),
        ]);
        let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
        for line in align(&rows, 2, true) {
            writeln!(out, "  {line}")?;
        }
    }
    for r in &refused {
        writeln!(out, "{}: not usable: {}", r.id, r.why)?;
    }
    Ok(true)
}
