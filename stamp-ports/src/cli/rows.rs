//! The table of `run` and `tune`, and what stands above and below it. That of `run` is printed row by row as
//! the runs are done, so its columns are as wide as the values that are known before.

use crate::cli::prelude::*;
use crate::output::align;

pub(super) struct PlannedRun<'a> {
    pub(super) workload: &'a AnyWorkload,
    pub(super) spec: RunSpec,
    pub(super) algorithm: Variant,
}

impl PlannedRun<'_> {
    pub(super) fn variant(&self) -> &'static str {
        self.workload.sizes().form().name(self.spec.variant)
    }

    /// Has the device compile its module. An error is left to the run, which meets it again.
    pub(super) fn compile(&self, device: &AnyDevice) {
        let _ = self.workload.compile(device, self.algorithm);
    }
}

/// Room for a rate, and the most that a ratio usually needs.
const RATE: &str = "1234.5M";

#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// The header, and of each run what is known before.
    known: Vec<String>,
    /// Whether the numbers of locks differ, and have a column.
    has_locks: bool,
    /// Whether the terminal is too narrow for the last column: then it is below.
    narrow: bool,
}

impl Rows {
    /// Fits the columns to these runs, which need not be done, and to a terminal of so many columns.
    pub(super) fn fitting(runs: &[RunReport], columns: Option<usize>) -> Self {
        let locks: BTreeSet<u64> = runs.iter().map(|run| run.locks).collect();
        let has_locks = locks.len() > 1;
        let planned = runs.iter().map(|run| {
            let found = format!("{RATE}\t{}\t\t", count(run.transactions));
            cells_of(run, has_locks, &found)
        });
        let header = "workload\tvariant\tlaunch\tlocks\ttx\ttx/s\tcommits\tover cgl\tverified";
        let header = header.replace("locks\t", if has_locks { "locks\t" } else { "" });
        let mut rows = Self {
            known: iter::once(header).chain(planned).collect(),
            has_locks,
            narrow: true,
        };
        let width = rows.header().chars().count() + 2 + RATE.len();
        rows.narrow = columns.is_some_and(|columns| width > columns);
        rows
    }

    pub(super) fn header(&self) -> String {
        let last = if self.narrow { "" } else { "  aborts" };
        self.line(self.known[0].clone()) + last
    }

    /// The row of a run; the ratio is that to a run among those before.
    pub(super) fn row(&self, report: &RunReport, before: &[RunReport]) -> String {
        let ratio = over_cgl(report, before).map_or_else(|| "-".into(), |x| digits3(x) + "x");
        let not = ["NO", "not"][usize::from(report.is_as_asked())];
        let verified = if report.verified { "yes" } else { not };
        let (rate, commits) = (short(report.tx_per_s), count(report.commits));
        let found = format!("{rate}\t{commits}\t{ratio}\t{verified}");
        let line = self.line(cells_of(report, self.has_locks, &found));
        match (self.narrow, aborts(report).as_str()) {
            (true, "none") => line,
            (true, aborts) => format!("{line}\n{:10}aborts: {aborts}", ""),
            (false, aborts) => format!("{line}  {aborts}"),
        }
    }

    fn line(&self, row: String) -> String {
        let rows = [&self.known[..], &[row]].concat();
        align(&rows, 3, false).pop().unwrap_or_default()
    }
}

/// The cells of a run, the last four of which are known when it is done.
fn cells_of(run: &RunReport, has_locks: bool, found: &str) -> String {
    let (workload, variant, blocks, threads) = (run.workload, run.variant, run.blocks, run.threads);
    let locks = has_locks.then(|| count(run.locks) + "\t");
    let locks = locks.unwrap_or_default();
    let transactions = count(run.transactions);
    format!("{workload}\t{variant}\t{blocks}x{threads}\t{locks}{transactions}\t{found}")
}

