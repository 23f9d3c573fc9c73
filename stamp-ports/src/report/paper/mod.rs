//! The report of `stamp bench paper`: what Xu et al. 2014 evaluate, measured again.
//!
//! | module | is |
//! | --- | --- |
//! | `view` | names, orders, ratios: what all below ask of the document |
//! | `figures` | the paper's figures from the document |
//! | `sentences` | what these show, in words computed from it |
//! | `sets` | the points as records |
//! | `claims` | what the paper claims, as rows |
//! | `critical` | what the page says of hand-written critical sections |
//! | `tables`, `remarks` | the tables, and what they show |
//! | `published` | what the paper says in figures |

pub mod claims;
pub mod critical;
pub mod figures;
pub mod published;
pub mod remarks;
pub mod sentences;
mod sets;
pub mod tables;
pub mod view;

#[cfg(test)]
pub(super) mod tests;

use super::figure::Figure;
use super::page::{Report, Section};
use super::words::times;
use crate::numbers::count;
use crate::paper::document::Paper;
use maud::{Markup, html};
use view::{apart, headline, label, over_critical_section, theirs};

/// Returns the report about a document.
pub fn report(paper: &Paper) -> Report<'_> {
    let figures = figures::all(paper);
    let claims = claims::all(paper);
    let about = "Each verdict follows from the data by the rule beside it. A gain over \
                 coarse-grained locking is judged against a hand-written critical section of the \
                 same run, not against cgl.";
    let mut sections = vec![Section::of_claims(
        "claims",
        "The paper\u{2019}s claims",
        &claims,
        about,
    )];
    sections.extend(figures.iter().map(|figure| figure_section(paper, figure)));
    sections.extend(table_sections(paper));
    let wrong: Vec<String> = paper
        .speedups
        .iter()
        .filter(|run| !run.verified)
        .map(|run| {
            let why = run.error.as_deref().unwrap_or("no reason given");
            format!("{} {}: {why}", label(&run.workload), run.variant)
        })
        .collect();
    let (all, failed) = (paper.speedups.len(), wrong.len());
    let warning = format!(
        "Not verified, {failed} of {all}: {}. No sentence counts these.",
        wrong.join("; ")
    );
    Report {
        title: "The evaluation of GPU-STM, measured again",
        head: &paper.head,
        lead: html! { (big(paper)) p .note { (sentences::caution(paper)) } },
        warnings: Some(warning).filter(|_| failed > 0).into_iter().collect(),
        sections,
        figures: figures.into(),
        targets: Vec::new(),
        claims,
        claims_file: "claims.json",
        footer: footer(paper),
    }
}

/// The headline.
fn big(paper: &Paper) -> Markup {
    let apart = apart(&theirs(paper));
    let found = headline(&apart);
    let same = found.is_some_and(|(run, _)| published::plain(&run.workload) == "gn2");
    html! {
        div .headline {
            div {
                @if let Some((run, ratio)) = found {
                    @let section = over_critical_section(&apart, run);
                    span .big { (times(section.unwrap_or(ratio))) }
                    span .what {
                        "the largest speed-up of the paper\u{2019}s variants over "
                        @if section.is_some() { "a hand-written critical section" } @else {
                            "coarse-grained locking (cgl)"
                        }
                        " in " (label(&run.workload)) ": " (run.variant) ", on "
                        (paper.head.device.name)
                        @if section.is_some() { "; " (times(ratio)) " over cgl" }
                    }
                } @else {
                    span .big { "\u{2013}" }
                    span .what { "speed-up over coarse-grained locking: not measured" }
                }
            }
            div {
                span .second {
                    (if same { "about" } else { "up to" }) " " (times_short(published::SPEEDUP_MAX))
                }
                span .what {
                    "in the paper (2014)" (if same { " in the same" } else { "" }) ", on "
                    (published::DEVICE)
                }
            }
        }
    }
}

fn times_short(ratio: f64) -> String {
    format!("{ratio:.0}\u{d7}")
}

