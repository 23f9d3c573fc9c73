//! The report of `stamp bench paper`: what Xu et al. 2014 evaluate, measured again.
//!
//! | module | is |
//! | --- | --- |
//! | `view` | names, orders, ratios: what all below ask of the document; what the paper says in figures |
//! | `sets` | the points as records |
//! | `claims` | the answers to formulas, and what the paper claims, as rows of `claims.json` |
//!
//! Figures, sentences, tables and what the paper says of the same are in `page.json`.

pub mod claims;
mod sets;
pub mod view;

#[cfg(test)]
pub(super) mod tests;

use super::page::Report;
use super::sentence::From;
use super::stated::Page;
use crate::numbers::times;
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
    let warnings = Some(warning).filter(|_| failed > 0);
    let page = Page::read::<Asked>(include_str!("page.json"));
    let judged = [("claims", claims::all(paper))];
    let report = page.report(&paper.head, from, &judged, warnings.into_iter().collect());
    Report {
        lead: html! { (big(paper)) (report.lead) },
        ..report
    }
}

/// The headline.
fn big(paper: &Paper) -> Markup {
    let apart = apart(&theirs(paper));
    let found = headline(&apart);
    let same = found.is_some_and(|(run, _)| view::plain(&run.workload) == "gn2");
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
                    (if same { "about" } else { "up to" }) " " (times_short(view::SPEEDUP_MAX))
                }
                span .what {
                    "in the paper (2014)" (if same { " in the same" } else { "" }) ", on "
                    (view::DEVICE)
                }
            }
        }
    }
}

fn times_short(ratio: f64) -> String {
    format!("{ratio:.0}\u{d7}")
}
