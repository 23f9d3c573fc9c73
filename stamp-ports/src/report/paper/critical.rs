//! What the page says of the critical sections, if the document has any.

use super::tables::{of_full, shape};
use super::view::{apart, baseline, label};
use crate::numbers::short;
use crate::paper::document::Paper;
use crate::report::table::table;
use crate::report::words::{and, times};
use maud::Markup;

/// The critical sections, if the document has any.
pub fn table_of(paper: &Paper) -> Option<Markup> {
    let all = paper.critical_sections.iter();
    let rows: Vec<Vec<String>> = all
        .map(|section| {
            vec![
                label(&section.workload),
                short(section.tx_per_s),
                format!(
                    "{} to {}",
                    short(section.tx_per_s_min),
                    short(section.tx_per_s_max)
                ),
                section.repeat.to_string(),
                shape(section.blocks, section.threads),
                section.tried.to_string(),
                of_full(section.transactions, section.transactions_full),
                if section.verified { "yes" } else { "NO" }.into(),
            ]
        })
        .collect();
    let head = [
        "Workload",
        "tx/s",
        "Range",
        "Runs",
        "Launch",
        "Launches tried",
        "Transactions",
        "Verified",
    ];
    let name = "The same transactions as critical sections of one hand-written lock";
    (!rows.is_empty()).then(|| table(name, &head, &rows, 1))
}

/// The rates of critical sections over those of `cgl`, in a sentence; `None` if there are
/// none.
pub fn over_cgl(paper: &Paper) -> Option<String> {
    let apart = apart(paper);
    let all = paper.critical_sections.iter().filter(|s| s.counts());
    let ratios = all.filter_map(|section| {
        let cgl = baseline(&apart, &section.workload)?;
        let ratio = times(section.tx_per_s / cgl.tx_per_s);
        Some(format!("{ratio} in {}", label(&section.workload)))
    });
    let ratios: Vec<String> = ratios.collect();
    (!ratios.is_empty()).then(|| {
        format!(
            "The same transactions as critical sections of one hand-written spin lock, in the \
             same run, have this multiple of its rate: {}.",
            and(&ratios)
        )
    })
}
