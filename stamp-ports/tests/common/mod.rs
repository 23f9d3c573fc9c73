//! How the tests call the program, and how they measure with every variant.
// Not every test program uses all of it.
#![allow(dead_code)]

use serde_json::Value;
use stamp_ports::devices::AnyDevice;
use stamp_ports::measure::run_report::{RunReport, RunSpec};
use stamp_ports::measure::runner::Runner;
use stamp_ports::variants::AskedVariant;
use stamp_ports::workloads::AnyWorkload;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;
use stm_core::host::StmConfig;
use tempfile::TempDir;

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
    /// Of a workload that says itself how many transactions it has. The last are the locks and
    /// the bytes of a stripe.
    pub(crate) const fn of(
        seed: u64,
        shape: (u32, u32),
        (locks, stripe_bytes): (u64, u64),
    ) -> Self {
        Self {
            seed,
            shape,
            locks,
            stripe_bytes,
            transactions: 0,
        }
    }

    /// Each of these shapes with each of these memories.
    pub(crate) fn each(
        seed: u64,
        shapes: &[(u32, u32)],
        memories: &[(u64, u64)],
        transactions: u64,
    ) -> Vec<Self> {
        let of = |&shape, &memory| Self {
            transactions,
            ..Self::of(seed, shape, memory)
        };
        let shapes = shapes.iter();
        let all = shapes.flat_map(|shape| memories.iter().map(move |memory| of(shape, memory)));
        all.collect()
    }

    /// A single run of a workload.
    pub(crate) fn spec(&self, workload: &AnyWorkload, variant: AskedVariant) -> RunSpec {
        let given = workload.sizes().transactions();
        RunSpec {
            variant,
            shape: self.shape,
            config: StmConfig {
                locks: self.locks,
                stripe_bytes: self.stripe_bytes,
                capacity: workload.sizes().capacity(),
                // A variant that cannot finish is to fail here, not to hang.
                time_limit: Some(Duration::from_mins(1)),
                ..StmConfig::default()
            },
            transactions: given.unwrap_or(self.transactions),
            repeat: 1,
        }
    }
}

/// Runs a workload with every variant on the CPU in these settings, and returns the reports, all
/// of which were verified.
pub(crate) fn all_variants(
    workload: impl Into<AnyWorkload>,
    settings: impl IntoIterator<Item = Setting>,
) -> Vec<RunReport> {
    let (all, workload) = (AskedVariant::all(), workload.into());
    let runs = settings
        .into_iter()
        .map(|setting| verified(&workload, setting, &all));
    runs.flatten().collect()
}

/// Runs a workload with these variants on the CPU; the reports, all of which were verified.
pub(crate) fn verified(
    workload: &AnyWorkload,
    setting: Setting,
    variants: &[AskedVariant],
) -> Vec<RunReport> {
    let (cpu, sizes) = (AnyDevice::cpu(), workload.sizes());
    let most = setting.spec(workload, variants[0]).transactions;
    let mut runner = Runner::new(&cpu, workload, setting.seed, most).expect("data");
    let run = |&variant: &AskedVariant| {
        let spec = setting.spec(workload, variant);
        let what = format!("{} {} {spec:?}", sizes.name(), variant.name());
        let report = runner
            .measure(&spec)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(report.verified, "{what}: {:?}", report.error);
        report
    };
    variants.iter().map(run).collect()
}

/// A small run of each of four workloads.
pub(crate) const TINY_RA: &str = "run ra --device cpu --words 1K --transactions 500";
pub(crate) const TINY_HT: &str = "run ht --device cpu --buckets 64 --transactions 500";
pub(crate) const TINY_BANK: &str = "run bank --device cpu --accounts 1K --transactions 500";
pub(crate) const TINY_EIGENBENCH: &str =
    "run eigenbench --device cpu --hot-words 1K --transactions 500";

