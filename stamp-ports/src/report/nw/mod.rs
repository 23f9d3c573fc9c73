//! The report of `stamp bench nw`: alignments by dataflow, by launches and by locks, and what
//! it costs to hand a value from warp to warp.
//!
//! | module | is |
//! | --- | --- |
//! | `data` | one point, and its time |
//! | `figures` | times and rates over lengths and tiles |

pub mod data;
pub mod figures;
#[cfg(test)]
pub(super) mod tests;

use super::claim::{self, Claim, Row, judge};
use super::page::{Report, Section};
use super::points;
use super::sync::claims::OF_CPU;
use super::table::{known, table};
use crate::nw::bench::plan::{CELLS, DATAFLOW, DIAGONALS, GRAPH, LOCKS, STM};
use crate::nw::bench::reduction::cost;
use crate::report::points::time;
use crate::sync::bench::Bench;
use data::{SCHEMES, TABLE3, Times, over};
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
    let figures = figures::all(times);
    let (targets, claims) = (judged(times, TARGETS), judged(times, CLAIMS));
    let about =
        "T is a time. The best tile is the fastest of those that were measured with this length.";
    let name = "What the library is to reach on an H200";
    let mut sections = vec![
        Section::of_claims("targets", name, &targets, about),
        schemes(times),
    ];
    sections.extend(hops(times));
    sections.push(table3(times));
    let name = "Claims of Li et al. 2015";
    sections.push(Section::of_claims("claims", name, &claims, "T is a time."));
    sections.extend(figures.iter().map(|drawn| {
        let parts = drawn.parts.iter();
        let tables = parts
            .flat_map(|part| points::points_table(&bench.points, part))
            .collect();
        Section::of_figure(&drawn.figure, drawn.theirs, tables)
    }));
    let of_cpu = "Measured on a CPU: no target and no claim is judged.".to_owned();
    let of_cpu = Some(of_cpu).filter(|_| !times.is_of_gpu());
    Report {
        title: "Alignments by dataflow and by launches on this machine",
        head: &bench.head,
        lead: lead(),
        warnings: of_cpu.into_iter().chain(points::wrong(&bench.points)).collect(),
        sections,
        figures: figures.into_iter().map(|drawn| drawn.figure).collect(),
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

fn plain(id: &'static str, name: &str, shows: &str, body: Vec<Markup>) -> Section {
    Section {
        id,
        name: name.to_owned(),
        shows: vec![shows.to_owned()],
        body,
        ..Section::default()
    }
}

/// The paper's Table 3 beside what was measured here.
fn table3(times: &Times<'_>) -> Section {
    let ours = [LOCKS, DIAGONALS, CELLS, GRAPH, STM, DATAFLOW];
    let rows: Vec<Vec<String>> = TABLE3
        .iter()
        .map(|(letters, theirs)| {
            let here = ours.iter().map(|name| {
                let ms = times.ms(name, *letters, None);
                known(ms, time)
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
    let rows: Vec<Vec<String>> = SCHEMES
        .iter()
        .map(|(name, theirs, faster, uses)| {
            let cycles = times.cycles(name, 16);
            let ratio = over(times.cycles(SCHEMES[0].0, 16), cycles);
            let bytes = known(cost(name), |(all, each)| format!("{all}, {each} a warp"));
            vec![
                (*name).to_owned(),
                (*theirs).to_owned(),
                known(*faster, |x| format!("{x:.1}\u{d7}")),
                (*uses).to_owned(),
                known(cycles, |cycles| format!("{cycles:.0}")),
                known(ratio, |x| format!("{x:.2}\u{d7}")),
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
