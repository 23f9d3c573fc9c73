//! The report of `stamp bench nw`: alignments by dataflow, by launches and by locks, and what
//! it costs to hand a value from warp to warp.
//!
//! `data` has one point and its time; figures and tables are in `page.json`.

pub mod data;
#[cfg(test)]
pub(super) mod tests;

use super::claim::{self, Claim, Row, judge};
use super::figure::Figure;
use super::page::{Report, Section};
use super::points;
use super::stated::{From, parts};
use super::sync::claims::OF_CPU;
use crate::sync::bench::Bench;
use data::Times;
use maud::{Markup, html};

/// The rows of the targets and of the claims.
const TARGETS: &str = include_str!("targets.json");
const CLAIMS: &str = include_str!("claims.json");

/// Judges rows, unless the document is one of a CPU.
fn judged(times: &Times<'_>, rows: &'static str) -> Vec<Claim> {
    let of = |row: Row| {
        let claim = judge(&row, row.numbers(times));
        if times.is_of_gpu() {
            claim
        } else {
            claim.without_judgement(OF_CPU)
        }
    };
    claim::rows::<Times<'_>>(rows).into_iter().map(of).collect()
}

/// What the page is about, and its words.
fn lead() -> Markup {
    html! {
    p .lead {
        "The scores of Needleman and Wunsch\u{2019}s alignments, by six implementations, and what it costs to hand a \
         value from warp to warp."
    }
    dl {
        dt { "tagged word" }
        dd {
            "A word with a value and a tag that says which value it is. A thread waits for the value with the load \
             that fetches it. It is a scheme of synchronisation, in the place of the paper\u{2019}s tiny lock, a lock \
             bit of each word; a channel is made of such words."
        }
        dt { "dataflow" }
        dd {
            "One launch, in which a warp computes a strip of rows as soon as the row above it comes through \
             channels, by tagged words."
        }
        dt { "diagonals, graph" }
        dd { "A launch for each diagonal of tiles, and the same launches as a CUDA graph." }
        dt { "locks, cells" }
        dd {
            "The same launches; in a tile a thread for each cell waits for its neighbours, for locks or for tagged \
             words. The paper\u{2019}s dataflow is written so."
        }
        dt { "stm:fast" }
        dd { "A transaction for each cell." }
    }
    }
}

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report<'_> {
    let times = &Times::new(bench);
    let sets = times.sets();
    let from = &From {
        sets: &sets,
        source: times,
    };
    let parts = parts::<Times<'_>>(include_str!("page.json"));
    let figures: Vec<Figure> = parts.iter().filter_map(|part| part.drawn(from)).collect();
    let (tables, drawn) = parts.split_at(3);
    let (targets, claims) = (judged(times, TARGETS), judged(times, CLAIMS));
    let about =
        "T is a time. The best tile is the fastest of those that were measured with this length.";
    let name = "What the library is to reach on an H200";
    let mut sections = vec![Section::of_claims("targets", name, &targets, about)];
    let tables = tables.iter().filter(|part| part.is_there(from));
    sections.extend(tables.map(|part| part.section(from, None)));
    let name = "Claims of Li et al. 2015";
    sections.push(Section::of_claims("claims", name, &claims, "T is a time."));
    let drawn = drawn.iter().zip(&figures);
    sections.extend(drawn.map(|(part, figure)| part.section(from, Some(figure))));
    let of_cpu = "Measured on a CPU: no target and no claim is judged.".to_owned();
    let of_cpu = Some(of_cpu).filter(|_| !times.is_of_gpu());
    Report {
        title: "Alignments by dataflow and by launches on this machine",
        head: &bench.head,
        lead: lead(),
        warnings: of_cpu.into_iter().chain(points::wrong(&bench.points)).collect(),
        sections,
        figures,
        targets,
        claims,
        claims_file: "claims-nw.json",
        footer: vec![
            "Times are the device\u{2019}s, from the beginning of the first launch to the end of the last. \
             A rate is cells of a table a second; G is a power of 1000. A point of the reduction is one \
             launch, whose cycles are the median of its rounds, in every run."
                .into(),
            "The paper: A. Li, G.-J. van den Braak, H. Corporaal and A. Kumar, Fine-Grained Synchronizations and \
             Dataflow Programming on GPUs, 2015 (GeForce GTX 570)."
                .into(),
            format!("Made by stamp report from nw.json (format {}).", bench.head.format),
        ],
    }
}
