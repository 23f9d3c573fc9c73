//! Random programs and simulations until the time is over, or something is wrong.
//!
//! Run `k` of a seed is the same everywhere: its variant is `k` modulo their number, one run in eight takes a
//! directed program, and one in four of the others is silent. Workers draw numbers in turn.

use crate::judged::Report as Done;
use crate::prelude::*;
use crate::program::shrink::shrink;
use crate::program::{Case, directed, generate, run};
use crate::rng::draw;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Several variants in one argument.
pub type VariantList = std::vec::Vec<Variant>;

/// What a fuzzing run does, when it ends, and where its report goes, as options of the program.
#[derive(Args, Clone, Debug, Default)]
pub struct Config {
    /// A variant, several separated by commas, or all
    #[arg(long = "variant", value_name = "V", value_parser = parse_variants, default_value = "all")]
    pub variants: VariantList,
    /// Stop after so many minutes
    #[arg(long = "minutes", value_name = "M", value_parser = parse_minutes)]
    pub time: Option<Duration>,
    /// Stop after so many transactions
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub transactions: Option<u64>,
    /// Seed of all programs and simulations
    #[arg(long, value_name = "S", value_parser = parse_count, default_value = "1")]
    pub seed: u64,
    /// Give packed versions so many bits, 3 to 31, where each run draws its own: with few of them,
    /// versions wrap around often [default: 31 in one half of the runs, 3 to 8 in the other]
    #[arg(long, value_name = "N..M", value_parser = parse_version_bits)]
    pub version_bits: Option<RangeInclusive<u32>>,
    /// Switch a seeded defect on
    #[arg(long, value_name = "NAME", value_parser = parse_mutant)]
    pub mutant: Option<Mutant>,
    /// Worker threads [default: one a core]
    #[arg(long, value_name = "T", value_parser = parse_threads, default_value_t = cores(),
          hide_default_value = true)]
    pub threads: usize,
    /// Write the report to a file as well
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

const TALLY: &str = "schedules|transactions|attempts|operations|unfair";

fn tally(done: &Done) -> [u64; 5] {
    let (cases, transactions, attempts) = (done.cases, done.transactions, done.attempts);
    [cases, transactions, attempts, done.operations, done.unfair]
}

fn sum<'a>(all: impl IntoIterator<Item = &'a Done>) -> Done {
    let mut sum = Done::default();
    all.into_iter().for_each(|done| sum.add(done));
    sum
}

#[derive(Clone, Debug)]
pub struct ShrunkFailure {
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
    pub found: Option<ShrunkFailure>,
}

impl Report {
    pub fn total(&self) -> Done {
        sum(self.variants.iter().map(|(_, done)| done))
    }