pub(super) fn table(reports: &[RunReport], columns: Option<usize>) -> String {
    let rows = Rows::fitting(reports, columns);
    let each = reports.iter().map(|report| rows.row(report, reports));
    iter::once(rows.header()).chain(each).joined("\n") + "\n" + &legend(reports)
}

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
    let of_one = reports.chunk_by(|a, b| a.workload == b.workload);
    let best = of_one.filter_map(|of| {
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

pub(super) fn skipped_rows(skipped: &[(&str, &str)]) -> String {
    let each = skipped.chunk_by(|a, b| a.0 == b.0).map(|of| {
        let variants = of.iter().map(|(_, variant)| variant);
        format!("{} {}", of[0].0, variants.joined(", "))
    });
    let behind = ".\n`stamp run WORKLOAD --variant all` makes these runs.\n";
    let before = "\nSkipped, as a run without arguments is short: ";
    sentence(before, each, ("; ", behind))
}

/// A reason in two letters: `rl` for `read_locked`.
fn initials(reason: &str) -> String {
    let words = reason.split('_');
    words.filter_map(|word| word.chars().next()).collect()
}

fn aborts(report: &RunReport) -> String {
    let some = report.aborts.iter().filter(|(_, n)| **n != 0);
    let some = some.map(|(reason, n)| format!("{} {}", initials(reason), short(*n as f64)));
    let some = some.joined(" ");
    if some.is_empty() { "none".into() } else { some }
}

/// Transactions a second over those of `cgl` with the same workload, if it ran.
pub(super) fn over_cgl(report: &RunReport, all: &[RunReport]) -> Option<f64> {
    let is_cgl = |r: &&RunReport| r.variant == "cgl" && r.tx_per_s > 0.0;
    let mut cgl = all.iter().filter(is_cgl);
    let cgl = cgl.find(|r| r.workload == report.workload)?;
    (report.tx_per_s > 0.0).then(|| report.tx_per_s / cgl.tx_per_s)
}

/// What the table's short words stand for, and what is wrong.
pub(super) fn legend(reports: &[RunReport]) -> String {
    let reasons = reports.iter().flat_map(|report| &report.aborts);
    let reasons = reasons.filter(|(_, n)| **n != 0).map(|(reason, _)| *reason);
    let reasons = reasons.collect::<BTreeSet<&str>>().into_iter();
    let names = reasons.map(|of| format!("{} {}", initials(of), of.replace('_', " ")));
    let mut text = sentence("\nAborts: ", names, (", ", "."));
    // A workload of which one result is not verified has no such line.
    let is_verified = |run: &&RunReport| {
        let of_workload = |other: &&RunReport| other.workload == run.workload;
        reports.iter().filter(of_workload).all(|run| run.verified)
    };
    let verified = reports.iter().filter(is_verified);
    for (of, _) in grouped(verified.map(|run| ((run.workload, run.verifies), ()))) {
        let (workload, Verifies { covers, what }) = of;
        let _ = write!(text, "\nVerified, {workload}: {}: {what}.", covers.name());
    }
    // What a person has to know about single runs, remarks of one kind in one sentence.
    let all = reports.iter().flat_map(|report| {
        let of_variant = |(kind, remark): &(_, _)| (*kind, format!("{} {remark}", report.variant));
        report.remarks.iter().map(of_variant)
    });
    for (kind, remarks) in grouped(all) {
        let _ = write!(text, "\n{kind}: {}.", remarks.join(", "));
    }
    let optimized = AskedVariant::OPTIMIZED.name();
    let chosen = reports.iter().filter(|r| r.variant == optimized);
    let resolved = chosen.map(|r| format!("{} for {}", r.resolved, r.workload));
    text += &sentence("\n`optimized` chose ", resolved, (", ", "."));
    let wrong: Vec<&RunReport> = reports.iter().filter(|r| !r.is_as_asked()).collect();
    let was_asked = reports.iter().any(|r| r.verification.is_some());
    let what = if was_asked { "FAILED" } else { "NOT verified" };
    for run in &wrong {
        let why = run.error.as_deref().unwrap_or("no result");
        let _ = write!(text, "\n{what}: {} {}: {why}", run.workload, run.variant);
    }
    match (wrong.len(), reports.len()) {
        (_, 1) if was_asked => text += "\nThe result is not verified, as --no-verify asks.",
        _ if was_asked => text += "\nNo result is verified, as --no-verify asks.",
        (0, 1) => text += "\nThe result is verified.",
        (0, 2) => text += "\nBoth results are verified.",
        (0, n) => _ = write!(text, "\nAll {n} results are verified."),
        (k, n) => _ = write!(text, "\n{k} of {n} results are not verified."),
    }
    text + "\n"
}

/// What runs, or ran: a line for each workload with its sizes, and one for the transactional memory.
pub(super) fn setting_of(reports: &[RunReport]) -> String {
    let (mut text, mut seen) = (String::new(), HashSet::new());
    for report in reports.iter().filter(|r| seen.insert(r.workload)) {
        let _ = writeln!(text, "{}: {}", report.workload, report.summary);
    }
    if let Some(first) = reports.first() {
        let other = reports.iter().find(|r| r.locks != first.locks);
        let locks = other.map_or_else(|| of(first.locks, "lock"), |_| "locks as below".into());
        let (stripe, seed) = (&first.parameters["stripe_bytes"], first.seed);
        let _ = writeln!(text, "stm: {locks}, stripes of {stripe} bytes; seed {seed}");
    }
    text
}

/// The table of the breakdowns that reports have; nothing if none has one.
pub(super) fn breakdown_table(reports: &[RunReport]) -> String {
    let phases = Phase::ALL.map(column).join("\t");
    let header = format!("workload\tvariant\t{phases}\tcost");
    let profiled = reports.iter();
    let profiled = profiled.filter_map(|r| Some((r, r.profile.as_ref()?)));
    let rows = profiled.map(|(run, profile)| {
        let share = |phase: Phase| profile.shares.get(phase.name()).copied().unwrap_or(0.0);
        let shares = Phase::ALL.map(|phase| format!("{:.1}", 100.0 * share(phase)));
        let (workload, variant, shares) = (run.workload, run.variant, shares.join("\t"));
        format!("{workload}\t{variant}\t{shares}\t{:.2}x", profile.cost)
    });
    let above = "\nWhere the lanes' time goes, in per cent:\n";
    let table = titled((above, "", &header), rows, 2, false);
    let below = "`cost` is the time with the clocks over the time without.\n";
    sentence("", iter::once(table), ("", below))
}

const fn column(phase: Phase) -> &'static str {
    match phase {
        Phase::Initialisation => "init",
        Phase::Buffering => "buffer",
        Phase::Consistency => "check",
        other => other.name(),
    }
}
