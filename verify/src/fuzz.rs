//! Random programs and simulations until the time is over, or something is wrong.
//!
//! Run `k` of a seed is the same everywhere: its variant is `k` modulo their number, one run in
//! eight takes a directed program, and one in four of the others is silent. The workers, one for
//! each core, draw numbers in turn; the simulator is single-threaded, so they share nothing else.

use crate::program::shrink::shrink;
use crate::program::{Case, Done, Failure, directed, generate, run};
use crate::rng::draw;
use crate::values;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::fmt;
use std::ops::{AddAssign, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;

/// Several variants in one argument.
pub type VariantList = std::vec::Vec<Variant>;

/// What a fuzzing run does, and when it ends, as options of the program.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// A variant, several separated by commas, or all
    #[arg(long = "variant", value_name = "V", value_parser = values::parse_variants, default_value = "all")]
    pub variants: VariantList,
    /// Stop after so many minutes
    #[arg(long = "minutes", value_name = "M", value_parser = values::parse_minutes)]
    pub time: Option<Duration>,
    /// Stop after so many transactions
    #[arg(long, value_name = "N", value_parser = values::parse_count)]
    pub transactions: Option<u64>,
    /// Seed of all programs and simulations
    #[arg(long, value_name = "S", value_parser = values::parse_count, default_value = "1")]
    pub seed: u64,
    /// Give packed versions so many bits, 3 to 31, where each run draws its own: with few of them,
    /// versions wrap around often [default: 31 in one half of the runs, 3 to 8 in the other]
    #[arg(long, value_name = "N..M", value_parser = values::parse_version_bits)]
    pub version_bits: Option<RangeInclusive<u32>>,
    /// Switch a seeded defect on
    #[arg(long, value_name = "NAME", value_parser = values::parse_mutant)]
    pub mutant: Option<Mutant>,
    /// Worker threads [default: one a core]
    #[arg(long, value_name = "T", value_parser = values::parse_threads, default_value_t = cores(),
          hide_default_value = true)]
    pub threads: usize,
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Config {
    /// Returns a configuration with these variants and this seed, one thread and no end.
    pub fn new(variants: &[Variant], seed: u64) -> Self {
        Self {
            variants: variants.to_vec(),
            mutant: None,
            seed,
            version_bits: None,
            transactions: None,
            time: None,
            threads: 1,
        }
    }
}

/// The sums of some runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    pub schedules: u64,
    pub transactions: u64,
    /// Attempts made, all of them checked.
    pub attempts: u64,
    pub operations: u64,
    /// Runs given up because an unfair schedule starved a lane; their transactions are not counted.
    pub unfair: u64,
}

impl From<Done> for Totals {
    fn from(done: Done) -> Self {
        Self {
            schedules: 1,
            transactions: done.transactions,
            attempts: done.attempts,
            operations: done.steps,
            unfair: done.unfair.into(),
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, more: Self) {
        self.schedules += more.schedules;
        self.transactions += more.transactions;
        self.attempts += more.attempts;
        self.operations += more.operations;
        self.unfair += more.unfair;
    }
}

fn sum<'a>(all: impl IntoIterator<Item = &'a Totals>) -> Totals {
    let mut sum = Totals::default();
    all.into_iter().for_each(|totals| sum += *totals);
    sum
}

/// A violation, shrunk.
#[derive(Clone, Debug)]
pub struct Found {
    /// The case as it was found.
    pub first: Case,
    /// The smallest case that fails.
    pub case: Case,
    /// What the smallest case finds.
    pub failure: Failure,
}

#[derive(Clone, Debug)]
pub struct Report {
    /// The sums for each variant, in the order of the configuration.
    pub variants: Vec<(Variant, Totals)>,
    pub time: Duration,
    pub threads: usize,
    pub seed: u64,
    /// The violation that ended the run, if any.
    pub found: Option<Found>,
}

impl Report {
    pub fn total(&self) -> Totals {
        sum(self.variants.iter().map(|(_, totals)| totals))
    }

