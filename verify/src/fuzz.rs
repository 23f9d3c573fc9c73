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
use std::fmt;
use std::ops::RangeInclusive;
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

fn sum<'a>(all: impl IntoIterator<Item = &'a Done>) -> Done {
    let mut sum = Done::default();
    all.into_iter().for_each(|done| sum += *done);
    sum
}

#[derive(Clone, Debug)]
pub struct Found {
    /// The case as it was found.
    pub first: Case,
    /// The smallest case that fails.
    pub case: Case,
    pub failure: Failure,
}

#[derive(Clone, Debug)]
pub struct Report {
    /// The sums for each variant, in the order of the configuration.
    pub variants: Vec<(Variant, Done)>,
    pub time: Duration,
    pub threads: usize,
    pub seed: u64,
    /// The violation that ended the run, if any.
    pub found: Option<Found>,
}

impl Report {
    pub fn total(&self) -> Done {
        sum(self.variants.iter().map(|(_, done)| done))
    }

    pub fn json(&self) -> serde_json::Value {
        let seconds = self.time.as_secs_f64();
        let total = self.total();
        let of = |(variant, done): &(Variant, Done)| serde_json::json!({"variant": variant.name(), "totals": done});
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

const BATCH: u64 = 64;

struct Shared {
    next: u64,
    stop: bool,
    done: Vec<Done>,
    found: Option<(Case, Failure)>,
}

fn work(config: &Config, shared: &Mutex<Shared>) {
    let variants = config.variants.len();
    let mut of_batch = vec![Done::default(); variants];
    loop {
        let mut all = locked(shared);
        let new = std::mem::replace(&mut of_batch, vec![Done::default(); variants]);
        all.done
            .iter_mut()
            .zip(new)
            .for_each(|(sum, new)| *sum += new);
        if all.stop {
            return;
        }
        let batch = all.next..all.next + BATCH;
        all.next = batch.end;
        drop(all);
        for k in batch {
            let case = case(config, k);
            match run(&case) {
                Ok(done) => of_batch[(k % variants as u64) as usize] += done,
                Err(failure) => {
                    let mut all = locked(shared);
                    all.stop = true;
                    all.found.get_or_insert((case, failure));
                    return;
                }
            }
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs to the end of the configuration or a failure; calls `progress` about every second.
pub fn fuzz(config: &Config, mut progress: impl FnMut(Done, Duration)) -> Report {
    let start = Instant::now();
    let shared = Mutex::new(Shared {
        next: 0,
        stop: false,
        done: vec![Done::default(); config.variants.len()],
        found: None,
    });
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..config.threads)
            .map(|_| scope.spawn(|| work(config, &shared)))
            .collect();
        let mut reported = start;
        while !workers.iter().all(ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(5));
            let mut all = locked(&shared);
            let total = sum(&all.done);
            all.stop |= config.transactions.is_some_and(|n| total.transactions >= n)
                || config.time.is_some_and(|time| start.elapsed() >= time);
            drop(all);
            if reported.elapsed() >= Duration::from_secs(1) {
                reported = Instant::now();
                progress(total, start.elapsed());
            }
        }
    });
    let time = start.elapsed();
    let Shared { done, found, .. } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let found = found.map(|(first, failure)| {
        let (case, failure) = shrink(&first, failure);
        Found {
            first,
            case,
            failure,
        }
    });
    Report {
        variants: config.variants.iter().copied().zip(done).collect(),
        time,
        threads: config.threads,
        seed: config.seed,
        found,
    }
}

/// Does something with each item, on all cores; returns the results in the order of the items.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let rest = Mutex::new(items.iter().enumerate());
    let work = || -> Vec<(usize, R)> {
        let mine = std::iter::from_fn(|| locked(&rest).next());
        mine.map(|(i, item)| (i, run(item))).collect()
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
