//! The command `bench paper`.

use super::console::{described, open, outcome};
use crate::error::Result;
use crate::numbers::{count, digits3};
use crate::output::aligned;
use crate::paper::document::{Paper, Speedup};
use crate::paper::plan::SECTIONS;
use crate::paper::run::{self, PaperSpec};
use crate::store::Store;
use crate::variants::AskedVariant;
use crate::workloads::WORKLOADS;
use crate::workloads::contender::CRITICAL_SECTION;
use std::io::{Write, stdout};

pub(super) fn help() -> String {
    format!("{}\n{HELP}", described("Parts", &SECTIONS))
}

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

/// Measures what the publication shows. What a single point cannot do makes the result `false`.
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
        let mut all = runs.chain(sections).peekable();
        let full = count(all.peek()?.2);
        let fewer = all.filter(|(_, transactions, full)| (1..*full).contains(transactions));
        let fewer = fewer.map(|(name, transactions, _)| format!("{name} {}", count(transactions)));
        let fewer = fewer.collect::<Vec<_>>().join(", ");
        let line = format!("Fewer transactions than {full} a run, {workload}: {fewer}.");
        (!fewer.is_empty()).then_some(line)
    });
    lines.collect()
}

fn not_verified(out: &mut impl Write, paper: &Paper) -> Result<()> {
    let mut tell = |what: String, why: &Option<String>| {
        let why = why.as_deref().unwrap_or("no result");
        writeln!(out, "NOT verified: {what}: {why}")
    };
    for s in paper.critical_sections.iter().filter(|s| !s.verified) {
        tell(format!("{} {CRITICAL_SECTION}", s.workload), &s.error)?;
    }
    for t in paper.threads.iter().filter(|t| t.verified == Some(false)) {
        let (of, variant, blocks, threads) = (&t.workload, &t.variant, t.blocks, t.threads);
        tell(format!("{of} {variant} at {blocks}x{threads}"), &t.note)?;
    }
    for s in paper.speedups.iter().filter(|s| !s.verified) {
        tell(format!("{} {}", s.workload, s.variant), &s.error)?;
    }
    Ok(())
}

fn summary(out: &mut impl Write, store: &Store<Paper>) -> Result<()> {
    let paper = &store.document;
    let variants: Vec<&str> = AskedVariant::all().iter().map(|v| v.name()).collect();
    let row = |first: &str, cell: &dyn Fn(&str) -> String| {
        let cells = variants.iter().map(|variant| cell(variant));
        [first.to_owned()]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()
    };
    for (title, is_over_cgl) in [("over cgl", true), ("over critical-section", false)] {
        let mut rows = vec![row(title, &str::to_owned)];
        rows.extend(WORKLOADS.iter().map(|&(workload, _)| {
            row(workload, &|variant| {
                let mut all = paper.speedups.iter();
                let of = all.find(|s| s.workload == workload && s.variant == variant);
                let ratio = |s: &Speedup| {
                    let others = s.over_critical_section;
                    if is_over_cgl { s.over_cgl } else { others }
                };
                match of {
                    Some(s) if !s.verified => "WRONG".into(),
                    of => of.and_then(ratio).map_or_else(|| "-".into(), digits3),
                }
            })
        }));
        rows.retain(|row| row[1..].iter().any(|cell| cell != "-"));
        if rows.len() > 1 {
            writeln!(out, "{}", aligned("", &rows, 1, false))?;
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