    pub fn json(&self) -> serde_json::Value {
        let seconds = self.time.as_secs_f64();
        let total = self.total();
        let of = |(variant, totals): &(Variant, Totals)| serde_json::json!({"variant": variant.name(), "totals": totals});
        serde_json::json!({
            "seed": self.seed,
            "threads": self.threads,
            "seconds": seconds,
            "variants": self.variants.iter().map(of).collect::<Vec<_>>(),
            "total": total,
            "operations_per_second": total.operations as f64 / seconds,
            "violation": self.found.as_ref().map(|found| serde_json::json!({
                "kind": found.failure.kind.name(),
                "text": found.failure.text,
                "replay": found.case.to_string(),
                "found_as": found.first.to_string(),
            })),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = "variant schedules transactions attempts operations unfair".split(' ');
        let total = self.total();
        let mut rows = vec![header.map(String::from).collect()];
        let tallies = self.variants.iter().map(|(v, t)| (v.name(), t));
        rows.extend(tallies.chain([("all", &total)]).map(|(name, t)| {
            let counts = [
                t.schedules,
                t.transactions,
                t.attempts,
                t.operations,
                t.unfair,
            ];
            let cells = counts.iter().map(u64::to_string);
            std::iter::once(name.to_owned()).chain(cells).collect()
        }));
        for line in lines(rows, &[1, 2, 3, 4, 5]) {
            writeln!(f, "{line}")?;
        }
        let seconds = self.time.as_secs_f64();
        let (seed, threads) = (self.seed, self.threads);
        let rate = total.operations as f64 / seconds / 1e6;
        write!(f, "seed {seed:#x}, {threads} threads, {seconds:.1} s, ")?;
        writeln!(f, "{rate:.2} M operations a second")?;
        match &self.found {
            None => writeln!(f, "0 violations"),
            Some(found) => {
                writeln!(f, "VIOLATION: {}", found.failure)?;
                writeln!(f, "{}", found.case.command())
            }
        }
    }
}

pub fn case(config: &Config, k: u64) -> Case {
    let variant = config.variants[(k % config.variants.len() as u64) as usize];
    let bits = draw(config.seed, k, 5);
    let mut case = if bits.is_multiple_of(8) {
        let directed = &directed::ALL[(bits / 8 % directed::ALL.len() as u64) as usize];
        directed.case(variant, config.mutant, bits)
    } else {
        random_case(variant, config.mutant, bits)
    };
    if let Some(bits) = &config.version_bits {
        let choices = u64::from(bits.end() - bits.start()) + 1;
        case.sim.version_bits = bits.start() + (draw(config.seed, k, 6) % choices) as u32;
    }
    case
}

/// Returns the random case of a seed, in one of four a silent one.
pub fn random_case(variant: Variant, mutant: Option<Mutant>, seed: u64) -> Case {
    if (seed >> 32).is_multiple_of(4) {
        generate::silent_case(variant, mutant, seed)
    } else {
        generate::case(variant, mutant, seed)
    }
}

/// Runs that a worker takes at a time.
const BATCH: u64 = 64;

/// What all workers use.
struct Common<'a> {
    config: &'a Config,
    next: AtomicU64,
    stop: AtomicBool,
    /// The sums for each variant, and the first case that failed.
    results: Mutex<Results>,
}

type Results = (Vec<Totals>, Option<(Case, Failure)>);

impl Common<'_> {
    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let variants = self.config.variants.len();
        // Relaxed throughout: the flag and the counter carry no data.
        while !self.stop.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(BATCH, Ordering::Relaxed);
            let mut totals = vec![Totals::default(); variants];
            for k in first..first + BATCH {
                let case = case(self.config, k);
                match run(&case) {
                    Ok(done) => totals[(k % variants as u64) as usize] += done.into(),
                    Err(failure) => {
                        self.stop.store(true, Ordering::Relaxed);
                        self.results().1.get_or_insert((case, failure));
                        return;
                    }
                }
            }
            for (sum, new) in self.results().0.iter_mut().zip(totals) {
                *sum += new;
            }
        }
    }
}

/// Runs to the end of the configuration or a failure; calls `progress` about every second.
pub fn fuzz(config: &Config, mut progress: impl FnMut(Totals, Duration)) -> Report {
    let start = Instant::now();
    let common = Common {
        config,
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        results: Mutex::new((vec![Totals::default(); config.variants.len()], None)),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..config.threads)
            .map(|_| scope.spawn(|| common.work()))
            .collect();
        let mut reported = start;
        while !workers.iter().all(ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(5));
            let total = sum(&common.results().0);
            if config.transactions.is_some_and(|n| total.transactions >= n)
                || config.time.is_some_and(|time| start.elapsed() >= time)
            {
                common.stop.store(true, Ordering::Relaxed);
            }
            if reported.elapsed() >= Duration::from_secs(1) {
                reported = Instant::now();
                progress(total, start.elapsed());
            }
        }
    });
    let time = start.elapsed();
    let (totals, found) = std::mem::take(&mut *common.results());
    let found = found.map(|(first, failure)| {
        let (case, failure) = shrink(&first, failure);
        Found {
            first,
            case,
            failure,
        }
    });
    Report {
        variants: config.variants.iter().copied().zip(totals).collect(),
        time,
        threads: config.threads,
        seed: config.seed,
        found,
    }
}

/// Does something with each item, on all cores; returns the results in the order of the items.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicU64::new(0);
    // Relaxed: the number only hands out work.
    let take = || next.fetch_add(1, Ordering::Relaxed) as usize;
    let work = || -> Vec<(usize, R)> {
        let mine = std::iter::from_fn(|| Some(take()).filter(|&i| i < items.len()));
        mine.map(|i| (i, run(&items[i]))).collect()
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores()).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(ScopedJoinHandle::join);
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Returns rows as lines, columns two spaces apart, those of `numbers` aligned to the right.
pub(crate) fn lines(rows: Vec<Vec<String>>, numbers: &[usize]) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(rows);
    for (c, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numbers.contains(&c) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().into()).collect()
}
