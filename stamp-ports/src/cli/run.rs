//! The command `run`, and no command at all.

use super::args::RunArgs;
use super::console::{check_options, open, outcome, workloads};
use super::demonstration::{self, Ahead};
use super::rows::{Row, Rows, late_ratios, on_a_cpu, skipped_rows};
use crate::devices::{AnyDevice, Choice, DeviceKind};
use crate::error::{Error, Result};
use crate::measure::launches;
use crate::measure::meter;
use crate::measure::meter::Progress;
use crate::measure::run_report::RunReport;
use crate::measure::run_report::{MemorySpec, RunSpec, check_input, resolve};
use crate::measure::runner::Runner;
use crate::output;
use crate::output::{legend, setting, terminal_columns};
use crate::variants::{AskedVariant, no_profile_of};
use crate::workloads::AnyWorkload;
use crate::workloads::WORKLOADS;
use crate::workloads::input::Occasion;
use crate::workloads::options::WorkloadArgs;
use crate::workloads::workload::Sizes;
use std::io::{self, Write, stdout};
use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant};
use stm_core::host::{Device, Launch, StmConfig};
use stm_core::internal::host::in_ranges;

/// Seconds that one launch of a run without arguments may take.
const DEMONSTRATION_SECONDS_MAX: u64 = 30;

/// What `run` and a run without arguments share.
struct Plan<'a> {
    device: &'a AnyDevice,
    variants: &'a [AskedVariant],
    shape: (Option<u32>, Option<u32>),
    memory: MemorySpec,
    locks: u64,
    time_limit: Option<Duration>,
    transactions: &'a dyn Fn(AskedVariant) -> u64,
    /// Transactions of each thread, instead of those.
    loops: Option<u64>,
    seed: u64,
    repeat: u32,
    /// Measure where the time goes, too.
    profile: bool,
    json: bool,
    /// Verify the results.
    verify: bool,
    /// The kernels' time of each run, at most: those that would take more get fewer transactions.
    share: Option<Duration>,
    /// The time of all runs, if what does not fit in it is to be skipped.
    within: Option<Duration>,
}

