//! The page: what ran where, the targets, the claims, a section for each figure.

use super::claims::{Claim, Source};
use super::data::{Data, PARTS};
use super::figures::Drawn;
use super::prose::{NAMES, OTHERWISE, PEERS};
use super::{tables, targets};
use crate::report::claims::Verdict;
use crate::report::page::{Parts, Section, facts, or_details};
use crate::report::tables::table;
use crate::sync::bench::Bench;
use maud::{Markup, html};

/// The page's title unless another is given.
pub const TITLE: &str = "Locks, barriers and semaphores on this machine";

/// Returns the page as a file.
pub fn page(data: &Data<'_>, figures: &[Drawn], claims: &[Claim], title: &str) -> String {
    let bench = data.bench();
    let mut sections = vec![targets_section(data)];
    sections.extend(Source::ALL.map(|source| claims_section(source, claims)));
    sections.extend(figure_sections(data, figures));
    sections.push(memory_section(data));
    sections.extend([otherwise_section(), names_section(), peers_section(data)]);
    let parts = Parts {
        title,
        opening: opening(bench),
        sections,
        command: &bench.head.command,
        footer: footer(bench),
    };
    parts.page()
}

fn opening(bench: &Bench) -> Markup {
    let wrong: Vec<String> = bench
        .points
        .iter()
        .filter(|p| p.repeat > 0 && !p.verified)
        .map(|p| {
            let why = p.note.as_deref().unwrap_or("no reason given");
            let shape = format!("{} x {}", p.blocks, p.threads);
            format!("{} {} {shape}: {why}", p.part, p.implementation)
        })
        .collect();
    let untimed = bench.points.iter().filter(|p| p.repeat == 0).count();
    html! {
        p .lead {
            "The benchmarks of three papers about synchronisation on GPUs (Stuart and Owens 2011, Grote 2020, \
             Gattani and Anickode 2024), run again with the library\u{2019}s locks, combiners, barriers, \
             semaphores and transactions, at the papers\u{2019} grids and at this machine\u{2019}s."
        }
        @if bench.head.quick {
            p .warn {
                "A quick run: small inputs and few points, to see that everything works. \
                 Its figures are not comparable with the papers\u{2019}."
            }
        }
        @if bench.head.device.gpu.is_none() {
            p .warn { "Measured on a CPU: no target and no claim is judged." }
        }
        @if !bench.head.complete {
            p .warn { "The run was interrupted or is still going: points are missing." }
        }
        @if !wrong.is_empty() {
            p .warn {
                "With a wrong result, " (wrong.len()) " of " (bench.points.len()) " points: "
                (wrong.join("; ")) ". No figure, claim or sentence counts these."
            }
        }
        @if untimed > 0 {
            p .note {
                (untimed) " of " (bench.points.len())
                " points have no time; the tables of their parts say why."
            }
        }
        (facts(&bench.head))
        @if !bench.head.notes.is_empty() {
            ul .note { @for note in &bench.head.notes { li { (note) } } }
        }
    }
}

fn targets_section(data: &Data<'_>) -> Section {
    let targets = targets::all(data);
    let count = |verdict| targets.iter().filter(|t| t.verdict == verdict).count();
    Section {
        id: "targets",
        name: "Targets".into(),
        shows: vec![format!(
            "Of {} targets, {} are reached, {} in part, {} missed, and {} not measured. Where no point has the \
             name default, our default barrier or semaphore is the fastest of our kinds at that place, which is \
             what the host chooses once it has measured them.",
            targets.len(),
            count(Verdict::Holds),
            count(Verdict::Partly),
            count(Verdict::Fails),
            count(Verdict::Unknown)
        )],
        theirs: None,
        body: vec![tables::targets(&targets)],
        only: None,
    }
}

