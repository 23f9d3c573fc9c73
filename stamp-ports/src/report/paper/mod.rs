//! The report of `stamp bench paper`: what Xu et al. 2014 evaluate, measured again.
//!
//! | module | is |
//! | --- | --- |
//! | `view` | names, orders, ratios: what all below ask of the document |
//! | `sets` | the points as records |
//! | `claims` | the answers to formulas, and what the paper claims, as rows of `claims.json` |
//! | `published` | what the paper says in figures |
//!
//! Figures, sentences, tables and what the paper says of the same are in `page.json`.

pub mod claims;
pub mod published;
mod sets;
pub mod view;

#[cfg(test)]
pub(super) mod tests;

use super::figure::Figure;
use super::page::{Report, Section};
use super::stated::{From, parts};
use super::words::times;
use crate::numbers::count;
use crate::paper::document::Paper;
use claims::Asked;
use maud::{Markup, html};
use view::{apart, headline, label, over_critical_section, theirs};

/// Returns the report about a document.
///
/// # Panics
/// If `page.json` has not the form of a page's parts; a test reads it.
pub fn report(paper: &Paper) -> Report<'_> {
    let asked = Asked(sets::sets(paper));
    let from = &From {
        sets: &asked.0,
        source: &asked,
    };
    let parts = parts::<Asked>(include_str!("page.json"));
    let [lead, parts @ ..] = parts.as_slice() else {
        panic!("the page has parts");
    };
    let figures: Vec<Figure> = parts.iter().filter_map(|part| part.drawn(from)).collect();
    let claims = claims::all(paper);
    let about = "Each verdict follows from the data by the rule beside it. A gain over \
                 coarse-grained locking is judged against a hand-written critical section of the \
                 same run, not against cgl.";
    let name = "The paper\u{2019}s claims";
    let mut sections = vec![Section::of_claims("claims", name, &claims, about)];
    sections.extend(parts.iter().map(|part| {
        let figure = figures.iter().find(|figure| figure.id == part.id);
        part.section(from, figure)
    }));
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
        lead: html! { (big(paper)) p .note { (lead.said(from).join(" ")) } },
        warnings: Some(warning).filter(|_| failed > 0).into_iter().collect(),
        sections,
        figures,
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
