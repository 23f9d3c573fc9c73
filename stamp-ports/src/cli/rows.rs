//! The table of `run`, printed row by row as the runs are done: so its columns
//! are as wide as the values that are known before. That of `tune` is printed whole.

use crate::devices::AnyDevice;
use crate::measure::run_report::{RunReport, RunSpec};
use crate::numbers::{count, digits3, short};
use crate::output::{aborts, align, cells, grouped, legend, over_cgl, sentence};
use crate::workloads::AnyWorkload;
use std::collections::BTreeSet;
use std::iter;
use stm_core::algorithm::Variant;

/// A run to make: a row of the table.
pub(super) struct Row<'a> {
    pub(super) workload: &'a AnyWorkload,
    pub(super) spec: RunSpec,
    pub(super) algorithm: Variant,
}

impl Row<'_> {
    pub(super) fn variant(&self) -> &'static str {
        self.workload.sizes().form().name(self.spec.variant)
    }

    /// Has the device compile its module. An error is left to the run, which meets it again.
    pub(super) fn compile(&self, device: &AnyDevice) {
        let _ = self.workload.compile(device, self.algorithm);
    }
}

const HEADER: [&str; 9] = [
    "workload", "variant", "launch", "locks", "tx", "tx/s", "commits", "over cgl", "verified",
];
const LOCKS: usize = 3;
const LEFT: usize = 3;
/// Room for a rate, and the most that a ratio usually needs.
const RATE: &str = "1234.5M";

#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// The header, and of each run what is known before.
    known: Vec<Vec<String>>,
    /// Whether the numbers of locks differ, and have a column.
    has_locks: bool,
    /// Whether the terminal is too narrow for the last column: then it is below.
    narrow: bool,
}

impl Rows {
    /// Fits the columns to these runs, which need not be done, and to a terminal of so many columns.
    pub(super) fn fitting(runs: &[RunReport], columns: Option<usize>) -> Self {
        let planned = runs.iter().map(|run| {
            let commits = count(run.transactions);
            cells_of(run, [RATE.into(), commits, String::new(), String::new()])
        });
        let locks: BTreeSet<u64> = runs.iter().map(|run| run.locks).collect();
        let mut rows = Self {
            known: iter::once(cells(HEADER)).chain(planned).collect(),
            has_locks: locks.len() > 1,
            narrow: true,
        };
        let width = rows.header().chars().count() + 2 + RATE.len();
        rows.narrow = columns.is_some_and(|columns| width > columns);
        rows
    }

    pub(super) fn header(&self) -> String {
        let last = if self.narrow { "" } else { "  aborts" };
        self.line(cells(HEADER)) + last
    }

    /// The row of a run; the ratio is that to a run among those before.
    pub(super) fn row(&self, report: &RunReport, before: &[RunReport]) -> String {
        let ratio = over_cgl(report, before).map_or_else(|| "-".into(), |x| digits3(x) + "x");
        let verified = match report.verified {
            true => "yes",
            false if report.is_as_asked() => "not",
            false => "NO",
        };
        let (rate, commits) = (short(report.tx_per_s), count(report.commits));
        let line = self.line(cells_of(report, [rate, commits, ratio, verified.into()]));
        match (self.narrow, aborts(report).as_str()) {
            (true, "none") => line,
            (true, aborts) => format!("{line}\n{:10}aborts: {aborts}", ""),
            (false, aborts) => format!("{line}  {aborts}"),
        }
    }

    fn line(&self, cells: Vec<String>) -> String {
        let mut rows = [&self.known[..], &[cells]].concat();
        if !self.has_locks {
            for row in &mut rows {
                drop(row.remove(LOCKS));
            }
        }
        align(&rows, LEFT, false).pop().unwrap_or_default()
    }
}

/// The cells of a run, the last four of which are known when it is done.
fn cells_of(run: &RunReport, found: [String; 4]) -> Vec<String> {
    let launch = format!("{}x{}", run.blocks, run.threads);
    let (locks, transactions) = (count(run.locks), count(run.transactions));
    let first = [
        run.workload.into(),
        run.variant.into(),
        launch,
        locks,
        transactions,
    ];
    first.into_iter().chain(found).collect()
}

/// The table of runs that are done, with what is needed to read it below.
pub(super) fn table(reports: &[RunReport], columns: Option<usize>) -> String {
    let rows = Rows::fitting(reports, columns);
    let mut lines = vec![rows.header()];
    lines.extend(reports.iter().map(|report| rows.row(report, reports)));
    lines.join("\n") + "\n" + &legend(reports)
}

/// The ratios to `cgl` of runs that were done before it, in a sentence.
pub(super) fn late_ratios(reports: &[RunReport]) -> String {
    let late = reports.iter().enumerate().filter_map(|(i, report)| {
        let ratio = over_cgl(report, reports)?;
        let is_late = over_cgl(report, &reports[..=i]).is_none();
        is_late.then(|| format!("{} {} {}x", report.workload, report.variant, digits3(ratio)))
    });
    sentence("\nOver cgl, which ran later: ", late, (", ", ".\n"))
}

/// What a reader may conclude from runs of several variants on a CPU.
pub(super) fn on_a_cpu(reports: &[RunReport]) -> String {
    let best = reports
        .chunk_by(|a, b| a.workload == b.workload)
        .filter_map(|of| {
            let verified = of.iter().filter(|report| report.verified);
            let best = verified.max_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s))?;
            (of.len() > 1 && best.device == "cpu").then_some((best.variant, best.workload))
        });
    let each = grouped(best).into_iter();
    let each = each.map(|(variant, workloads)| format!("{variant} in {}", workloads.join(", ")));
    let behind = ".\nThat every variant is right is what this table shows. It says little \
                  about a GPU, where thousands of\nthreads would wait for one lock: take `fast` \
                  there, and what is fastest here for a program of the CPU.\n";
    sentence("\nFastest on this CPU: ", each, ("; ", behind))
}

/// The runs for which no time was left, in a sentence.
pub(super) fn skipped_rows(skipped: &[(&str, &str)]) -> String {
    let each = skipped.chunk_by(|a, b| a.0 == b.0).map(|of| {
        let variants: Vec<&str> = of.iter().map(|(_, variant)| *variant).collect();
        format!("{} {}", of[0].0, variants.join(", "))
    });
    let behind = ".\n`stamp run WORKLOAD --variant all` makes these runs.\n";
    let before = "\nSkipped, as a run without arguments is short: ";
    sentence(before, each, ("; ", behind))
}