    pub fn json(&self) -> Value {
        let seconds = self.time.as_secs_f64();
        let total = self.total();
        let totals = |done: &Done| TALLY.split('|').zip(tally(done)).collect::<Value>();
        let of = |(variant, done): &(Variant, Done)| json!({"variant": variant.name(), "totals": totals(done)});
        json!({
            "seed": self.seed,
            "threads": self.threads,
            "seconds": seconds,
            "variants": self.variants.iter().map(of).collect::<Vec<_>>(),
            "total": totals(&total),
            "operations_per_second": total.operations as f64 / seconds,
            "violation": self.found.as_ref().map(|found| json!({
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
        let total = self.total();
        let of = |(name, done): (&str, &Done)| {
            let numbers = tally(done).map(|n| n.to_string());
            format!("{name}|{}", numbers.join("|"))
        };
        let tallies = self.variants.iter().map(|(v, done)| (v.name(), done));
        let mut rows = vec![format!("variant|{TALLY}")];
        rows.extend(tallies.chain([("all", &total)]).map(of));
        for line in lines(&rows, &[1, 2, 3, 4, 5]) {
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

struct State<F> {
    done: Vec<Done>,
    found: Option<(Case, Failure)>,
    reported: Instant,
    progress: F,
}

/// Runs to the end of the configuration or a failure; calls `progress` about every second.
pub fn fuzz(config: &Config, progress: impl FnMut(Done, Duration) + Send) -> Report {
    let start = Instant::now();
    let variants = config.variants.len();
    let state = Mutex::new(State {
        done: vec![Done::default(); variants],
        found: None,
        reported: start,
        progress,
    });
    let goes_on = |_: &u64| {
        let all = state.lock().unwrap();
        let enough = |n| sum(&all.done).transactions >= n;
        all.found.is_none()
            && !config.transactions.is_some_and(enough)
            && config.time.is_none_or(|time| start.elapsed() < time)
    };
    on_threads(config.threads, (0..).take_while(goes_on), |k| {
        let case = case(config, k);
        let ran = run(&case);
        let all = &mut *state.lock().unwrap();
        match ran {
            Ok(one) => all.done[(k % variants as u64) as usize].add(&one),
            Err(failure) => _ = all.found.get_or_insert((case, failure)),
        }
        if all.reported.elapsed() >= Duration::from_secs(1) {
            all.reported = Instant::now();
            (all.progress)(sum(&all.done), start.elapsed());
        }
    });
    let time = start.elapsed();
    let State { done, found, .. } = state.into_inner().unwrap();
    let found = found.map(|(first, failure)| {
        let (case, failure) = shrink(&first, failure);
        ShrunkFailure {
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

/// Does something with each item, on so many threads, which take items in turn.
fn on_threads<T>(threads: usize, items: impl Iterator<Item = T> + Send, run: impl Fn(T) + Sync) {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| std::iter::from_fn(next).for_each(&run));
        }
    });
}

/// Returns what `run` makes of the items, in their order, on all cores.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let results = Mutex::new(BTreeMap::new());
    on_threads(cores(), items.iter().enumerate(), |(i, item)| {
        let result = run(item);
        results.lock().unwrap().insert(i, result);
    });
    results.into_inner().unwrap().into_values().collect()
}

/// Returns rows, of cells with `|` between them, as lines with columns two spaces apart, those of `numbers`
/// aligned to the right.
pub(crate) fn lines(rows: &[String], numbers: &[usize]) -> Vec<String> {
    let rows = rows.iter().map(|row| row.split('|'));
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

/// Digits, with underscores, then optionally K, M or G (powers of 1024); or hexadecimal ones; or `2^n`.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let parse = || {
        if let Some(hex) = text.strip_prefix("0x") {
            return u64::from_str_radix(hex, 16).ok();
        }
        if let Some(exponent) = text.strip_prefix("2^") {
            return 1u64.checked_shl(exponent.parse().ok()?);
        }
        let (digits, shift) = match text.strip_suffix(|c: char| c.is_ascii_alphabetic()) {
            Some(digits) => (digits, 10 * (1 + "kmg".find(text.to_lowercase().pop()?)?)),
            None => (text, 0),
        };
        let number: u64 = digits.replace('_', "").parse().ok()?;
        number.checked_mul(1 << shift)
    };
    parse().ok_or_else(|| format!("{text:?} is no count: write 100_000, 100K, 10M, 2^20 or 0x2a"))
}

pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    match parse_count(text)? {
        n @ 1..=1024 => Ok(n as usize),
        n if n > u64::from(u32::MAX) => Err(format!("{text:?} is too large: at most {}", u32::MAX)),
        _ => Err(format!("{text:?} threads: give 1 to 1024")),
    }
}

/// `5`, or `3..8` for 3 to 8.
pub(crate) fn parse_version_bits(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if 3 <= from && from <= to && to <= 31 => Ok(from..=to),
        _ => Err(format!(
            "{text:?} are no bits of a version: give 5 or 3..8, from 3 to 31"
        )),
    }
}

pub(crate) fn parse_minutes(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|&minutes: &f64| minutes > 0.0)
        .and_then(|minutes| Duration::try_from_secs_f64(60.0 * minutes).ok())
        .ok_or_else(|| format!("{text:?} is no time: give minutes above 0, such as 2.5"))
}

/// Reads `all`, or names of variants separated by commas.
pub(crate) fn parse_variants(text: &str) -> Result<Vec<Variant>, String> {
    if text == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    let known = || Variant::ALL.iter().map(|v| v.name()).collect::<Vec<_>>();
    let of = |name: &str| {
        Variant::from_name(name.trim()).ok_or_else(|| {
            let known = known().join(", ");
            format!("unknown variant {name:?}: known are {known}; `all` takes every one")
        })
    };
    text.split(',').map(of).collect()
}

pub(crate) fn parse_mutant(text: &str) -> Result<Mutant, String> {
    Mutant::from_name(text)
        .ok_or_else(|| format!("unknown mutant {text:?}: `verify mutants --list` names them"))
}