fn figure_section(paper: &Paper, figure: &Figure) -> Section {
    let (theirs, tables, only) = match figure.id {
        "figure-2" => (
            "The paper: up to 20\u{d7} over coarse-grained locking; its optimized variant is \
                 the fastest or level with it in all five workloads; hv-sorting is ahead of \
                 tbv-sorting in RA and LB, whose data outnumber the 1M locks; KM gains nothing \
                 (section 4.2). About 20\u{d7} for GN-2 (section 4.4).",
            std::iter::once(tables::speedups(paper))
                .chain(tables::kernels(paper))
                .chain(critical::table_of(paper))
                .filter(|_| !paper.speedups.is_empty())
                .collect(),
            "fig2",
        ),
        "figure-3" => (
            "The paper: vbv does not scale, because of its one lock; egpgv ends at few \
                 threads; the others scale until the hardware is full, and more threads bring \
                 more conflicts. cgl was not shown (section 4.2).",
            tables::threads(paper),
            "fig3",
        ),
        "figure-4" => (
            "The paper, 1M to 64M words and locks: hv and tbv are level below 1K threads and \
                 with 1M words; with more data tbv gains much from more locks, and hv is near \
                 its best with 4M; hv aborts less, which here gains little time (section 4.3).",
            std::iter::once(tables::locks(paper))
                .filter(|_| !paper.eigenbench.is_empty())
                .collect(),
            "fig4",
        ),
        _ => (
            "The paper: GN-2 pays most, for beginning transactions above all; LB and KM, \
                 whose sets are large, pay for buffering; most of KM's attempts abort \
                 (section 4.4). It leaves out RA, HT and EB, which do nothing else.",
            std::iter::once(tables::phases(paper))
                .filter(|_| !paper.breakdown.is_empty())
                .collect(),
            "fig5",
        ),
    };
    Section {
        only: Some(only),
        ..Section::of_figure(figure, theirs, tables)
    }
}

fn table_sections(paper: &Paper) -> Vec<Section> {
    let section = |id, name: &str, shows, theirs: Option<&str>, body, only| Section {
        id,
        name: name.into(),
        shows,
        theirs: theirs.map(String::from),
        body: vec![body],
        only: Some(only),
    };
    let mut lanes = remarks::aborts(paper);
    lanes.extend(remarks::lanes(paper));
    vec![
        section(
            "table-1",
            "Table 1: characteristics of the workloads",
            remarks::characteristics(paper),
            Some(
                "The paper gives the last two columns in words. Conflicts here are attempts that \
                 aborted, at the best launch.",
            ),
            tables::characteristics(paper),
            "table1",
        ),
        section(
            "table-2",
            "Table 2: best launches",
            remarks::launches(paper),
            None,
            tables::launches(paper),
            "fig2",
        ),
        section(
            "aborts",
            "Aborts and active lanes",
            lanes,
            None,
            tables::aborts(paper),
            "fig2",
        ),
        section(
            "costs",
            "Memory, compilation, launches",
            remarks::costs(paper),
            None,
            tables::costs(paper),
            "fig2",
        ),
    ]
}

fn footer(paper: &Paper) -> Vec<String> {
    vec![
        format!(
            "Rates are of committed transactions, by the kernel's own time; K, M and G of rates \
             are powers of 1000, of sizes and threads powers of 1024 (8M words are {}). A \
             speed-up is the median rate over the median rate of cgl with the same workload, \
             each at its best launch; of a kernel of a program, it is by the kernel's time in \
             the program's median run. Slow variants run fewer transactions; rates compare all \
             the same.",
            8u64 << 20
        ),
        format!(
            "The paper is {}; it used {} locks on an {}. Its Figures 2 to 5 print no numbers, \
             so only what its text and tables give is quoted.",
            published::SOURCE,
            count(published::LOCKS),
            published::DEVICE
        ),
        format!(
            "Made by stamp report from paper.json (format {}).",
            paper.head.format
        ),
    ]
}