impl Plan<'_> {
    fn spec(&self, workload: &dyn Sizes, variant: AskedVariant) -> RunSpec {
        let needed = workload.capacity();
        let config = self.memory.config(self.locks, needed, self.time_limit);
        let transactions = workload
            .transactions()
            .unwrap_or_else(|| (self.transactions)(variant));
        let algorithm = resolve(workload, variant, &config, transactions);
        let (kind, limits) = (self.device.kind(), self.device.limits());
        let (blocks, threads) = launches::launch(workload, algorithm, kind, &limits);
        let shape = (
            self.shape.0.unwrap_or(blocks),
            self.shape.1.unwrap_or(threads),
        );
        let lanes = u64::from(shape.0) * u64::from(shape.1);
        RunSpec {
            variant,
            shape,
            config,
            transactions: self
                .loops
                .map_or(transactions, |loops| loops.saturating_mul(lanes)),
            repeat: self.repeat,
        }
    }

    /// The runs of a workload, in the order of the variants.
    fn specs(&self, workload: &dyn Sizes) -> Vec<RunSpec> {
        let variants = self.variants.iter();
        variants.map(|&v| self.spec(workload, v)).collect()
    }

    /// Refuses what cannot run, before anything does.
    fn check(&self, workload: &dyn Sizes) -> Result<()> {
        let specs = self.specs(workload);
        for spec in &specs {
            check_input(workload, spec.transactions)?;
            workload.form().check(spec.variant)?;
            Launch::new(spec.shape.0, spec.shape.1).check(&self.device.limits())?;
        }
        Ok(())
    }

    /// The rows of a workload, in the order of the variants.
    fn rows<'w>(&self, workload: &'w AnyWorkload) -> Vec<Row<'w>> {
        let sizes = workload.sizes();
        let specs = self.specs(sizes).into_iter();
        let rows = specs.map(|spec| Row {
            workload,
            algorithm: resolve(sizes, spec.variant, &spec.config, spec.transactions),
            spec,
        });
        rows.collect()
    }

    /// Makes the runs of one workload, the first of which has the number `first`; a run that
    /// fails by itself is reported and does not end the others. Past `until` all are skipped
    /// except for the first few.
    fn run(
        &self,
        (rows, first): (&[Row<'_>], usize),
        until: Option<Instant>,
        ahead: &Ahead,
        progress: &Progress,
        shown: &mut Shown,
    ) -> Result<()> {
        let Some(Row { workload, .. }) = rows.first() else {
            return Ok(());
        };
        let (name, id) = (workload.sizes().name(), self.device.id());
        progress.begin(format_args!("{name} on {id}"));
        let mut runner = self.runner(workload, rows, progress)?;
        for (i, row) in rows.iter().enumerate() {
            ahead.at(Some(first + i));
            let variant = workload.sizes().form().name(row.spec.variant);
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if is_late && i >= demonstration::ALWAYS {
                shown.skipped.push((name, variant));
                continue;
            }
            progress.begin(format_args!("{name} {variant} on {id}"));
            let spec = self.shortened(row, &mut runner)?;
            let report = if self.profile {
                runner.profile(&spec)?.0
            } else {
                runner.measure(&spec)?
            };
            progress.suspend(|| shown.add(report))?;
        }
        Ok(())
    }

    /// Makes the data of a workload, in the state in which the first run finds them, while other
    /// threads have the driver compile the modules of its rows, if nobody does that ahead. All are
    /// compiled when it returns: a compilation beside a launch could be in the launch's time.
    fn runner<'r>(
        &self,
        workload: &'r AnyWorkload,
        rows: &[Row<'_>],
        progress: &'r Progress,
    ) -> Result<Runner<'r>>
    where
        Self: 'r,
    {
        let most = rows.iter().map(|row| row.spec.transactions).max();
        let to_compile = if self.within.is_some() { 0 } else { rows.len() };
        let device = self.device;
        let compile = |range: Range<u64>| {
            for row in &rows[range.start as usize..range.end as usize] {
                // An error is left to the run, which meets it again.
                drop(workload.compile(device, row.algorithm));
            }
        };
        let mut runner = thread::scope(|scope| {
            scope.spawn(|| in_ranges(1, to_compile as u64, compile));
            progress.step("making the data");
            let mut runner = Runner::new(device, workload, self.seed, most.unwrap_or(0))?;
            if to_compile > 0 {
                runner.make_ready(&rows[0].spec)?;
            }
            progress.step("compiling the kernels (driver)");
            Ok::<_, Error>(runner)
        })?;
        runner.show(progress);
        if !self.verify {
            runner.skip_verification();
        }
        Ok(runner)
    }

    /// Returns the run of a row, with fewer transactions if all of them would take too long.
    fn shortened(&self, row: &Row<'_>, runner: &mut Runner<'_>) -> Result<RunSpec> {
        let spec = row.spec;
        let all = spec.transactions;
        let is_given = row.workload.sizes().transactions().is_some();
        let Some(share) = self.share.filter(|_| !is_given) else {
            return Ok(spec);
        };
        let probed = (all / demonstration::PROBE).max(1);
        let probe = RunSpec {
            transactions: probed,
            ..spec
        };
        match runner.launch_once(&probe) {
            Ok(run) => Ok(RunSpec {
                transactions: demonstration::fill(share, all, (probed, run.time)),
                ..spec
            }),
            // The run itself will meet it, and report it.
            Err(error) if error.is_of_this_run_only() => Ok(probe),
            Err(error) => Err(error),
        }
    }

    /// Makes all runs, and prints each when it is done.
    fn run_all(&self, workloads: &[AnyWorkload], shown: &mut Shown) -> Result<()> {
        for workload in workloads {
            self.check(workload.sizes())?;
        }
        shown.begin(self, workloads);
        let (progress, start) = (Progress::new(), Instant::now());
        let rows: Vec<Row<'_>> = workloads.iter().flat_map(|w| self.rows(w)).collect();
        let a_workload = self.variants.len();
        let ahead = Ahead::new();
        let made = thread::scope(|scope| {
            if self.within.is_some() {
                scope.spawn(|| ahead.compile(self.device, &rows));
            }
            // Whatever happens here, the other thread is to end.
            let _end = ahead.ends();
            let mut each = rows.chunks(a_workload.max(1)).enumerate();
            each.try_for_each(|(i, of_workload)| {
                let share = |all| start + demonstration::share(all, i, workloads.len());
                let until = self.within.map(share);
                let rows = (of_workload, i * a_workload);
                self.run(rows, until, &ahead, &progress, shown)
            })
        });
        meter::tell_sums();
        made
    }
}

/// The runs that are done. Each is printed at once, so that nothing is lost when
/// the program is interrupted.
struct Shown {
    json: bool,
    reports: Vec<RunReport>,
    rows: Rows,
    above: String,
    /// The workloads and variants for which no time was left.
    skipped: Vec<(&'static str, &'static str)>,
}

impl Shown {
    fn new(json: bool) -> Self {
        Self {
            json,
            reports: Vec::new(),
            rows: Rows::default(),
            above: String::new(),
            skipped: Vec::new(),
        }
    }

    /// Makes what stands above the rows. It is printed with the first of them,
    /// so that a run that is refused prints nothing.
    fn begin(&mut self, plan: &Plan<'_>, workloads: &[AnyWorkload]) {
        let runs = workloads.iter().flat_map(|workload| {
            let specs = plan.specs(workload.sizes()).into_iter();
            specs.map(|spec| {
                let sizes = workload.sizes();
                let variant = sizes.form().name(spec.variant);
                let locks = spec.config.locks;
                (sizes.name(), variant, spec.shape, locks, spec.transactions)
            })
        });
        self.rows = Rows::fitting(runs, terminal_columns());
        let sizes = workloads.iter().map(AnyWorkload::sizes);
        let sizes = sizes.map(|sizes| (sizes.name(), sizes.summary()));
        let stripe = plan.memory.stripe_bytes;
        self.above = format!(
            "{}: {}\n{}\n{}\n",
            plan.device.id(),
            plan.device.name(),
            setting(sizes, Some(plan.locks), stripe, plan.seed),
            self.rows.header()
        );
    }

    fn add(&mut self, report: RunReport) -> Result<()> {
        // First, so that it counts even if it cannot be printed.
        self.reports.push(report);
        let Some(report) = self.reports.last() else {
            return Ok(());
        };
        let line = if self.json {
            serde_json::to_string(report).map_err(io::Error::from)?
        } else {
            let above = std::mem::take(&mut self.above);
            above + &self.rows.row(report, &self.reports)
        };
        Ok(writeln!(stdout(), "{line}")?)
    }

    fn end(&self) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let mut out = stdout().lock();
        write!(out, "{}", late_ratios(&self.reports))?;
        write!(out, "{}", skipped_rows(&self.skipped))?;
        write!(out, "{}", on_a_cpu(&self.reports))?;
        write!(out, "{}", legend(&self.reports))?;
        Ok(write!(out, "{}", output::breakdown_table(&self.reports))?)
    }

    /// Whether all that was to be verified was, and nothing failed.
    fn verified(&self) -> bool {
        self.reports.iter().all(RunReport::is_as_asked)
    }
}

