//! Tables for people, one of them of where the lanes' time goes.

use crate::measure::run_report::RunReport;
use crate::numbers::{of, short};
use crate::variants::AskedVariant;
use crate::workloads::workload::Verifies;
use comfy_table::{CellAlignment, Table, presets};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use stm_core::internal::observe::Phase;

/// Columns of the terminal on standard output, if it is one.
pub(crate) fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Rows of cells as lines, columns as wide as their widest cell and two spaces apart. The first
/// `left` columns are aligned to the left, and the last if `last_left`; numbers to the right.
pub(crate) fn align(rows: &[Vec<String>], left: usize, last_left: bool) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(rows);
    let last = table.column_count().saturating_sub(1);
    for (c, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if c >= left && !(last_left && c == last) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().into()).collect()
}

/// The [`align`]ed rows as a text, each line behind `indent`.
pub(crate) fn aligned(indent: &str, rows: &[Vec<String>], left: usize, last_left: bool) -> String {
    let lines = align(rows, left, last_left).into_iter();
    let lines = lines.map(|line| format!("{indent}{line}\n"));
    lines.collect::<Vec<_>>().concat()
}

/// A row of these cells.
pub(crate) fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

/// A reason in two letters: `rl` for `read_locked`.
fn initials(reason: &str) -> String {
    let words = reason.split('_');
    words.filter_map(|word| word.chars().next()).collect()
}

/// The reasons of aborts and how many each has, in short.
pub(crate) fn aborts(report: &RunReport) -> String {
    let some = report.aborts.iter().filter(|(_, n)| **n != 0);
    let some = some.map(|(reason, n)| format!("{} {}", initials(reason), short(*n as f64)));
    match some.collect::<Vec<_>>().as_slice() {
        [] => "none".into(),
        some => some.join(" "),
    }
}

/// Transactions a second over those of `cgl` with the same workload, if it ran.
pub(crate) fn over_cgl(report: &RunReport, all: &[RunReport]) -> Option<f64> {
    let is_cgl = |r: &&RunReport| r.variant == "cgl" && r.tx_per_s > 0.0;
    let mut cgl = all.iter().filter(is_cgl);
    let cgl = cgl.find(|r| r.workload == report.workload)?;
    (report.tx_per_s > 0.0).then(|| report.tx_per_s / cgl.tx_per_s)
}

/// A sentence of these parts, with what stands before and behind them; nothing if there is none.
pub(crate) fn sentence(
    before: &str,
    parts: impl Iterator<Item = String>,
    (between, behind): (&str, &str),
) -> String {
    match parts.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        parts => format!("{before}{}{behind}", parts.join(between)),
    }
}

/// The values of each key, the keys in the order in which they first come.
pub(crate) fn grouped<K: PartialEq, V>(all: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// What the table's short words stand for, and what is wrong.
pub(crate) fn legend(reports: &[RunReport]) -> String {
    let reasons = reports.iter().flat_map(|report| &report.aborts);
    let reasons = reasons.filter(|(_, n)| **n != 0).map(|(reason, _)| *reason);
    let reasons = reasons.collect::<BTreeSet<&str>>().into_iter();
    let names = reasons.map(|of| format!("{} {}", initials(of), of.replace('_', " ")));
    let mut text = sentence("\nAborts: ", names, (", ", "."));
    let verified = reports
        .iter()
        .filter(|report| report.verification.is_none());
    for (of, _) in grouped(verified.map(|report| ((report.workload, report.verifies), ()))) {
        let (workload, Verifies { covers, what }) = of;
        let _ = write!(text, "\nVerified, {workload}: {}: {what}.", covers.told());
    }
    // What a person has to know about single runs, remarks of one kind in one sentence.
    let all = reports.iter().flat_map(|report| {
        let told = |(kind, remark): &(_, _)| (*kind, format!("{} {remark}", report.variant));
        report.remarks.iter().map(told)
    });
    for (kind, remarks) in grouped(all) {
        let _ = write!(text, "\n{kind}: {}.", remarks.join(", "));
    }
    let optimized = AskedVariant::Optimized.name();
    let chosen = reports.iter().filter(|r| r.variant == optimized);
    let resolved = chosen.map(|r| format!("{} for {}", r.resolved, r.workload));
    text += &sentence("\n`optimized` chose ", resolved, (", ", "."));
    let wrong: Vec<&RunReport> = reports.iter().filter(|r| !r.is_as_asked()).collect();
    let was_asked = reports.iter().any(|r| r.verification.is_some());
    let what = if was_asked { "FAILED" } else { "NOT verified" };
    for report in &wrong {
        let why = report.error.as_deref().unwrap_or("no result");
        let _ = write!(
            text,
            "\n{what}: {} {}: {why}",
            report.workload, report.variant
        );
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
pub(crate) fn setting_of(reports: &[RunReport]) -> String {
    let (mut text, mut seen) = (String::new(), HashSet::new());
    for report in reports.iter().filter(|r| seen.insert(r.workload)) {
        let _ = writeln!(text, "{}: {}", report.workload, report.summary);
    }
    if let Some(first) = reports.first() {
        let same = reports.iter().all(|r| r.locks == first.locks);
        let locks = if same {
            of(first.locks, "lock")
        } else {
            "locks as below".into()
        };
        let (stripe, seed) = (&first.parameters["stripe_bytes"], first.seed);
        let _ = writeln!(text, "stm: {locks}, stripes of {stripe} bytes; seed {seed}");
    }
    text
}

/// The table of the breakdowns that reports have; nothing if none has one.
pub(crate) fn breakdown_table(reports: &[RunReport]) -> String {
    let mut rows = vec![cells(["workload", "variant"])];
    rows[0].extend(Phase::ALL.map(|phase| column(phase).to_owned()));
    rows[0].push("cost".into());
    for report in reports {
        let Some(profile) = &report.profile else {
            continue;
        };
        let mut row = vec![report.workload.to_owned(), report.variant.to_owned()];
        row.extend(Phase::ALL.map(|phase| {
            let share = profile.shares.get(phase.name()).copied().unwrap_or(0.0);
            format!("{:.1}", 100.0 * share)
        }));
        row.push(format!("{:.2}x", profile.cost));
        rows.push(row);
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!(
        "\nWhere the lanes' time goes, in per cent:\n{}\
         `cost` is the time with the clocks over the time without.\n",
        aligned("", &rows, 2, false)
    )
}

const fn column(phase: Phase) -> &'static str {
    match phase {
        Phase::Initialisation => "init",
        Phase::Buffering => "buffer",
        Phase::Consistency => "check",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::{align, *};

    #[test]
    fn columns_are_two_spaces_apart_and_numbers_end_alike() {
        let row = |cells: &[&str]| cells.iter().map(|&cell| cell.into()).collect();
        let rows: [Vec<String>; 3] = [
            row(&["workload", "tx/s", "aborts"]),
            row(&["ra", "1.00M", "none"]),
            row(&["labyrinth", "9"]),
        ];
        let lines = [
            "workload    tx/s  aborts",
            "ra         1.00M  none",
            "labyrinth      9",
        ];
        assert_eq!(align(&rows, 1, true), lines);
        let last_right = align(&rows, 1, false);
        assert_eq!(last_right[1], "ra         1.00M    none");
        assert!(align(&[], 1, true).is_empty());
    }

    #[test]
    fn without_profiles_there_is_no_table() {
        assert_eq!(breakdown_table(&[]), "");
    }
}