fn claims_section(source: Source, claims: &[Claim]) -> Section {
    let own = || claims.iter().filter(|claim| claim.paper == source);
    let count = |verdict| own().filter(|claim| claim.verdict == verdict).count();
    let id = match source {
        Source::Grote => "claims-grote",
        Source::Stuart => "claims-stuart",
        Source::Gattani => "claims-gattani",
    };
    Section {
        id,
        name: format!("Claims of {}", source.name()),
        shows: vec![format!(
            "Of {} claims, {} hold, {} hold in part, {} do not hold, and {} cannot be judged by this document, at the \
             paper\u{2019}s shape. A difference counts from 5 % on; equal is a ratio from 0.8 to 1.25; \u{201c}F times as \
             fast\u{201d} holds from 0.8 F on and in part from 1.05 on; a rule over several cases holds in part if \
             some meet it. T is a time, R a rate.",
            own().count(),
            count(Verdict::Holds),
            count(Verdict::Partly),
            count(Verdict::Fails),
            count(Verdict::Unknown)
        )],
        theirs: None,
        body: vec![tables::claims(source, claims)],
        only: None,
    }
}

fn figure_sections(data: &Data<'_>, figures: &[Drawn]) -> Vec<Section> {
    let section = |(i, drawn): (usize, &Drawn)| {
        let mut body = vec![drawn.figure.in_page()];
        if drawn.figure.id == "sections" && tables::has_sections(data) {
            body.push(tables::printed(data));
        }
        // The points of a part stand below the last figure that shows them.
        let last = figures.iter().rposition(|other| other.part == drawn.part);
        if last == Some(i) {
            body.extend(or_details(tables::points(data, drawn.part)));
        }
        Section {
            id: drawn.figure.id,
            name: drawn.figure.title.clone(),
            shows: drawn.figure.about.clone(),
            theirs: Some(drawn.theirs.into()),
            body,
            only: None,
        }
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
        only: None,
    }
}

fn otherwise_section() -> Section {
    let rows = PARTS.into_iter().flat_map(|part| {
        let own = OTHERWISE.iter().filter(move |(of, _)| *of == part);
        own.map(|(part, text)| format!("{part}: {text}"))
    });
    Section {
        id: "otherwise",
        name: "What was done otherwise than in the papers, and why".into(),
        shows: rows.collect(),
        theirs: None,
        body: Vec::new(),
        only: None,
    }
}

fn names_section() -> Section {
    let rows: Vec<Vec<String>> = NAMES
        .iter()
        .map(|row| row.map(String::from).to_vec())
        .collect();
    let head = ["Paper", "Theirs", "Ours"];
    Section {
        id: "names",
        name: "Names".into(),
        shows: vec!["Which of our kinds stands for which of the papers\u{2019}.".into()],
        theirs: None,
        body: vec![table("Names in the papers and here", &head, &rows, 3)],
        only: None,
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
    let mut shows: Vec<String> = PEERS.map(String::from).into();
    if !all.iter().any(|p| peer(&p.implementation) && p.repeat > 0) {
        shows.push("No peer was measured in this run.".into());
    }
    shows.extend(missing);
    Section {
        id: "peers",
        name: "Peers, combining and transactions".into(),
        shows,
        theirs: None,
        body: Vec::new(),
        only: None,
    }
}

fn footer(bench: &Bench) -> Markup {
    html! {
        footer {
            p {
                "Times are of the kernel alone, the median of the launches that the tables count; points that take more \
                 than 2 s run once. Results are checked. K, M and G of rates are powers of 1000."
            }
            p {
                "The papers: J. A. Stuart and J. D. Owens, Efficient Synchronization Primitives for GPUs, \
                 2011 (GeForce GTX 295 and 580); P. Grote, Lock-based Data Structures on GPUs with Independent Thread \
                 Scheduling, 2020 (GeForce RTX 2060); A. Gattani and A. Anickode, Scalable Lock Implementations: \
                 Evaluating GPU Concurrency Performance, 2024 (GTX Titan X). Their plots print no numbers, so only what their texts and tables give is quoted."
            }
            p { "Made by stamp report from sync.json (format " (bench.head.format) ")." }
        }
    }
}