/// The variants to run: all that have kernels with clocks, if all are to be profiled.
///
/// # Errors
/// One that is named has none: found before anything runs, as what was measured would be lost.
fn variants(args: &RunArgs) -> Result<Vec<AskedVariant>> {
    let mut variants = args.variant.clone();
    if args.profile {
        if variants == AskedVariant::all() {
            variants.retain(|variant| variant.has_profile());
        }
        if let Some(without) = variants.iter().find(|variant| !variant.has_profile()) {
            return Err(no_profile_of(*without));
        }
    }
    Ok(variants)
}

/// Runs workloads with variants.
pub(super) fn run(args: &RunArgs) -> Result<bool> {
    check_options(&args.workload, &args.input)?;
    let variants = variants(args)?;
    let memory = args.memory.spec(&variants)?;
    let given = args.input.shared.transactions;
    if given == Some(0) {
        return Err(Error::Usage(
            "--transactions 0 leaves nothing to run: give 1 or more".into(),
        ));
    }
    let device = open(args.device)?;
    let transactions = |_| given.unwrap_or(launches::TRANSACTIONS);
    let plan = Plan {
        device: &device,
        variants: &variants,
        shape: (args.blocks, args.threads),
        memory,
        locks: args.locks,
        time_limit: args.time_limit,
        transactions: &transactions,
        loops: args.loops,
        seed: args.input.shared.seed,
        repeat: args.repeat,
        profile: args.profile,
        json: args.json,
        verify: !args.no_verify,
        share: None,
        within: None,
    };
    let workloads = workloads(&args.workload, &args.input, Occasion::Measurement)?;
    let mut shown = Shown::new(plan.json);
    let printed = plan
        .run_all(&workloads, &mut shown)
        .and_then(|()| shown.end());
    outcome(shown.verified(), printed)
}

