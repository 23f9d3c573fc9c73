//! Tables for people.

use crate::numbers::{count, digits3, of, short};
use crate::runner::Report;
use comfy_table::{CellAlignment, Table, presets};
use std::fmt::Write as _;

/// Columns of the terminal on standard output, if it is one.
pub fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Rows of cells as lines, columns as wide as their widest cell and two spaces
/// apart. The first `left` columns are aligned to the left, and the last if
/// `last_left`; numbers to the right.
pub fn align(rows: &[Vec<String>], left: usize, last_left: bool) -> Vec<String> {
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

/// A reason in two letters: `rl` for `read_locked`.
fn initials(reason: &str) -> String {
    reason
        .split('_')
        .filter_map(|word| word.chars().next())
        .collect()
}

fn aborts(report: &Report) -> String {
    let mut text = String::new();
    for (reason, &n) in report.aborts.iter().filter(|&(_, &n)| n != 0) {
        let gap = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{gap}{} {}", initials(reason), short(n as f64));
    }
    if text.is_empty() { "none".into() } else { text }
}

/// Transactions a second over those of `cgl` with the same workload, if it ran.
pub fn over_cgl(report: &Report, all: &[Report]) -> Option<f64> {
    let cgl = all
        .iter()
        .find(|r| r.variant == "cgl" && r.workload == report.workload && r.tx_per_s > 0.0)?;
    (report.tx_per_s > 0.0).then(|| report.tx_per_s / cgl.tx_per_s)
}

/// The table of runs, with what is needed to read it below. Where the aborts
/// do not fit into `columns`, they go below their row.
pub fn table(reports: &[Report], columns: Option<usize>) -> String {
    let header = [
        "workload", "variant", "launch", "tx", "tx/s", "commits", "over cgl", "verified", "aborts",
    ];
    let several_locks = reports.iter().any(|r| r.locks != reports[0].locks);
    let mut rows = vec![header.map(String::from).to_vec()];
    for report in reports {
        let ratio = over_cgl(report, reports).map_or_else(|| "-".into(), |x| digits3(x) + "x");
        rows.push(vec![
            report.workload.into(),
            report.variant.into(),
            format!("{}x{}", report.blocks, report.threads),
            count(report.transactions),
            short(report.tx_per_s),
            count(report.commits),
            ratio,
            if report.verified { "yes" } else { "NO" }.into(),
            aborts(report),
        ]);
    }
    if several_locks {
        for (i, row) in rows.iter_mut().enumerate() {
            let cell = i
                .checked_sub(1)
                .map_or("locks".into(), |i| count(reports[i].locks));
            row.insert(3, cell);
        }
    }
    let wide = align(&rows, 3, true);
    let widest = wide.iter().map(|line| line.chars().count()).max();
    let lines = if columns.is_some_and(|columns| widest > Some(columns)) {
        let below: Vec<String> = rows.iter_mut().filter_map(Vec::pop).collect();
        let mut lines = align(&rows, 3, false);
        for (line, aborts) in lines.iter_mut().zip(&below).skip(1) {
            if aborts != "none" {
                let _ = write!(line, "\n{:10}aborts: {aborts}", "");
            }
        }
        lines
    } else {
        wide
    };
    lines.join("\n") + "\n" + &legend(reports)
}

/// The time of transactions apart from the search, of runs that tell it.
fn claims(reports: &[Report]) -> String {
    let claims: Vec<String> = reports
        .iter()
        .filter_map(|report| {
            let of = |name: &str| {
                report
                    .observed
                    .get(name)
                    .and_then(serde_json::Value::as_f64)
            };
            let (us, share) = (of("claim_us")?, of("claim_share")?);
            let (us, share) = (digits3(us), digits3(share * 100.0));
            Some(format!("{} {us} us ({share} %)", report.variant))
        })
        .collect();
    if claims.is_empty() {
        return String::new();
    }
    let of = "\nOne claim of a path, and the share of claims in the routers' time";
    format!("{of}: {}.", claims.join(", "))
}

/// What the table's short words stand for, and what is wrong.
fn legend(reports: &[Report]) -> String {
    let mut text = String::new();
    let mut reasons: Vec<&str> = Vec::new();
    for report in reports {
        for (reason, &n) in &report.aborts {
            if n != 0 && !reasons.contains(reason) {
                reasons.push(reason);
            }
        }
    }
    reasons.sort_unstable();
    if !reasons.is_empty() {
        let names: Vec<String> = reasons
            .iter()
            .map(|reason| format!("{} {}", initials(reason), reason.replace('_', " ")))
            .collect();
        let _ = write!(text, "\nAborts: {}.", names.join(", "));
    }
    text += &claims(reports);
    let resolved: Vec<String> = reports
        .iter()
        .filter(|r| r.variant != r.resolved)
        .map(|r| format!("{} for {}", r.resolved, r.workload))
        .collect();
    if !resolved.is_empty() {
        let _ = write!(text, "\n`optimized` chose {}.", resolved.join(", "));
    }
    let wrong: Vec<&Report> = reports.iter().filter(|r| !r.verified).collect();
    for report in &wrong {
        let _ = write!(
            text,
            "\nNOT verified: {} {}: {}",
            report.workload,
            report.variant,
            report.error.as_deref().unwrap_or("no result")
        );
    }
    match (wrong.len(), reports.len()) {
        (0, 1) => text += "\nThe result is verified.",
        (0, 2) => text += "\nBoth results are verified.",
        (0, n) => _ = write!(text, "\nAll {n} results are verified."),
        (k, n) => _ = write!(text, "\n{k} of {n} results are not verified."),
    }
    text + "\n"
}

/// What ran: a line for each workload with its sizes, and one for the
/// transactional memory.
pub fn setting(reports: &[Report]) -> String {
    let mut text = String::new();
    for (i, report) in reports.iter().enumerate() {
        if reports[..i].iter().any(|r| r.workload == report.workload) {
            continue;
        }
        let p = |name: &str| {
            report
                .parameters
                .get(name)
                .and_then(serde_json::Value::as_u64)
        };
        let mut parts: Vec<String> = [
            ("words", "word"),
            ("buckets", "bucket"),
            ("reads", "read"),
            ("writes", "write"),
            ("keys_per_tx", "key"),
            ("accounts", "account"),
            ("zipf_thousandths", ""),
            ("audit_percent", ""),
            ("adds_row", ""),
            ("hot_words", "hot word"),
            ("hot_reads", "read"),
            ("hot_writes", "write"),
            ("paths", "path"),
            ("walls", "wall"),
            ("g", "base"),
            ("n", "segment"),
            ("s", "base"),
            ("points", "point"),
            ("dims", "coordinate"),
            ("clusters_max", "cluster"),
        ]
        .into_iter()
        .filter_map(|(name, what)| Some((p(name)?, what, name)))
        .map(|(n, what, name)| match name {
            "writes" | "keys_per_tx" | "hot_writes" => of(n, what) + " a transaction",
            "s" => of(n, what) + " a segment",
            "zipf_thousandths" if n == 0 => "drawn uniformly".into(),
            "zipf_thousandths" => format!("drawn by Zipf's law, exponent {}", n as f64 / 1e3),
            "audit_percent" => {
                let range = of(p("audit_range").unwrap_or(0), "account");
                format!("{n} % audits of {range}")
            }
            "adds_row" => format!("transfers add, rows of {}", of(n, "account")),
            _ => of(n, what),
        })
        .collect();
        if report.parameters.get("adds") == Some(&true.into()) {
            parts.push("transactions add".into());
        }
        if let (Some(x), Some(y), Some(z)) = (p("x"), p("y"), p("z")) {
            parts.insert(0, format!("{x} x {y} x {z} cells"));
        }
        let _ = writeln!(text, "{}: {}", report.workload, parts.join(", "));
    }
    if let Some(report) = reports.first() {
        let stripe = report.parameters.get("stripe_bytes");
        let locks = if reports.iter().all(|r| r.locks == report.locks) {
            of(report.locks, "lock")
        } else {
            "locks as below".into()
        };
        let stripe = stripe.and_then(serde_json::Value::as_u64).unwrap_or(0);
        let _ = writeln!(
            text,
            "stm: {locks}, stripes of {stripe} bytes; seed {}",
            report.seed
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::align;

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
}
