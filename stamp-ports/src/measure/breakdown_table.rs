//! The table of where the lanes' time goes.

use super::run_report::RunReport;
use crate::output::align;
use stm_core::observe::Phase;

/// The table of the breakdowns that reports have; nothing if none has one.
pub fn table(reports: &[RunReport]) -> String {
    let mut rows = vec![vec!["workload".to_owned(), "variant".to_owned()]];
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
    let mut text = "\nWhere the lanes' time goes, in per cent:\n".to_owned();
    for line in align(&rows, 2, false) {
        text += &line;
        text += "\n";
    }
    text + "`cost` is the time with the clocks over the time without.\n"
}

/// A phase's name, short enough for a column.
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
    use super::*;

    #[test]
    fn without_profiles_there_is_no_table() {
        assert_eq!(table(&[]), "");
    }
}