/// Runs everything at a small size.
pub(super) fn demonstrate() -> Result<bool> {
    let device = open(Choice::Auto)?;
    let kind = device.kind();
    let transactions = |variant| launches::demo_transactions(variant, kind);
    let input = WorkloadArgs::default();
    let variants = match kind {
        DeviceKind::Cpu => AskedVariant::all(),
        DeviceKind::Cuda => demonstration::variants(),
    };
    let plan = Plan {
        device: &device,
        variants: &variants,
        shape: (None, None),
        memory: MemorySpec::default(),
        locks: StmConfig::default().locks,
        time_limit: Some(Duration::from_secs(DEMONSTRATION_SECONDS_MAX)),
        transactions: &transactions,
        loops: None,
        seed: input.shared.seed,
        repeat: 1,
        profile: false,
        json: false,
        verify: true,
        share: Some(demonstration::RUN),
        within: (kind == DeviceKind::Cuda).then_some(demonstration::ALL),
    };
    let names: Vec<&str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
    let workloads = workloads(&names, &input, Occasion::Demonstration(kind))?;
    let mut shown = Shown::new(false);
    let printed = plan.run_all(&workloads, &mut shown).and_then(|()| {
        shown.end()?;
        Ok(writeln!(
            stdout(),
            "`stamp --help` says what else it does; `stamp list` names what there is."
        )?)
    });
    outcome(shown.verified(), printed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::AnyInput;

    #[test]
    fn without_time_left_each_workload_has_its_first_variants_and_the_others_are_named() {
        let device = AnyDevice::cpu();
        let workloads: Vec<AnyWorkload> = ["pool", "counter"]
            .map(|name| AnyInput::sized(name, Occasion::Quick).expect("a workload"))
            .map(|input| input.make(1).expect("small"))
            .into();
        let variants = demonstration::variants();
        let transactions = |_| 6_400;
        let mut plan = Plan {
            device: &device,
            variants: &variants,
            shape: (None, None),
            memory: MemorySpec::default(),
            locks: 1 << 10,
            time_limit: None,
            transactions: &transactions,
            loops: None,
            seed: 1,
            repeat: 1,
            profile: false,
            json: true,
            verify: true,
            share: Some(Duration::from_mins(1)),
            within: Some(Duration::ZERO),
        };
        let mut shown = Shown::new(true);
        plan.run_all(&workloads, &mut shown).expect("runs");
        assert!(shown.verified());
        let made: Vec<_> = (shown.reports.iter())
            .map(|report| (report.workload, report.variant))
            .collect();
        let first = [
            ("pool", "cgl"),
            ("pool", "fast"),
            ("counter", "cgl"),
            ("counter", "fast"),
        ];
        assert_eq!(made, first);
        assert_eq!(shown.skipped.len(), 2 * variants.len() - first.len());
        let text = skipped_rows(&shown.skipped);
        assert!(text.contains("pool hv-sorting, ") && text.contains("; counter hv-sorting"));
        let text = on_a_cpu(&shown.reports);
        assert!(
            text.contains(" in pool") && text.contains("counter"),
            "{text}"
        );
        assert_eq!(on_a_cpu(&shown.reports[..1]), "");
        // With time enough nothing is skipped.
        plan.within = Some(Duration::from_mins(10));
        let mut shown = Shown::new(true);
        plan.run_all(&workloads[..1], &mut shown).expect("runs");
        assert_eq!(
            (shown.reports.len(), shown.skipped.len()),
            (variants.len(), 0)
        );
        let sizes = |shown: &Shown| -> Vec<u64> {
            let reports = shown.reports.iter();
            reports.map(|report| report.transactions).collect()
        };
        assert!(shown.verified());
        assert_eq!(sizes(&shown), vec![6_400; variants.len()]);
        // No variant takes more than the share of a run, the fast ones neither.
        plan.share = Some(Duration::ZERO);
        let mut shown = Shown::new(true);
        plan.run_all(&workloads[..1], &mut shown).expect("runs");
        assert_eq!(sizes(&shown), vec![100; variants.len()]);
    }
}
