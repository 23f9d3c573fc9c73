//! The command `bench paper`.

use super::console::{described, open, outcome};
use crate::error::Result;
use crate::numbers::{count, digits3};
use crate::output::align;
use crate::paper::document::{Paper, Speedup};
use crate::paper::plan::Section;
use crate::paper::run::{self, PaperSpec};
use crate::store::Store;
use crate::variants::AskedVariant;
use crate::workloads::WORKLOADS;
use crate::workloads::contender::CRITICAL_SECTION;
use std::io::{Write, stdout};

/// What `--help` says behind the options.
pub(super) fn help() -> String {
    let parts = described(
        "Parts",
        Section::ALL.map(|part| (part.name(), part.shows())),
    );
    format!("{parts}\n{HELP}")
}

/// The end of the help.
const HELP: &str = "\
DIR/paper.json is written after every point. After an interruption, or the end
of --for, the same command goes on where it stopped; --only and --workload add
to what is there. What is compared with each other is a unit: a workload in
Figures 2, 3 and 5 and in Table 1, and all of Figure 4. A unit is of one
command: one that was interrupted is measured again, whole.

Examples:
  stamp bench paper --out results
  stamp bench paper --quick --out quick           small, on the CPU, minutes
  stamp bench paper --for 300 --out results       a piece of 5 to 8 minutes
  stamp bench paper --only fig2,table1 --workload ra,ht --out results";

/// Measures what the publication shows; `command` is how it was called. What a
/// single point cannot do makes the result `false`.
pub(super) fn paper(spec: &PaperSpec, command: &str) -> Result<bool> {
    let device = open(spec.bench.choice())?;
    let store = run::paper(&device, spec, command)?;
    let verified = store.document.speedups.iter().all(|s| s.verified)
        && (store.document.critical_sections.iter()).all(|s| s.verified)
        && (store.document.threads.iter()).all(|t| t.verified != Some(false));
    outcome(verified, summary(&mut stdout().lock(), &store))
}

/// Which results had fewer transactions than others of their workload: a line for each workload.
fn fewer(paper: &Paper) -> Vec<String> {
    let lines = WORKLOADS.iter().filter_map(|&(workload, _)| {
        let runs = paper.speedups.iter().filter(|s| s.workload == workload);
        let runs = runs.map(|s| (s.variant.as_str(), s.transactions, s.transactions_full));
        let sections = paper.critical_sections.iter().filter(|s| s.is_of(workload));
        let sections = sections.map(|s| (CRITICAL_SECTION, s.transactions, s.transactions_full));
        let all: Vec<_> = runs.chain(sections).collect();
        let full = all.first()?.2;
        let fewer: Vec<String> = all
            .iter()
            .filter(|(_, transactions, full)| 0 < *transactions && transactions < full)
            .map(|(name, transactions, _)| format!("{name} {}", count(*transactions)))
            .collect();
        (!fewer.is_empty()).then(|| {
            format!(
                "Fewer transactions than {} a run, {workload}: {}.",
                count(full),
                fewer.join(", ")
            )
        })
    });
    lines.collect()
}

/// A ratio of a result.
type Ratio = fn(&Speedup) -> Option<f64>;

/// What is wrong, with the reason.
fn not_verified(out: &mut impl Write, paper: &Paper) -> Result<()> {
    let sections = paper.critical_sections.iter().filter(|s| !s.verified);
    let sections = sections.map(|s| {
        (
            format!("{} {CRITICAL_SECTION}", s.workload),
            s.error.as_ref(),
        )
    });
    let threads = paper.threads.iter().filter(|t| t.verified == Some(false));
    let threads = threads.map(|t| {
        let (of, blocks, threads) = (&t.workload, t.blocks, t.threads);
        (
            format!("{of} {} at {blocks}x{threads}", t.variant),
            t.note.as_ref(),
        )
    });
    let speedups = paper.speedups.iter().filter(|s| !s.verified);
    let speedups = speedups.map(|s| (format!("{} {}", s.workload, s.variant), s.error.as_ref()));
    for (what, why) in sections.chain(threads).chain(speedups) {
        let why = why.map_or("no result", String::as_str);
        writeln!(out, "NOT verified: {what}: {why}")?;
    }
    Ok(())
}

/// The speed-ups as tables, and what there is.
fn summary(out: &mut impl Write, store: &Store<Paper>) -> Result<()> {
    let paper = &store.document;
    let variants = AskedVariant::all();
    let name = |name: &str| name.to_owned();
    let ratios: [(&str, Ratio); 2] = [
        ("over cgl", |s| s.over_cgl),
        ("over critical-section", |s| s.over_critical_section),
    ];
    for (title, ratio) in ratios {
        let mut rows = vec![vec![name(title)]];
        rows[0].extend(variants.iter().map(|v| name(v.name())));
        for &(workload, _) in WORKLOADS {
            let mut row = vec![name(workload)];
            row.extend(variants.iter().map(|variant| {
                let of = paper
                    .speedups
                    .iter()
                    .find(|s| s.workload == workload && s.variant == variant.name());
                match of {
                    Some(s) if !s.verified => "WRONG".into(),
                    Some(s) => ratio(s).map_or_else(|| "-".into(), digits3),
                    None => "-".into(),
                }
            }));
            if row[1..].iter().any(|cell| cell != "-") {
                rows.push(row);
            }
        }
        if rows.len() > 1 {
            for line in align(&rows, 1, false) {
                writeln!(out, "{line}")?;
            }
            writeln!(out)?;
        }
    }
    for line in fewer(paper) {
        writeln!(out, "{line}")?;
    }
    not_verified(out, paper)?;
    writeln!(
        out,
        "{} speed-ups, {} launches tried, {} points by threads, {} of EigenBench: {}",
        paper.speedups.len(),
        paper.search.len(),
        paper.threads.len(),
        paper.eigenbench.len(),
        store.path.display()
    )?;
    if !paper.head.complete {
        writeln!(
            out,
            "Not all of the paper is in it yet: the same command goes on, and see --only."
        )?;
    }
    Ok(())
}
