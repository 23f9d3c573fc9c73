//! Random programs and simulations until the time is over, or something is wrong.
//!
//! Run `k` of a seed is the same everywhere: its variant is `k` modulo their number, one run in
//! eight takes a directed program, and one in four of the others is silent. The workers, one for
//! each core, draw numbers in turn; the simulator is single-threaded, so they share nothing else.

use crate::program::shrink::shrink;
use crate::program::{Case, Done, Failure, directed, generate, run};
use crate::rng::draw;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use stm_core::algorithm::Variant;
use stm_core::internal::observe::Mutant;

/// What a fuzzing run does, and when it ends.
#[derive(Clone, Debug)]
pub struct Config {
    /// The variants, in turn; not empty.
    pub variants: Vec<Variant>,
    /// A seeded defect that the run is to catch.
    pub mutant: Option<Mutant>,
    /// The seed of every run.
    pub seed: u64,
    /// The bits of a packed version in each run, drawn from these; `None` leaves
    /// them as the case has them.
    pub version_bits: Option<RangeInclusive<u32>>,
    /// The run stops when so many transactions have committed.
    pub transactions: Option<u64>,
    /// The run stops after this time.
    pub time: Option<Duration>,
    /// Worker threads, 1 or more.
    pub threads: usize,
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
    /// Runs.
    pub schedules: u64,
    /// Transactions committed.
    pub transactions: u64,
    /// Attempts made, all of them checked.
    pub attempts: u64,
    /// Operations that the simulator scheduled.
    pub operations: u64,
    /// Runs given up because an unfair schedule starved a lane; their transactions are not counted.
    pub unfair: u64,
}

impl Totals {
    fn add(&mut self, done: &Done) {
        self.schedules += 1;
        self.transactions += done.transactions;
        self.attempts += done.attempts;
        self.operations += done.steps;
        self.unfair += u64::from(done.unfair);
    }

    fn sum(all: &[Self]) -> Self {
        all.iter().fold(Self::default(), |a, b| Self {
            schedules: a.schedules + b.schedules,
            transactions: a.transactions + b.transactions,
            attempts: a.attempts + b.attempts,
            operations: a.operations + b.operations,
            unfair: a.unfair + b.unfair,
        })
    }
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

/// What a fuzzing run did.
#[derive(Clone, Debug)]
pub struct Report {
    /// The sums for each variant, in the order of the configuration.
    pub variants: Vec<(Variant, Totals)>,
    /// How long the run took.
    pub time: Duration,
    /// Worker threads.
    pub threads: usize,
    /// The seed.
    pub seed: u64,
    /// The violation that ended the run, if any.
    pub found: Option<Found>,
}

impl Report {
    /// Returns the sums over all variants.
    pub fn total(&self) -> Totals {
        let all: Vec<Totals> = self.variants.iter().map(|(_, totals)| *totals).collect();
        Totals::sum(&all)
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> serde_json::Value {
        let seconds = self.time.as_secs_f64();
        let total = self.total();
        let variants: Vec<_> = self
            .variants
            .iter()
            .map(|(variant, totals)| serde_json::json!({"variant": variant.name(), "totals": totals}))
            .collect();
        serde_json::json!({
            "seed": self.seed,
            "threads": self.threads,
            "seconds": seconds,
            "variants": variants,
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
        let header = [
            "variant",
            "schedules",
            "transactions",
            "attempts",
            "operations",
            "unfair",
        ];
        let total = self.total();
        let mut rows = vec![header.map(String::from).to_vec()];
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
        writeln!(
            f,
            "seed {:#x}, {} threads, {seconds:.1} s, {:.2} M operations a second",
            self.seed,
            self.threads,
            total.operations as f64 / seconds / 1e6
        )?;
        match &self.found {
            None => writeln!(f, "0 violations"),
            Some(found) => {
                writeln!(f, "VIOLATION: {}", found.failure)?;
                writeln!(f, "{}", found.case.command())
            }
        }
    }
}

/// Returns the case of run `k` of a configuration.
pub fn case(config: &Config, k: u64) -> Case {
    let mut case = drawn_case(config, k);
    if let Some(bits) = &config.version_bits {
        let choices = u64::from(bits.end() - bits.start()) + 1;
        case.sim.version_bits = bits.start() + (draw(config.seed, k, 6) % choices) as u32;
    }
    case
}

fn drawn_case(config: &Config, k: u64) -> Case {
    let variant = config.variants[(k % config.variants.len() as u64) as usize];
    let bits = draw(config.seed, k, 5);
    if bits.is_multiple_of(8) {
        let directed = &directed::ALL[(bits / 8 % directed::ALL.len() as u64) as usize];
        return directed.case(variant, config.mutant, bits);
    }
    random_case(variant, config.mutant, bits)
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
struct Common {
    next: AtomicU64,
    stop: AtomicBool,
    totals: Mutex<Vec<Totals>>,
    found: Mutex<Option<(Case, Failure)>>,
}

fn work(config: &Config, common: &Common) {
    let variants = config.variants.len();
    // Relaxed throughout: the flag and the counter carry no data.
    while !common.stop.load(Ordering::Relaxed) {
        let first = common.next.fetch_add(BATCH, Ordering::Relaxed);
        let mut totals = vec![Totals::default(); variants];
        for k in first..first + BATCH {
            let case = case(config, k);
            match run(&case) {
                Ok(done) => totals[(k % variants as u64) as usize].add(&done),
                Err(failure) => {
                    common.stop.store(true, Ordering::Relaxed);
                    let mut found = common.found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.get_or_insert((case, failure));
                    return;
                }
            }
        }
        let mut all = common.totals.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, new) in all.iter_mut().zip(totals) {
            *sum = Totals::sum(&[*sum, new]);
        }
    }
}

/// Runs until the transactions or the time of the configuration are used up, or
/// a check fails. `progress` is called about every second.
pub fn fuzz(config: &Config, mut progress: impl FnMut(Totals, Duration)) -> Report {
    let start = Instant::now();
    let common = Common {
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        totals: Mutex::new(vec![Totals::default(); config.variants.len()]),
        found: Mutex::new(None),
    };
    let sum = || Totals::sum(&common.totals.lock().unwrap_or_else(PoisonError::into_inner));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..config.threads)
            .map(|_| scope.spawn(|| work(config, &common)))
            .collect();
        let mut reported = start;
        while !workers
            .iter()
            .all(std::thread::ScopedJoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(5));
            let total = sum();
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
    let totals = common
        .totals
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let found = common
        .found
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map(|(first, failure)| {
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

/// Does something with each item, on as many threads as there are cores, and returns the results
/// in the order of the items.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicU64::new(0);
    // Relaxed: the number only hands out work.
    let take = || next.fetch_add(1, Ordering::Relaxed) as usize;
    let work = || -> Vec<(usize, R)> {
        let mine = std::iter::from_fn(|| Some(take()).filter(|&i| i < items.len()));
        mine.map(|i| (i, run(&items[i]))).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Returns rows as lines, columns two spaces apart. The columns numbered in `numbers`
/// are aligned to the right.
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
