//! The command `run`, and no command at all.
//!
//! A run without arguments is kept short: each run is launched with few transactions first, and then with as many
//! as fit in [`RUN`], or all. On a GPU, each workload has its share of the time too, with what those before it have
//! left. When that is spent, the variants that are left are skipped, of which those that tell most come first; and
//! other threads have the driver compile the modules of the next runs while one runs.

use super::args::RunArgs;
use super::rows::{PlannedRun, Rows, late_ratios, on_a_cpu, skipped_rows};
use super::rows::{breakdown_table, legend, setting_of};
use crate::cli::prelude::*;
use crate::measure::launches::{self, Room};
use crate::measure::meter;
use crate::measure::run_report::check_input;
use crate::measure::runner::Runner;
use crate::variants::no_profile_of;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Sender, channel};
use std::thread::Scope;
use stm_core::internal::host::in_ranges;

/// The time of all runs, so that with the last one the program ends in 45 seconds.
const ALL: Duration = Duration::from_secs(38);

/// The time of the kernels of each run, at most, if the number of transactions is not of its input.
const RUN: Duration = Duration::from_millis(250);

/// One in so many transactions are launched to see how long they take.
const PROBE: u64 = 64;

/// Variants of each workload that run even if its share is spent.
const ALWAYS: usize = 2;

/// Runs whose modules are compiled before their time comes, at least; with more cores as many more.
const AHEAD: usize = 4;

/// The variants that tell most. The module of `optimized` is that of the one before.
const FIRST: [&str; 5] = ["cgl", "fast", "hv-sorting", "optimized", "fast-table"];

fn telling_variants() -> Vec<AskedVariant> {
    let place = |variant: &AskedVariant| FIRST.iter().position(|name| *name == variant.name());
    let mut all = AskedVariant::all();
    all.sort_by_key(|variant| place(variant).unwrap_or(FIRST.len()));
    all
}

/// Returns the time by which workload `i` of `count` is to be done.
fn share(all: Duration, i: usize, count: usize) -> Duration {
    all.mul_f64((i + 1) as f64 / count.max(1) as f64)
}

/// Returns how many of `all` transactions to launch in `share`, if so many of them took `time`.
fn fill(share: Duration, all: u64, (probed, time): (u64, Duration)) -> u64 {
    let fit = probed as f64 * share.as_secs_f64() / time.as_secs_f64().max(1e-9);
    all.min((fit as u64).max(probed))
}

/// The other threads, which end when this is dropped.
struct Ahead {
    next: Sender<usize>,
    now: Arc<AtomicUsize>,
    most: usize,
}

impl Ahead {
    /// Begins with the first runs, on a thread for each core but that of the runs, up to 16.
    fn new<'s, F: Fn(usize) + Sync>(scope: &'s Scope<'s, '_>, compile: &'s F) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (cores - 1).clamp(1, 16);
        let most = AHEAD.max(threads);
        let (next, numbers) = channel();
        let (now, numbers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(numbers)));
        for _ in 0..threads {
            let (now, numbers) = (now.clone(), numbers.clone());
            scope.spawn(move || {
                let number = || (numbers.lock().unwrap_or_else(PoisonError::into_inner)).recv();
                while let Ok(number) = number() {
                    if number >= now.load(Ordering::Relaxed) {
                        compile(number);
                    }
                }
            });
        }
        for number in 0..most {
            let _ = next.send(number);
        }
        Self { next, now, most }
    }

    /// Says which run is made now.
    fn at(&self, run: usize) {
        self.now.store(run, Ordering::Relaxed);
        let _ = self.next.send(run + self.most);
    }
}

struct RunPlan<'a> {
    device: &'a AnyDevice,
    args: &'a RunArgs,
    variants: Vec<AskedVariant>,
    /// The kernels' time of each run, where those that would take more get fewer transactions.
    share: Option<Duration>,
    /// The time of all runs, if what does not fit in it is to be skipped.
    within: Option<Duration>,
}

