//! The table of `run`, printed row by row as the runs are done: so its columns
//! are as wide as the values that are known before. That of `tune` is printed whole.

use crate::measure::run_report::{RunReport, RunSpec};
use crate::numbers::{count, digits3, short};
use crate::output::{aborts, legend, over_cgl};
use crate::workloads::AnyWorkload;
use std::collections::BTreeSet;
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
}

const HEADER: [&str; 9] = [
    "workload", "variant", "launch", "locks", "tx", "tx/s", "commits", "over cgl", "verified",
];
const LOCKS: usize = 3;
const ABORTS: &str = "aborts";
const LEFT: usize = 3;
/// Room for a rate, and the most that a ratio usually needs.
const RATE_WIDTH: usize = 7;

#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    widths: [usize; HEADER.len()],
    /// Whether the terminal is too narrow for the last column: then it is below.
    narrow: bool,
}

impl Rows {
    /// Fits the columns to these runs, which need not be done, and to a terminal of so many columns.
    pub(super) fn fitting(runs: &[RunReport], columns: Option<usize>) -> Self {
        let mut widths = HEADER.map(str::len);
        widths[5] = RATE_WIDTH;
        let mut all_locks = BTreeSet::new();
        for run in runs {
            let transactions = count(run.transactions).len();
            all_locks.insert(run.locks);
            for (column, width) in [
                (0, run.workload.len()),
                (1, run.variant.len()),
                (2, launch(run).len()),
                (LOCKS, count(run.locks).len()),
                (4, transactions),
                (6, transactions),
            ] {
                widths[column] = widths[column].max(width);
            }
        }
        if all_locks.len() < 2 {
            widths[LOCKS] = 0;
        }
        let shown = widths.iter().filter(|width| **width > 0).count();
        let width = widths.iter().sum::<usize>() + 2 * shown + RATE_WIDTH;
        Self {
            widths,
            narrow: columns.is_some_and(|columns| width > columns),
        }
    }

    pub(super) fn header(&self) -> String {
        let line = self.line(&HEADER.map(String::from));
        if self.narrow {
            line
        } else {
            format!("{line}  {ABORTS}")
        }
    }

    /// The row of a run; the ratio is that to a run among those before.
    pub(super) fn row(&self, report: &RunReport, before: &[RunReport]) -> String {
        let ratio = over_cgl(report, before).map_or_else(|| "-".into(), |x| digits3(x) + "x");
        let line = self.line(&[
            report.workload.into(),
            report.variant.into(),
            launch(report),
            count(report.locks),
            count(report.transactions),
            short(report.tx_per_s),
            count(report.commits),
            ratio,
            match report.verified {
                true => "yes",
                false if report.is_as_asked() => "not",
                false => "NO",
            }
            .into(),
        ]);
        match (self.narrow, aborts(report).as_str()) {
            (true, "none") => line,
            (true, aborts) => format!("{line}\n{:10}aborts: {aborts}", ""),
            (false, aborts) => format!("{line}  {aborts}"),
        }
    }

    fn line(&self, cells: &[String; HEADER.len()]) -> String {
        let columns = cells.iter().zip(self.widths).enumerate();
        let shown = columns.filter(|(_, (_, width))| *width > 0);
        let cells = shown.map(|(column, (cell, width))| match column {
            ..LEFT => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    }
}

/// The table of runs that are done, with what is needed to read it below.
pub(super) fn table(reports: &[RunReport], columns: Option<usize>) -> String {
    let rows = Rows::fitting(reports, columns);
    let mut lines = vec![rows.header()];
    lines.extend(reports.iter().map(|report| rows.row(report, reports)));
    lines.join("\n") + "\n" + &legend(reports)
}

fn launch(run: &RunReport) -> String {
    format!("{}x{}", run.blocks, run.threads)
}

/// The ratios to `cgl` of runs that were done before it, in a sentence.
pub(super) fn late_ratios(reports: &[RunReport]) -> String {
    let late = reports.iter().enumerate().filter_map(|(i, report)| {
        let ratio = over_cgl(report, reports)?;
        let is_late = over_cgl(report, &reports[..=i]).is_none();
        is_late.then(|| format!("{} {} {}x", report.workload, report.variant, digits3(ratio)))
    });
    let late: Vec<String> = late.collect();
    if late.is_empty() {
        String::new()
    } else {
        format!("\nOver cgl, which ran later: {}.", late.join(", "))
    }
}

/// What a reader may conclude from runs of several variants on a CPU.
pub(super) fn on_a_cpu(reports: &[RunReport]) -> String {
    let mut suits: Vec<(&str, Vec<&str>)> = Vec::new();
    for of in reports.chunk_by(|a, b| a.workload == b.workload) {
        let verified = of.iter().filter(|report| report.verified);
        let best = verified.max_by(|a, b| a.tx_per_s.total_cmp(&b.tx_per_s));
        let Some(best) = best.filter(|best| of.len() > 1 && best.device == "cpu") else {
            continue;
        };
        let mut known = suits.iter_mut();
        match known.find(|(variant, _)| *variant == best.variant) {
            Some((_, workloads)) => workloads.push(best.workload),
            None => suits.push((best.variant, vec![best.workload])),
        }
    }
    if suits.is_empty() {
        return String::new();
    }
    let each = suits.iter();
    let each = each.map(|(variant, workloads)| format!("{variant} in {}", workloads.join(", ")));
    format!(
        "\nFastest on this CPU: {}.\nThat every variant is right is what this table shows. It says little \
         about a GPU, where thousands of\nthreads would wait for one lock: take `fast` there, and what is \
         fastest here for a program of the CPU.\n",
        each.collect::<Vec<_>>().join("; ")
    )
}

/// The runs for which no time was left, in a sentence.
pub(super) fn skipped_rows(skipped: &[(&str, &str)]) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let each = skipped.chunk_by(|a, b| a.0 == b.0).map(|of| {
        let variants: Vec<&str> = of.iter().map(|(_, variant)| *variant).collect();
        format!("{} {}", of[0].0, variants.join(", "))
    });
    format!(
        "\nSkipped, as a run without arguments is short: {}.\n`stamp run WORKLOAD --variant all` makes \
         these runs.\n",
        each.collect::<Vec<_>>().join("; ")
    )
}