/// Calls the program with the arguments of a line, which blanks separate, and of which `""` is an
/// empty one.
pub(crate) fn stamp(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stamp"))
        .args(words(line))
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

/// Calls the program, which must succeed and print one document.
#[track_caller]
pub(crate) fn json(line: &str) -> Value {
    serde_json::from_str(&right(line)).expect("one document")
}

/// Calls the program, which must succeed and print an object on each line.
#[track_caller]
pub(crate) fn objects(line: &str) -> Vec<Value> {
    of_lines(&right(line))
}

/// The object on each line.
pub(crate) fn of_lines(lines: &str) -> Vec<Value> {
    let parsed = lines.lines().map(serde_json::from_str);
    parsed.map(|object| object.expect("an object")).collect()
}

/// Returns the help of a command, which fits eighty columns and has all of these parts.
#[track_caller]
pub(crate) fn help(command: &str, parts: &str) -> String {
    let help = right(&format!("{command} --help"));
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{command}: {line}");
    }
    has(&help, parts);
    help
}

/// Calls the program, which must refuse with status 2, and with one line that has all `parts`.
#[track_caller]
pub(crate) fn refused(line: &str, parts: &str) {
    let (out, errors) = ended(2, line);
    assert_eq!(out, "", "{line}");
    assert!(errors.starts_with("error: "), "{line}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{line}: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    has(&errors, parts);
}

/// Calls the program as each row of a table says, which must be refused with all that the row
/// names: `arguments => part | part`. A row may start with the name of a small run, and one
/// that starts with `//` says something to a reader.
#[track_caller]
pub(crate) fn refused_rows(rows: &str) {
    for (line, parts) in split(rows) {
        let small = [
            ("TINY_RA", TINY_RA),
            ("TINY_HT", TINY_HT),
            ("TINY_BANK", TINY_BANK),
            ("TINY_EIGENBENCH", TINY_EIGENBENCH),
        ];
        let run = small.into_iter().find(|(name, _)| line.starts_with(name));
        let line = run.map_or(line.into(), |(name, run)| line.replacen(name, run, 1));
        refused(&line, parts);
    }
}

/// The rows of a table of refusals: arguments and parts.
fn split(rows: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = rows.lines().map(str::trim);
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with("//"));
    rows.map(|row| row.split_once("=> ").expect("arguments and parts"))
}

/// A command that keeps a document in a folder, which it makes.
pub(crate) struct Bench {
    parent: TempDir,
    command: String,
    file: &'static str,
}

impl Bench {
    /// `command` is to be followed by the folder.
    pub(crate) fn new(command: &str, file: &'static str) -> Self {
        Self {
            parent: tempfile::tempdir().expect("a folder"),
            command: command.to_owned(),
            file,
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.parent.path().join("out")
    }

    /// The document's path.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join(self.file)
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("a document")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    pub(crate) fn write(&self, text: &str) {
        fs::create_dir_all(self.folder()).expect("a folder");
        fs::write(self.path(), text).expect("the document");
    }

    /// The command with more options.
    pub(crate) fn line(&self, more: &str) -> String {
        format!("{} {} {more}", self.command, self.folder().display())
    }

    /// Calls the command with more options, which must end with this status ([`ended`]).
    #[track_caller]
    pub(crate) fn ended(&self, status: i32, more: &str) -> (String, String) {
        ended(status, &self.line(more))
    }

    /// Calls the command with more options, which must succeed, and returns the document.
    #[track_caller]
    pub(crate) fn done(&self, more: &str) -> Value {
        self.ended(0, more);
        self.json()
    }

    /// Calls the command as each row says ([`refused_rows`]), which must be refused and leave the
    /// document as it is.
    #[track_caller]
    pub(crate) fn refused(&self, rows: &str) {
        let before = self.text();
        for (more, parts) in split(rows) {
            refused(&self.line(more), parts);
            assert_eq!(self.text(), before, "{more}");
        }
    }
}
