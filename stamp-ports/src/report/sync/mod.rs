//! The report of `stamp bench sync`: the benchmarks of three papers about synchronisation, and
//! what the library is to reach.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, its time, its rate, its fairness |
//! | `shape` | the papers' grids and this machine's |
//! | `measures` | what the calls in the rows of two papers stand for |
//! | `stuart` | the numbers that decide what the third paper claims |
//! | `targets` | the numbers that decide what the library is to reach |
//! | `claims` | both, judged |
//! | `choice` | what suits a machine by ratios of memory accesses, as one claim predicts it |
//! | `figures` | the papers' figures |
//! | `tables` | what the papers print in numbers, beside ours |
//! | `prose` | what was done otherwise than in the papers |

mod choice;
pub mod claims;
pub mod data;
pub mod figures;
mod measures;
pub mod prose;
pub mod shape;
mod stuart;
pub mod tables;
mod targets;
#[cfg(test)]
pub(super) mod tests;

use super::claim::Claim;
use super::page::{Report, Section};
use super::points::{self, Drawn};
use super::table::table;
use crate::sync::bench::Bench;
use claims::PAPERS;
use data::{Data, PARTS};
use maud::html;

/// Returns the report about a document.
pub fn report(bench: &Bench) -> Report<'_> {
    let data = Data::new(bench);
    let figures = figures::all(&data);
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
    sections.extend(figure_sections(&data, &figures));
    sections.push(memory_section(&data));
    sections.extend([otherwise_section(), names_section(), peers_section(&data)]);
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
        figures: figures.into_iter().map(|drawn| drawn.figure).collect(),
        targets,
        claims,
        claims_file: "claims-sync.json",
        footer: footer(bench),
    }
}

fn figure_sections(data: &Data<'_>, figures: &[Drawn]) -> Vec<Section> {
    let points = &data.bench().points;
    let section = |(i, drawn): (usize, &Drawn)| {
        // The points of a part stand below the last figure that shows them.
        let last = figures.iter().rposition(|other| other.parts == drawn.parts) == Some(i);
        let parts = drawn.parts.iter().filter(|_| last);
        let tables = parts
            .flat_map(|part| points::points_table(points, part))
            .collect();
        let mut section = Section::of_figure(&drawn.figure, drawn.theirs, tables);
        if drawn.figure.id == "sections" && data.points(data::SECTIONS).next().is_some() {
            section.body.insert(1, tables::printed(data));
        }
        section
    };
    figures.iter().enumerate().map(section).collect()
}

fn memory_section(data: &Data<'_>) -> Section {
    let table = tables::ratios(data);
    Section {
        id: "memory",
        name: "Memory accesses under contention".into(),
        shows: vec![if table.is_some() {
            "The ratios of the twelve memory benchmarks, in which one thread of each block makes accesses. \
             Those of writes decide nothing, as the times of stores measured so far are too short for so many accesses."
                .into()
        } else {
            "Not measured.".into()
        }],
        theirs: Some(
            "Stuart and Owens: the text says 10\u{d7}, 5\u{d7}, 1.3\u{d7} and 3.5\u{d7} where Table 2 has 11.5, 6.0, 1.44 and \
             3.67, and calls about 3\u{d7} Fermi\u{2019}s worst where Table 3 has 8.4\u{d7} and 10.8\u{d7} for writes."
                .into(),
        ),
        body: table.into_iter().collect(),
        ..Section::default()
    }
}

fn otherwise_section() -> Section {
    let all = prose::read().otherwise;
    let rows = PARTS.into_iter().flat_map(|part| {
        let own = all.iter().filter(move |[of, _]| *of == part);
        own.map(|[part, text]| format!("{part}: {text}"))
    });
    Section {
        id: "otherwise",
        name: "What was done otherwise than in the papers, and why".into(),
        shows: rows.collect(),
        ..Section::default()
    }
}

fn names_section() -> Section {
    let rows = prose::read().names.into_iter();
    let rows: Vec<Vec<String>> = rows.map(|row| row.map(String::from).into()).collect();
    let head = ["Paper", "Theirs", "Ours"];
    Section {
        id: "names",
        name: "Names".into(),
        shows: vec!["Which of our kinds stands for which of the papers\u{2019}.".into()],
        body: vec![table("Names in the papers and here", &head, &rows, 3)],
        ..Section::default()
    }
}

fn peers_section(data: &Data<'_>) -> Section {
    let peer = |name: &str| name.starts_with("cuda::") || name == "grid.sync";
    let all = &data.bench().points;
    let mut missing: Vec<String> = all
        .iter()
        .filter(|p| peer(&p.implementation) && p.repeat == 0)
        .filter_map(|p| Some(format!("{}: {}", p.implementation, p.note.as_ref()?)))
        .collect();
    missing.sort();
    missing.dedup();
    let peers = prose::read().peers.into_iter();
    let mut shows: Vec<String> = peers.map(String::from).collect();
    if !all.iter().any(|p| peer(&p.implementation) && p.repeat > 0) {
        shows.push("No peer was measured in this run.".into());
    }
    shows.extend(missing);
    Section {
        id: "peers",
        name: "Peers, combining and transactions".into(),
        shows,
        ..Section::default()
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
