//! How the tests call the program, and how they measure with every variant.
// Not every test program uses all of it.
#![allow(dead_code)]

use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::RunReport;
use stamp_ports::measure::run_spec::RunSpec;
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use std::process::{Command, Output};
use std::time::Duration;
use stm_core::host::StmConfig;

#[path = "../../src/testing.rs"]
mod testing;
pub(crate) use testing::has;

/// A launch, and the transactional memory that it is made with.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) seed: u64,
    pub(crate) shape: (u32, u32),
    pub(crate) locks: u64,
    pub(crate) stripe_bytes: u64,
    /// Where the input does not say.
    pub(crate) transactions: u64,
}

impl Setting {
    /// The transactional memory for a workload.
    pub(crate) fn config(&self, workload: &AnyWorkload) -> StmConfig {
        StmConfig {
            locks: self.locks,
            stripe_bytes: self.stripe_bytes,
            capacity: workload.sizes().capacity(),
            // A variant that cannot finish is to fail here, not to hang.
            time_limit: Some(Duration::from_mins(1)),
            ..StmConfig::default()
        }
    }

    /// A single run of a workload.
    pub(crate) fn spec(&self, workload: &AnyWorkload, variant: AskedVariant) -> RunSpec {
        let given = workload.sizes().transactions();
        RunSpec {
            variant,
            shape: self.shape,
            config: self.config(workload),
            transactions: given.unwrap_or(self.transactions),
            repeat: 1,
        }
    }
}

/// Runs a workload with every variant on the CPU, and returns the reports, all of
/// which were verified.
pub(crate) fn all_variants(workload: impl Into<AnyWorkload>, setting: Setting) -> Vec<RunReport> {
    let (cpu, workload) = (AnyDevice::cpu(), workload.into());
    let all = AskedVariant::all();
    let most = setting.spec(&workload, all[0]).transactions;
    let mut runner = Runner::new(&cpu, &workload, setting.seed, most).expect("data");
    let run = |variant: AskedVariant| {
        let spec = setting.spec(&workload, variant);
        let sizes = workload.sizes();
        let what = format!("{} {} {spec:?}", sizes.name(), variant.name());
        let report = runner
            .measure(&spec)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(report.verified, "{what}: {:?}", report.error);
        report
    };
    all.into_iter().map(run).collect()
}

/// Runs the program, which must refuse with status 2 and one line that has all
/// `parts`.
pub(crate) fn refused(arguments: &[&str], parts: &[&str]) {
    let output = stamp(arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert!(errors.starts_with("error: "), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    for part in parts {
        has(&errors, part);
    }
}

/// Runs the program, which must succeed, and returns its standard output.
pub(crate) fn right(arguments: &[&str]) -> String {
    let output = stamp(arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    text(&output.stdout)
}

/// The arguments of a line, which are separated by blanks.
pub(crate) fn line(arguments: &str) -> Vec<&str> {
    arguments.split(' ').collect()
}

pub(crate) fn stamp(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(arguments)
        .output()
        .expect("stamp starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// Runs the program as each row of a table says, which must be refused with all that the row
/// names: `arguments => part | part`. A row may start with the name of a small run, and one
/// that starts with `//` says something to a reader.
pub(crate) fn refused_rows(rows: &str) {
    let rows = rows.lines().map(str::trim);
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with("//")) {
        let (line, parts) = row.split_once(" => ").expect("arguments and parts");
        let mut arguments = Vec::new();
        for word in line.split(' ') {
            match word {
                "TINY_RA" => arguments.extend(TINY_RA),
                "TINY_HT" => arguments.extend(TINY_HT),
                "TINY_BANK" => arguments.extend(TINY_BANK),
                "TINY_EIGENBENCH" => arguments.extend(TINY_EIGENBENCH),
                "\"\"" => arguments.push(""),
                word => arguments.push(word),
            }
        }
        refused(&arguments, &parts.split(" | ").collect::<Vec<_>>());
    }
}

/// A small run of a workload with so many words of its own.
const fn tiny<'a>(workload: &'a str, option: &'a str, size: &'a str) -> [&'a str; 8] {
    let (device, transactions) = ("--device", "--transactions");
    [
        "run",
        workload,
        device,
        "cpu",
        option,
        size,
        transactions,
        "500",
    ]
}

pub(crate) const TINY_RA: [&str; 8] = tiny("ra", "--words", "1K");
pub(crate) const TINY_HT: [&str; 8] = tiny("ht", "--buckets", "64");
pub(crate) const TINY_BANK: [&str; 8] = tiny("bank", "--accounts", "1K");
pub(crate) const TINY_EIGENBENCH: [&str; 8] = tiny("eigenbench", "--hot-words", "1K");

pub(crate) fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}
