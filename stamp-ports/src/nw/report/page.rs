//! The page: what ran where, the targets, the paper's table and claims, a section for each
//! figure.

use super::data::{SCHEMES, TABLE3, Times};
use super::figures::Drawn;
use super::judged;
use crate::nw::bench::plan::{CELLS, DATAFLOW, DIAGONALS, GRAPH, LOCKS, STM};
use crate::nw::bench::reduction::cost;
use crate::report::page::{Parts, Section, facts, or_details};
use crate::report::tables::table;
use crate::sync::report::data::{Data, over};
use crate::sync::report::figures::time;
use crate::sync::report::tables;
use maud::{Markup, html};

/// The page's title unless another is given.
pub const TITLE: &str = "Alignments by dataflow and by launches on this machine";

/// Returns the page as a file.
pub fn page(times: &Times<'_>, figures: &[Drawn], title: &str) -> String {
    let bench = times.bench();
    let mut sections = vec![targets(times), schemes(times)];
    sections.extend(hops(times));
    sections.extend([table3(times), claims(times)]);
    sections.extend(figures.iter().map(|drawn| section(times, drawn)));
    let parts = Parts {
        title,
        opening: opening(times),
        sections,
        command: &bench.head.command,
        footer: html! {
            footer {
                p {
                    "Times are the device\u{2019}s, from the beginning of the first launch to the end of the last. \
                     A rate is cells of a table a second; G is a power of 1000. A point of the reduction is one \
                     launch, whose cycles are the median of its rounds, in every run."
                }
                p {
                    "The paper: A. Li, G.-J. van den Braak, H. Corporaal and A. Kumar, Fine-Grained Synchronizations and \
                     Dataflow Programming on GPUs, 2015 (GeForce GTX 570)."
                }
                p { "Made by stamp report from nw.json (format " (bench.head.format) ")." }
            }
        },
    };
    parts.page()
}

fn opening(times: &Times<'_>) -> Markup {
    let bench = times.bench();
    let wrong: Vec<String> = bench
        .points
        .iter()
        .filter(|p| p.repeat > 0 && !p.verified)
        .map(|p| {
            let why = p.note.as_deref().unwrap_or("no reason given");
            format!("{} {}: {why}", p.part, p.implementation)
        })
        .collect();
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
        @if bench.head.quick {
            p .warn { "A quick run: small inputs and few points, to see that everything works." }
        }
        @if !times.is_of_gpu() {
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
        (facts(&bench.head))
        @if !bench.head.notes.is_empty() {
            ul .note { @for note in &bench.head.notes { li { (note) } } }
        }
    }
}

fn plain(id: &'static str, name: &str, shows: &str, body: Vec<Markup>) -> Section {
    Section {
        id,
        name: name.to_owned(),
        shows: vec![shows.to_owned()],
        theirs: None,
        body,
        only: None,
    }
}

fn targets(times: &Times<'_>) -> Section {
    let body = vec![tables::targets(&judged::targets(times))];
    let shows = "Ratios of times. The best tile of the graph is the fastest of those that were measured with this \
                 length.";
    plain("targets", "Targets", shows, body)
}

/// The paper's Table 3 beside what was measured here.
fn table3(times: &Times<'_>) -> Section {
    let ours = [LOCKS, DIAGONALS, CELLS, GRAPH, STM, DATAFLOW];
    let rows: Vec<Vec<String>> = TABLE3
        .iter()
        .map(|(letters, theirs)| {
            let here = ours.iter().map(|name| {
                let ms = times.ms(name, *letters, None);
                ms.map_or_else(|| "\u{2013}".into(), time)
            });
            let there = theirs.iter().map(|us| time(us * 1e-3));
            std::iter::once(letters.to_string())
                .chain(there)
                .chain(here)
                .collect()
        })
        .collect();
    let head = [
        "Letters",
        "Theirs: atomic lock",
        "Theirs: data-parallel",
        "Theirs: tiny lock",
        "Ours: locks",
        "Ours: diagonals",
        "Ours: cells",
        "Ours: graph",
        "Ours: stm:fast",
        "Ours: dataflow",
    ];
    let body = vec![table(
        "Table 3 of Li et al. 2015, and ours",
        &head,
        &rows,
        1,
    )];
    let shows = "Times of one table. Locks, diagonals and cells are the paper\u{2019}s three implementations: locks held \
                 by cells, a launch for each diagonal, and a tag beside each value where the paper had a lock bit. \
                 Diagonals and graph are shown with the side of tiles that was the fastest at that length; the \
                 paper\u{2019}s launches have tiles of 32.";
    plain("table3", "The paper\u{2019}s table", shows, body)
}