impl<'a> RunPlan<'a> {
    fn row<'w>(&self, workload: &'w AnyWorkload, variant: AskedVariant) -> Result<PlannedRun<'w>> {
        let sizes = workload.sizes();
        let (kind, args) = (self.device.kind(), self.args);
        let config = (args.memory).config(args.locks, sizes.capacity(), args.time_limit);
        let given = sizes.transactions().or(args.input.shared.transactions);
        let transactions = given.unwrap_or_else(|| match self.share {
            Some(_) => launches::demo_transactions(variant, kind),
            None => launches::TRANSACTIONS,
        });
        let algorithm = resolve(sizes, variant, &config, transactions);
        let usual = Room::of(self.device).launch(sizes, algorithm);
        let blocks = args.blocks.unwrap_or(usual.0);
        let shape = (blocks, args.threads.unwrap_or(usual.1));
        let of_loops = |loops: u64| loops.saturating_mul(lanes(shape));
        let loops = args.loops.filter(|_| sizes.transactions().is_none());
        let spec = RunSpec {
            variant,
            shape,
            config,
            transactions: loops.map_or(transactions, of_loops),
            repeat: args.repeat,
        };
        check_input(sizes, spec.transactions)?;
        sizes.form().check(variant)?;
        Launch::new(shape.0, shape.1).check(&self.device.limits())?;
        Ok(PlannedRun {
            workload,
            algorithm: resolve(sizes, variant, &config, spec.transactions),
            spec,
        })
    }

    /// Makes the runs of one workload, the first of which has the number `first`; a run that fails by itself
    /// does not end the others. Past `until` all are skipped except for the first few.
    fn run(
        &self,
        (rows, first): (&[PlannedRun<'_>], usize),
        until: Option<Instant>,
        ahead: Option<&Ahead>,
        progress: &Progress,
        shown: &mut Shown,
    ) -> Result<()> {
        let workload = rows[0].workload;
        let (name, id) = (workload.sizes().name(), self.device.id());
        progress.begin(format_args!("{name} on {id}"));
        let mut runner = self.runner(workload, rows, progress)?;
        for (i, row) in rows.iter().enumerate() {
            if let Some(ahead) = ahead {
                ahead.at(first + i);
            }
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if is_late && i >= ALWAYS {
                shown.skipped.push((name, row.variant()));
                continue;
            }
            progress.begin(format_args!("{name} {} on {id}", row.variant()));
            let spec = self.shortened(row, &mut runner)?;
            let report = if self.args.profile {
                runner.profile(&spec)?
            } else {
                runner.measure(&spec)?
            };
            progress.suspend(|| shown.add(report))?;
        }
        Ok(())
    }

    /// Makes the data of a workload, while other threads have the driver compile the modules of its rows, if
    /// nobody does that ahead. It ends with the last of them, as a launch beside one could take longer.
    fn runner(
        &self,
        workload: &'a AnyWorkload,
        rows: &[PlannedRun<'_>],
        progress: &Progress,
    ) -> Result<Runner<'a>> {
        let most = rows.iter().map(|row| row.spec.transactions).max();
        let (device, seed) = (self.device, self.args.input.shared.seed);
        let to_compile = if self.within.is_some() { 0 } else { rows.len() };
        let compile = |range: Range<u64>| {
            for row in &rows[range.start as usize..range.end as usize] {
                row.compile(device);
            }
        };
        let mut runner = thread::scope(|scope| {
            scope.spawn(|| in_ranges(1, to_compile as u64, compile));
            progress.step("making the data");
            let runner = Runner::new(device, workload, seed, most.unwrap_or(0));
            progress.step("compiling the kernels (driver)");
            runner
        })?;
        runner.phases.progress = Some(progress.clone());
        runner.verifies = !self.args.no_verify;
        Ok(runner)
    }

    /// Returns the run of a row, with fewer transactions if all of them would take too long.
    fn shortened(&self, row: &PlannedRun<'_>, runner: &mut Runner<'_>) -> Result<RunSpec> {
        let mut spec = row.spec;
        let is_given = row.workload.sizes().transactions().is_some();
        if let Some(share) = self.share.filter(|_| !is_given) {
            let all = spec.transactions;
            spec.transactions = (all / PROBE).max(1);
            match runner.launch_once(&spec) {
                Ok(run) => spec.transactions = fill(share, all, (spec.transactions, run.time)),
                // The run itself will meet it, and report it.
                Err(error) if error.is_of_this_run_only() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(spec)
    }

    fn run_all(&self, workloads: &[AnyWorkload], shown: &mut Shown) -> Result<()> {
        let all = workloads.iter().flat_map(|workload| {
            let variants = self.variants.iter();
            variants.map(move |&variant| self.row(workload, variant))
        });
        let rows: Vec<PlannedRun<'_>> = all.collect::<Result<_>>()?;
        shown.begin(self, &rows);
        let (progress, start, device) = (Progress::new(), Instant::now(), self.device);
        let compile = |number: usize| rows.get(number).map_or((), |row| row.compile(device));
        let made = thread::scope(|scope| {
            let ahead = self.within.map(|_| Ahead::new(scope, &compile));
            let a_workload = self.variants.len();
            let mut each = rows.chunks(a_workload.max(1)).enumerate();
            each.try_for_each(|(i, of_workload)| {
                let share = |all| start + share(all, i, workloads.len());
                let (rows, until) = ((of_workload, i * a_workload), self.within.map(share));
                self.run(rows, until, ahead.as_ref(), &progress, shown)
            })
        });
        meter::tell_sums();
        made
    }

    /// Makes the workloads and all runs. Returns whether all that was to be verified was.
    fn show(&self, occasion: Occasion, end: &str) -> Result<bool> {
        let workloads = workloads(&self.args.workload, &self.args.input, occasion)?;
        let mut shown = Shown::default();
        self.run_all(&workloads, &mut shown)?;
        shown.end(end)?;
        Ok(shown.verified())
    }
}

/// The runs that are done. Each is printed at once, so that an interruption loses nothing.
#[derive(Default)]
struct Shown {
    json: bool,
    reports: Vec<RunReport>,
    rows: Rows,
    above: String,
    skipped: Vec<(&'static str, &'static str)>,
}

impl Shown {
    /// Makes what stands above the rows. A run that is refused prints nothing, not even this.
    fn begin(&mut self, plan: &RunPlan<'_>, rows: &[PlannedRun<'_>]) {
        let (device, seed) = (plan.device, plan.args.input.shared.seed);
        let runs = rows.iter().map(|row| {
            RunReport::new(device, row.workload.sizes(), &row.spec, row.algorithm, seed)
        });
        let runs: Vec<RunReport> = runs.collect();
        self.json = plan.args.json;
        self.rows = Rows::fitting(&runs, terminal_columns());
        let (setting, header) = (setting_of(&runs), self.rows.header());
        self.above = format!("{}: {}\n{setting}\n{header}\n", device.id(), device.name());
    }

    fn add(&mut self, report: RunReport) -> Result<()> {
        // First, so that it counts even if it cannot be printed.
        self.reports.push(report);
        let report = &self.reports[self.reports.len() - 1];
        let line = if self.json {
            serde_json::to_string(report).map_err(io::Error::from)?
        } else {
            std::mem::take(&mut self.above) + &self.rows.row(report, &self.reports)
        };
        Ok(writeln!(stdout(), "{line}")?)
    }

    fn end(&self, end: &str) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let all = &self.reports;
        let (late, skipped) = (late_ratios(all), skipped_rows(&self.skipped));
        let rest = [on_a_cpu(all), legend(all), breakdown_table(all)].concat();
        Ok(write!(stdout(), "{late}{skipped}{rest}{end}")?)
    }

    fn verified(&self) -> bool {
        self.reports.iter().all(RunReport::is_as_asked)
    }
}

/// The variants to run: all that have kernels with clocks, if all are to be profiled; it is an error to name
/// another one.
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

/// Refuses loops where the inputs of all workloads say how many transactions there are.
fn check_loops(args: &RunArgs) -> Result<()> {
    let not_taken = WorkloadArgs::not_of(&args.workload);
    match args.loops {
        Some(loops) if not_taken.iter().any(|id| id == "transactions") => {
            let workloads = args.workload.join(" and ");
            refuse(format!(
                "--loops {loops} is not for {workloads}: leave it out"
            ))
        }
        _ => Ok(()),
    }
}

pub(super) fn run(args: &RunArgs) -> Result<bool> {
    check_options(&args.workload, &args.input)?;
    check_loops(args)?;
    let variants = variants(args)?;
    args.memory.check(&variants)?;
    if args.input.shared.transactions == Some(0) {
        return refuse("--transactions 0 leaves nothing to run: give 1 or more");
    }
    let plan = RunPlan {
        device: &open(args.device)?,
        args,
        variants,
        share: None,
        within: None,
    };
    plan.show(Occasion::Measurement, "")
}

pub(super) fn demonstrate() -> Result<bool> {
    let args = RunArgs::parse_from(["run", "all", "--time-limit", "30"]);
    let device = open(args.device)?;
    let kind = device.kind();
    let plan = RunPlan {
        device: &device,
        args: &args,
        variants: kind.either(AskedVariant::all(), telling_variants()),
        share: Some(RUN),
        within: (kind == DeviceKind::Cuda).then_some(ALL),
    };
    let end = "`stamp --help` says what else it does; `stamp list` names what there is.\n";
    plan.show(Occasion::Demonstration(kind), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_time_left_each_workload_has_its_first_variants_and_the_others_are_named() {
        let device = AnyDevice::cpu();
        let workloads: Vec<AnyWorkload> = ["pool", "counter"]
            .map(|name| AnyWorkload::sized(name, Occasion::Quick, 1).expect("a workload"))
            .into();
        let variants = telling_variants().len();
        let line = "run all --locks 1K --transactions 6400 --json";
        let args = RunArgs::parse_from(line.split(' '));
        let run = |share, within, workloads| {
            let plan = RunPlan {
                device: &device,
                args: &args,
                variants: telling_variants(),
                share: Some(share),
                within: Some(within),
            };
            let mut shown = Shown::default();
            plan.run_all(workloads, &mut shown).expect("runs");
            assert!(shown.verified());
            shown
        };
        let (minute, enough) = (Duration::from_mins(1), Duration::from_mins(10));
        let shown = run(minute, Duration::ZERO, &workloads);
        let name = |run: &RunReport| format!("{} {}", run.workload, run.variant);
        let made: Vec<String> = shown.reports.iter().map(name).collect();
        let first = "pool cgl, pool fast, counter cgl, counter fast";
        assert_eq!(made.join(", "), first);
        assert_eq!(shown.skipped.len(), 2 * variants - made.len());
        let text = skipped_rows(&shown.skipped);
        has(&text, "pool hv-sorting,  | ; counter hv-sorting");
        has(&on_a_cpu(&shown.reports), " in pool | counter");
        assert_eq!(on_a_cpu(&shown.reports[..1]), "");
        assert_eq!(breakdown_table(&shown.reports), "");
        // With time enough nothing is skipped.
        let sizes = |shown: Shown| -> Vec<u64> {
            assert!(shown.skipped.is_empty());
            shown.reports.iter().map(|run| run.transactions).collect()
        };
        let all = run(minute, enough, &workloads[..1]);
        assert_eq!(sizes(all), vec![6_400; variants]);
        // No variant takes more than the share of a run, the fast ones neither.
        let few = run(Duration::ZERO, enough, &workloads[..1]);
        assert_eq!(sizes(few), vec![100; variants]);
    }

    #[test]
    fn shares_end_with_all_of_the_time_and_slow_runs_get_fewer_transactions() {
        let all = Duration::from_secs(32);
        assert_eq!(share(all, 0, 16), Duration::from_secs(2));
        assert_eq!(share(all, 15, 16), all);
        // And never less than were probed.
        let fill = |probed, ms| fill(RUN, 1 << 20, (probed, Duration::from_millis(ms)));
        assert_eq!(fill(1 << 14, 1), 1 << 20);
        assert_eq!(fill(16_000, 25), 160_000);
        assert_eq!(fill(16_000, 1000), 16_000);
    }

    #[test]
    fn the_variants_begin_with_the_baseline_and_none_is_left_out() {
        let variants = telling_variants();
        let names = variants.iter().map(|variant| variant.name());
        assert!(names.take(FIRST.len()).eq(FIRST));
        assert!(AskedVariant::all().iter().all(|v| variants.contains(v)));
        assert_eq!(variants.len(), AskedVariant::all().len());
    }

    #[test]
    fn compilation_stays_a_few_runs_ahead_skips_what_is_past_and_ends() {
        let (sender, compiled) = channel();
        let gate = Mutex::new(());
        let compile = |number| {
            drop(gate.lock());
            sender.send(number).expect("a receiver");
        };
        thread::scope(|scope| {
            let closed = gate.lock();
            let ahead = Ahead::new(scope, &compile);
            let most = ahead.most;
            // All threads are at the gate with a number below `most`, or have none yet.
            for run in [1, 2, 1000] {
                ahead.at(run);
            }
            drop(closed);
            let last = compiled.iter().find(|number| *number >= most);
            assert_eq!(last, Some(1000 + most));
        });
        assert!(compiled.try_iter().all(|number| number < 16));
    }
}
