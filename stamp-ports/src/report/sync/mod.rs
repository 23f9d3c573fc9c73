//! The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and
//! what the library is to reach.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, its time, its rate, its fairness |
//! | `shape` | the papers' grids and this machine's |
//! | `measures` | what the calls in the rows of the papers and of the targets stand for |
//! | `stuart`, `targets` | those about choices and about the library's defaults |
//! | `claims` | both, judged |
//! | `choice` | what suits a machine by ratios of memory accesses, as one claim predicts it |
//! | `sets` | the points as records, and what the calls of the page stand for |
//!
//! Figures, tables and what was done otherwise than in the papers are in `page.json`.

mod choice;
pub mod claims;
pub mod data;
mod measures;
mod sets;
pub mod shape;
mod stuart;
mod targets;
#[cfg(test)]
pub(super) mod tests;

use super::claim::Claim;
use super::figure::Figure;
use super::page::{Report, Section};
use super::points;
use super::stated::{From, Part, parts};
use crate::sync::bench::Bench;
use claims::PAPERS;
use maud::html;
use sets::Page;

/// The parts of the page.
fn page() -> Vec<Part> {
    parts::<Page<'_>>(include_str!("page.json"))
}

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report<'_> {
    let page = Page::new(bench);
    let from = &From {
        sets: &page.sets,
        source: &page,
    };
    let parts = self::page();
    let figures: Vec<Figure> = parts.iter().filter_map(|part| part.drawn(from)).collect();
    let (targets, claims) = (claims::all_targets(bench), claims::all(bench));
    let about = "Where no point has the name default, our default barrier or semaphore is the \
                 fastest of our kinds at that place, which is what the host chooses once it has \
                 measured them.";
    let name = "What the library is to reach on an H200";
    let mut sections = vec![Section::of_claims("targets", name, &targets, about)];
    for (id, paper, ..) in PAPERS {
        let own = claims.iter().filter(|claim| claim.paper == paper);
        let own: Vec<Claim> = own.cloned().collect();
        let about = "Each is judged at the paper\u{2019}s sizes, and once more at this \
                     machine\u{2019}s. T is a time, R a rate.";
        sections.push(Section::of_claims(
            id,
            &format!("Claims of {paper}"),
            &own,
            about,
        ));
    }
    sections.extend(parts.iter().map(|part| {
        let figure = figures.iter().find(|figure| figure.id == part.id);
        part.section(from, figure)
    }));
    let untimed = bench.points.iter().filter(|p| p.repeat == 0).count();
    let untimed = format!(
        "{untimed} of {} points have no time; the tables of their parts say why.",
        bench.points.len()
    );
    let of_cpu = "Measured on a CPU: no target and no claim is judged.".to_owned();
    let warnings = [
        Some(of_cpu).filter(|_| bench.head.device.gpu.is_none()),
        points::wrong(&bench.points),
        Some(untimed).filter(|_| bench.points.iter().any(|p| p.repeat == 0)),
    ];
    Report {
        title: "Locks, barriers and semaphores on this machine",
        head: &bench.head,
        lead: html! {
            p .lead {
                "The benchmarks of three papers about synchronisation on GPUs (Stuart and Owens 2011, Grote 2020, \
                 Gattani and Anickode 2024), run again with the library\u{2019}s locks, combiners, barriers, \
                 semaphores and transactions, at the papers\u{2019} grids and at this machine\u{2019}s."
            }
        },
        warnings: warnings.into_iter().flatten().collect(),
        sections,
        figures,
        targets,
        claims,
        claims_file: "claims-sync.json",
        footer: footer(bench),
    }
}

fn footer(bench: &Bench) -> Vec<String> {
    vec![
        "Times are of the kernel alone, the median of the launches that the tables count; points that take more \
         than 2 s run once. Results are checked. K, M and G of rates are powers of 1000."
            .into(),
        "The papers: J. A. Stuart and J. D. Owens, Efficient Synchronization Primitives for GPUs, \
         2011 (GeForce GTX 295 and 580); P. Grote, Lock-based Data Structures on GPUs with Independent Thread \
         Scheduling, 2020 (GeForce RTX 2060); A. Gattani and A. Anickode, Scalable Lock Implementations: \
         Evaluating GPU Concurrency Performance, 2024 (GTX Titan X). Their plots print no numbers, so only what \
         their texts and tables give is quoted."
            .into(),
        format!("Made by stamp report from sync.json (format {}).", bench.head.format),
    ]
}