/// What a hop through a channel costs in each memory, if that was measured.
fn hops(times: &Times<'_>) -> Option<Section> {
    let rows: Vec<Vec<String>> = times
        .hops()
        .map(|point| {
            let round = point.parameters.get("round").copied().unwrap_or(0);
            let cycles = point.cycles.unwrap_or(0);
            let each = point.ms / point.operations.max(1) as f64;
            vec![
                point.implementation.clone(),
                round.to_string(),
                cycles.to_string(),
                time(each),
            ]
        })
        .collect();
    let head = ["Memory", "Threads", "Cycles of a hop", "Time of a hop"];
    let body = vec![table("A value that goes round threads", &head, &rows, 1)];
    let shows = "One value goes round some threads through channels, and each adds 1 to it: the first lanes of the \
                 warps of a block through its shared memory, the first threads of the blocks of a cluster through \
                 theirs, and those of all blocks through global memory.";
    (!rows.is_empty()).then(|| plain("hops", "A hop", shows, body))
}

/// Tables 1 and 2 of the paper beside what was measured here.
fn schemes(times: &Times<'_>) -> Section {
    let dash = || "\u{2013}".to_owned();
    let rows: Vec<Vec<String>> = SCHEMES
        .iter()
        .map(|(name, theirs, faster, uses)| {
            let cycles = times.cycles(name, 16);
            let ratio = over(times.cycles(SCHEMES[0].0, 16), cycles);
            let bytes = cost(name).map_or_else(dash, |(all, each)| format!("{all}, {each} a warp"));
            vec![
                (*name).to_owned(),
                (*theirs).to_owned(),
                faster.map_or_else(dash, |x| format!("{x:.1}\u{d7}")),
                (*uses).to_owned(),
                cycles.map_or_else(dash, |cycles| format!("{cycles:.0}")),
                ratio.map_or_else(dash, |x| format!("{x:.2}\u{d7}")),
                bytes,
            ]
        })
        .collect();
    let head = [
        "Scheme",
        "In the paper",
        "Theirs: speed",
        "Theirs: resources",
        "Ours: cycles",
        "Ours: speed",
        "Ours: bytes beside the values, 16 warps",
    ];
    let body = vec![table(
        "Tables 1 and 2 of Li et al. 2015, and ours",
        &head,
        &rows,
        4,
    )];
    let shows = "Cycles of a round in which 16 warps add to 32 values one after the other, from the first one\u{2019}s \
                 beginning to the last one\u{2019}s end, the median of the rounds of one launch (1,000 on a GPU); speeds are over the spin lock a \
                 lane. The paper\u{2019}s schemes need no fences on its GPU; ours have those that the memory \
                 model asks for, and a tagged word needs none.";
    plain("schemes", "The paper\u{2019}s schemes", shows, body)
}

fn claims(times: &Times<'_>) -> Section {
    let rows: Vec<Vec<String>> = judged::claims(times)
        .into_iter()
        .map(|claim| {
            vec![
                format!("{}: {}", claim.id, claim.text),
                claim.theirs.to_owned(),
                claim.rule.to_owned(),
                claim.figures,
                claim.verdict.name().to_owned(),
            ]
        })
        .collect();
    let head = [
        "Claim",
        "The paper\u{2019}s figures",
        "It holds if",
        "Ours",
        "Verdict",
    ];
    let body = vec![table(
        "Claims of Li et al. 2015, judged by rules",
        &head,
        &rows,
        5,
    )];
    let shows = "T is a time. A factor of the paper holds if at least 0.8 of it is reached, and in part if at least half of it is and \
                 there is a difference at all (above 1.05); a rule about several lengths or schemes holds in part if some \
                 meet it.";
    plain("claims", "Claims of Li et al. 2015", shows, body)
}

fn section(times: &Times<'_>, drawn: &Drawn) -> Section {
    let data = Data::new(times.bench());
    let mut body = vec![drawn.figure.in_page()];
    for part in drawn.parts {
        body.extend(or_details(tables::points(&data, part)));
    }
    Section {
        id: drawn.figure.id,
        name: drawn.figure.title.clone(),
        shows: drawn.figure.about.clone(),
        theirs: Some(drawn.theirs.into()),
        body,
        only: None,
    }
}
