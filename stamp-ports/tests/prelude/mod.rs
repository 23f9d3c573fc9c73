//! How the tests call the program, and how they measure with every variant.
// Not every test program uses all of it.
#![allow(dead_code, unused_imports, unused_macros)]

use clap::{Args, FromArgMatches};
use serde_json::Value;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::{RunReport, RunSpec};
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use stamp_ports::workloads::input::Occasion;
use stamp_ports::workloads::options::WorkloadArgs;
use std::fs::File;
use std::process::{Command, Output, Stdio};
use std::thread;
use stm_core::algorithm::Variant;

mod testing;
pub(crate) use testing::has;

/// Returns the program's path in tests of its package. Those of workloads do not start it.
pub(crate) fn program() -> &'static str {
    option_env!("CARGO_BIN_EXE_stamp").unwrap_or("stamp")
}

mod cases;
pub(crate) use cases::{cases, tiny};

/// Returns how many cases a test has that has so many in the short run of the checks: `STM_TEST_CASES` times as
/// many, which `cargo xtask ci --all` sets.
pub(crate) fn times(cases: u64) -> u64 {
    let more = std::env::var("STM_TEST_CASES").map(|more| more.parse::<u64>());
    cases * more.map_or(1, |more| more.expect("STM_TEST_CASES is a number"))
}

/// The rows of a table, without those that say something to a reader, after `//`.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = &str> {
    let rows = table.lines().map(str::trim);
    rows.filter(|row| !row.is_empty() && !row.starts_with("//"))
}

/// The lines that a line with choices stands for, each with its tail: `a {b,c} d` for `a b d` and `a c d`.
/// What was chosen takes the place of `{}`, in the tail too.
pub(crate) fn expanded(line: &str, tail: &str) -> Vec<(String, String)> {
    let choice = line.split_once('{').and_then(|(before, rest)| {
        let (choices, after) = rest.split_once('}')?;
        Some((before, choices, after))
    });
    let Some((before, choices, after)) = choice else {
        assert!(!line.contains('{'), "a choice without an end: {line}");
        return vec![(line.to_owned(), tail.to_owned())];
    };
    let chosen = choices.split(',').flat_map(|one| {
        let line = format!("{before}{one}{}", after.replace("{}", one));
        expanded(&line, &tail.replace("{}", one))
    });
    chosen.collect()
}

/// The rows of a table, all choices ([`expanded`]) made, in which words stand for others: what stands
/// before ` : ` and last behind it.
pub(crate) fn table(text: &str, words: &[(&str, &str)]) -> Vec<(String, String)> {
    let rows = rows(text).flat_map(|row| {
        let whole = |row: String, &(word, line): &(&str, &str)| row.replace(word, line);
        expanded(&words.iter().fold(row.to_owned(), whole), "")
    });
    let parts = rows.map(|(row, _)| {
        let (head, line) = row.rsplit_once(" : ").expect("columns");
        (head.to_owned(), line.to_owned())
    });
    parts.collect()
}

/// Blocks and threads of a block.
pub(crate) type Shape = (u32, u32);
/// Locks, and the bytes of a stripe.
pub(crate) type Memory = (u64, u64);

/// The workload that options describe as those of `stamp run` do, the last of each: `ra --words 32`.
pub(crate) fn workload(line: &str, seed: u64) -> AnyWorkload {
    let command = WorkloadArgs::augment_args(clap::Command::new("run")).args_override_self(true);
    let matches = command.try_get_matches_from(words(line)).expect("options");
    let mut args = WorkloadArgs::from_arg_matches(&matches).expect("values");
    args.shared.seed = seed;
    let name = words(line).next().expect("a name");
    let workload = args.workload(name, Occasion::Measurement);
    workload.expect("a workload")
}

/// A single run of a workload; so many transactions where the input does not say.
pub(crate) fn spec(
    workload: &AnyWorkload,
    variant: AskedVariant,
    (shape, (locks, stripe_bytes)): (Shape, Memory),
    transactions: u64,
) -> RunSpec {
    let sizes = workload.sizes();
    let transactions = sizes.transactions().unwrap_or(transactions);
    // A variant that cannot finish ends at the default time limit.
    let mut spec = RunSpec::new(sizes, variant, shape, transactions);
    (spec.config.locks, spec.config.stripe_bytes) = (locks, stripe_bytes);
    spec
}

/// Runs a workload ([`workload`]) with every variant that has its form on the CPU in each of these shapes with each of
/// these memories. The reports, all of which were verified, and have as many commits as transactions, unless the input
/// says how many these are.
pub(crate) fn all_variants(
    line: &str,
    seed: u64,
    shapes: &[Shape],
    memories: &[Memory],
    transactions: u64,
) -> Vec<RunReport> {
    let (cpu, workload) = (AnyDevice::cpu(), workload(line, seed));
    let all = if line.contains("--static") {
        vec![Variant::Fast.into()]
    } else {
        AskedVariant::all()
    };
    let given = workload.sizes().transactions();
    let most = given.unwrap_or(transactions);
    let mut reports = Vec::new();
    for setting in (shapes.iter()).flat_map(|&shape| memories.iter().map(move |&m| (shape, m))) {
        let mut runner = Runner::new(&cpu, &workload, seed, most).expect("data");
        for &variant in &all {
            let spec = spec(&workload, variant, setting, transactions);
            let report = runner.measure(&spec);
            let report = report.unwrap_or_else(|error| panic!("{line} {spec:?}: {error}"));
            assert!(report.verified, "{line} {spec:?}: {:?}", report.error);
            assert!(given.is_some() || report.commits == most, "{line} {spec:?}");
            reports.push(report);
        }
    }
    reports
}

/// Checks each of these, by one thread for each core.
pub(crate) fn on_all_cores<T: Sync>(all: &[T], check: impl Fn(&T) + Sync) {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let (all, check) = (|first| all.iter().skip(first).step_by(cores), &check);
    thread::scope(|scope| {
        for first in 0..cores {
            scope.spawn(move || all(first).for_each(check));
        }
    });
}

/// The attempts that aborted.
pub(crate) fn aborted(reports: &[RunReport]) -> u64 {
    let aborts = reports.iter().flat_map(|report| report.aborts.values());
    aborts.sum()
}

/// Calls the program with the arguments of a line, which blanks separate, and of which `""` is an empty one.
/// Behind ` < ` stands the file that it reads as standard input.
pub(crate) fn stamp(line: &str) -> Output {
    let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
    let input = File::open(input).map_or(Stdio::null(), Stdio::from);
    Command::new(program())
        .args(words(line))
        .stdin(input)
        .output()
        .expect("stamp starts")
}

pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split_whitespace();
    words.map(|word| if word == "\"\"" { "" } else { word })
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// Calls the program, which must end with this status; what it printed, and its errors.
#[track_caller]
pub(crate) fn ended(status: i32, line: &str) -> (String, String) {
    let output = stamp(line);
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{line}: {out}{errors}");
    (out, errors)
}

/// Calls the program, which must succeed, and returns its standard output.
#[track_caller]
pub(crate) fn right(line: &str) -> String {
    ended(0, line).0
}

/// Calls the program, which must succeed and print an object on each line.
#[track_caller]
pub(crate) fn objects(line: &str) -> Vec<Value> {
    let (out, what) = (right(line), "an object");
    let parsed = out.lines().map(serde_json::from_str);
    parsed.map(|object| object.expect(what)).collect()
}

/// The elements of a list.
#[track_caller]
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// A whole number.
#[track_caller]
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}
